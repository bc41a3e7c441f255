/* Trials with times that are made up, and what they teach written as rules and read back. */
#include "config.h"

#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "fake_registry.h"
#include "quiet_check.h"
#include "schedule/problem.h"
#include "select/tuning_results.h"
#include "select/trials.h"
#include "shared/rules_check.h"
#include "settings/rules.h"
#include "topology/topology.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 3 };

/* Several ranks that call, agree and call again; rank R takes SECONDS[R][candidate]. */
struct job {
    struct collopt_trials rank[RANKS];
    double seconds[RANKS][COLLOPT_TRIED];
    int ran[COLLOPT_TRIED];     /* calls of each */
    int agreed;
};

static void begin(struct job *j, int candidates)
{
    struct collopt_choice choice[COLLOPT_TRIED] = { { 0 } };

    memset(j, 0, sizeof *j);
    for (int r = 0; r < RANKS; r++)
        collopt_trials_begin(&j->rank[r], candidates, choice);
}

static void set(struct job *j, double a, double b, double c, double d)
{
    for (int r = 0; r < RANKS; r++)
        memcpy(j->seconds[r], (double[]){ a, b, c, d }, sizeof j->seconds[r]);
}

static void agree(struct job *j)
{
    int64_t all[COLLOPT_TRIED] = { 0 }, mine[COLLOPT_TRIED];

    j->agreed++;
    for (int r = 0; r < RANKS; r++) {
        collopt_trials_give(&j->rank[r], mine);
        for (int i = 0; i < COLLOPT_TRIED; i++)
            all[i] = mine[i] > all[i] ? mine[i] : all[i];
    }
    for (int r = 0; r < RANKS; r++)
        collopt_trials_take(&j->rank[r], all);
}

/* One call of all ranks; HICCUP seconds more on one of them.  Returns who ran. */
static int call_with(struct job *j, double hiccup)
{
    bool due = collopt_trials_due(&j->rank[0]), timed;
    int who;

    for (int r = 1; r < RANKS; r++)
        quiet_check(collopt_trials_due(&j->rank[r]) == due, "rank %d agrees at another call", r);
    if (due)
        agree(j);
    who = collopt_trials_next(&j->rank[0], &timed);
    for (int r = 0; r < RANKS; r++) {
        quiet_check(collopt_trials_next(&j->rank[r], &timed) == who, "rank %d runs another", r);
        collopt_trials_done(&j->rank[r],
                            (int64_t)(1e9 * (j->seconds[r][who] + (r == 1 ? hiccup : 0))));
    }
    j->ran[who]++;
    return who;
}

static void calls(struct job *j, int n)
{
    while (n-- > 0)
        call_with(j, 0);
}

static const struct collopt_trials *first(const struct job *j)
{
    return &j->rank[0];
}

TEST(the_fastest_goes_on)
{
    for (int best = 0; best < 4; best++) {
        struct job j;

        begin(&j, 4);
        set(&j, 2, 2.1, 2.2, 2.3);
        for (int r = 0; r < RANKS; r++)
            j.seconds[r][best] = 1;
        calls(&j, 4 * (COLLOPT_LOOKS + COLLOPT_TRIES) + 1);
        ck_assert_int_eq(first(&j)->state, COLLOPT_SETTLED);
        ck_assert_int_eq(first(&j)->chosen, best);
        ck_assert_int_eq(j.agreed, 2);
        for (int i = 0; i < 4; i++)
            ck_assert_int_eq(j.ran[i], COLLOPT_LOOKS + COLLOPT_TRIES + (i == best));
        calls(&j, 500);
        ck_assert_int_eq(j.ran[best], COLLOPT_LOOKS + COLLOPT_TRIES + 501);
        ck_assert_int_eq(j.agreed, 2);
    }
}

TEST(the_slowest_rank_counts)
{
    struct job j;

    begin(&j, 3);
    set(&j, 2, 1, 3, 0);
    j.seconds[2][1] = 2.5;              /* on one rank, where it makes the others wait */
    calls(&j, 100);
    ck_assert_int_eq(first(&j)->chosen, 0);
    ck_assert_int_eq(first(&j)->time[1], 2500000000);
}

TEST(of_equals_the_first)
{
    struct job j;

    begin(&j, 4);
    set(&j, 1.01, 1, 0.995, 1.005);
    calls(&j, 100);
    ck_assert_int_eq(first(&j)->chosen, 0);
    begin(&j, 4);
    set(&j, 1.05, 1.01, 1, 1.02);
    calls(&j, 100);
    ck_assert_int_eq(first(&j)->chosen, 1);
}

TEST(what_is_hopeless_is_dropped)
{
    struct job j;

    begin(&j, 4);
    set(&j, 1, 2.9, 3.1, 100);
    calls(&j, 200);
    ck_assert_int_eq(first(&j)->chosen, 0);
    ck_assert_int_eq(j.ran[1], COLLOPT_LOOKS + COLLOPT_TRIES);
    ck_assert_int_eq(j.ran[2], COLLOPT_LOOKS);
    ck_assert_int_eq(j.ran[3], COLLOPT_LOOKS);
    begin(&j, 2);                       /* nothing else is left */
    set(&j, 1, 100, 0, 0);
    calls(&j, 2 * COLLOPT_LOOKS + 1);
    ck_assert_int_eq(first(&j)->state, COLLOPT_SETTLED);
    ck_assert_int_eq(j.agreed, 1);
    begin(&j, 1);
    calls(&j, 100);
    ck_assert_int_eq(first(&j)->chosen, 0);
}

/* The first call of each, and one call at any other time, may take for ever. */
TEST(hiccups)
{
    for (int at = 0; at < 4 * (COLLOPT_LOOKS + COLLOPT_TRIES); at++) {
        struct job j;

        begin(&j, 4);
        set(&j, 1.1, 1, 1.2, 1.3);
        for (int i = 0; i < 4 * (COLLOPT_LOOKS + COLLOPT_TRIES); i++)
            call_with(&j, i < 4 || i == at ? 1000 : 0);
        calls(&j, 1);
        ck_assert_msg(first(&j)->chosen == 1, "a hiccup in call %d: %d is chosen", at,
                      first(&j)->chosen);
    }
}

TEST(checked_rarely)
{
    struct job j;
    int learning = 4 * (COLLOPT_LOOKS + COLLOPT_TRIES);

    begin(&j, 4);
    set(&j, 1, 2, 2, 2);
    calls(&j, learning + COLLOPT_FIRST_PERIOD);
    ck_assert_int_eq(j.agreed, 2);
    calls(&j, 1);
    ck_assert_int_eq(j.agreed, 3);
    ck_assert_int_eq(first(&j)->state, COLLOPT_SETTLED);
    calls(&j, 2 * COLLOPT_FIRST_PERIOD - 1);
    ck_assert_int_eq(j.agreed, 3);
    calls(&j, 1);
    ck_assert_int_eq(j.agreed, 4);
    for (int r = 0; r < RANKS; r++)     /* a fifth more is nothing */
        j.seconds[r][0] = 1.19;
    calls(&j, 4 * COLLOPT_FIRST_PERIOD);
    ck_assert_int_eq(j.agreed, 5);
    ck_assert_int_eq(first(&j)->state, COLLOPT_SETTLED);
    j.seconds[1][0] = 2.5;              /* on one rank */
    calls(&j, 8 * COLLOPT_FIRST_PERIOD);
    ck_assert_int_eq(first(&j)->state, COLLOPT_LOOKING);
    ck_assert_int_eq(j.agreed, 6);
    calls(&j, learning);
    ck_assert_int_eq(first(&j)->state, COLLOPT_SETTLED);
    ck_assert_int_eq(first(&j)->chosen, 1);
    while (first(&j)->period < COLLOPT_LAST_PERIOD)
        calls(&j, COLLOPT_FIRST_PERIOD);
    ck_assert_int_lt(first(&j)->period, 2 * COLLOPT_LAST_PERIOD);
}

/* ---- tuning results -------------------------------------------------------------------------- */

static void learn(struct collopt_tuning_results *l, int size_class, unsigned kind,
                  const char *algorithm, double seconds, bool chosen)
{
    struct collopt_tuning_result one = { .collective = COLLOPT_ALLREDUCE,
                                         .ranks = 4,
                                         .nodes = 1,
                                         .ppn = 4,
                                         .size_class = size_class,
                                         .kind = kind,
                                         .samples = 1,
                                         .chosen = chosen,
                                         .time = (uint64_t)(1e9 * seconds) };

    snprintf(one.algorithm, sizeof one.algorithm, "%s", algorithm);
    for (int r = 0; r < 4; r++) {
        ck_assert(collopt_tuning_results_room(l, 1));
        collopt_tuning_results_add(l, &one);
    }
}

static char complaints[1024];

static void hear(void *data, int line, const char *sentence)
{
    size_t n = strlen(complaints);

    (void)data;
    snprintf(complaints + n, sizeof complaints - n, "%d: %s\n", line, sentence);
}

/* As rules, which are read again and checked; to be freed. */
static struct collopt_rules *as_rules(struct collopt_tuning_results *l, char **text)
{
    struct collopt_rules *rules;
    size_t n = 0;
    FILE *to = open_memstream(text, &n);

    collopt_tuning_results_sort(l);
    collopt_tuning_results_write(l, to);
    fclose(to);
    complaints[0] = '\0';
    rules = collopt_rules_parse("learnt", *text, n, hear, NULL);
    ck_assert_msg(rules && collopt_rules_check(rules, hear, NULL) == 0, "%s%s", complaints, *text);
    return rules;
}

static const char *decides(const struct collopt_rules *rules, int ranks, size_t bytes,
                           bool commutative, bool exact)
{
    static const struct collopt_topology one_node = { .nodes = 1 };
    static char text[160];
    struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE,
                                 .ranks = ranks,
                                 .count = bytes,
                                 .size = 1,
                                 .commutative = commutative,
                                 .exact = exact,
                                 .segments = 1,
                                 .topology = &one_node };
    const struct collopt_rule *r = collopt_rules_next(rules, &p, NULL);

    ck_assert(r);
    if (r->automatic)
        return "auto";
    collopt_choice_text(&r->choice, text, sizeof text);
    return text;
}

TEST(rules_of_lessons)
{
    const unsigned exact = COLLOPT_KIND_EXACT, rounding = COLLOPT_KIND_ROUNDING,
                   ordered = COLLOPT_KIND_ORDERED;
    struct collopt_tuning_results l = { 0 };
    struct collopt_rules *rules;
    char *text;

    learn(&l, 14, rounding, "ring", 3e-6, true);
    learn(&l, 14, rounding, "host", 4e-6, false);
    learn(&l, 13, rounding, "ring:segment=64K", 3e-6, false);
    learn(&l, 13, rounding, "ring", 2e-6, true);
    learn(&l, 13, rounding, "host", 4e-6, false);
    learn(&l, 13, exact, "recursive_doubling", 1e-6, true);
    learn(&l, 0, ordered, "host", 1e-6, true);
    learn(&l, 20, rounding, "ring", 1e-6, false);       /* nothing was chosen yet */
    rules = as_rules(&l, &text);
    ck_assert_int_eq(rules->n, 4);
    ck_assert_str_eq(decides(rules, 4, 8192, true, false), "ring");
    ck_assert_str_eq(decides(rules, 4, 16384, true, false), "ring");
    ck_assert_str_eq(decides(rules, 4, 4096, true, false), "auto");
    ck_assert_str_eq(decides(rules, 4, 16385, true, false), "auto");
    ck_assert_str_eq(decides(rules, 3, 8192, true, false), "auto");
    ck_assert_str_eq(decides(rules, 4, 8192, true, true), "recursive_doubling");
    ck_assert_str_eq(decides(rules, 4, 0, false, false), "host");
    ck_assert_str_eq(decides(rules, 4, 2, false, false), "auto");
    ck_assert_msg(strstr(text, "# 3.00 us, host 4.00 us") != NULL, "%s", text);
    collopt_rules_free(rules);
    free(text);
    free(l.list);
}

TEST(rules_of_nothing)
{
    struct collopt_tuning_results l = { 0 };
    char *text;
    struct collopt_rules *rules = as_rules(&l, &text);

    ck_assert_int_eq(rules->n, 1);
    collopt_rules_free(rules);
    free(text);
}

/* Communicators of one shape that have learnt different things: what more ranks have chosen is the
 * rule; of what is uneven there is none. */
TEST(most_of_them)
{
    struct collopt_tuning_results l = { 0 };
    struct collopt_rules *rules;
    char *text;

    for (int i = 0; i < 3; i++) {
        learn(&l, 13, COLLOPT_KIND_EXACT, "ring", 2e-6, i > 0);
        learn(&l, 13, COLLOPT_KIND_EXACT, "host", 1e-6, i == 0);
    }
    ck_assert_uint_eq(l.n, 2);
    l.list[l.n - 1].uneven = 0;
    learn(&l, 12, COLLOPT_KIND_EXACT, "ring", 2e-6, true);
    l.list[l.n - 1].uneven = 1;
    rules = as_rules(&l, &text);
    ck_assert_int_eq(rules->n, 2);
    ck_assert_str_eq(decides(rules, 4, 8192, true, true), "ring");
    ck_assert_str_eq(decides(rules, 4, 4096, true, true), "auto");
    ck_assert_msg(strstr(text, "# 2.00 us, host 1.00 us") != NULL, "%s", text);
    collopt_rules_free(rules);
    free(text);
    free(l.list);
}

int main(void)
{
    return suite_run("trials");
}
