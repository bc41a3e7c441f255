/* Trials as words, and what they stand for; see trial.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "schedule/bind.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/parameters.h"
#include "schedule/parts.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"
#include "topology/topology.h"
#include "trial.h"

static const char *const shape_names[TRIAL_SHAPES] = { "even", "nearly", "first", "last",
                                                       "ragged" };

static const char *const map_names[TRIAL_MAPS] = {
    "one",        "pairs",       "fours",       "uneven",     "first_alone", "last_alone",
    "each_alone", "loose_fours", "round_robin", "root_alone", "shuffled",
};

/* ---- words ----------------------------------------------------------------------------------- */

void trial_words(const struct trial *t, char words[TRIAL_WORDS])
{
    const struct collopt_algorithm *a = t->algorithm;
    int n = snprintf(
        words, TRIAL_WORDS,
        "%s %s p %d root %d count %zu shape %s nodes %s in_place %d two_operands %d cut %zu "
        "in_turn %d near %d",
        collopt_collective_names[a->collective], a->name, t->ranks, t->root, t->count,
        shape_names[t->shape], map_names[t->nodes], t->in_place, t->two_operands, t->cut,
        t->in_turn, t->near);

    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name && n < TRIAL_WORDS; i++) {
        const struct collopt_parameter *q = &a->parameter[i];
        const struct collopt_choice *inner = q->algorithm ? collopt_choice_numbered(t->value[i])
                                                          : NULL;
        int elements = q->list_bits ? collopt_list_length(q, t->value[i]) : 0;

        /* lanes have a "count" too */
        n += snprintf(words + n, (size_t)(TRIAL_WORDS - n), " :%s ", q->name);
        if (inner && n < TRIAL_WORDS)
            n += collopt_choice_text(inner, words + n, (size_t)(TRIAL_WORDS - n));
        else if (n < TRIAL_WORDS)
            n += snprintf(words + n, (size_t)(TRIAL_WORDS - n), "%zu",
                          elements ? collopt_list_at(q, t->value[i], 0) : t->value[i]);
        for (int k = 1; k < elements && n < TRIAL_WORDS; k++)
            n += snprintf(words + n, (size_t)(TRIAL_WORDS - n), "x%zu",
                          collopt_list_at(q, t->value[i], k));
    }
}

/* The number of a choice of collective C; 0 if it is none: the preset. */
static size_t read_inner(const char *text, enum collopt_collective c)
{
    struct collopt_choice inner;
    char message[256];

    return collopt_parse_choice(text, c, &inner, message, sizeof message)
        ? collopt_choice_number(&inner)
        : 0;
}

/* A number, or elements with an x in between, or an algorithm. */
static size_t read_value(const struct collopt_parameter *q, const char *text)
{
    size_t value = 0;
    char *end;

    if (q->algorithm)
        return read_inner(text, q->of);
    for (int shift = 0; *text; shift += q->list_bits, text = *end == 'x' ? end + 1 : "")
        value |= (size_t)strtoull(text, &end, 10) << shift;
    return value;
}

static const struct collopt_algorithm *find(const char *collective, const char *name)
{
    for (int i = 0; collopt_algorithms[i]; i++)
        if (!strcmp(collopt_collective_names[collopt_algorithms[i]->collective], collective) &&
            !strcmp(collopt_algorithms[i]->name, name))
            return collopt_algorithms[i];
    return NULL;
}

static bool read_pair(struct trial *t, const char *name, const char *value)
{
    size_t number = strtoull(value, NULL, 10);
    const struct {
        const char *name;
        int *to;
    } integer[] = { { "p", &t->ranks },
                    { "root", &t->root },
                    { "two_operands", &t->two_operands } };

    for (size_t i = 0; i < sizeof integer / sizeof *integer; i++)
        if (!strcmp(name, integer[i].name))
            return *integer[i].to = (int)number, true;
    for (int i = 0; i < COLLOPT_PARAMETERS && t->algorithm->parameter[i].name; i++)
        if (*name == ':' && !strcmp(name + 1, t->algorithm->parameter[i].name))
            return t->value[i] = read_value(&t->algorithm->parameter[i], value), true;
    for (int i = 0; i < TRIAL_MAPS; i++)
        if (!strcmp(name, "nodes") && !strcmp(value, map_names[i]))
            return t->nodes = (enum trial_nodes)i, true;
    for (int i = 0; i < TRIAL_SHAPES; i++)
        if (!strcmp(name, "shape") && !strcmp(value, shape_names[i]))
            return t->shape = (enum trial_shape)i, true;
    if (!strcmp(name, "count"))
        return t->count = number, true;
    if (!strcmp(name, "in_place"))
        return t->in_place = number != 0, true;
    if (!strcmp(name, "cut"))
        return t->cut = number, true;
    if (!strcmp(name, "in_turn"))
        return t->in_turn = number != 0, true;
    if (!strcmp(name, "near"))
        return t->near = (int)number, true;
    return false;
}

bool trial_read(struct trial *t, int words, char *const *word)
{
    *t = (struct trial){ .algorithm = words > 1 ? find(word[0], word[1]) : NULL, .ranks = 4,
                         .count = 8 };
    if (!t->algorithm) {
        fprintf(stderr, "no such algorithm; there are\n");
        for (int i = 0; collopt_algorithms[i]; i++)
            fprintf(stderr, "  %s %s\n",
                    collopt_collective_names[collopt_algorithms[i]->collective],
                    collopt_algorithms[i]->name);
        return false;
    }
    for (int i = 2; i < words; i += 2)
        if (i + 1 == words || !read_pair(t, word[i], word[i + 1])) {
            fprintf(stderr,
                    "\"%s\" is not understood; a trial looks like\n  allreduce ring p 7 root 0 "
                    "count 13 shape even "
                    "in_place 1 two_operands 0 cut 0 in_turn 0 near 0\n",
                    word[i]);
            return false;
        }
    return true;
}

int trial_algorithms(void)
{
    int n = 0;

    while (collopt_algorithms[n])
        n++;
    return n;
}

bool trial_range(int words, char *const *word, int *from, int *to)
{
    struct trial t = { .algorithm = NULL };

    *from = *to = 0;
    if (words > 0 && !trial_read(&t, words, word))
        return false;
    while (t.algorithm && collopt_algorithms[*from] != t.algorithm)
        ++*from;
    while (collopt_algorithms[*to] && (!t.algorithm || *to <= *from))
        ++*to;
    return true;
}

/* ---- the problem ----------------------------------------------------------------------------- */

static bool scatters(const struct collopt_algorithm *a)
{
    return a->collective == COLLOPT_REDUCE_SCATTER || a->collective == COLLOPT_REDUCE_SCATTER_BLOCK;
}

static void share_out_ragged(size_t *counts, size_t ranks, size_t count)
{
    uint64_t random = ranks * 977 + count;

    memset(counts, 0, ranks * sizeof *counts);
    while (count > 0) {
        random = random * 6364136223846793005u + 1442695040888963407u;

        size_t rank = (random >> 33) % ranks, n = 1 + (random >> 20) % (2 * (count / ranks) + 1);

        if (n > count)
            n = count;
        if (random >> 62)               /* three in four: zeros stay */
            counts[rank] += n, count -= n;
    }
}

static void share_out(struct workshop *w)
{
    size_t ranks = (size_t)w->t.ranks, count = w->t.count;

    if (w->t.block) {
        memcpy(w->counts, w->t.block, ranks * sizeof *w->counts);
        return;
    }
    if (w->t.shape == TRIAL_RAGGED) {
        share_out_ragged(w->counts, ranks, count);
        return;
    }
    for (size_t r = 0; r < ranks; r++) {
        w->counts[r] = count / ranks + (r < count % ranks);
        if (w->t.shape == TRIAL_FIRST || w->t.shape == TRIAL_LAST)
            w->counts[r] = r == (w->t.shape == TRIAL_FIRST ? 0 : ranks - 1) ? count : 0;
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Any number that ranks of a node have in common. */
static int place_of(const struct trial *t, int rank, unsigned *random)
{
    int p = t->ranks, group = 1;

    if (t->place && t->algorithm->grouped)
        return t->place[rank];
    switch (t->nodes) {
    case TRIAL_PAIRS:
        return rank / 2;
    case TRIAL_FOURS:
    case TRIAL_LOOSE_FOURS:
        return rank / 4;
    case TRIAL_UNEVEN:
        return rank / 6 * 3 + (rank % 6 == 0 ? 0 : rank % 6 < 3 ? 1 : 2);
    case TRIAL_FIRST_ALONE:
        return rank > 0;
    case TRIAL_LAST_ALONE:
        return rank == p - 1;
    case TRIAL_EACH_ALONE:
        return rank;
    case TRIAL_ROUND_ROBIN:
        while (group * group < p)
            group++;
        return rank % group;
    case TRIAL_ROOT_ALONE:
        return rank == t->root ? p : rank % 2;
    case TRIAL_SHUFFLED:
        *random = *random * 1664525u + 1013904223u;
        return (int)((*random >> 16) % (unsigned)(p / 3 + 1));
    default:
        return 0;
    }
}

/* Nodes are numbered by their first rank. */
static bool place_ranks(struct workshop *w)
{
    int p = w->t.ranks, *number = malloc(((size_t)p + 1) * sizeof *number);
    unsigned random = (unsigned)p;

    free(w->node);
    w->node = malloc((size_t)p * sizeof *w->node);
    w->topology = (struct collopt_topology){ .nodes = 0, .node = w->node };
    for (int i = 0; number && i <= p; i++)
        number[i] = -1;
    for (int r = 0; number && w->node && r < p; r++) {
        int place = place_of(&w->t, r, &random);

        if (number[place] < 0)
            number[place] = w->topology.nodes++;
        w->node[r] = number[place];
    }
    free(number);
    return w->node && w->topology.nodes > 0 && collopt_topology_measure(&w->topology, p);
}

/* Strands, each of which begins on another level, combine in orders of their own. */
static bool any_order(const struct trial *t)
{
    int strands = collopt_parameter_named(t->algorithm, "strands");

    return t->algorithm->order == COLLOPT_COMMUTATIVE || (strands >= 0 && t->value[strands] > 1);
}

bool workshop_state(struct workshop *w, const struct trial *t, char why[PROOF_WHY])
{
    const struct collopt_algorithm *a = t->algorithm;
    size_t ranks = (size_t)t->ranks;
    const char *unfit;

    w->t = *t;
    if (!scatters(a) || a->collective == COLLOPT_REDUCE_SCATTER_BLOCK)
        w->t.shape = TRIAL_EVEN;
    if (scatters(a) && w->t.shape == TRIAL_EVEN)
        w->t.count = (t->count + ranks - 1) / ranks * ranks;
    if (!a->grouped)
        w->t.nodes = TRIAL_ONE_NODE;
    if (!place_ranks(w))
        return snprintf(why, PROOF_WHY, "no memory"), false;
    w->problem = (struct collopt_problem){
        .collective = a->collective,
        .ranks = t->ranks,
        .root = a->collective == COLLOPT_REDUCE ? t->root : 0,
        .count = w->t.count,
        .size = TRIAL_SIZE,
        .commutative = any_order(t) || w->t.nodes >= TRIAL_LOOSE,
        .segments = 1,
        .topology = &w->topology,
    };
    free(w->counts);
    w->counts = NULL;
    if (scatters(a) && w->t.shape != TRIAL_EVEN) {
        w->counts = malloc(ranks * sizeof *w->counts);
        if (!w->counts)
            return snprintf(why, PROOF_WHY, "no memory"), false;
        share_out(w);
        w->problem.counts = w->counts;
    }

    struct collopt_choice choice = { .algorithm = a };

    memcpy(choice.value, t->value, sizeof choice.value);
    collopt_set_parameters(&w->problem, &choice);
    if (!collopt_usable(a, &w->problem, &unfit))
        return snprintf(why, PROOF_WHY, "not usable: %s", unfit), false;
    return true;
}

/* ---- schedules and programs ------------------------------------------------------------------ */

static void drop_programs(struct workshop *w)
{
    for (int r = 0; r < w->bound; r++)
        collopt_bound_free(w->program[r]);
    free(w->program);
    w->program = NULL;
    w->bound = 0;
}

static void drop_schedules(struct workshop *w)
{
    for (int r = 0; r < w->made; r++)
        collopt_schedule_free(w->schedule[r]);
    free(w->schedule);
    free(w->how);
    w->schedule = NULL;
    w->how = NULL;
    w->made = 0;
}

void workshop_close(struct workshop *w)
{
    drop_programs(w);
    drop_schedules(w);
    free(w->counts);
    free(w->node);
    *w = (struct workshop){ 0 };
}

/* Only the root of a Reduce can be in place. */
static unsigned how(const struct trial *t, int rank)
{
    bool alone = t->algorithm->collective == COLLOPT_REDUCE && rank != t->root;
    bool two = t->two_operands == TRIAL_TWO_OPERANDS
        || (t->two_operands == TRIAL_MIXED && rank % 2 == 1);

    return (t->in_place && !alone ? COLLOPT_IN_PLACE : 0u) | (two ? COLLOPT_TWO_OPERANDS : 0u)
        | (t->two_operands == TRIAL_VIA_SCRATCH ? COLLOPT_VIA_SCRATCH : 0u);
}

static bool make_schedules(struct workshop *w)
{
    size_t ranks = (size_t)w->t.ranks;

    w->schedule = calloc(ranks, sizeof *w->schedule);
    w->how = calloc(ranks, sizeof *w->how);
    if (!w->schedule || !w->how)
        return false;
    for (; w->made < w->t.ranks; w->made++) {
        w->how[w->made] = how(&w->t, w->made);
        w->schedule[w->made] = collopt_schedule_new(w->t.algorithm, &w->problem, w->made,
                                                    w->how[w->made]);
        if (!w->schedule[w->made])
            return false;
    }
    return true;
}

static bool make_programs(struct workshop *w)
{
    const struct collopt_cut cuts[] = { { w->t.cut, w->t.cut, w->t.in_turn }, { 0 } },
                             *cut = w->t.cut ? cuts : NULL;
    /* inside nodes messages are cut in longer pieces */
    const struct collopt_cut longer[] = { { 2 * w->t.cut + 1, 2 * w->t.cut + 1, true }, { 0 } },
                             *inside = w->t.near > 1 && cut ? longer : cut;
    bool near[w->t.ranks];
    const struct collopt_nearby nearby = { .rank = near, .cuts = inside, .multicast = inside,
                                           .views = w->t.near > 0 };

    w->program = calloc((size_t)w->t.ranks, sizeof *w->program);
    if (!w->program)
        return false;
    for (; w->bound < w->t.ranks; w->bound++) {
        for (int r = 0; r < w->t.ranks; r++)
            near[r] = w->t.near == 1 || (w->t.near > 1 && r / w->t.near == w->bound / w->t.near);
        w->program[w->bound] = collopt_bind_near(w->schedule[w->bound], &w->problem, cut,
                                                   w->t.near ? &nearby : NULL);
        if (!w->program[w->bound])
            return false;
    }
    return true;
}

/* Two trials share schedules when no more than the count and its shape is different, and the number
 * of segments is not. */
static bool alike(const struct trial *t, const struct collopt_problem *p, const struct workshop *w)
{
    return w->made && t->algorithm == w->t.algorithm && p->ranks == w->problem.ranks
        && p->root == w->problem.root && p->segments == w->problem.segments
        && t->nodes == w->t.nodes && !t->place && t->in_place == w->t.in_place
        && t->two_operands == w->t.two_operands
        && !memcmp(p->value, w->problem.value, sizeof p->value);
}

bool workshop_open(struct workshop *w, const struct trial *t, char why[PROOF_WHY])
{
    struct trial trial = w->t;
    struct collopt_problem problem = w->problem;

    drop_programs(w);
    if (!workshop_state(w, t, why)) {
        drop_schedules(w);
        return false;
    }

    struct workshop before = { .t = trial, .problem = problem, .made = w->made };

    if (!alike(&w->t, &w->problem, &before)) {
        drop_schedules(w);
        if (!make_schedules(w))
            return snprintf(why, PROOF_WHY, "no memory for the schedules"), false;
    }
    if (!make_programs(w))
        return snprintf(why, PROOF_WHY, "no memory for the programs"), false;
    return true;
}

struct proof workshop_proof(const struct workshop *w)
{
    const struct collopt_algorithm *a = w->t.algorithm;

    return (struct proof){ .problem = &w->problem,
                           .in_order = !w->problem.commutative,
                           .once = a->once,
                           .how = w->how,
                           .program = (const struct collopt_bound *const *)w->program };
}

/* ---- what is worth trying -------------------------------------------------------------------- */

static bool in_range(const struct collopt_parameter *q, size_t value)
{
    if (!q->list_bits)
        return value >= q->least && value <= q->most;
    for (int i = 0; collopt_list_at(q, value, i); i++)
        if (collopt_list_at(q, value, i) < q->least || collopt_list_at(q, value, i) > q->most)
            return false;
    return collopt_list_length(q, value) > 0;
}

static void add_variant(size_t variant[TRIAL_VARIANTS][COLLOPT_PARAMETERS], int *n, int i,
                        const struct collopt_parameter *q, size_t value)
{
    if (!in_range(q, value))
        return;
    for (int k = 1; k < *n; k++)
        if (variant[k][i] == value)
            return;
    /* or the last parameters would go without a proof, and nobody would know */
    if (*n == TRIAL_VARIANTS) {
        fprintf(stderr, "no room for a variant of \"%s\": TRIAL_VARIANTS is %d\n", q->name,
                TRIAL_VARIANTS);
        abort();
    }
    memset(variant[*n], 0, sizeof variant[*n]);
    variant[(*n)++][i] = value;
}

/* Some of the algorithms that keep rank order: with them every map can be proved, whatever the
 * operation. */
static void add_inner(size_t variant[TRIAL_VARIANTS][COLLOPT_PARAMETERS], int *n, int i,
                      const struct collopt_parameter *q)
{
    int found = 0;

    for (int k = 0; collopt_algorithms[k]; k++) {
        const struct collopt_algorithm *a = collopt_algorithms[k];
        struct collopt_choice inner = { .algorithm = a };

        if (a->collective != q->of || a->grouped || a->order != COLLOPT_IN_ORDER || a->usable
            || found == 6)
            continue;
        if (a->parameter[0].name && a->parameter[0].bytes)
            inner.value[0] = TRIAL_SIZE + 1;
        found++;
        add_variant(variant, n, i, &(struct collopt_parameter){ .most = SIZE_MAX },
                    collopt_choice_number(&inner));
    }
}

/* Ways to write RANKS as a product: one side, two that differ much and little, three, a side of one
 * at each end; and lists that multiply to a little less, which are to be refused or made do
 * with. */
static void add_lists(size_t variant[TRIAL_VARIANTS][COLLOPT_PARAMETERS], int *n, int i,
                      const struct collopt_parameter *q, int ranks)
{
    size_t p = (size_t)ranks, one = 1;
    int bits = q->list_bits;

    add_variant(variant, n, i, q, p);
    add_variant(variant, n, i, q, one | p << bits);
    add_variant(variant, n, i, q, p | one << bits);
    add_variant(variant, n, i, q, 2 | (p - 1) / 2 << bits);
    add_variant(variant, n, i, q, 3 | 2 << bits | (p - 1) / 6 << 2 * bits);
    for (size_t a = 2, pairs = 0; a < p && pairs < 4; a++)
        if (p % a == 0) {
            add_variant(variant, n, i, q, a | p / a << bits);
            pairs++;
            for (size_t b = 2; b <= a; b++)
                if (p / a % b == 0 && p / a / b > 1) {
                    add_variant(variant, n, i, q, a | b << bits | p / a / b << 2 * bits);
                    break;
                }
        }
}

/* What 2, 3 and 5 leave out, of a radix or a width, as far as there are ranks for it: each has
 * digits and rests of its own. */
static void add_radices(size_t variant[TRIAL_VARIANTS][COLLOPT_PARAMETERS], int *n, int i,
                        const struct collopt_parameter *q, int ranks)
{
    static const size_t more[] = { 4, 6, 7, 8 };
    bool counts_ranks = !strcmp(q->name, "radix") || !strcmp(q->name, "width")
        || !strcmp(q->name, "group");

    for (size_t k = 0; k < sizeof more / sizeof *more && counts_ranks && more[k] <= (size_t)ranks;
         k++)
        add_variant(variant, n, i, q, more[k]);
}

/* Only an algorithm that has reasons of its own may refuse a variant. */
static bool serves(const struct collopt_algorithm *a, int ranks, const size_t *value)
{
    struct trial t = { .algorithm = a, .ranks = ranks, .count = (size_t)ranks };
    struct workshop w = { 0 };
    char why[PROOF_WHY];
    bool good;

    memcpy(t.value, value, sizeof t.value);
    good = workshop_state(&w, &t, why);
    workshop_close(&w);
    return good || !a->usable;
}

int trial_variants(const struct collopt_algorithm *a, int ranks,
                   size_t variant[TRIAL_VARIANTS][COLLOPT_PARAMETERS])
{
    int n = 1, kept = 0;

    memset(variant[0], 0, sizeof variant[0]);
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++) {
        const struct collopt_parameter *q = &a->parameter[i];

        if (q->words)           /* "by": other groups are maps of nodes like any other */
            continue;
        if (q->list_bits) {
            add_lists(variant, &n, i, q, ranks);
            continue;
        }
        if (q->algorithm) {
            add_inner(variant, &n, i, q);
            continue;
        }
        if (q->bytes) {                 /* so small that there are several */
            add_variant(variant, &n, i, q, TRIAL_SIZE);
            add_variant(variant, &n, i, q, 3 * TRIAL_SIZE + 1);
            continue;
        }
        add_variant(variant, &n, i, q, q->least);
        add_variant(variant, &n, i, q, q->least + 1);
        add_variant(variant, &n, i, q, 3);
        add_variant(variant, &n, i, q, 5);
        add_radices(variant, &n, i, q, ranks);
    }
    for (int i = 0; i < n; i++)
        if (serves(a, ranks, variant[i]))
            memmove(variant[kept++], variant[i], sizeof variant[i]);
    return kept;
}

static const int large[] = { 100, 127, 128, 129, 255, 256, 257, 1000, 1024 };

const int trial_size_count = 64 + sizeof large / sizeof *large;

int trial_ranks(int i)
{
    return i < 64 ? i + 1 : large[i - 64];
}

int trial_roots(const struct collopt_algorithm *a, int ranks, int root[TRIAL_ROOTS])
{
    int n = 0, chosen[] = { 0, ranks - 1, ranks / 2, 1, ranks / 3 * 2 };

    if (a->collective != COLLOPT_REDUCE)
        return root[0] = 0, 1;
    if (ranks > TRIAL_ROOTS) {
        memcpy(root, chosen, sizeof chosen);
        return (int)(sizeof chosen / sizeof *chosen);
    }
    while (n < ranks)
        root[n] = n, n++;
    return n;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_region(const struct collopt_schedule *s, struct span r, FILE *to)
{
    for (int i = 0; i < r.n; i++) {
        struct piece q = s->piece[r.first + i];

        fprintf(to, i ? "+" : " ");
        if (q.place == COLLOPT_IN || q.place == COLLOPT_OUT)
            fprintf(to, q.place == COLLOPT_IN ? "IN" : "OUT");
        else
            fprintf(to, "TMP%d", q.place - COLLOPT_FIRST_SLOT);
        if (q.block.partition != COLLOPT_WHOLE)
            fprintf(to, "[%d:%d/%d]", q.block.first, q.block.first + q.block.parts,
                    s->partition[q.block.partition].parts);
    }
}

void print_schedule(const struct collopt_schedule *s, FILE *to)
{
    static const char *const verb[] = { "send", "receive", "fold", "copy", "prefixes" };

    for (size_t i = 0; i < s->actions; i++) {
        const struct action *a = &s->action[i];

        fprintf(to, "%d: round %d", s->rank, a->round);
        if (s->strands > 1)
            fprintf(to, " strand %d", a->strand);
        fprintf(to, " %s", verb[a->kind]);
        if (a->peer >= 0)
            fprintf(to, " %s %d", a->kind == ACTION_SEND ? "to" : "from", a->peer);
        for (int r = 0; r < a->regions; r++) {
            print_region(s, *collopt_region_of(s, a, r), to);
            if (r == 0 && a->regions > 1 && a->kind != ACTION_PREFIXES)
                fprintf(to, " <-");
        }
        fprintf(to, "\n");
    }
}
