/* The catalogue as a whole: what descriptors say of themselves; what there is for every number of
 * ranks up to 64; what the built-in selection makes of long vectors.  Bounds are measured by the
 * replay of the programs, cost functions are not asked. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "kernels/exact_words.h"
#include "model/machine.h"
#include "shared/replay.h"
#include "schedule/bind.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/parameters.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"
#include "select/decide.h"
#include "select/exact.h"
#include "select/prediction_cache.h"
#include "topology/topology.h"
#include "share.h"
#include "suite.h"
#include "trial.h"

enum { MOST_RANKS = 64 };

/* ---- what descriptors say -------------------------------------------------------------------- */

/* One cell of the tables that are made from the descriptors. */
static void fits(const struct collopt_algorithm *a, const char *field, const char *text,
                 size_t most)
{
    const char *c = collopt_collective_names[a->collective];

    ck_assert_msg(text && *text, "%s %s says nothing in .%s", c, a->name, field);
    ck_assert_msg(strlen(text) <= most, "%s %s: .%s is longer than %zu: %s", c, a->name, field,
                  most, text);
    ck_assert_msg(!text[strcspn(text, "|\n\t")], "%s %s: .%s would break a table: %s", c, a->name,
                  field, text);
    ck_assert_msg(text[0] != ' ' && !strchr(" .", text[strlen(text) - 1]),
                  "%s %s: .%s is a part of a sentence: \"%s\"", c, a->name, field, text);
}

static void parameter_is_complete(const struct collopt_algorithm *a,
                                  const struct collopt_parameter *p)
{
    fits(a, "parameter.name", p->name, 20);
    fits(a, "parameter.help", p->help, 80);
    ck_assert_msg(p->preset, "%s %s: %s has no preset", collopt_collective_names[a->collective],
                  a->name, p->name);
    ck_assert_msg(p->least <= p->most, "%s %s: %s has no range",
                  collopt_collective_names[a->collective], a->name, p->name);
}

TESTS(descriptors_are_complete, 0, trial_algorithms())
{
    const struct collopt_algorithm *a = collopt_algorithms[_i];

    fits(a, "name", a->name, 24);
    fits(a, "summary", a->summary, 96);
    ck_assert_msg(strstr(a->summary, "; "), "%s: the summary has no \"; what it is good for\"",
                  a->name);
    fits(a, "source", a->source, 100);
    ck_assert_ptr_nonnull(a->traffic);
    ck_assert_ptr_nonnull(a->build);
    ck_assert_msg(!a->usable == !a->unfit,
                  "%s refuses and does not say why, or the other way round", a->name);
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        parameter_is_complete(a, &a->parameter[i]);
}

/* A schedule as text; to be freed. */
static char *written(const struct collopt_algorithm *a, const struct collopt_problem *p, int rank)
{
    struct collopt_schedule *s = collopt_schedule_new(a, p, rank, 0);
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);

    ck_assert(s && to);
    print_schedule(s, to);
    fclose(to);
    collopt_schedule_free(s);
    return text;
}

/* A schedule is kept for all counts (src/mpi/plan/plan.c), so nothing but its parameters and
 * segments may come from a count. */
TESTS(schedules_know_no_count, 0, trial_algorithms())
{
    enum { RANKS = 12 };
    const struct collopt_algorithm *a = collopt_algorithms[_i];
    struct trial t = { .algorithm = a,
                       .ranks = RANKS,
                       .count = RANKS,
                       .nodes = a->grouped ? TRIAL_FOURS : TRIAL_ONE_NODE };
    struct workshop w = { 0 };
    char why[PROOF_WHY];

    if (workshop_state(&w, &t, why)) {
        struct collopt_problem longer = w.problem;

        longer.count = (size_t)RANKS << 20;
        for (int rank = 0; rank < RANKS; rank++) {
            char *few = written(a, &w.problem, rank), *many = written(a, &longer, rank);

            ck_assert_msg(strcmp(few, many) == 0,
                          "%s %s, rank %d of %d: another schedule for more elements",
                          collopt_collective_names[a->collective], a->name, rank, RANKS);
            free(few);
            free(many);
        }
    }
    workshop_close(&w);
}

/* A name that was removed is told with one that serves the same collective. */
TEST(removed_names_lead_to_others)
{
    static const char *const names[] = { "binary_blocks", "binary_tree", "bine_tree", "census",
                                         "circulant_pipeline", "dual_root", "short_elimination",
                                         "swing_latency",
                                         "torus" };
    static const char nearest[] = "the nearest is ";
    int n = 0;

    for (int i = 0; i < (int)(COLLOPT_COLLECTIVES * (sizeof names / sizeof *names)); i++) {
        enum collopt_collective c = (enum collopt_collective)(i % COLLOPT_COLLECTIVES);
        const char *name = names[i / COLLOPT_COLLECTIVES], *at;
        struct collopt_choice choice;
        char message[800];

        if (collopt_parse_choice(name, c, &choice, message, sizeof message)
            || !strstr(message, " since collopt "))
            continue;
        n++;
        at = strstr(message, nearest);
        ck_assert_ptr_nonnull(at);
        at += sizeof nearest - 1;
        ck_assert_msg(collopt_algorithm_named(c, at, strlen(at)), "%s", message);
    }
    ck_assert_int_eq(n, 11);
}

TEST(names_are_unique)
{
    for (int i = 0; collopt_algorithms[i]; i++)
        ck_assert_ptr_eq(collopt_algorithms[i],
                         collopt_algorithm_named(collopt_algorithms[i]->collective,
                                                 collopt_algorithms[i]->name,
                                                 strlen(collopt_algorithms[i]->name)));
}

/* ---- measuring ------------------------------------------------------------------------------- */

struct measured {
    int ranks;
    double rounds;              /* time where a message takes 1, and all else nothing */
    double vectors;             /* sent or received by the busiest rank, in vectors of one rank */
    /* time where an element of a message takes 1 / count, and all else nothing */
    double transfer;
    double largest;             /* message, in vectors */
};

static int most_of(int a, int b)
{
    return a > b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void measure_rank(const struct collopt_bound *b, double count, struct measured *m)
{
    struct collopt_load load;

    collopt_weigh(b, &load);
    m->vectors = larger(m->vectors, larger((double)load.sent, (double)load.received) / count);
    for (int i = 0; i < b->messages; i++)
        m->largest = larger(m->largest, (double)b->message[i].n / count);
}

static struct measured measure(const struct workshop *w)
{
    const struct collopt_clock rounds = { .alpha = 1 }, transfer = { .beta = 1 };
    struct measured m = { .ranks = w->t.ranks };
    double count = (double)w->problem.count;
    struct collopt_pairs pairs;
    char why[PROOF_WHY];

    for (int r = 0; r < w->t.ranks; r++)
        measure_rank(w->program[r], count, &m);
    ck_assert_msg(collopt_pair(&pairs, w->t.ranks, (const struct collopt_bound *const *)w->program,
                               why, sizeof why),
                  "%s p %d: %s", w->t.algorithm->name, w->t.ranks, why);
    m.rounds = collopt_replay(&pairs, &rounds, NULL);
    m.transfer = collopt_replay(&pairs, &transfer, NULL) / count;
    collopt_unpair(&pairs);
    ck_assert_msg(m.rounds >= 0 && m.transfer >= 0, "%s p %d: no end", w->t.algorithm->name,
                  w->t.ranks);
    return m;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* For every number of ranks some algorithm of the collective keeps within a bound; those for any
 * operation are in rank order. */
struct bound {
    enum collopt_collective collective;
    bool any_operation;
    const char *words;
    bool (*holds)(const struct measured *m);
};

enum { SEGMENTS = 256 };        /* of a pipeline, at most */

static int log2_above(int ranks)
{
    int q = 0;

    while (1 << q < ranks)
        q++;
    return q;
}

static bool fewest_rounds(const struct measured *m)
{
    return m->rounds <= log2_above(m->ranks);
}

static bool one_round_more(const struct measured *m)
{
    return m->rounds <= log2_above(m->ranks) + 1;
}

static bool at_most(double measured, double bound)
{
    return measured <= bound * (1 + 1e-9);
}

static bool there_and_back(const struct measured *m)
{
    return m->rounds <= 2 * log2_above(m->ranks)
        && at_most(m->vectors, 2.0 * (m->ranks - 1) / m->ranks);
}

static bool under_three_vectors(const struct measured *m)
{
    return m->rounds <= 2 * log2_above(m->ranks) && m->vectors < 3;
}

static bool one_vector(const struct measured *m)
{
    return at_most(m->vectors, 1 + (double)log2_above(m->ranks) / SEGMENTS);
}

static bool fewest_of_both(const struct measured *m)
{
    return m->rounds <= log2_above(m->ranks) && at_most(m->vectors, (m->ranks - 1.0) / m->ranks);
}

static bool two_vectors_in_all(const struct measured *m)
{
    return at_most(m->vectors, 2) && m->transfer <= 2.5;
}

static const struct bound bounds[] = {
    { COLLOPT_ALLREDUCE, true, "one round more for any operation", one_round_more },
    { COLLOPT_ALLREDUCE, false, "2 (p-1)/p of the vector in twice the rounds", there_and_back },
    { COLLOPT_ALLREDUCE, true, "less than three vectors in rank order", under_three_vectors },
    { COLLOPT_ALLREDUCE, true, "two vectors in rank order", two_vectors_in_all },
    { COLLOPT_REDUCE, false, "one vector and little more", one_vector },
    { COLLOPT_REDUCE, true, "ceil(log2 p) rounds for any operation", fewest_rounds },
    { COLLOPT_REDUCE, true, "two vectors in rank order", two_vectors_in_all },
    { COLLOPT_REDUCE_SCATTER, false, "(p-1)/p of the vector in ceil(log2 p) rounds",
      fewest_of_both },
    { COLLOPT_REDUCE_SCATTER, true, "one round more for any operation", one_round_more },
    { COLLOPT_REDUCE_SCATTER_BLOCK, false, "(p-1)/p of the vector in ceil(log2 p) rounds",
      fewest_of_both },
    { COLLOPT_REDUCE_SCATTER_BLOCK, true, "one round more for any operation", one_round_more },
    { COLLOPT_SCAN, true, "ceil(log2 p) rounds", fewest_rounds },
    { COLLOPT_SCAN, true, "two vectors", two_vectors_in_all },
    { COLLOPT_EXSCAN, true, "ceil(log2 p) rounds", fewest_rounds },
    { COLLOPT_EXSCAN, true, "two vectors", two_vectors_in_all },
};

static bool may_keep(const struct bound *b, const struct collopt_algorithm *a)
{
    return a->collective == b->collective && (a->order == COLLOPT_IN_ORDER || !b->any_operation);
}

/* A is measured in one piece and, if it can be cut, in as many as there may be. */
static bool keeps(const struct bound *b, const struct collopt_algorithm *a, int ranks, int root)
{
    size_t pieces = a->parameter[0].name && !strcmp(a->parameter[0].name, "segment") ? SEGMENTS : 1;
    struct trial t = { .algorithm = a,
                       .ranks = ranks,
                       .root = root,
                       .count = 2 * SEGMENTS * (size_t)ranks };
    struct workshop w = { 0 };
    bool good = false;
    char why[PROOF_WHY];

    for (size_t n = pieces; n > 0 && !good; n = n > 1 ? 1 : 0) {
        if (pieces > 1)
            t.value[0] = t.count / n * TRIAL_SIZE;
        if (!workshop_open(&w, &t, why))
            break;

        struct measured m = measure(&w);

        good = b->holds(&m);
    }
    workshop_close(&w);
    return good;
}

/* What was good enough for more ranks is tried first. */
static const struct collopt_algorithm *keeper(const struct bound *b,
                                              const struct collopt_algorithm *last, int ranks,
                                              int root)
{
    if (last && keeps(b, last, ranks, root))
        return last;
    for (int i = 0; collopt_algorithms[i]; i++)
        if (may_keep(b, collopt_algorithms[i]) && keeps(b, collopt_algorithms[i], ranks, root))
            return collopt_algorithms[i];
    return NULL;
}

TESTS(bounds_are_kept, 0, sizeof bounds / sizeof *bounds)
{
    const struct bound *b = &bounds[_i];
    const struct collopt_algorithm *a = NULL;

    for (int ranks = MOST_RANKS; ranks > 0; ranks--) {
        const int root[] = { 0, ranks / 2, ranks - 1 };

        if (left_out(_i + ranks))
            continue;
        for (int i = 0; i < (b->collective == COLLOPT_REDUCE ? 3 : 1); i++) {
            a = keeper(b, a, ranks, root[i]);
            ck_assert_msg(a, "%s p %d root %d: no algorithm has %s",
                          collopt_collective_names[b->collective], ranks, root[i], b->words);
        }
    }
}

/* ---- operations of the user's ---------------------------------------------------------------- */

/* All ranks' elements that are combined and copied. */
static void weigh(const struct trial *t, size_t *combined, size_t *copied)
{
    struct workshop w = { 0 };
    char why[PROOF_WHY];

    *combined = *copied = 0;
    ck_assert_msg(workshop_open(&w, t, why), "%s p %d: %s", t->algorithm->name, t->ranks, why);
    for (int r = 0; r < t->ranks; r++) {
        struct collopt_load load;

        collopt_weigh(w.program[r], &load);
        *combined += load.combined;
        *copied += load.copied;
    }
    workshop_close(&w);
}

/* right = left op right costs a copy of the right operand, where it is still needed.  A second one,
 * of the result, is rare: where it is to replace a sum that was not received
 * (recursive_halving beside a power of two). */
TESTS(two_operands_cost_one_copy, 0, trial_algorithms())
{
    const struct collopt_algorithm *a = collopt_algorithms[_i];
    size_t variant[TRIAL_VARIANTS][COLLOPT_PARAMETERS];

    for (int ranks = 2; ranks <= 9; ranks++) {
        int variants = trial_variants(a, ranks, variant);
        struct trial t = { .algorithm = a, .ranks = ranks, .count = 840 };
        size_t combined, copied, again, with_two;

        if (variants == 0)
            continue;
        memcpy(t.value, variant[0], sizeof t.value);
        weigh(&t, &combined, &copied);
        t.two_operands = TRIAL_TWO_OPERANDS;
        weigh(&t, &again, &with_two);
        ck_assert_msg(
            3 * (with_two - copied) <= 4 * combined,
            "%s %s p %d: %zu elements copied for %zu combinations, %zu with three operands",
            collopt_collective_names[a->collective], a->name, ranks, with_two, combined, copied);
    }
}

/* ---- long vectors, as the selection has them ------------------------------------------------- */

/* What runs for COUNT elements of 8 bytes where nothing is forced. */
static struct measured selected(enum collopt_collective c, int ranks, int root, size_t count,
                                bool commutative, char *name, size_t size)
{
    static const struct collopt_topology flat = { .nodes = 1 };
    struct collopt_problem p = { .collective = c,
                                 .ranks = ranks,
                                 .root = root,
                                 .count = count,
                                 .size = TRIAL_SIZE,
                                 .commutative = commutative,
                                 .segments = 1,
                                 .topology = &flat };
    struct collopt_decision d;
    struct trial t = { .ranks = ranks, .root = root, .count = count };
    struct workshop w = { 0 };
    struct measured m;
    char why[PROOF_WHY];

    collopt_select(&p, &d);
    ck_assert_msg(d.choice.algorithm, "%s p %d count %zu: nothing is selected",
                  collopt_collective_names[c], ranks, count);
    t.algorithm = d.choice.algorithm;
    memcpy(t.value, d.choice.value, sizeof t.value);
    collopt_choice_text(&d.choice, name, size);
    ck_assert_msg(workshop_open(&w, &t, why), "%s by %s p %d: %s", collopt_collective_names[c],
                  name, ranks, why);
    m = measure(&w);
    workshop_close(&w);
    return m;
}

/* Whatever the operation, from four ranks on: no message has more than half of the parts, rounded
 * up, and all that travels one behind the other is less than three vectors. */
TESTS(long_vectors_are_cut, 0, 2 * COLLOPT_COLLECTIVES)
{
    static const size_t counts[] = { 1 << 15, 1 << 18, 1 << 23 };       /* 256 KiB, 2 MiB, 64 MiB */
    enum collopt_collective c = (enum collopt_collective)(_i / 2);
    bool commutative = _i % 2;

    for (int ranks = 4; ranks <= MOST_RANKS; ranks += ranks < 17 ? 1 : 5)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            size_t count = counts[i] / (size_t)ranks * (size_t)ranks;
            char name[400];
            double half = (ranks + 1) / 2 / (double)ranks;

            if (left_out(_i + ranks + (long)i))
                continue;

            struct measured m = selected(c, ranks, ranks / 2, count, commutative, name,
                                         sizeof name);

            ck_assert_msg(m.largest <= half + 0.01 && m.transfer < 3,
                          "%s by %s p %d count %zu%s: a message of %g vectors, %g on the "
                          "way",
                          collopt_collective_names[c], name, ranks, count,
                          commutative ? "" : " in order", m.largest, m.transfer);
        }
}

/* Of any length: no more than ceil(log2 p) whole vectors one behind the other, and long ones in
 * pieces.  Of single elements several may come at once, and of few ranks all: their latencies
 * overlap, which this count does not see. */
TESTS(scans_are_no_chains, 0, 2)
{
    enum { AT_ONCE = 4 };
    static const size_t counts[] = { 1, 512, 1 << 13, 1 << 14, 1 << 15, 1 << 18, 1 << 23 };
    enum collopt_collective c = _i ? COLLOPT_EXSCAN : COLLOPT_SCAN;

    for (int ranks = 2; ranks <= MOST_RANKS; ranks++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            char name[400];

            if (left_out(_i + ranks + (long)i))
                continue;

            struct measured m = selected(c, ranks, 0, counts[i], false, name, sizeof name);

            ck_assert_msg(
                m.transfer <= log2_above(ranks)
                    || (counts[i] == 1
                        && (m.transfer <= AT_ONCE || m.transfer <= 2 * log2_above(ranks))),
                "%s by %s p %d count %zu: %g vectors behind one another",
                collopt_collective_names[c], name, ranks, counts[i], m.transfer);
            ck_assert_msg(ranks < 4 || counts[i] < 1 << 14 || m.largest <= 0.25,
                          "%s by %s p %d count %zu: a message of %g vectors",
                          collopt_collective_names[c], name, ranks, counts[i], m.largest);
        }
}

/* ---- choices of before ----------------------------------------------------------------------- */

TEST(counts_are_rounded_up)
{
    struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE, .ranks = 6 };

    for (p.count = 0; p.count < 5000; p.count++) {
        size_t n = collopt_rounded(&p);

        ck_assert_msg(n >= p.count && 8 * n <= 9 * p.count + 8 && (p.count > 16 || n == p.count),
                      "%zu: %zu", p.count, n);
    }
    for (p.count = 1; p.count; p.count *= 2)
        ck_assert_uint_eq(collopt_rounded(&p), p.count);
    p.count = SIZE_MAX;
    ck_assert_uint_eq(collopt_rounded(&p), SIZE_MAX);
    p.collective = COLLOPT_REDUCE_SCATTER_BLOCK;        /* which has as much for each */
    p.count = 6 * 1001;
    ck_assert_uint_eq(collopt_rounded(&p), 6 * 1024);
    p.counts = &p.count;
    ck_assert_uint_eq(collopt_rounded(&p), 6 * 1001);
}

static bool same_decision(const struct collopt_decision *a, const struct collopt_decision *b)
{
    return a->choice.algorithm == b->choice.algorithm
        && memcmp(a->choice.value, b->choice.value, sizeof a->choice.value) == 0
        && strcmp(a->why, b->why) == 0 && a->open == b->open;
}

/* Ranks that have made other calls before remember others: what is remembered must be what they
 * would find out. */
TESTS(what_is_remembered_is_what_is_chosen, 0, COLLOPT_COLLECTIVES)
{
    static const struct collopt_topology flat = { .nodes = 1 };
    static const struct collopt_machine other;
    struct collopt_remembered *r = collopt_remembered_new();
    struct collopt_problem p = { .collective = (enum collopt_collective)_i,
                                 .ranks = 6,
                                 .size = TRIAL_SIZE,
                                 .segments = 1,
                                 .topology = &flat };

    ck_assert_ptr_nonnull(r);
    for (size_t i = 0; i < 3000; i++) {
        struct collopt_decision again, anew;

        p.count = i % 3 ? i : i * i;
        if (p.collective == COLLOPT_REDUCE_SCATTER_BLOCK)
            p.count *= 6;
        p.commutative = i % 5 > 0;
        p.root = p.collective == COLLOPT_REDUCE ? (int)(i % 7 % 6) : 0;
        collopt_select_again(&p, r, &again);
        collopt_select(&p, &anew);
        ck_assert_msg(same_decision(&again, &anew), "%s of %zu: %s (%s), anew %s (%s)",
                      collopt_collective_names[_i], p.count, again.choice.algorithm->name,
                      again.why, anew.choice.algorithm->name, anew.why);
    }
    p.count = collopt_rounded(&p);
    ck_assert_ptr_nonnull(collopt_recall(r, &p));
    p.root++;
    ck_assert_ptr_null(collopt_recall(r, &p));
    p.root--;
    p.machine = &other;         /* what goes by messages is predicted for another one */
    ck_assert_ptr_null(collopt_recall(r, &p));
    ck_assert_ptr_null(collopt_recall(NULL, &p));
    collopt_remembered_free(r);
    collopt_remembered_free(NULL);
}

/* ---- scratch of what is chosen --------------------------------------------------------------- */

/* On how many nodes; CROWDED: there are more ranks than processors. */
enum where { ALONE, CROWDED, NODES, CROWDED_NODES, DEALT_OUT, PLACES };

static const char *const where_names[PLACES] = { "one node", "one crowded node", "nodes of 8",
                                                 "crowded nodes of 8", "dealt out to 3 nodes" };

/* NODE has room for RANKS. */
static struct collopt_topology topology_of(enum where where, int ranks, int *node)
{
    struct collopt_topology t = { .nodes = 0,
                                  .node = node,
                                  .oversubscribed = where == CROWDED || where == CROWDED_NODES };

    for (int r = 0; r < ranks; r++) {
        node[r] = where == DEALT_OUT ? r % 3 : where >= NODES ? r / 8 : 0;
        t.nodes = most_of(t.nodes, node[r] + 1);
    }
    ck_assert(collopt_topology_measure(&t, ranks));
    return t;
}

/* Vectors of scratch that the neediest rank has with CHOICE. */
static double scratch_of(struct collopt_problem p, const struct collopt_choice *choice)
{
    double most = 0;

    collopt_set_parameters(&p, choice);
    for (int r = 0; r < p.ranks; r++) {
        struct collopt_schedule *s = collopt_schedule_new(choice->algorithm, &p, r, 0);
        struct collopt_bound *b = s ? collopt_bind(s, &p, NULL) : NULL;
        struct collopt_load load;

        ck_assert_ptr_nonnull(b);
        collopt_weigh(b, &load);
        most = larger(most, (double)load.scratch / (double)p.count);
        collopt_bound_free(b);
        collopt_schedule_free(s);
    }
    return most;
}

static void check_scratch(const struct collopt_problem *p, double vectors, const char *words)
{
    struct collopt_decision d;
    double needed;
    char name[400];

    collopt_select(p, &d);
    ck_assert_msg(d.choice.algorithm, "%s p %d, %s: nothing is selected",
                  collopt_collective_names[p->collective], p->ranks, words);
    collopt_choice_text(&d.choice, name, sizeof name);
    needed = scratch_of(*p, &d.choice);
    ck_assert_msg(at_most(needed, vectors), "%s by %s p %d count %zu%s, %s: %g vectors of scratch",
                  collopt_collective_names[p->collective], name, p->ranks, p->count,
                  p->commutative ? "" : " in order", words, needed);
}

/* From two trees, segments or nodes come some of a few vectors each: six are enough, however many
 * ranks there are.  Where more ranks than were measured share processors the model may take trees
 * of eight, with receives of two levels under way. */
static double vectors_for(enum where where, int ranks)
{
    enum { MEASURED = 16 };

    return where == CROWDED && ranks > MEASURED ? 1 + 2 * (COLLOPT_FOLD_OPERANDS - 1) : 6;
}

static const int some_ranks[] = { 2, 3, 4, 7, 8, 20, 31, 42 };
static const size_t long_counts[] = { 1 << 15, 1 << 18, 1 << 21 };      /* 256 KiB, 2 MiB, 16 MiB */

enum {
    SOME_RANKS = sizeof some_ranks / sizeof *some_ranks,
    LONG_COUNTS = sizeof long_counts / sizeof *long_counts
};

/* What is to be done by test number I, with the n-th of the counts above. */
static struct collopt_problem long_problem(int i, int ranks, int n)
{
    enum collopt_collective c = (enum collopt_collective)(i / 2);

    return (struct collopt_problem){ .collective = c,
                                     .ranks = ranks,
                                     .root = c == COLLOPT_REDUCE ? ranks / 2 : 0,
                                     .count = long_counts[n] / (size_t)ranks * (size_t)ranks,
                                     .size = TRIAL_SIZE,
                                     .commutative = i % 2,
                                     .segments = 1 };
}

TESTS(long_vectors_need_little_scratch, 0, 2 * COLLOPT_COLLECTIVES)
{
    static const enum collopt_network networks[] = { COLLOPT_FAST_NETWORK, COLLOPT_TCP };
    int node[MOST_RANKS];

    for (int i = 0; i < SOME_RANKS * LONG_COUNTS * PLACES * 2; i++) {
        int ranks = some_ranks[i % SOME_RANKS], n = i / SOME_RANKS % LONG_COUNTS;
        enum where where = (enum where)(i / SOME_RANKS / LONG_COUNTS % PLACES);
        struct collopt_topology t = topology_of(where, ranks, node);
        struct collopt_machine m =
            collopt_bundled_machines[networks[i / SOME_RANKS / LONG_COUNTS / PLACES]];
        struct collopt_problem p = long_problem(_i, ranks, n);

        m.mpi = n % 2 ? COLLOPT_OPENMPI : COLLOPT_MPICH;
        p.topology = &t;
        p.machine = &m;
        if (left_out(_i + i))
            continue;
        check_scratch(&p, vectors_for(where, ranks), where_names[where]);
    }
}

/* Under COLLOPT_REPRODUCIBLE too; and sums that are rounded once are not those of gathered vectors,
 * but on three ranks. */
TESTS(reproducible_choices_need_little_scratch, 0, 2 * COLLOPT_COLLECTIVES)
{
    static const struct collopt_topology nowhere = { .nodes = 1 };

    for (int i = 0; i < SOME_RANKS * LONG_COUNTS * 2; i++) {
        struct collopt_problem p = long_problem(_i, some_ranks[i % SOME_RANKS],
                                                i / SOME_RANKS % LONG_COUNTS);

        p.topology = &nowhere;
        p.anywhere = true;
        p.once = i / SOME_RANKS / LONG_COUNTS;
        if (left_out(_i + i))
            continue;
        check_scratch(&p, 3, p.once ? "exact" : "placement");
    }
}

/* ---- reproducible choices -------------------------------------------------------------------- */

/* Nodes and a grid, of which a choice that is to be reproducible must not show anything. */
static const struct collopt_topology *elaborate(int ranks)
{
    static int node[MOST_RANKS];
    static struct collopt_topology t;

    t = (struct collopt_topology){ .node = node, .oversubscribed = true };
    for (int r = 0; r < ranks; r++)
        t.nodes = most_of(t.nodes, (node[r] = r % 3) + 1);
    ck_assert(collopt_topology_measure(&t, ranks));
    if (ranks > 3 && ranks % 2 == 0)
        collopt_topology_grid(&t, 2, (const int[]){ ranks / 2, 2 }, 3);
    t.wired = true;
    return &t;
}

/* Sets D, and in P the parameters of what was chosen. */
static void choose(struct collopt_problem *p, struct collopt_decision *d)
{
    collopt_select(p, d);
    ck_assert_msg(d->choice.algorithm && !d->choice.algorithm->grouped,
                  "%s p %d count %zu%s: nothing reproducible is selected",
                  collopt_collective_names[p->collective], p->ranks, p->count,
                  p->commutative ? "" : " in order");
    collopt_set_parameters(p, &d->choice);
}

TESTS(reproducible_choices_know_the_call_only, 0, 2 * COLLOPT_COLLECTIVES)
{
    static const struct collopt_topology nowhere = { .nodes = 1 };
    enum collopt_collective c = (enum collopt_collective)(_i / 2);

    for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
        for (size_t count = 0; count < (size_t)1 << 24; count = 3 * count + 1) {
            struct collopt_problem p = { .collective = c,
                                         .ranks = ranks,
                                         .count = count,
                                         .size = TRIAL_SIZE,
                                         .commutative = _i % 2,
                                         .anywhere = true,
                                         .segments = 1,
                                         .topology = &nowhere };
            struct collopt_problem q = p;
            struct collopt_decision there, here;

            q.topology = elaborate(ranks);
            choose(&p, &here);
            choose(&q, &there);
            ck_assert_msg(here.choice.algorithm == there.choice.algorithm
                              && !memcmp(p.value, q.value, sizeof p.value)
                              && p.segments == q.segments,
                          "%s p %d count %zu: %s here, %s there", collopt_collective_names[c],
                          ranks, count, here.choice.algorithm->name, there.choice.algorithm->name);
        }
}

static bool chosen_by_name(const struct collopt_problem *p, const char *name,
                           struct collopt_decision *d, const char **why)
{
    struct collopt_choice choice = {
        .algorithm = name ? collopt_algorithm_named(p->collective, name, strlen(name)) : NULL
    };

    return collopt_select_given(&choice, p, d, why);
}

/* Sums that are rounded once: what combines partial sums adds exact accumulators, which travel
 * where that is faster, and not if they are too long. */
TEST(exact_sums_travel_in_rows)
{
    static const struct collopt_topology nowhere = { .nodes = 1 };
    struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE,
                                 .ranks = 1024,
                                 .count = 1,
                                 .size = sizeof(double),
                                 .row = collopt_exact_row(COLLOPT_DOUBLE, 1024),
                                 .commutative = true,
                                 .once = true,
                                 .segments = 1,
                                 .topology = &nowhere },
                           longer = p, two = p, bare = p;
    struct collopt_decision d;
    const char *why = NULL;

    longer.count = (size_t)1 << 20;
    two.ranks = 2;
    bare.row = 0;
    collopt_select(&p, &d);
    ck_assert_msg(d.rows && d.choice.algorithm && !d.choice.algorithm->once, "%s", d.why);
    ck_assert_ptr_nonnull(strstr(d.why, "in exact accumulators"));
    collopt_select(&longer, &d);
    ck_assert_msg(!d.rows && strcmp(d.choice.algorithm->name, "alltoall") == 0, "%s", d.why);
    collopt_select(&two, &d);
    ck_assert_msg(!d.rows && strcmp(d.choice.algorithm->name, "gather") == 0, "%s", d.why);
    collopt_select(&bare, &d);
    ck_assert_msg(!d.rows && d.choice.algorithm->once, "%s", d.why);
    ck_assert(chosen_by_name(&p, "gather", &d, &why) && !d.rows);
    ck_assert(chosen_by_name(&p, "ring", &d, &why) && d.rows);
    ck_assert(!chosen_by_name(&longer, "ring", &d, &why) && strstr(why, "rounds once"));
    ck_assert(!chosen_by_name(&bare, "ring", &d, &why) && strstr(why, "rounds once"));
    ck_assert(!chosen_by_name(&p, NULL, &d, &why) && strstr(why, "COLLOPT_REPRODUCIBLE"));
}

TEST(what_is_not_reproducible_is_refused)
{
    static const struct collopt_topology nowhere = { .nodes = 1 };
    const struct collopt_algorithm *leader = collopt_algorithm_named(COLLOPT_ALLREDUCE, "leader",
                                                                     6);
    struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE,
                                 .ranks = 4,
                                 .count = 8,
                                 .size = TRIAL_SIZE,
                                 .commutative = true,
                                 .segments = 1,
                                 .topology = &nowhere };
    const struct collopt_choice choices[] = { { .algorithm = NULL }, { .algorithm = leader } };
    const char *why;

    for (int i = 0; i < 2; i++) {
        p.anywhere = false;
        ck_assert(collopt_choice_usable(&choices[i], &p, &why));
        p.anywhere = true;
        ck_assert(!collopt_choice_usable(&choices[i], &p, &why)
                  && strstr(why, "COLLOPT_REPRODUCIBLE"));
    }
}

int main(void)
{
    return suite_run("catalogue");
}
