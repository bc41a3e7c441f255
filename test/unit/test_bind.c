/* Binding: one schedule, many counts.  Partitions are even to one element, offsets are 64 bits
 * wide, long messages are cut, and what a schedule bound to one count does at an element it does at
 * the same part of any other. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "shared/replay.h"
#include "schedule/bind.h"
#include "schedule/block.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"
#include "schedule/write.h"
#include "topology/topology.h"
#include "share.h"
#include "suite.h"
#include "trial.h"

static const struct collopt_topology one_node = { .nodes = 1 };

/* ---- partitions: a schedule that sends every part of one, in order --------------------------- */

static int parts, inner;

static void send_all(struct collopt_schedule *s, int partition, int n)
{
    for (int i = 0; i < n; i++)
        collopt_send(s, 1,
                     (struct collopt_region){ .place = COLLOPT_IN,
                                              .blocks = 1,
                                              .block = { partition, i, 1 } });
}

static void build_parts(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    (void)p, (void)rank;
    send_all(s, collopt_partition(s, parts), parts);
}

static void build_each(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    (void)p, (void)rank;
    send_all(s, collopt_partition_each(s, collopt_partition(s, parts), inner), parts * inner);
}

/* The last part of a partition, cut again. */
static void build_block(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int outer = collopt_partition(s, parts);

    (void)p, (void)rank;
    send_all(s, outer, parts - 1);
    send_all(s, collopt_partition_block(s, (struct collopt_block){ outer, parts - 1, 1 }, inner),
             inner);
}

static struct collopt_bound *bind_parts(void (*build)(struct collopt_schedule *,
                                                      const struct collopt_problem *, int),
                                        size_t count, size_t cut)
{
    const struct collopt_algorithm a = { .name = "parts",
                                         .collective = COLLOPT_REDUCE,
                                         .build = build };
    const struct collopt_problem p = { .collective = COLLOPT_REDUCE,
                                       .ranks = 2,
                                       .root = 1,
                                       .count = count,
                                       .size = 8,
                                       .segments = 1,
                                       .topology = &one_node };
    struct collopt_schedule *s = collopt_schedule_new(&a, &p, 0, 0);
    const struct collopt_cut cuts[] = { { cut, cut, false }, { 0 } };
    struct collopt_bound *b = s ? collopt_bind(s, &p, cuts) : NULL;

    ck_assert_ptr_nonnull(b);
    collopt_schedule_free(s);
    return b;
}

/* The parts lie one behind the other and make up the vector; none is empty, as empty messages are
 * not bound. */
static void check_cover(const struct collopt_bound *b, size_t count)
{
    size_t at = 0;

    for (int i = 0; i < b->messages; i++) {
        ck_assert_msg(b->message[i].runs == 1 && b->message[i].run[0].at == at
                          && b->message[i].n > 0,
                      "count %zu parts %d inner %d: message %d", count, parts, inner, i);
        at += b->message[i].n;
    }
    ck_assert_uint_eq(at, count);
}

static void check_even(const struct collopt_bound *b, size_t count, int n)
{
    size_t least = b->messages < n ? 0 : SIZE_MAX, most = 0;

    for (int i = 0; i < b->messages; i++) {
        least = b->message[i].n < least ? b->message[i].n : least;
        most = b->message[i].n > most ? b->message[i].n : most;
    }
    ck_assert_msg(b->messages == 0 || most - least <= 1, "count %zu parts %d: from %zu to %zu",
                  count, n, least, most);
}

static const size_t counts[] = { 0, 1, 2, 3, 7, 64, 769, 1000, 65537, ((size_t)1 << 40) + 12345 };

TEST(parts_are_even)
{
    for (parts = 1; parts <= 70; parts++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            struct collopt_bound *b = bind_parts(build_parts, counts[i], SIZE_MAX);

            check_cover(b, counts[i]);
            check_even(b, counts[i], parts);
            collopt_bound_free(b);
        }
}

TEST(nested_parts_cover)
{
    for (parts = 1; parts <= 9; parts++)
        for (inner = 1; inner <= 9; inner++)
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                struct collopt_bound *each = bind_parts(build_each, counts[i], SIZE_MAX);
                struct collopt_bound *block = bind_parts(build_block, counts[i], SIZE_MAX);

                check_cover(each, counts[i]);
                check_cover(block, counts[i]);
                collopt_bound_free(each);
                collopt_bound_free(block);
            }
}

TEST(long_messages_are_cut)
{
    const size_t count = ((size_t)1 << 40) + 5, cut = ((size_t)1 << 31) - 1;

    for (parts = 1; parts <= 3; parts++) {
        struct collopt_bound *b = bind_parts(build_parts, count, cut);
        size_t wanted = 0;

        for (int i = 0; i < parts; i++)
            wanted += (count / (size_t)parts + ((size_t)i < count % (size_t)parts) + cut - 1) / cut;
        check_cover(b, count);
        ck_assert_uint_eq((size_t)b->messages, wanted);
        for (int i = 0; i < b->messages; i++)
            ck_assert(b->message[i].n <= cut);
        collopt_bound_free(b);
    }
}

static void build_twice(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    const struct collopt_block whole = { collopt_partition(s, 1), 0, 1 }, both[] = { whole, whole };

    (void)p, (void)rank;
    collopt_send(s, 1, (struct collopt_region){ .place = COLLOPT_IN, .blocks = 2, .list = both });
}

/* What counts is the length of the message, not of the vector: it may be longer. */
TEST(messages_longer_than_the_vector_are_cut)
{
    struct collopt_bound *b = bind_parts(build_twice, 60, 100);

    ck_assert_int_eq(b->messages, 2);
    ck_assert_uint_eq(b->message[0].n, 60);
    ck_assert_uint_eq(b->message[1].n, 60);
    collopt_bound_free(b);
}

/* The last cut that a message is longer than holds, and the pieces are even. */
TEST(pieces_are_even)
{
    const struct collopt_algorithm a = { .name = "parts",
                                         .collective = COLLOPT_REDUCE,
                                         .build = build_parts };
    const struct collopt_cut cuts[] = { { 10, 4, false },
                                        { 20, SIZE_MAX, false },
                                        { 30, 16, false },
                                        { 0 } };
    struct collopt_problem p = { .collective = COLLOPT_REDUCE,
                                 .ranks = 2,
                                 .root = 1,
                                 .size = 8,
                                 .segments = 1,
                                 .topology = &one_node };

    parts = 1;
    for (p.count = 1; p.count <= 100; p.count++) {
        struct collopt_schedule *s = collopt_schedule_new(&a, &p, 0, 0);
        struct collopt_bound *b = s ? collopt_bind(s, &p, cuts) : NULL;
        size_t piece = p.count > 30 ? 16 : p.count > 20 ? p.count : p.count > 10 ? 4 : p.count;

        ck_assert_ptr_nonnull(b);
        check_cover(b, p.count);
        ck_assert_msg((size_t)b->messages == (p.count + piece - 1) / piece, "count %zu: %d",
                      p.count, b->messages);
        for (int i = 0; i < b->messages; i++)
            ck_assert_msg(b->message[i].n <= piece && 2 * b->message[i].n >= piece - 1,
                          "count %zu: %zu", p.count, b->message[i].n);
        collopt_bound_free(b);
        collopt_schedule_free(s);
    }
}

/* ---- rounds that are kept -------------------------------------------------------------------- */

/* A letter for each step: post Receive, post Send, Wait, receive (r), send (s), Fold, Copy. */
static void letters(const struct collopt_bound *b, char *steps, size_t room)
{
    size_t k = 0;

    for (; k < room - 1 && b->strand[0][k].kind != COLLOPT_END; k++)
        steps[k] = "RSWrsFCA"[b->strand[0][k].kind];
    steps[k] = '\0';
}

static bool kept;

/* In each of three rounds a message to another rank and one from it. */
static void build_rounds(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    const struct collopt_block whole = { COLLOPT_WHOLE, 0, 1 };

    if (kept)
        collopt_keep_rounds(s);
    for (int i = 1; i < p->ranks; i++) {
        int peer = (rank + i) % p->ranks;

        collopt_round(s);
        collopt_send(s, peer,
                     (struct collopt_region){ .place = COLLOPT_IN, .blocks = 1, .block = whole });
        collopt_receive(s, peer,
                        (struct collopt_region){ .place = collopt_packed_slot(s),
                                                 .blocks = 1,
                                                 .block = whole });
    }
}

TEST(rounds_are_kept)
{
    static const char *const wanted[] = { "RRRSSSWWWWWW", "SrWSrWSrW" };
    const struct collopt_algorithm a = { .name = "rounds",
                                         .collective = COLLOPT_REDUCE,
                                         .build = build_rounds };
    const struct collopt_problem p = { .collective = COLLOPT_REDUCE,
                                       .ranks = 4,
                                       .root = 3,
                                       .count = 10,
                                       .size = 8,
                                       .segments = 1,
                                       .topology = &one_node };

    for (int i = 0; i < 2; i++) {
        char steps[100];
        struct collopt_schedule *s;
        struct collopt_bound *b;

        kept = i;
        s = collopt_schedule_new(&a, &p, 0, 0);
        b = s ? collopt_bind(s, &p, NULL) : NULL;
        ck_assert_ptr_nonnull(b);
        letters(b, steps, sizeof steps);
        ck_assert_str_eq(steps, wanted[i]);
        collopt_bound_free(b);
        collopt_schedule_free(s);
    }
}

/* ---- piece by piece -------------------------------------------------------------------------- */

/* Two ranks, or as many as WORDS say, 60 elements in messages of up to 20. */
static void open_trial(struct workshop *w, const char *words)
{
    struct trial t;
    char copy[200], why[PROOF_WHY], *word[20];
    int n = 0;

    snprintf(copy, sizeof copy, "%s%s count 60 cut 20", words, strstr(words, " p ") ? "" : " p 2");
    for (char *next = strtok(copy, " "); next && n < 20; next = strtok(NULL, " "))
        word[n++] = next;
    ck_assert(trial_read(&t, n, word));
    ck_assert_msg(workshop_open(w, &t, why), "%s: %s", words, why);
}

/* The steps of one rank, a letter each, and how many elements of scratch they take. */
static void check_steps(const char *words, int rank, const char *wanted, size_t scratch)
{
    struct workshop w = { 0 };
    char steps[100];
    size_t slots = 0;

    open_trial(&w, words);

    const struct collopt_bound *b = w.program[rank];

    letters(b, steps, sizeof steps);
    for (int i = 0; i < b->slots - b->views; i++)
        slots += b->slot[i];
    ck_assert_msg(!strcmp(steps, wanted), "%s, rank %d: %s instead of %s", words, rank, steps,
                  wanted);
    ck_assert_msg(slots == scratch, "%s, rank %d: scratch of %zu elements", words, rank, slots);
    workshop_close(&w);
}

/* Each piece is combined before the next one is received, and where no place is given takes the
 * place of the one before it. */
TEST(pieces_are_combined_as_they_come)
{
    check_steps("reduce linear in_turn 1", 0, "rFrFrF", 0);
    check_steps("reduce linear in_turn 1 in_place 1", 0, "rFrFrF", 20);
    check_steps("reduce linear in_turn 1", 1, "SSSWWW", 0);
    check_steps("allreduce recursive_doubling in_turn 1", 0, "SSSrFrFrFWWW", 0);
    check_steps("scan sweep in_turn 1 two_operands 1", 1, "CrFCrFCrF", 20);
    check_steps("scan sweep in_turn 0 two_operands 1", 1, "RRRCWFCWFCWF", 60);
}

/* The first pieces of all that is combined together, then the second ones. An operation of two
 * operands combines one sender's before the next one's. */
TEST(pieces_of_several_senders_come_together)
{
    check_steps("reduce knomial p 3 :radix 3 in_turn 1 near 1", 0, "RRRRRRWWFWWFWWF", 60);
    check_steps("reduce knomial p 3 :radix 3 in_turn 1 near 1 two_operands 1", 0,
                "RRRrFrFrFWFCWFCWFC", 60);
    check_steps("reduce knomial p 4 :radix 4 in_turn 1", 0, "RRRRRRRRRWWWFWWWFWWWF", 120);
}

/* How many elements of messages the rank reads where they are instead of in OUT or in scratch. */
static void check_views(const char *words, size_t for_out, size_t for_scratch)
{
    struct workshop w = { 0 };
    size_t out = 0, scratch = 0;

    open_trial(&w, words);

    const struct collopt_bound *b = w.program[0];

    for (int i = 0; i < b->views; i++)
        *(b->view[i].place == COLLOPT_OUT ? &out : &scratch) += b->message[b->view[i].message].n;
    ck_assert_msg(out == for_out && scratch == for_scratch,
                  "%s: views of %zu elements for OUT, of %zu for scratch", words, out, scratch);
    workshop_close(&w);
}

/* But not what stays in OUT as the result, and not what an operation of two operands combines
 * there. */
TEST(messages_are_read_where_they_are)
{
    check_views("reduce linear near 1", 60, 0);
    check_views("reduce linear near 0", 0, 0);
    check_views("reduce linear near 1 in_place 1", 0, 60);
    check_views("reduce linear near 1 two_operands 1", 0, 0);
    check_views("reduce linear p 3 near 1", 60, 60);
    check_views("allreduce circulant near 1", 30, 0);
    check_views("exscan alltoall near 1", 0, 0);
}

/* A message of 30 elements in each of two rounds, from the same rank: the second one must not be
 * received before the first. */
TEST(later_messages_keep_behind)
{
    check_steps("allreduce circulant in_turn 1", 0, "SSrFrFRRSSWWWWWW", 0);
    check_steps("allreduce circulant in_turn 0", 0, "RRRRSSWFWFSSWWWWWW", 0);
}

/* ---- every algorithm: SCALE times the elements, SCALE times every offset --------------------- */

static bool scaled(const struct collopt_run *a, const struct collopt_run *b, int runs, size_t scale)
{
    for (int i = 0; i < runs; i++)
        if (a[i].place != b[i].place || a[i].at * scale != b[i].at || a[i].n * scale != b[i].n)
            return false;
    return true;
}

static bool steps_scaled(const struct collopt_step *a, const struct collopt_step *b, size_t scale)
{
    for (; a->kind != COLLOPT_END; a++, b++)
        if (a->kind != b->kind || a->message != b->message || a->strand != b->strand
            || a->step != b->step || a->runs != b->runs || !scaled(a->run, b->run, a->runs, scale))
            return false;
    return b->kind == COLLOPT_END;
}

static bool program_scaled(const struct collopt_bound *a, const struct collopt_bound *b,
                           size_t scale)
{
    if (a->strands != b->strands || a->messages != b->messages || a->slots != b->slots
        || a->steps != b->steps)
        return false;
    for (int i = 0; i < a->messages; i++)
        if (a->message[i].runs != b->message[i].runs || a->message[i].n * scale != b->message[i].n
            || a->message[i].peer != b->message[i].peer || a->message[i].tag != b->message[i].tag
            || !scaled(a->message[i].run, b->message[i].run, a->message[i].runs, scale))
            return false;
    for (int i = 0; i < a->slots; i++)
        if (a->slot[i] * scale != b->slot[i])
            return false;
    for (int s = 0; s < a->strands; s++)
        if (!steps_scaled(a->strand[s], b->strand[s], scale))
            return false;
    return true;
}

/* The count divides evenly whatever the partition; 2^17 times as many elements are bound by the
 * same schedule. */
static void check_scaling(struct workshop *w, const struct trial *t, size_t scale)
{
    char why[PROOF_WHY], words[TRIAL_WORDS];

    trial_words(t, words);
    if (!workshop_open(w, t, why)) {
        /* one with reasons of its own */
        ck_assert_msg(t->algorithm->usable, "%s: %s", words, why);
        return;
    }

    struct collopt_problem p = w->problem;

    p.count *= scale;
    for (int r = 0; r < t->ranks; r++) {
        struct collopt_bound *b = collopt_bind(w->schedule[r], &p, NULL);

        ck_assert_ptr_nonnull(b);
        ck_assert_msg(program_scaled(w->program[r], b, scale),
                      "%s: rank %d, bound to %zu times the count", words, r, scale);
        collopt_bound_free(b);
    }
}

TESTS(offsets_grow_with_the_count, 0, trial_algorithms())
{
    static const int ranks[] = { 1, 2, 3, 5, 7, 8, 12, 13, 16, 17 };
    struct workshop w = { 0 };

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (int how = 0; how < 2 * TRIAL_FORMS; how++) {
            struct trial t = { .algorithm = collopt_algorithms[_i],
                               .ranks = ranks[i],
                               .in_place = how % 2,
                               .two_operands = how / 2,
                               .count = (size_t)720720 * 17 * 64 };

            for (int k = 0; k < COLLOPT_PARAMETERS && t.algorithm->parameter[k].name; k++)
                if (t.algorithm->parameter[k].bytes)
                    t.value[k] = t.count / 6 * TRIAL_SIZE;
            if (left_out(_i + (long)i * 2 * TRIAL_FORMS + how))
                continue;
            check_scaling(&w, &t, (size_t)1 << 17);
        }
    workshop_close(&w);
}

/* ---- counts that together are more than an int holds ----------------------------------------- */

static const size_t huge[] = { INT_MAX, INT_MAX, 5, 0 };

enum { SHARES = sizeof huge / sizeof *huge };

static void build_shares(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    (void)rank;
    send_all(s, collopt_partition_counts(s), p->ranks);
}

static void build_each_share(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    (void)rank;
    send_all(s, collopt_partition_each(s, collopt_partition_counts(s), 2), 2 * p->ranks);
}

/* What BUILD sends in a Reduce_scatter with these counts; NULL: all have as many of COUNT. */
static struct collopt_bound *bind_shares(void (*build)(struct collopt_schedule *,
                                                       const struct collopt_problem *, int),
                                         const size_t *shares, size_t count)
{
    const struct collopt_algorithm a = { .name = "shares",
                                         .collective = COLLOPT_REDUCE_SCATTER,
                                         .build = build };
    const struct collopt_problem p = { .collective = COLLOPT_REDUCE_SCATTER,
                                       .ranks = SHARES,
                                       .count = count,
                                       .counts = shares,
                                       .size = 8,
                                       .segments = 1,
                                       .topology = &one_node };
    struct collopt_schedule *s = collopt_schedule_new(&a, &p, 0, 0);
    struct collopt_bound *b = s ? collopt_bind(s, &p, NULL) : NULL;

    ck_assert_ptr_nonnull(b);
    collopt_schedule_free(s);
    return b;
}

static void check_shares(struct collopt_bound *b, int n, const struct collopt_run *wanted)
{
    ck_assert_int_eq(b->messages, n);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(b->message[i].runs, 1);
        ck_assert_uint_eq(b->message[i].run[0].at, wanted[i].at);
        ck_assert_uint_eq(b->message[i].n, wanted[i].n);
    }
    collopt_bound_free(b);
}

TEST(sums_of_counts_are_long)
{
    const size_t m = INT_MAX, half = m / 2;
    const struct collopt_run shares[] = { { .at = 0, .n = m },
                                          { .at = m, .n = m },
                                          { .at = 2 * m, .n = 5 } };
    const struct collopt_run halves[] = {
        { .at = 0, .n = half + 1 }, { .at = half + 1, .n = half },
        { .at = m, .n = half + 1 }, { .at = m + half + 1, .n = half },
        { .at = 2 * m, .n = 3 },    { .at = 2 * m + 3, .n = 2 }
    };
    const struct collopt_run even[] = { { .at = 0, .n = m },
                                        { .at = m, .n = m },
                                        { .at = 2 * m, .n = m },
                                        { .at = 3 * m, .n = m } };

    check_shares(bind_shares(build_shares, huge, 2 * m + 5), 3, shares);
    check_shares(bind_shares(build_each_share, huge, 2 * m + 5), 6, halves);
    check_shares(bind_shares(build_shares, NULL, SHARES * m), SHARES, even);
}

/* Where what is read of IN and written to OUT ends. */
struct reach {
    size_t in, out;
};

static void look_at(struct reach *reach, const struct collopt_run *run, int runs, bool written)
{
    for (int i = 0; i < runs; i++) {
        size_t *end = run[i].place == COLLOPT_IN     ? &reach->in
            : run[i].place == COLLOPT_OUT && written ? &reach->out
                                                     : NULL;

        if (end && *end < run[i].at + run[i].n)
            *end = run[i].at + run[i].n;
    }
}

static struct reach reach_of(const struct collopt_bound *b)
{
    struct reach reach = { 0, 0 };

    for (int i = 0; i < b->messages; i++)
        look_at(&reach, b->message[i].run, b->message[i].runs, !b->message[i].send);
    for (int s = 0; s < b->strands; s++)
        for (const struct collopt_step *q = b->strand[s]; q->kind != COLLOPT_END; q++)
            for (int i = 0; i < q->runs; i++)
                look_at(&reach, &q->run[i], 1, i == 0);
    return reach;
}

/* W's problem with such counts: of a Reduce_scatter these in turn, of a Reduce_scatter_block
 * INT_MAX each. */
static void make_huge(struct workshop *w)
{
    w->problem.count = 0;
    for (int r = 0; r < w->t.ranks; r++) {
        size_t n = w->counts ? huge[r % SHARES] : INT_MAX;

        w->problem.count += n;
        if (w->counts)
            w->counts[r] = n;
    }
}

/* Every rank gives its last element, and gets what it is to get; messages have two ends of one
 * length. */
static void check_reach(const struct workshop *w, const char *words)
{
    struct collopt_bound *program[w->t.ranks];
    struct collopt_pairs pairs;
    char why[PROOF_WHY];

    for (int r = 0; r < w->t.ranks; r++) {
        struct collopt_schedule *s = collopt_schedule_new(w->t.algorithm, &w->problem, r, 0);
        struct reach reach;

        program[r] = s ? collopt_bind(s, &w->problem, NULL) : NULL;
        ck_assert_ptr_nonnull(program[r]);
        reach = reach_of(program[r]);
        ck_assert_msg(reach.in == w->problem.count
                          && reach.out == (w->counts ? w->counts[r] : INT_MAX),
                      "%s, counts of INT_MAX: rank %d reads up to %zu of %zu and writes up to %zu",
                      words, r, reach.in, w->problem.count, reach.out);
        collopt_schedule_free(s);
    }
    ck_assert_msg(collopt_pair(&pairs, w->t.ranks, (const struct collopt_bound *const *)program,
                               why, sizeof why),
                  "%s: %s", words, why);
    collopt_unpair(&pairs);
    for (int r = 0; r < w->t.ranks; r++)
        collopt_bound_free(program[r]);
}

TESTS(huge_counts_are_reached, 0, trial_algorithms())
{
    const struct collopt_algorithm *a = collopt_algorithms[_i];
    struct workshop w = { 0 };

    if (a->collective != COLLOPT_REDUCE_SCATTER && a->collective != COLLOPT_REDUCE_SCATTER_BLOCK)
        return;
    for (int ranks = 2; ranks <= 9; ranks++) {
        struct trial t = { .algorithm = a,
                           .ranks = ranks,
                           .count = (size_t)ranks,
                           .shape = TRIAL_NEARLY };
        char why[PROOF_WHY], words[TRIAL_WORDS];

        trial_words(&t, words);
        if (!workshop_state(&w, &t, why)) {
            ck_assert_msg(a->usable, "%s: %s", words, why);
            continue;
        }
        make_huge(&w);
        check_reach(&w, words);
    }
    workshop_close(&w);
}

/* ---- strands that follow others -------------------------------------------------------------- */

/* Two strands of two rounds; the second begins when the first is through its first round. */
static void build_following(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int partition = collopt_partition(s, 4), begun = 0;

    (void)p, (void)rank;
    for (int i = 0; i < 4; i++) {
        collopt_strand(s, i / 2);
        collopt_round(s);
        if (i == 2)
            collopt_follow(s, 0, begun);
        collopt_send(s, 1,
                     (struct collopt_region){ .place = COLLOPT_IN,
                                              .blocks = 1,
                                              .block = { partition, i, 1 } });
        begun = i == 0 ? collopt_round_number(s) : begun;
    }
}

TEST(strands_follow_others)
{
    struct collopt_bound *b = bind_parts(build_following, 400, SIZE_MAX);

    ck_assert_int_eq(b->strands, 2);
    ck_assert_int_eq(b->strand[0][0].kind, COLLOPT_POST_SEND);
    ck_assert_int_eq(b->strand[0][1].kind, COLLOPT_POST_SEND);
    ck_assert_int_eq(b->strand[1][0].kind, COLLOPT_AWAIT);
    ck_assert_int_eq(b->strand[1][0].strand, 0);
    ck_assert_int_eq(b->strand[1][0].step, 1);
    ck_assert_int_eq(b->strand[1][1].kind, COLLOPT_POST_SEND);
    ck_assert_int_eq(b->strand[1][2].kind, COLLOPT_POST_SEND);
    collopt_bound_free(b);
}

int main(void)
{
    return suite_run("binding");
}
