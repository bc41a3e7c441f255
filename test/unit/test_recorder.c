/* The recording of a process as its readers see it: the head, calls while they are written, lists
 * of ranks that never overlap, and what happens when something is full. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/recorder.h"
#include "suite.h"

enum { CALLS = 300000, RANKS = 5 };

static void make(void)
{
    char why[160];

    ck_assert_msg(collopt_recorder_begin(why, sizeof why), "%s", why);
}

static struct collopt_recorded_comm *add(uint64_t id, int ranks, const int *member)
{
    struct collopt_recorded_comm about = { .id = id, .rank = 1, .ranks = ranks, .name = "field" };

    return collopt_recorder_add_comm(&about, member);
}

static void enter(struct collopt_recorded_comm *c, enum collopt_recorded_mode mode, unsigned n)
{
    collopt_recorder_enter(c, (struct collopt_recorded_what){
        .collective = (uint8_t)(n % 6), .mode = (uint8_t)mode, .root = (int32_t)(n % RANKS),
        .count = 8 * (uint64_t)n });
}

TEST(head)
{
    const struct collopt_recording_parts *all;
    const struct collopt_recording *h;

    make();
    all = collopt_recording;
    h = &all->head;
    ck_assert_uint_eq(h->magic, COLLOPT_RECORDER_MAGIC);
    ck_assert_uint_eq(h->version, COLLOPT_RECORDER_VERSION);
    ck_assert_uint_eq(h->bytes, sizeof *all);
    ck_assert_int_eq(h->process, getpid());
    ck_assert_int_eq(h->begun, 0);
    ck_assert_str_eq(h->collopt, PACKAGE_VERSION);
    ck_assert_ptr_eq((const char *)h + h->calls_at, all->call);
    ck_assert_ptr_eq((const char *)h + h->comms_at, all->comm);
    ck_assert_ptr_eq((const char *)h + h->names_at, all->name);
    ck_assert_ptr_eq((const char *)h + h->members_at, all->member);

    collopt_recorder_introduce(&(struct collopt_recorded_process){
        .job = 7, .rank = 3, .ranks = 4, .local_ranks = 2, .host = "n1",
        .mpi = "a name that is longer than the place that the recording has for it; it is cut" });
    ck_assert_int_eq(h->begun, 1);
    ck_assert_int_eq(h->rank, 3);
    ck_assert_int_eq(h->local_ranks, 2);
    ck_assert_uint_eq(strlen(h->mpi), COLLOPT_RECORDED_TEXT - 1);
    collopt_recorder_finalizes();
    ck_assert_int_eq(h->life, COLLOPT_RECORDED_FINALIZES);
}

TEST(one_call)
{
    struct collopt_recorded_comm *c;
    const struct collopt_recorded_call *e;

    make();
    c = add(9, RANKS, NULL);
    enter(c, COLLOPT_RECORDED_BLOCKING, 3);
    e = collopt_recorder_find(c->latest);
    ck_assert_uint_eq(e->number, 1);
    ck_assert_uint_eq(e->count, 24);
    ck_assert_uint_eq(e->bytes, UINT64_MAX);
    ck_assert_int_eq(e->name, COLLOPT_RECORDED_BY_HOST);
    ck_assert_int_eq(e->state, COLLOPT_RECORDED_INSIDE);
    ck_assert_int_eq(e->waits_for, -1);
    ck_assert_int_eq(e->root, 3);
    ck_assert_ptr_eq(&collopt_recording->comm[e->comm], c);

    collopt_recorder_run(c, 192, COLLOPT_RECORDED_BY_COLLOPT);
    collopt_recorder_wait(c, 4);
    ck_assert_uint_eq(e->bytes, 192);
    ck_assert_int_eq(e->name, COLLOPT_RECORDED_BY_COLLOPT);
    ck_assert_int_eq(e->waits_for, 4);
    collopt_recorder_leave(c->latest);
    ck_assert_int_eq(e->state, COLLOPT_RECORDED_DONE);
}

TEST(forms_are_counted)
{
    struct collopt_recorded_comm *c;

    make();
    c = add(9, RANKS, NULL);
    enter(c, COLLOPT_RECORDED_BLOCKING, 0);
    enter(c, COLLOPT_RECORDED_START, 0);
    ck_assert_int_eq(collopt_recorder_find(c->latest)->state, COLLOPT_RECORDED_STARTED);
    ck_assert_uint_eq(collopt_recorder_find(c->latest)->number, 1);
    enter(c, COLLOPT_RECORDED_NONBLOCKING, 0);
    ck_assert_int_eq(collopt_recorder_find(c->latest)->state, COLLOPT_RECORDED_STARTED);
    collopt_recorder_await(c->latest);
    ck_assert_int_eq(collopt_recorder_find(c->latest)->state, COLLOPT_RECORDED_AWAITED);
    collopt_recorder_leave(c->latest);
    collopt_recorder_await(c->latest);
    ck_assert_int_eq(collopt_recorder_find(c->latest)->state, COLLOPT_RECORDED_DONE);
    enter(c, COLLOPT_RECORDED_INIT, 0);
    ck_assert_int_eq(collopt_recorder_find(c->latest)->state, COLLOPT_RECORDED_INSIDE);
    ck_assert_uint_eq(c->calls, 3);
    ck_assert_uint_eq(c->starts, 1);
}

/* What happens to a call whose place another call has changes nothing. */
TEST(overtaken)
{
    struct collopt_recorded_comm *c, *other;
    uint64_t first;

    make();
    c = add(9, RANKS, NULL);
    other = add(11, RANKS, NULL);
    collopt_recorder_leave(0);
    enter(c, COLLOPT_RECORDED_BLOCKING, 0);
    first = c->latest;
    for (unsigned n = 0; n < COLLOPT_RECORDED_CALLS; n++)
        enter(other, COLLOPT_RECORDED_BLOCKING, n);
    ck_assert_ptr_null(collopt_recorder_find(first));
    collopt_recorder_leave(first);
    collopt_recorder_run(c, 8, COLLOPT_RECORDED_BY_COLLOPT);
    collopt_recorder_wait(c, 2);
    for (int i = 0; i < COLLOPT_RECORDED_CALLS; i++) {
        const struct collopt_recorded_call *e = &collopt_recording->call[i];

        ck_assert_int_eq(e->state, COLLOPT_RECORDED_INSIDE);
        ck_assert_int_eq(e->waits_for, -1);
        ck_assert_uint_eq(e->bytes, UINT64_MAX);
    }
}

/* ---- a reader beside the writer -------------------------------------------------------------- */

static _Atomic bool ends;

/* A whole call is one that was written: its parts belong together. */
static bool is_whole(const struct collopt_recorded_call *e)
{
    uint64_t before = atomic_load_explicit(&e->sequence, memory_order_acquire);
    uint64_t count = atomic_load_explicit(&e->count, memory_order_relaxed);
    uint32_t number = atomic_load_explicit(&e->number, memory_order_relaxed);
    int root = atomic_load_explicit(&e->root, memory_order_relaxed);
    int collective = atomic_load_explicit(&e->collective, memory_order_relaxed);

    atomic_thread_fence(memory_order_acquire);
    if (before == 0 || before % 2 || atomic_load(&e->sequence) != before)
        return false;
    ck_assert_uint_eq(before, 2 * (uint64_t)number);
    ck_assert_uint_eq(count, 8 * (uint64_t)number);
    ck_assert_int_eq(root, (int)(number % RANKS));
    ck_assert_int_eq(collective, (int)(number % 6));
    return true;
}

/* The last look comes when all are written, whenever this thread runs. */
static void *look(void *unused)
{
    static uint64_t whole;
    bool last;

    do {
        last = ends;
        for (int i = 0; i < COLLOPT_RECORDED_CALLS; i++)
            whole += is_whole(&collopt_recording->call[i]);
    } while (!last);
    (void)unused;
    return &whole;
}

TEST(calls_are_whole)
{
    struct collopt_recorded_comm *c;
    pthread_t reader;
    void *whole;

    make();
    c = add(9, RANKS, NULL);
    pthread_create(&reader, NULL, look, NULL);
    for (unsigned n = 1; n <= CALLS; n++)
        enter(c, COLLOPT_RECORDED_BLOCKING, n);
    ends = true;
    pthread_join(reader, &whole);
    ck_assert_uint_gt(*(uint64_t *)whole, 0);
    ck_assert_uint_eq(c->calls, CALLS);
}

static void *write_calls(void *comm)
{
    for (unsigned n = 1; n <= CALLS / 10; n++)
        enter(comm, COLLOPT_RECORDED_BLOCKING, n);
    return NULL;
}

/* Threads with a communicator each: no place in the ring is given to two calls. */
TEST(threads)
{
    pthread_t thread[3];
    bool seen[2 * 3 * (CALLS / 10) + 3] = { false };

    make();
    collopt_recorder_threads = true;
    for (int t = 0; t < 3; t++)
        pthread_create(&thread[t], NULL, write_calls, add((uint64_t)t + 1, RANKS, NULL));
    for (int t = 0; t < 3; t++)
        pthread_join(thread[t], NULL);
    ck_assert_uint_eq(collopt_recording->head.recorded, 3 * (CALLS / 10));
    for (int i = 0; i < COLLOPT_RECORDED_CALLS; i++) {
        uint64_t sequence = collopt_recording->call[i].sequence;

        ck_assert(!seen[sequence]);
        seen[sequence] = true;
    }
}

/* ---- communicators and names ----------------------------------------------------------------- */

static const int *members_of(const struct collopt_recorded_comm *c)
{
    return (const int *)(const void *)((const char *)collopt_recording + c->members);
}

static void is_as_added(const struct collopt_recorded_comm *c)
{
    ck_assert_uint_eq(c->generation % 2, 0);
    for (int r = 0; c->members != 0 && r < c->ranks; r++)
        ck_assert_int_eq(members_of(c)[r], (int)c->id + r);
}

/* Communicators of random sizes come and go; none loses its list to another. */
TEST(lists)
{
    enum { LARGEST = 700 };
    static int member[LARGEST];
    struct collopt_recorded_comm *living[300] = { NULL };
    int without = 0;

    make();
    srand(5);
    for (int n = 1; n < 5000; n++) {
        struct collopt_recorded_comm **c = &living[rand() % 300];

        if (*c) {
            is_as_added(*c);
            collopt_recorder_remove_comm(*c);
            *c = NULL;
        } else {
            int ranks = 1 + rand() % LARGEST;

            for (int r = 0; r < ranks; r++)
                member[r] = n + r;
            *c = add((uint64_t)n, ranks, member);
            without += *c && (*c)->members == 0;
        }
    }
    for (int i = 0; i < 300; i++)
        if (living[i])
            is_as_added(living[i]);
    ck_assert_int_gt(without, 0);       /* lists did run out of room */
}

TEST(no_room_for_communicators)
{
    struct collopt_recorded_comm *first, *again;
    uint64_t generation;

    make();
    first = add(1, RANKS, NULL);
    for (int i = 1; i < COLLOPT_RECORDED_COMMS; i++)
        ck_assert_ptr_nonnull(add((uint64_t)i + 1, RANKS, NULL));
    ck_assert(!collopt_recorder_has_room());
    ck_assert_ptr_null(add(1000, RANKS, NULL));
    enter(first, COLLOPT_RECORDED_BLOCKING, 1);
    generation = first->generation;
    collopt_recorder_remove_comm(first);
    ck_assert_uint_gt(first->generation, generation);
    ck_assert(collopt_recorder_has_room());
    again = add(1000, RANKS, NULL);
    ck_assert_ptr_eq(again, first);
    ck_assert_uint_eq(again->calls, 0);
    ck_assert_uint_eq(again->latest, 0);
}

TEST(agreed)
{
    struct collopt_recorded_comm *c;
    uint64_t generation;

    make();
    c = add(1, RANKS, NULL);
    generation = c->generation;
    collopt_recorder_agree_comm(c, 99);
    ck_assert_uint_eq(c->id, 99);
    ck_assert_uint_eq(c->generation, generation);
    ck_assert(c->flags & COLLOPT_RECORDED_AGREED);
}

TEST(names)
{
    static char text[2 * COLLOPT_RECORDED_NAMES][8];
    unsigned n;

    ck_assert_uint_eq(collopt_recorder_name("ring"), COLLOPT_RECORDED_BY_COLLOPT);
    make();
    n = collopt_recorder_name("ring");
    ck_assert_uint_gt(n, COLLOPT_RECORDED_BY_COLLOPT);
    ck_assert_uint_eq(collopt_recorder_name("ring"), n);
    ck_assert_str_eq(collopt_recording->name[n], "ring");
    for (int i = 0; i < 2 * COLLOPT_RECORDED_NAMES; i++) {
        snprintf(text[i], sizeof text[i], "a%d", i);
        n = collopt_recorder_name(text[i]);
        ck_assert_uint_lt(n, COLLOPT_RECORDED_NAMES);
        if (n != COLLOPT_RECORDED_BY_COLLOPT)
            ck_assert_str_eq(collopt_recording->name[n], text[i]);
    }
    ck_assert_uint_eq(n, COLLOPT_RECORDED_BY_COLLOPT);
}

int main(void)
{
    return suite_run("recorder");
}
