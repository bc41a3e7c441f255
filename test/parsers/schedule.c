/* Schedules: the input chooses an algorithm, its parameters and a problem, and the proof of the
 * unit tests says whether the programs of all ranks do what they should.
 *
 * Small numbers, a byte each: what is wrong with an algorithm is wrong on few ranks. */
#include "config.h"

#include "parsers.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "schedule/bind.h"
#include "schedule/schedule.h"
#include "unit/trial.h"

#include <stdlib.h>

enum { RANKS = 14, STEPS = 6000 /* of all ranks */ };

static const struct collopt_algorithm *algorithm_number(unsigned n)
{
    unsigned all = 0;

    while (collopt_algorithms[all])
        all++;
    return collopt_algorithms[n % all];
}

static size_t least_of(const struct collopt_parameter *q, size_t value)
{
    value += q->least;
    return value > q->most ? q->most : value;
}

static size_t list(struct input *in, const struct collopt_parameter *q)
{
    size_t value = 0;

    for (unsigned i = 0, n = next_byte(in) % 4; i < n; i++)
        value |= least_of(q, next_byte(in) % RANKS) << i * (unsigned)q->list_bits;
    return value;
}

static size_t inner(struct input *in, enum collopt_collective c)
{
    struct collopt_choice choice = { .algorithm = algorithm_number(next_byte(in)) };
    const struct collopt_parameter *q = &choice.algorithm->parameter[0];

    if (choice.algorithm->collective != c)
        return 0;
    if (q->name && !q->words && !q->algorithm && !q->list_bits)
        choice.value[0] = least_of(q, next_byte(in));
    return collopt_choice_number(&choice);
}

/* 0: the preset. */
static size_t parameter(struct input *in, const struct collopt_parameter *q)
{
    unsigned n = next_byte(in);

    if (n % 4 == 0 || q->words)         /* other groups are maps of nodes like any other */
        return 0;
    return q->algorithm ? inner(in, q->of) : q->list_bits ? list(in, q) : least_of(q, n / 4);
}

struct arrays {
    size_t block[RANKS];
    int place[RANKS];
};

static struct trial read_trial(struct input *in, struct arrays *a)
{
    struct trial t = { .algorithm = algorithm_number(next_byte(in)) };
    unsigned bits;

    t.ranks = 1 + (int)(next_byte(in) % RANKS);
    t.root = (int)next_byte(in) % t.ranks;
    t.count = next_byte(in);
    for (int i = 0; i < COLLOPT_PARAMETERS && t.algorithm->parameter[i].name; i++)
        t.value[i] = parameter(in, &t.algorithm->parameter[i]);
    t.shape = (enum trial_shape)(next_byte(in) % TRIAL_SHAPES);
    t.nodes = (enum trial_nodes)(next_byte(in) % TRIAL_MAPS);
    t.two_operands = (int)next_byte(in) % TRIAL_FORMS;
    t.cut = next_byte(in) % 8;
    t.near = (int)next_byte(in) % 5;
    bits = next_byte(in);
    t.in_place = bits & 1;
    t.in_turn = bits & 2;
    if (bits & 4 && t.algorithm->collective == COLLOPT_REDUCE_SCATTER) {
        t.shape = TRIAL_RAGGED;
        t.block = a->block;
        t.count = 0;
        for (int r = 0; r < t.ranks; r++)
            t.count += a->block[r] = next_byte(in) % 16;
    }
    if (bits & 8) {
        t.place = a->place;
        for (int r = 0; r < t.ranks; r++)
            a->place[r] = (int)next_byte(in) % (t.ranks + 1);
    }
    return t;
}

/* A schedule of very many steps is a matter of patience, also where the vector is so short that
 * most of them are not bound. */
static bool is_long(const struct trial *t)
{
    struct workshop w = { 0 };
    char why[PROOF_WHY];
    struct collopt_schedule *s = NULL;
    struct collopt_bound *b = NULL;
    bool is_long;

    if (workshop_state(&w, t, why))
        s = collopt_schedule_new(t->algorithm, &w.problem, t->ranks / 2, 0);
    if (!w.problem.counts)
        w.problem.count = (size_t)t->ranks << 20;
    if (s)
        b = collopt_bind(s, &w.problem, NULL);
    is_long = !b || b->steps * (size_t)t->ranks > STEPS;
    collopt_bound_free(b);
    collopt_schedule_free(s);
    workshop_close(&w);
    return is_long;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, data + size };
    struct arrays arrays;
    struct trial t = read_trial(&in, &arrays);
    struct workshop shop = { 0 };
    char why[PROOF_WHY], words[TRIAL_WORDS];

    if (is_long(&t))            /* or refused: one that is usable has a schedule, or there is no
                                 * memory */
        return 0;
    trial_words(&t, words);
    if (!workshop_open(&shop, &t, why))
        wrong("%s: %s", words, why);

    struct proof p = workshop_proof(&shop);

    if (!proof_holds(&p, 1, why))
        wrong("%s%s%s: %s", words, t.block ? ", blocks" : "",
              t.place ? ", nodes as the input says" : "", why);
    workshop_close(&shop);
    return 0;
}
