/* The proof on programs written by hand: it accepts two ranks that exchange and combine, and names
 * what is wrong with those that do not quite. */
#include "config.h"

#include <string.h>

#include "shared/replay.h"
#include "proof.h"
#include "schedule/block.h"
#include "schedule/bound.h"
#include "schedule/problem.h"
#include "topology/topology.h"
#include "suite.h"

enum { N = 4, TMP = COLLOPT_FIRST_SLOT };

static const struct collopt_run in = { .place = COLLOPT_IN, .at = 0, .n = N },
                                out = { .place = COLLOPT_OUT, .at = 0, .n = N },
                                tmp = { .place = TMP, .at = 0, .n = N };
/* theirs is left */
static const struct collopt_run below[] = { { .place = COLLOPT_OUT, .at = 0, .n = N },
                                            { .place = TMP, .at = 0, .n = N },
                                            { .place = COLLOPT_IN, .at = 0, .n = N } };
static const struct collopt_run above[] = { { .place = COLLOPT_OUT, .at = 0, .n = N },
                                            { .place = COLLOPT_IN, .at = 0, .n = N },
                                            { .place = TMP, .at = 0, .n = N } };

/* Rank R of two: send IN, receive into TMP, fold to OUT. */
struct rank {
    struct collopt_message message[2];
    struct collopt_step step[8];
    const struct collopt_step *strand[1];
    size_t slot[1];
    struct collopt_bound bound;
};

enum { SEND, RECEIVE };         /* messages */
enum { AT_RECEIVE, AT_SEND, AT_WAIT_RECEIVE, AT_FOLD, AT_WAIT_SEND, AT_END };

static void set_up(struct rank *k, int r)
{
    *k = (struct rank){
        .message = { [SEND] = { 1 - r, 0, true, 1, &in, N }, [RECEIVE] = { 1 - r, 0, false, 1,
            &tmp, N } },
        .step = {
            [AT_RECEIVE] = { .kind = COLLOPT_POST_RECEIVE, .message = RECEIVE },
            [AT_SEND] = { .kind = COLLOPT_POST_SEND, .message = SEND },
            [AT_WAIT_RECEIVE] = { .kind = COLLOPT_WAIT, .message = RECEIVE },
            [AT_FOLD] = { .kind = COLLOPT_FOLD, .message = -1, .runs = 3, .run = r ? below
                          : above },
            [AT_WAIT_SEND] = { .kind = COLLOPT_WAIT, .message = SEND },
            [AT_END] = { .kind = COLLOPT_END, .message = -1 },
        },
        .strand = { k->step }, .slot = { N },
    };
    k->bound = (struct collopt_bound){ .strands = 1,
                                       .messages = 2,
                                       .slots = 1,
                                       .strand = k->strand,
                                       .message = k->message,
                                       .slot = k->slot,
                                       .steps = 6 };
}

static bool once;               /* no operand of a fold may have been combined before */
static struct rank rank[2];
static unsigned how[2];
static const struct collopt_bound *const program[] = { &rank[0].bound, &rank[1].bound };

static bool holds(bool in_order, char why[PROOF_WHY])
{
    static const struct collopt_topology one_node = { .nodes = 1 };
    const struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE,
                                       .ranks = 2,
                                       .count = N,
                                       .size = 8,
                                       .segments = 1,
                                       .topology = &one_node };
    const struct proof proof = { .problem = &p,
                                 .in_order = in_order,
                                 .how = how,
                                 .program = program,
                                 .once = once };

    return proof_holds(&proof, 8, why);
}

static void refused(const char *because)
{
    char why[PROOF_WHY] = "accepted";

    ck_assert_msg(!holds(true, why) && strstr(why, because), "not \"%s\" but: %s", because,
                  why);
}

static void fresh(void)
{
    set_up(&rank[0], 0);
    set_up(&rank[1], 1);
    how[0] = how[1] = 0;
}

TEST(accepts_an_exchange)
{
    char why[PROOF_WHY];

    ck_assert_msg(holds(true, why), "%s", why);
}

TEST(refuses_what_is_wrong)
{
    static const struct collopt_run past = { .place = TMP, .at = 1, .n = N },
                                    middle[] = { { .place = COLLOPT_OUT, .at = 0, .n = N },
                                                 { .place = TMP, .at = 0, .n = N },
                                                 { .place = TMP, .at = 0, .n = N } };
    static const struct collopt_run onto[] = { { .place = COLLOPT_OUT, .at = 0, .n = N },
                                               { .place = COLLOPT_OUT, .at = 0, .n = N },
                                               { .place = TMP, .at = 0, .n = N } };
    struct collopt_step *step = rank[0].step;

    step[AT_FOLD].run = below;
    refused("combines element 0 of ranks [1,2) with element 0 of ranks [0,1)");
    fresh(), step[AT_FOLD].run = middle;
    refused("combines");
    fresh(), rank[0].message[RECEIVE].run = &past;
    refused("outside its place");
    fresh(), rank[0].message[RECEIVE].run = &in;
    refused("writes IN");
    fresh(), rank[0].message[SEND].run = &out;
    refused("being sent");
    fresh(), step[AT_FOLD].run = onto;
    refused("combines undefined with");
    fresh(), rank[0].message[SEND].tag = 1;
    refused("has no other end");
    fresh(), rank[0].message[SEND].peer = 2;
    refused("no such peer");
    fresh(), step[AT_WAIT_RECEIVE] = step[AT_FOLD],
             step[AT_FOLD] = (struct collopt_step){ .kind = COLLOPT_WAIT, .message = RECEIVE };
    refused("being received");
    fresh(), step[AT_WAIT_SEND].kind = COLLOPT_END;
    refused("never waited for");
    fresh(), how[0] = COLLOPT_IN_PLACE;
    refused("being sent");
    fresh(), how[0] = COLLOPT_TWO_OPERANDS;
    refused("not of the form");
    fresh(), how[0] = COLLOPT_VIA_SCRATCH, rank[0].message[RECEIVE].run = &out;
    refused("receives into OUT");
}

/* Rank 0 folds what it has folded. */
TEST(once_is_once)
{
    static const struct collopt_run again[] = { { .place = COLLOPT_OUT, .at = 0, .n = N },
                                                { .place = COLLOPT_OUT, .at = 0, .n = N },
                                                { .place = TMP, .at = 0, .n = N } };
    struct collopt_step fold = rank[0].step[AT_FOLD];
    char why[PROOF_WHY];

    once = true;
    ck_assert_msg(holds(true, why), "%s", why);
    for (int k = AT_END + 1; k > AT_FOLD; k--)
        rank[0].step[k] = rank[0].step[k - 1];
    rank[0].step[AT_FOLD + 1].kind = fold.kind, rank[0].step[AT_FOLD + 1].run = again;
    refused("what has been combined before");
}

/* Both wait for their receive before they send. */
TEST(refuses_a_deadlock)
{
    for (int r = 0; r < 2; r++) {
        rank[r].step[AT_SEND] = (struct collopt_step){ .kind = COLLOPT_WAIT, .message = RECEIVE };
        rank[r].step[AT_WAIT_RECEIVE] = (struct collopt_step){ .kind = COLLOPT_POST_SEND,
                                                               .message = SEND };
    }
    refused("deadlock");
}

/* A commutative fold may exchange its operands, but not on one rank alone: bits would differ. */
TEST(ranks_end_with_the_same_bits)
{
    char why[PROOF_WHY];

    rank[0].step[AT_FOLD].run = below;
    ck_assert(!holds(false, why));
    ck_assert_ptr_nonnull(strstr(why, "bracketed otherwise"));
}

/* One strand folds what another has received. */
TEST(strands_must_await)
{
    static const struct collopt_step await = { .kind = COLLOPT_AWAIT,
                                               .message = -1,
                                               .strand = 0,
                                               .step = 3 };
    struct collopt_step other[] = { await,
                                    rank[0].step[AT_FOLD],
                                    { .kind = COLLOPT_END, .message = -1 } };
    const struct collopt_step *strand[] = { rank[0].step, other };
    char why[PROOF_WHY];

    memmove(&rank[0].step[AT_FOLD], &rank[0].step[AT_WAIT_SEND], 2 * sizeof *rank[0].step);
    rank[0].bound.strands = 2;
    rank[0].bound.strand = strand;
    ck_assert_msg(holds(true, why), "%s", why);
    other[0].step = 2;
    refused("not knowing whether it has");
    memmove(other, other + 1, 2 * sizeof *other);
    refused("not knowing whether it has");
}

/* Times on the model, worked out by hand: two messages cross in alpha + beta n, then both fold. */
TEST(replays_in_time)
{
    const struct collopt_clock machine = { .alpha = 10, .beta = 2, .gamma = 1 };
    struct collopt_pairs pairs;
    struct collopt_load load;
    char why[PROOF_WHY];
    double finish[2];

    ck_assert(collopt_pair(&pairs, 2, program, why, sizeof why));
    ck_assert(collopt_replay(&pairs, &machine, finish) == 10 + 2 * N + N);
    ck_assert(finish[0] == finish[1]);
    collopt_unpair(&pairs);
    collopt_weigh(program[0], &load);
    ck_assert(load.sends == 1 && load.receives == 1 && load.sent == N && load.received == N
              && load.combined == N && load.copies == 0 && load.scratch == N);
}

int main(void)
{
    tcase_add_checked_fixture(suite_tests(), fresh, NULL);
    return suite_run("proof");
}
