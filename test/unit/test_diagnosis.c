/* What is said of jobs that hang, and of such as do not, from snapshots that are put together
 * here. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/diagnosis.h"
#include "recorder/sentences.h"
#include "schedule/problem.h"
#include "suite.h"

enum { RANKS = 4, COMMS = 4, CALLS = 16 };
static const uint64_t SECOND = 1000000000, NOW = UINT64_C(1000000000000);
static const uint64_t WORLD = 11, FIRST = 21, SECOND_ONE = 31;

/* Four ranks on one node, which have reduced nothing. */
static struct collopt_snapshot rank[2 * RANKS];
static struct collopt_seen_comm comm[2 * RANKS][COMMS];
static struct collopt_seen_call call[2 * RANKS][CALLS];
static struct collopt_diagnosis *d;
static char said[16384];

static void set_up_rank(int r)
{
    memset(comm[r], 0, sizeof comm[r]);
    rank[r] = (struct collopt_snapshot){
        .version = COLLOPT_RECORDER_VERSION, .process = 1000 + r, .rank = r, .ranks = RANKS,
        .job = 5, .host = "n1", .mpi = "an MPI", .local_ranks = RANKS, .call = call[r],
        .comm = comm[r], .taken = NOW, .pid = 1000 + r, .status = 'S', .sleeps_in = "pipe_read" };
}

static void set_up(void)
{
    for (int r = 0; r < 2 * RANKS; r++)
        set_up_rank(r);
}

static void tear_down(void)
{
    collopt_diagnosis_free(d);
    d = NULL;
}

/* The communicator ID of rank R; WORLD has its flags. */
static struct collopt_seen_comm *on(int r, uint64_t id)
{
    struct collopt_snapshot *s = &rank[r];
    struct collopt_seen_comm *c;

    for (size_t i = 0; i < s->comms; i++)
        if (s->comm[i].id == id)
            return &s->comm[i];
    c = &s->comm[s->comms++];
    *c = (struct collopt_seen_comm){ .id = id, .rank = r, .ranks = RANKS,
                                     .flags = COLLOPT_RECORDED_AGREED | COLLOPT_RECORDED_WORLD };
    snprintf(c->name, sizeof c->name, id == WORLD ? "MPI_COMM_WORLD" : "comm %d", (int)id);
    return c;
}

/* Rank R enters a call, which is done if AGO is 0; it is so many seconds ago. */
static struct collopt_seen_call *enter(int r, uint64_t id, int collective, unsigned ago)
{
    struct collopt_seen_comm *c = on(r, id);
    struct collopt_snapshot *s = &rank[r];
    struct collopt_seen_call *e = &s->call[s->calls++];

    *e = (struct collopt_seen_call){
        .sequence = 2 * ++s->recorded, .entered = NOW - (ago ? ago : 90) * SECOND,
        .bytes = 8, .count = 1, .number = ++c->calls, .comm = (int)(c - s->comm),
        .collective = (uint8_t)collective, .mode = COLLOPT_RECORDED_BLOCKING,
        .state = ago ? COLLOPT_RECORDED_INSIDE : COLLOPT_RECORDED_DONE,
        .root = collective == COLLOPT_REDUCE ? 0 : -1, .waits_for = -1 };
    return e;
}

static void all_have_done(int calls)
{
    for (int n = 0; n < calls; n++)
        for (int r = 0; r < RANKS; r++)
            enter(r, WORLD, COLLOPT_ALLREDUCE, 0);
}

static void note(void *data, const char *line)
{
    size_t n = strlen(said);

    snprintf(said + n, sizeof said - n, "%s\n", line);
    (void)data;
}

static void diagnose(size_t ranks)
{
    said[0] = '\0';
    collopt_diagnosis_free(d);
    d = collopt_diagnose(rank, ranks, SECOND);
    ck_assert_ptr_nonnull(d);
    for (size_t i = 0; i < d->jobs; i++)
        collopt_tell_job(&d->job[i], note, NULL);
}

static void says(const char *words)
{
    ck_assert_msg(strstr(said, words), "no \"%s\" in\n%s", words, said);
}

static void does_not_say(const char *words)
{
    ck_assert_msg(!strstr(said, words), "\"%s\" in\n%s", words, said);
}

static void accuses(int r, enum collopt_blame blame)
{
    const struct collopt_job *job = &d->job[0];

    ck_assert_msg(job->culprits == 1, "%zu are accused:\n%s", job->culprits, said);
    ck_assert_int_eq(job->who[job->culprit[0].who]->rank, r);
    ck_assert_int_eq(job->culprit[0].blame, blame);
}

/* ---- jobs that hang -------------------------------------------------------------------------- */

/* Ranks 0 to 2 wait for rank 3 in the call after some that are done. */
static void lack_rank_3(void)
{
    all_have_done(2);
    for (int r = 0; r < 3; r++)
        enter(r, WORLD, COLLOPT_ALLREDUCE, 40 + (unsigned)r);
}

TEST(missing)
{
    lack_rank_3();
    diagnose(RANKS);
    says("MPI_COMM_WORLD, 4 ranks: 3 wait in MPI_Allreduce number 3 (8 B) for 42.0 s: ranks 0-2\n");
    says("rank 3 (pid 1003, host n1) has not entered it: it has left number 2, entered 90.0 s ago; "
         "it is in no reduction, asleep in pipe_read\n");
    says("look at rank 3 (pid 1003, host n1): it is in no reduction, asleep in pipe_read\n");
    accuses(3, COLLOPT_BLAME_OUTSIDE);
}

TEST(never_reduced)
{
    for (int r = 1; r < RANKS; r++)
        enter(r, WORLD, COLLOPT_SCAN, 5);
    diagnose(RANKS);
    says("rank 0 (pid 1000, host n1) has not entered it: it has not reduced there before");
    accuses(0, COLLOPT_BLAME_OUTSIDE);
}

/* What a rank does instead, by its process. */
TEST(instead)
{
    const struct {
        char status;
        uint32_t life;
        bool moved, queued;
        enum collopt_blame blame;
        const char *words;
    } row[] = { { 'T', 0, false, false, COLLOPT_BLAME_STOPPED, "3: it is stopped by a signal\n" },
                { 't', 0, false, false, COLLOPT_BLAME_STOPPED, "it is stopped by a debugger\n" },
                { 'X', 0, false, false, COLLOPT_BLAME_ENDED, "its process has ended\n" },
                { 'Z', 0, false, false, COLLOPT_BLAME_ENDED, "its process has ended\n" },
                { 'S', COLLOPT_RECORDED_FINALIZES, false, false, COLLOPT_BLAME_FINALIZES,
                  "it is in MPI_Finalize\n" },
                { 'D', 0, false, false, COLLOPT_BLAME_OUTSIDE,
                  "waiting for a file or a device in pipe_read\n" },
                { 'R', 0, false, false, COLLOPT_BLAME_OUTSIDE, "in no reduction, running\n" },
                { 'R', 0, true, false, COLLOPT_BLAME_RUNS, "it seems to be running" },
                { 'R', 0, false, true, COLLOPT_BLAME_QUEUED,
                  "it seems to wait for a processor, and may just be late\n" } };

    lack_rank_3();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        rank[3].status = row[i].status;
        rank[3].life = row[i].life;
        rank[3].moved = row[i].moved;
        rank[3].queued = row[i].queued;
        diagnose(RANKS);
        accuses(3, row[i].blame);
        says("look at rank 3 (pid 1003, host n1)");
        says(row[i].words + (row[i].words[0] == '3' ? 3 : 0));
    }
}

TEST(stopped_inside)
{
    all_have_done(1);
    for (int r = 0; r < RANKS; r++)
        enter(r, WORLD, COLLOPT_ALLREDUCE, 7);
    rank[2].status = 'T';
    diagnose(RANKS);
    says("all ranks have entered it\n");
    accuses(2, COLLOPT_BLAME_STOPPED);
}

TEST(inside_of_an_operation)
{
    for (int r = 0; r < RANKS; r++)
        enter(r, WORLD, COLLOPT_ALLREDUCE, 7)->waits_for = 1;
    rank[1].status = 'R';
    diagnose(RANKS);
    says("rank 1 (pid 1001, host n1) is running, inside of an operation (MPI_Op)\n");
    says("rank 3 (pid 1003, host n1) is asleep in pipe_read, and awaits or has last awaited "
         "rank 1\n");
    accuses(1, COLLOPT_BLAME_COMBINES);
}

/* The others are in the next call already. */
TEST(last_inside)
{
    for (int r = 0; r < RANKS; r++)
        enter(r, WORLD, COLLOPT_REDUCE, r == 2 ? 9 : 0);
    for (int r = 0; r < RANKS; r++)
        if (r != 2)
            enter(r, WORLD, COLLOPT_ALLREDUCE, 8);
    diagnose(RANKS);
    ck_assert_uint_eq(d->job[0].waiting[0].number, 1);
    says("still in MPI_Reduce number 1 (root 0, 8 B)");
    says("all ranks have entered it, and 3 have left it\n");
    accuses(2, COLLOPT_BLAME_LAST);
    rank[2].status = 'R';
    rank[2].queued = true;
    diagnose(RANKS);
    says("still in MPI_Reduce number 1 (root 0, 8 B), ready to run, and seems to wait for a "
         "processor\n");
    accuses(2, COLLOPT_BLAME_QUEUED);
}

TEST(nothing_is_known)
{
    for (int r = 0; r < RANKS; r++)
        enter(r, WORLD, COLLOPT_ALLREDUCE, 7);
    diagnose(RANKS);
    says("all ranks have entered it\n");
    ck_assert_uint_eq(d->job[0].culprits, 0);
    does_not_say("look at");
}

/* ---- calls that do not match ----------------------------------------------------------------- */

TEST(mismatched)
{
    for (int way = 0; way < 4; way++) {
        set_up();
        all_have_done(2);
        for (int r = 0; r < RANKS; r++) {
            bool odd = r == 1;
            struct collopt_seen_call *e =
                enter(r, WORLD, odd && way == 0 ? COLLOPT_SCAN : COLLOPT_REDUCE, 3);

            e->root = odd && way == 1 ? 2 : 0;
            e->bytes = UINT64_MAX;
            e->count = odd && way == 2 ? 6 : 5;
            e->mode = odd && way == 3 ? COLLOPT_RECORDED_INIT : COLLOPT_RECORDED_BLOCKING;
        }
        diagnose(RANKS);
        says("4 wait in call number 3, which is not the same on all, for 3.0 s: ranks 0-3\n");
        says("calls do not match: number 3 on MPI_COMM_WORLD\n");
        says("ranks 0, 2-3: MPI_Reduce number 3 (root 0, count 5)\n");
        says(way == 0 ? "rank 1: MPI_Scan number 3 (root 0, count 5)\n"
             : way == 1 ? "rank 1: MPI_Reduce number 3 (root 2, count 5)\n"
             : way == 2 ? "rank 1: MPI_Reduce number 3 (root 0, count 6)\n"
                        : "rank 1: MPI_Reduce_init number 3 (root 0, count 5)\n");
        accuses(1, COLLOPT_BLAME_DIFFERS);
    }
}

/* What follows a mismatch accuses nobody else. */
TEST(mismatched_before)
{
    for (int r = 0; r < RANKS; r++)
        enter(r, WORLD, COLLOPT_ALLREDUCE, 0)->bytes = r == 2 ? 16 : 8;
    for (int r = 0; r < 3; r++)
        enter(r, WORLD, COLLOPT_ALLREDUCE, 4);
    diagnose(RANKS);
    says("calls do not match: number 1 on MPI_COMM_WORLD\n");
    accuses(2, COLLOPT_BLAME_DIFFERS);
}

/* As many bytes in datatypes of other sizes, and counts that are not known. */
TEST(matched)
{
    for (int r = 0; r < RANKS; r++) {
        struct collopt_seen_call *e = enter(r, WORLD, COLLOPT_ALLREDUCE, 4);

        e->count = r == 2 ? 2 : r == 3 ? UINT64_MAX : 1;
        e->bytes = r == 3 ? UINT64_MAX : 8;
    }
    diagnose(RANKS);
    ck_assert_uint_eq(d->job[0].mismatches, 0);
}

/* ---- communicators that wait for each other -------------------------------------------------- */

TEST(circle)
{
    for (int r = 0; r < RANKS; r++)
        enter(r, r < 2 ? FIRST : SECOND_ONE, COLLOPT_ALLREDUCE, 6);
    diagnose(RANKS);
    says("a circle: rank 0 (pid 1000, host n1) waits in MPI_Allreduce number 1 (8 B) on \"comm 21\""
         " for rank 2 (pid 1002, host n1), which waits in MPI_Allreduce number 1 (8 B) on "
         "\"comm 31\" for rank 0\n");
    says("has not entered it: it has not reduced there before; it is in MPI_Allreduce number 1 "
         "(8 B) on \"comm 31\"");
    ck_assert_uint_eq(d->job[0].culprits, 0);
}

/* Three communicators of two ranks each; ranks have other numbers there. */
TEST(circle_of_three)
{
    static int32_t pair[3][2] = { { 0, 1 }, { 1, 2 }, { 2, 0 } };

    for (int r = 0; r < 3; r++) {
        struct collopt_seen_comm *c = on(r, 100 + (uint64_t)r);

        c->ranks = 2;
        c->rank = 0;
        c->flags = 0;
        c->member = pair[r];
        enter(r, 100 + (uint64_t)r, COLLOPT_ALLREDUCE, 6);
    }
    diagnose(RANKS);
    says("a circle: ");
    says("rank 1 (pid 1001, host n1), which waits in MPI_Allreduce number 1 (8 B) on \"comm 101\"");
    says("for rank 2 (pid 1002, host n1), which waits in ");
    ck_assert_uint_eq(d->job[0].culprits, 0);
}

/* Rank 0 waits for all others, ranks 1 and 3 for rank 2 elsewhere, which sleeps: that one is it. */
TEST(chain)
{
    static int32_t three[] = { 1, 2, 3 };

    all_have_done(1);
    enter(0, WORLD, COLLOPT_ALLREDUCE, 6);
    for (int r = 1; r < RANKS; r++) {
        struct collopt_seen_comm *c = on(r, FIRST);

        c->flags = COLLOPT_RECORDED_AGREED;
        c->ranks = 3;
        c->rank = r - 1;
        c->member = three;
        if (r != 2)
            enter(r, FIRST, COLLOPT_ALLREDUCE, 6);
    }
    diagnose(RANKS);
    does_not_say("circle");
    says("\"comm 21\", 3 ranks: 2 wait in MPI_Allreduce number 1 (8 B) for 6.0 s: ranks 0, 2\n");
    says("rank 2 (pid 1002, host n1), there rank 1, has not entered it");
    accuses(2, COLLOPT_BLAME_OUTSIDE);
}

/* ---- what is not known ----------------------------------------------------------------------- */

TEST(not_seen)
{
    lack_rank_3();
    for (int r = 0; r < 3; r++)
        rank[r].local_ranks = 3;
    diagnose(3);
    says("job of 4 ranks, an MPI: 3 seen, on n1\n");
    says("rank 3 not seen: on nodes that were not asked, or ended\n");
    does_not_say("look at");
    ck_assert_uint_eq(d->job[0].culprits, 0);
}

/* The launcher has started four ranks on this node. */
TEST(ended)
{
    lack_rank_3();
    diagnose(3);
    says("rank 3 is not found on its node: it has ended, or is not recorded there");
    says("look at rank 3 of MPI_COMM_WORLD: ended, or not recorded\n");
}

/* Two communicators with the same ranks, on one rank: nobody is missing, nothing mismatched. */
TEST(ambiguous)
{
    for (int r = 0; r < RANKS; r++)
        for (int k = 0; k < 2; k++) {
            struct collopt_seen_comm *c = on(r, FIRST + (uint64_t)k);

            c->flags &= ~(uint32_t)COLLOPT_RECORDED_AGREED;
            snprintf(c->name, sizeof c->name, "same");
            enter(r, FIRST + (uint64_t)k, k ? COLLOPT_SCAN : COLLOPT_ALLREDUCE, k && r ? 5 : 0);
        }
    for (int r = 0; r < RANKS; r++)
        rank[r].comm[1].id = FIRST;
    diagnose(RANKS);
    says("several communicators have these ranks");
    does_not_say("not match");
    ck_assert_uint_eq(d->job[0].culprits, 0);
}

/* Each rank has reduced on one of two communicators: it is not known that they are two. */
TEST(maybe_two)
{
    for (int r = 0; r < RANKS; r++) {
        struct collopt_seen_comm *c = on(r, FIRST);

        c->flags &= ~(uint32_t)COLLOPT_RECORDED_AGREED;
        enter(r, FIRST, COLLOPT_ALLREDUCE, 5);
    }
    diagnose(RANKS);
    says("all ranks have entered it, unless these are two communicators with the same ranks\n");
    enter(2, FIRST, COLLOPT_SCAN, 5);           /* if they are one it has left the first call */
    enter(3, FIRST, COLLOPT_REDUCE, 5);
    rank[2].call[0].state = rank[3].call[0].state = COLLOPT_RECORDED_DONE;
    diagnose(RANKS);
    says("calls do not match: number 2 on \"comm 21\", unless these are two communicators");
    ck_assert_uint_eq(d->job[0].culprits, 0);
    rank[3].call[1].collective = COLLOPT_SCAN;
    rank[1].call[0].state = COLLOPT_RECORDED_DONE;
    enter(1, FIRST, COLLOPT_SCAN, 5);
    diagnose(RANKS);            /* rank 0 alone is in the first call, or in another */
    says("3 have left it, unless these are two communicators");
    ck_assert_uint_eq(d->job[0].culprits, 0);
}

/* Rank 3 has stopped on the way from the first id of a communicator to the agreed one. */
TEST(id_changes)
{
    for (int r = 0; r < RANKS; r++) {
        if (r == 3)
            on(r, SECOND_ONE)->flags &= ~(uint32_t)COLLOPT_RECORDED_AGREED;
        enter(r, r == 3 ? SECOND_ONE : FIRST, COLLOPT_ALLREDUCE, 5);
    }
    rank[3].status = 'T';
    diagnose(RANKS);
    says("rank 3 (pid 1003, host n1): it is not known whether it is there\n");
    accuses(3, COLLOPT_BLAME_STOPPED);
}

TEST(other_clock)
{
    lack_rank_3();
    for (int r = 0; r < RANKS; r++)
        rank[r].other_clock = true;
    diagnose(RANKS);
    says("for a time that is not known: ranks 0-2\n");
    says("it has left number 2; it is in no reduction");
    accuses(3, COLLOPT_BLAME_OUTSIDE);
}

TEST(another_version)
{
    lack_rank_3();
    rank[3].version++;
    rank[0].rank = -1;
    diagnose(RANKS);
    ck_assert_uint_eq(d->others, 2);
    ck_assert_uint_eq(d->job[0].n, 2);
    says("ranks 0, 3 are not found on their nodes: they have ended, or are not recorded");
}

/* ---- jobs that run --------------------------------------------------------------------------- */

TEST(running)
{
    all_have_done(2);
    for (int r = 0; r < RANKS; r++) {
        enter(r, WORLD, COLLOPT_ALLREDUCE, 50);
        rank[r].moved = true;
    }
    diagnose(RANKS);
    ck_assert_uint_eq(d->job[0].waits, 0);
    says("no rank waits long; 4 of 4 seem to be reducing; 12 reductions so far on all of them\n");
}

TEST(not_for_long)
{
    lack_rank_3();
    for (int r = 0; r < 3; r++)
        rank[r].call[2].entered = NOW - SECOND / 2;
    diagnose(RANKS);
    ck_assert_uint_eq(d->job[0].waits, 0);
    ck_assert_uint_eq(d->job[0].culprits, 0);
}

/* A nonblocking reduction that some have started: nobody need be waiting for it. */
TEST(nonblocking)
{
    for (int r = 0; r < 3; r++) {
        struct collopt_seen_call *e = enter(r, WORLD, COLLOPT_ALLREDUCE, 8);

        e->mode = COLLOPT_RECORDED_NONBLOCKING;
        e->state = COLLOPT_RECORDED_STARTED;
    }
    diagnose(RANKS);
    says("3 have started MPI_Iallreduce number 1 (8 B), which has not been done for 8.0 s");
    says("rank 3 (pid 1003, host n1) has not started it");
    ck_assert_uint_eq(d->job[0].culprits, 0);
    for (int r = 0; r < 3; r++)         /* by the MPI library, which does not tell */
        rank[r].call[0].bytes = UINT64_MAX;
    diagnose(RANKS);
    ck_assert_uint_eq(d->job[0].waits, 0);
}

/* Nodes that were asked one after another: what was seen first may have changed since. */
TEST(asked_later)
{
    lack_rank_3();
    rank[3].real = 40 * SECOND;
    strcpy(rank[3].host, "n2");
    diagnose(RANKS);
    says("for 42.0 s: ranks 1-2\n");
    accuses(3, COLLOPT_BLAME_OUTSIDE);
    rank[3].real = 50 * SECOND;
    diagnose(RANKS);
    says("they were looked at 50.0 s apart, or their clocks differ: only longer waits are told\n");
    ck_assert_uint_eq(d->job[0].culprits, 0);
}

/* The others sit in MPI_Wait, rank 2 for the first of two. */
TEST(awaited)
{
    for (int r = 0; r < 3; r++)
        for (int n = 0; n < 2; n++) {
            struct collopt_seen_call *e = enter(r, WORLD, COLLOPT_ALLREDUCE, 8);

            e->mode = COLLOPT_RECORDED_NONBLOCKING;
            e->state = n == (r != 2) ? COLLOPT_RECORDED_AWAITED : COLLOPT_RECORDED_STARTED;
        }
    diagnose(RANKS);
    says("MPI_COMM_WORLD, 4 ranks: 1 waits for MPI_Iallreduce number 1 (8 B) for 8.0 s: rank 2\n");
    says("MPI_COMM_WORLD, 4 ranks: 2 wait for MPI_Iallreduce number 2 (8 B) for 8.0 s: ranks 0-1");
    says("rank 3 (pid 1003, host n1) has not started it: it has not reduced there before");
    accuses(3, COLLOPT_BLAME_OUTSIDE);
    for (int n = 0; n < 2; n++)         /* it has, too, and goes on without MPI_Wait */
        enter(3, WORLD, COLLOPT_ALLREDUCE, 8)->mode = COLLOPT_RECORDED_NONBLOCKING;
    rank[3].call[0].state = rank[3].call[1].state = COLLOPT_RECORDED_STARTED;
    rank[0].calls = rank[1].calls = 0;
    diagnose(RANKS);
    says("all ranks have started it\n");
    ck_assert_uint_eq(d->job[0].culprits, 0);
}

/* ---- several jobs, and nonsense -------------------------------------------------------------- */

TEST(two_jobs)
{
    lack_rank_3();
    for (int r = RANKS; r < 2 * RANKS; r++) {
        rank[r].job = 6;
        rank[r].rank = r - RANKS;
    }
    diagnose(2 * RANKS);
    ck_assert_uint_eq(d->jobs, 2);
    accuses(3, COLLOPT_BLAME_OUTSIDE);
    ck_assert_uint_eq(d->job[1].culprits, 0);
    says("no rank waits long");
}

/* Two dumps of one node: the later one counts. */
TEST(seen_twice)
{
    lack_rank_3();
    rank[RANKS] = rank[0];
    rank[RANKS].taken += SECOND;
    diagnose(RANKS + 1);
    ck_assert_uint_eq(d->job[0].n, RANKS);
    says("for 42.0 s: ranks 0-2\n");
    accuses(3, COLLOPT_BLAME_OUTSIDE);
}

/* Every second of many ranks has not come, none of which is seen. */
TEST(many_ranges)
{
    enum { MANY = 60 };
    static struct collopt_snapshot s[MANY];
    static struct collopt_seen_comm c[MANY];

    enter(0, WORLD, COLLOPT_ALLREDUCE, 5);
    for (int r = 0; r < MANY; r++) {
        s[r] = rank[0];
        s[r].rank = 2 * r;
        s[r].ranks = 2 * MANY;
        s[r].comm = &c[r];
        c[r] = comm[0][0];
        c[r].rank = 2 * r;
        c[r].ranks = 2 * MANY;
    }
    said[0] = '\0';
    d = collopt_diagnose(s, MANY, SECOND);
    ck_assert_ptr_nonnull(d);
    collopt_tell_job(&d->job[0], note, NULL);
    says("ranks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38 and "
         "others\n");
    says("37, 39 and others not seen: on nodes that were not asked, or ended\n");
}

/* Snapshots as a process may forge them: what is said of them does not matter. */
TEST(nonsense)
{
    static int32_t member[RANKS];

    srand(3);
    for (int n = 0; n < 3000; n++) {
        set_up();
        for (int r = 0; r < RANKS; r++) {
            rank[r].rank = rand() % 6;
            rank[r].local_ranks = rand() - RAND_MAX / 2;
            for (int k = 0; k < 3; k++) {
                struct collopt_seen_comm *c = on(r, WORLD + (uint64_t)(rand() % 3));
                struct collopt_seen_call *e =
                    enter(r, c->id, rand() % COLLOPT_COLLECTIVES, (unsigned)rand() % 3);

                c->flags = (uint32_t)rand();
                c->ranks = rand() % 2 ? RANKS : rand() % INT32_MAX + 1;
                c->rank = rand() % (c->ranks < 8 ? c->ranks : 8);
                c->calls = (uint32_t)rand() % 5;
                c->member = c->ranks == RANKS && rand() % 2 ? member : NULL;
                e->mode = (uint8_t)(rand() % 4);
                e->state = (uint8_t)(rand() % 5);
                e->number = (uint32_t)rand() % 5;
                e->waits_for = rand() % 9 - 2;
                member[rand() % RANKS] = rand() % 9 - 4;
            }
        }
        diagnose(RANKS);
    }
}

int main(void)
{
    tcase_add_checked_fixture(suite_tests(), set_up, tear_down);
    return suite_run("diagnosis");
}
