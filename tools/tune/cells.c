/* Cells of collopt-tune: which algorithms are worth measuring for each, by their costs, and what
 * was measured. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tune/cells.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "model/model.h"
#include "schedule/bind.h"
#include "schedule/block.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/parameters.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"
#include "topology/topology.h"
#include "tune/costs.h"
#include "tune/options.h"
#include "tune/text.h"

/* Predicted to take longer than this many times the best: not worth a measurement. */
static const double hopeless = 4;
/* A median above this may be worth a closer look. */
static const double noise = 1.02;
/* Another look may find that this share of the best ratio, the host's own among them, is the
 * best. */
static const double close_to = 0.87;

static struct collopt_problem problem_of(const struct tune_machine *m, const struct tune_cell *c)
{
    const struct tune_operation *o = &tune_operations[c->operation];
    struct collopt_problem p = { .collective = c->collective,
                                 .ranks = m->ranks,
                                 .size = o->size,
                                 .commutative = o->commutative,
                                 .exact = o->exact,
                                 .topology = &m->topology,
                                 .machine = &m->costs.machine,
                                 .count = c->bytes / o->size };
    size_t parts = c->collective == COLLOPT_REDUCE_SCATTER_BLOCK ? (size_t)m->ranks : 1;

    p.count = p.count < parts ? parts : p.count / parts * parts;
    return p;
}

/* ---- candidates ------------------------------------------------------------------------------ */

struct guess {
    struct collopt_choice choice;
    double seconds;
    int order;                  /* in the catalogue */
};

static int by_seconds(const void *x, const void *y)
{
    const struct guess *a = x, *b = y;

    return a->seconds != b->seconds ? (a->seconds > b->seconds) - (a->seconds < b->seconds)
                                    : a->order - b->order;
}

static uint64_t mixed(uint64_t h, uint64_t value)
{
    return ((h ^ value) * 0x9e3779b97f4a7c15u) ^ h >> 29;
}

static uint64_t hash_of_runs(uint64_t h, int runs, const struct collopt_run *run, int *number,
                             int *numbers)
{
    for (int i = 0; i < runs; i++) {
        if (number[run[i].place] == 0)          /* places by first use */
            number[run[i].place] = ++*numbers;
        h = mixed(mixed(mixed(h, (uint64_t)number[run[i].place]), run[i].at), run[i].n);
    }
    return mixed(h, (uint64_t)runs);
}

/* Of what a rank does, step by step. */
static uint64_t hash_of_steps(const struct collopt_bound *b)
{
    int *number = tune_must(calloc((size_t)b->slots + COLLOPT_FIRST_SLOT, sizeof *number)),
        numbers = 0;
    uint64_t h = (uint64_t)b->strands;

    for (int strand = 0; strand < b->strands; strand++)
        for (const struct collopt_step *s = b->strand[strand]; s->kind != COLLOPT_END; s++) {
            const struct collopt_message *m = s->kind <= COLLOPT_SEND ? &b->message[s->message]
                                                                      : NULL;

            h = mixed(mixed(h, s->kind), (uint64_t)(m ? m->peer : 0));
            h = hash_of_runs(h, m ? m->runs : s->runs, m ? m->run : s->run, number, &numbers);
        }
    free(number);
    return h;
}

/* Of what three of the ranks do by CHOICE; never 0. */
static uint64_t hash_of_schedule(const struct collopt_choice *choice, struct collopt_problem p)
{
    uint64_t h = 1;

    collopt_set_parameters(&p, choice);
    for (int i = 0; i <= 2; i++) {
        struct collopt_schedule *s = tune_must(
            collopt_schedule_new(choice->algorithm, &p, i * (p.ranks - 1) / 2, 0));
        struct collopt_bound *b = tune_must(collopt_bind(s, &p, NULL));

        h = mixed(h, hash_of_steps(b));
        collopt_bound_free(b);
        collopt_schedule_free(s);
    }
    return h ? h : 1;
}

/* With few ranks many algorithms are one and the same. */
static bool same(const struct guess *a, const struct guess *b, const struct collopt_problem *p)
{
    enum { FEW = 32 };

    return p->ranks <= FEW && hash_of_schedule(&a->choice, *p) == hash_of_schedule(&b->choice, *p);
}

static double predicted(const struct collopt_choice *choice, struct collopt_problem p)
{
    collopt_set_parameters(&p, choice);
    return collopt_model(choice->algorithm, &p);
}

/* Algorithms for nodes are of use where there are several, of several ranks. */
static bool has_nodes(const struct collopt_topology *t)
{
    return t->nodes > 1 && t->largest > 1;
}

/* All that can serve P, the fastest first; returns how many. */
static int guesses(const struct collopt_problem *p, struct guess *guess)
{
    int n = 0;

    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++) {
        struct collopt_choice choice = { .algorithm = *a };

        if ((*a)->collective == p->collective && (!(*a)->grouped || has_nodes(p->topology))
            && collopt_choice_usable(&choice, p, NULL)) {
            guess[n] = (struct guess){ choice, predicted(&choice, *p), n };
            n++;
        }
    }
    qsort(guess, (size_t)n, sizeof *guess, by_seconds);
    return n;
}

static const char without[] = "auto";

static struct tune_candidate *find(struct tune_cell *c, const char *name)
{
    for (int i = 0; i < c->candidates; i++)
        if (strcmp(c->candidate[i].name, name) == 0)
            return &c->candidate[i];
    return NULL;
}

static void add_candidate(struct tune_cell *c, const struct collopt_choice *choice,
                          enum tune_state state)
{
    struct tune_candidate *k = &c->candidate[c->candidates];
    char name[TUNE_NAME];

    if (collopt_choice_text(choice, name, sizeof name) >= (int)sizeof name || find(c, name))
        return;
    memcpy(k->name, name, sizeof name);
    k->state = state;
    c->candidates++;
}

static bool taken(const struct guess *chosen, int n, const struct guess *guess,
                  const struct collopt_problem *p)
{
    for (int i = 0; i < n; i++)
        if (same(&chosen[i], guess, p))
            return true;
    return false;
}

/* First what the ranks choose without rules, whatever it is: the better the first one is, the
 * sooner the others are given up. */
static void choose_candidates(struct tune_cell *c, const struct tune_machine *m,
                              const struct tune_options *o)
{
    int most = o->no_more ? o->candidates : TUNE_PROMISING;
    struct collopt_problem p = problem_of(m, c);
    struct guess *guess, chosen[TUNE_CANDIDATES];
    int algorithms = 0, n, taken_up = 0;

    while (collopt_algorithms[algorithms])
        algorithms++;
    guess = tune_must(calloc((size_t)algorithms + 1, sizeof *guess));
    n = guesses(&p, guess);
    for (int i = 0; i < n && taken_up < most && guess[i].seconds <= hopeless * guess[0].seconds;
         i++)
        if (!taken(chosen, taken_up, &guess[i], &p))
            chosen[taken_up++] = guess[i];
    memcpy(c->candidate[c->candidates++].name, without, sizeof without);
    for (int i = 0; i < taken_up; i++)
        add_candidate(c, &chosen[i].choice, i < o->candidates ? TUNE_OPEN : TUNE_SPARE);
    free(guess);
}

/* ---- variants -------------------------------------------------------------------------------- */

static const struct tune_candidate *best_of(const struct tune_cell *c)
{
    const struct tune_candidate *best = NULL;

    for (int i = 0; i < c->candidates; i++)
        if (c->candidate[i].state == TUNE_MEASURED
            && (!best || c->candidate[i].ratio > best->ratio))
            best = &c->candidate[i];
    return best;
}

/* CHOICE with another VALUE of PARAMETER, if that makes it another algorithm than CHOICE. */
static void add_variant(struct tune_cell *c, const struct collopt_problem *p,
                        const struct collopt_choice *choice, int parameter, size_t value)
{
    const struct collopt_parameter *q = &choice->algorithm->parameter[parameter];
    struct guess before = { .choice = *choice }, variant = before;

    variant.choice.value[parameter] = value;
    if (c->candidates < TUNE_CANDIDATES && value >= q->least && value <= q->most
        && collopt_choice_usable(&variant.choice, p, NULL) && !same(&before, &variant, p))
        add_candidate(c, &variant.choice, TUNE_OPEN);
}

/* These are computed from what messages cost, which is known about as well as that. */
void tune_add_variants(struct tune_cell *c, const struct tune_machine *m)
{
    static const struct { const char *name; size_t factor, step;
    } variable[] = {
        { "segment", 4, 0 }, { "radix", 2, 0 },  { "lambda", 2, 0 },
        { "splits", 1, 1 },  { "chunks", 2, 0 }, { "strands", 1, 1 },
    };
    const struct tune_candidate *best = best_of(c);
    struct collopt_problem p = problem_of(m, c), with = p;
    struct collopt_choice choice;
    char message[256];

    if (!best || best->low <= 1
        || !collopt_parse_choice(best->name, c->collective, &choice, message, sizeof message)
        || !choice.algorithm)
        return;
    collopt_set_parameters(&with, &choice);
    for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) {
        int parameter = collopt_parameter_named(choice.algorithm, variable[i].name);
        size_t factor = variable[i].factor, step = variable[i].step;

        if (parameter < 0 || choice.value[parameter])
            continue;
        add_variant(c, &p, &choice, parameter, with.value[parameter] / factor - step);
        add_variant(c, &p, &choice, parameter, with.value[parameter] * factor + step);
    }
}

/* ---- winners of neighbouring cells ----------------------------------------------------------- */

static int size_index(const struct tune_options *o, size_t bytes)
{
    int i = 0;

    while (i < o->sizes && o->size[i] != bytes)
        i++;
    return i;
}

static bool neighbours(const struct tune_cell *a, const struct tune_cell *b,
                       const struct tune_options *o)
{
    return a->collective == b->collective
        && strcmp(tune_operations[a->operation].kind, tune_operations[b->operation].kind) == 0
        && abs(size_index(o, a->bytes) - size_index(o, b->bytes)) <= 1;
}

/* Does one of the candidates have the same schedule as CHOICE? */
static bool is_candidate(const struct tune_cell *c, const struct collopt_choice *choice,
                         const struct collopt_problem *p)
{
    struct guess guess = { .choice = *choice }, other;
    char message[256];

    for (int i = 0; i < c->candidates; i++)
        if (collopt_parse_choice(c->candidate[i].name, c->collective, &other.choice, message,
                                 sizeof message)
            && other.choice.algorithm && collopt_choice_usable(&other.choice, p, NULL)
            && same(&guess, &other, p))
            return true;
    return false;
}

static void add_best_of(const struct tune_cell *neighbour, struct tune_cell *c,
                        const struct tune_machine *m)
{
    const struct tune_candidate *best = best_of(neighbour);
    struct collopt_problem p = problem_of(m, c);
    struct collopt_choice choice;
    char message[256];

    if (best && best->low > 1 && c->candidates < TUNE_CANDIDATES
        && collopt_parse_choice(best->name, c->collective, &choice, message, sizeof message)
        && choice.algorithm && collopt_choice_usable(&choice, &p, NULL)
        && !is_candidate(c, &choice, &p))
        add_candidate(c, &choice, TUNE_OPEN);
}

void tune_add_winners(const struct tune_cells *all, struct tune_cell *c,
                      const struct tune_options *o)
{
    for (int i = 0; i < all->n; i++)
        if (neighbours(c, &all->cell[i], o))
            add_best_of(&all->cell[i], c, &all->machine);
}

/* ---- messages -------------------------------------------------------------------------------- */

static size_t sent(const struct collopt_choice *choice, const struct collopt_problem *p, int rank)
{
    struct collopt_schedule *s = tune_must(collopt_schedule_new(choice->algorithm, p, rank, 0));
    struct collopt_bound *b = tune_must(collopt_bind(s, p, NULL));
    size_t n = 0;

    for (int i = 0; i < b->messages; i++)
        n += b->message[i].send;
    collopt_bound_free(b);
    collopt_schedule_free(s);
    return n;
}

size_t tune_messages(const struct tune_machine *m, const struct tune_cell *c, const char *name)
{
    enum { FEW = 64 };
    struct collopt_problem p = problem_of(m, c);
    int asked = p.ranks < FEW ? p.ranks : FEW;
    struct collopt_choice choice;
    char message[256];
    size_t n = 0;

    if (!collopt_parse_choice(name, c->collective, &choice, message, sizeof message)
        || !choice.algorithm || !collopt_choice_usable(&choice, &p, NULL))
        return 0;
    collopt_set_parameters(&p, &choice);
    for (int i = 0; i < asked; i++)
        n += sent(&choice, &p, (int)((long long)i * p.ranks / asked));
    return n;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* A Reduce_scatter_block has an element for each rank at least, so shorter vectors are all the same
 * one. */
static bool too_short(const struct tune_options *o, const struct tune_machine *m,
                      const struct tune_cell *c, int size)
{
    size_t least = (size_t)m->ranks * tune_operations[c->operation].size;

    return c->collective == COLLOPT_REDUCE_SCATTER_BLOCK && size + 1 < o->sizes
        && o->size[size + 1] <= least;
}

void tune_make_cells(struct tune_cells *all, const struct tune_options *o)
{
    size_t most = (size_t)COLLOPT_COLLECTIVES * TUNE_OPERATIONS * TUNE_SIZES;

    all->cell = tune_must(calloc(most, sizeof *all->cell));
    for (int collective = 0; collective < COLLOPT_COLLECTIVES; collective++)
        for (int operation = 0; operation < TUNE_OPERATIONS; operation++)
            for (int i = 0; o->collective[collective] && o->operation[operation] && i < o->sizes;
                 i++) {
                struct tune_cell *c = &all->cell[all->n];

                *c = (struct tune_cell){ .collective = (enum collopt_collective)collective,
                                         .operation = operation, .bytes = o->size[i] };
                if (too_short(o, &all->machine, c, i))
                    continue;
                choose_candidates(c, &all->machine, o);
                all->n++;
            }
}

bool tune_cell_open(const struct tune_cell *c)
{
    for (int i = 0; i < c->candidates; i++)
        if (c->candidate[i].state == TUNE_OPEN)
            return true;
    return false;
}

int tune_turn(struct tune_cells *all, enum tune_state from, enum tune_state to)
{
    int n = 0;

    for (int i = 0; i < all->n; i++)
        for (int k = 0; k < all->cell[i].candidates; k++)
            if (all->cell[i].candidate[k].state == from) {
                all->cell[i].candidate[k].state = to;
                n++;
            }
    return n;
}

const struct tune_candidate *tune_doubtful(const struct tune_cell *c)
{
    const struct tune_candidate *best = best_of(c);

    return best && best->ratio > noise && (best->low <= 1 || best->high > TUNE_FAR * best->low)
        ? best : NULL;
}

static bool contends(const struct tune_cell *c, const struct tune_candidate *k,
                     const struct tune_candidate *best, int looks)
{
    double top = best && best->ratio > 1 ? best->ratio : 1;

    return k->state == TUNE_MEASURED && k->looks < looks
        && (k == c->candidate || k->ratio >= close_to * top);
}

const struct tune_candidate *tune_contender(const struct tune_cell *c, int looks)
{
    const struct tune_candidate *best = best_of(c);

    for (int i = 0; i < c->candidates; i++)
        if (contends(c, &c->candidate[i], best, looks))
            return &c->candidate[i];
    return NULL;
}

int tune_looks_open(const struct tune_cells *all, int looks)
{
    int n = 0;

    for (int i = 0; i < all->n; i++)
        for (int k = 0; k < all->cell[i].candidates; k++)
            n += contends(&all->cell[i], &all->cell[i].candidate[k], best_of(&all->cell[i]), looks);
    return n;
}

/* ---- answers --------------------------------------------------------------------------------- */

static struct tune_cell *find_cell(struct tune_cells *all, const char *collective,
                                   const char *operation, size_t bytes)
{
    for (int i = 0; i < all->n; i++) {
        struct tune_cell *c = &all->cell[i];

        if (c->bytes == bytes && strcmp(collopt_collective_names[c->collective], collective) == 0
            && strcmp(tune_operations[c->operation].name, operation) == 0)
            return c;
    }
    return NULL;
}

/* The choice without rules gets its name, and is not measured by that again. */
static void reveal(struct tune_cell *c, const char *ran)
{
    struct tune_candidate *twin = find(c, ran), *end = &c->candidate[c->candidates];

    if (twin) {
        memmove(twin, twin + 1, (size_t)(end - twin - 1) * sizeof *twin);
        c->candidates--;
    }
    snprintf(c->candidate[0].name, sizeof c->candidate[0].name, "%s", ran);
}

static int by_ratio(const void *x, const void *y)
{
    const struct tune_look *a = x, *b = y;

    return (a->ratio > b->ratio) - (a->ratio < b->ratio);
}

static void add_look(struct tune_candidate *k, const struct tune_candidate *took)
{
    struct tune_look sorted[TUNE_LOOKS], *middle = &k->look[k->looks];

    if (k->looks == TUNE_LOOKS)
        return;
    k->look[k->looks++] = (struct tune_look){ took->ratio, took->low, took->high };
    if (k->looks == TUNE_LOOKS) {
        memcpy(sorted, k->look, sizeof sorted);
        qsort(sorted, TUNE_LOOKS, sizeof *sorted, by_ratio);
        middle = &sorted[TUNE_LOOKS / 2];
    }
    k->ratio = middle->ratio;
    k->low = middle->low;
    k->high = middle->high;
}

static bool take(struct tune_cell *c, const char *name, const char *ran,
                 const struct tune_candidate *took)
{
    struct tune_candidate *k = c ? find(c, name) : NULL;
    bool host = strcmp(ran, "host") == 0;

    /* an earlier run has measured a variant, or the winner of a neighbouring cell */
    if (c && !k && strcmp(name, without) != 0 && c->candidates < TUNE_CANDIDATES) {
        k = &c->candidate[c->candidates++];
        snprintf(k->name, sizeof k->name, "%s", name);
    }
    if (!k)
        return false;
    k->state = host ? TUNE_UNFIT : took->state;
    add_look(k, took);
    if (strcmp(name, without) == 0 && took->state != TUNE_UNFIT) {
        c->built_in = !host;
        if (!host)
            reveal(c, ran);
    }
    return true;
}

bool tune_take_answer(struct tune_cells *all, const char *answer)
{
    char collective[32], operation[32], name[TUNE_NAME], ran[TUNE_NAME] = "", result[32];
    struct tune_candidate took = { .state = TUNE_UNFIT };
    struct tune_cell *c;
    size_t bytes;
    double host_us = 0;
    int pairs = 0;

    if (strncmp(answer, "machine ", 8) == 0)
        return tune_take_cost(&all->machine.costs, answer);
    if (sscanf(answer, "none %31s %31s %zu %199s", collective, operation, &bytes, name) != 4) {
        if (sscanf(answer, "cell %31s %31s %zu %199s %199s %lf %*f %lf %lf %lf %d %31s", collective,
                   operation, &bytes, name, ran, &host_us, &took.ratio, &took.low, &took.high,
                   &pairs, result)
            != 11)
            return false;
        took.state = strcmp(result, "WRONG") == 0 ? TUNE_WRONG : TUNE_MEASURED;
    }
    c = find_cell(all, collective, operation, bytes);
    if (c && pairs > c->host_pairs && strcmp(result, "WRONG-HOST") != 0) {
        c->host_us = host_us;
        c->host_pairs = pairs;
    }
    return take(c, name, ran, &took);
}
