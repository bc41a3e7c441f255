/* Writes down what this process does: its communicators, and the latest of its reductions
 * (layout.h).  A call costs some stores to two cache lines and a look at a coarse clock. */
#ifndef COLLOPT_RECORDER_RECORDER_H
#define COLLOPT_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "recorder/layout.h"

/* NULL: nothing is recorded. */
extern struct collopt_recording_parts *collopt_recording;
/* Calls of several threads may overlap. */
extern bool collopt_recorder_threads;

/* Makes the recording; false, with a reason in WHY: there is none. */
bool collopt_recorder_begin(char *why, size_t size_of_why);
struct collopt_recorded_process {
    uint64_t job;
    int rank, ranks, local_ranks;
    const char *host, *mpi;
};
/* Says whose it is, once. */
void collopt_recorder_introduce(const struct collopt_recorded_process *p);
/* It has entered MPI_Finalize, where the program's delete callbacks may still reduce. */
void collopt_recorder_finalizes(void);

/* A communicator, of which ID, FLAGS, RANK, RANKS and NAME are told.  MEMBER: its ranks in
 * MPI_COMM_WORLD, or NULL.  NULL: no room, or nothing is recorded. */
struct collopt_recorded_comm *collopt_recorder_add_comm(const struct collopt_recorded_comm *about,
                                                        const int *member);
bool collopt_recorder_has_room(void);           /* for one more */
/* Its id is its own from now on. */
void collopt_recorder_agree_comm(struct collopt_recorded_comm *c, uint64_t id);
void collopt_recorder_remove_comm(struct collopt_recorded_comm *c);

/* The number of an algorithm's name, for collopt_recorder_names(); any thread. */
unsigned collopt_recorder_name(const char *name);

/* How many calls were recorded before this one. */
static inline uint64_t collopt_recorder_next(void)
{
    _Atomic uint64_t *recorded = &collopt_recording->head.recorded;
    uint64_t n;

    if (collopt_recorder_threads)
        return atomic_fetch_add_explicit(recorded, 1, memory_order_relaxed);
    n = atomic_load_explicit(recorded, memory_order_relaxed);
    atomic_store_explicit(recorded, n + 1, memory_order_relaxed);
    return n;
}

static inline uint64_t collopt_recorder_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#define PUT(field, value) atomic_store_explicit(&(field), value, memory_order_relaxed)
#define GET(field) atomic_load_explicit(&(field), memory_order_relaxed)

/* A call, by its arguments (layout.h). */
struct collopt_recorded_what {
    uint8_t collective, mode;
    int32_t root;
    uint64_t count;
};

/* A call on C begins. */
static inline void collopt_recorder_enter(struct collopt_recorded_comm *c,
                                          struct collopt_recorded_what what)
{
    bool starts = what.mode == COLLOPT_RECORDED_START;
    _Atomic uint32_t *numbers = starts ? &c->starts : &c->calls;
    uint64_t n = collopt_recorder_next();
    struct collopt_recorded_call *e = &collopt_recording->call[n % COLLOPT_RECORDED_CALLS];
    uint32_t number = GET(*numbers) + 1;

    PUT(e->sequence, 2 * n + 1);
    atomic_thread_fence(memory_order_release);
    PUT(e->entered, collopt_recorder_clock());
    PUT(e->bytes, UINT64_MAX);
    PUT(e->number, number);
    PUT(e->comm, (uint16_t)(c - collopt_recording->comm));
    PUT(e->name, COLLOPT_RECORDED_BY_HOST);
    PUT(e->collective, what.collective);
    PUT(e->mode, what.mode);
    PUT(e->state, starts || what.mode == COLLOPT_RECORDED_NONBLOCKING ? COLLOPT_RECORDED_STARTED
                                                                      : COLLOPT_RECORDED_INSIDE);
    PUT(e->root, what.root);
    PUT(e->waits_for, -1);
    PUT(e->count, what.count);
    atomic_store_explicit(&e->sequence, 2 * n + 2, memory_order_release);
    PUT(*numbers, number);
    PUT(c->latest, 2 * n + 2);
}

/* The call with this SEQUENCE; NULL: others have taken its place. */
static inline struct collopt_recorded_call *collopt_recorder_find(uint64_t sequence)
{
    struct collopt_recorded_call *e =
        &collopt_recording->call[(sequence / 2 - 1) % COLLOPT_RECORDED_CALLS];

    return sequence != 0 && GET(e->sequence) == sequence ? e : NULL;
}

/* Its latest call is run by what has this NAME. */
static inline void collopt_recorder_run(struct collopt_recorded_comm *c, uint64_t bytes,
                                        unsigned name)
{
    struct collopt_recorded_call *e = collopt_recorder_find(GET(c->latest));

    if (e) {
        PUT(e->bytes, bytes);
        PUT(e->name, (uint16_t)name);
    }
}

/* Its latest call waits for RANK (layout.h). */
static inline void collopt_recorder_wait(struct collopt_recorded_comm *c, int rank)
{
    struct collopt_recorded_call *e = collopt_recorder_find(GET(c->latest));

    if (e)
        PUT(e->waits_for, rank);
}

/* The call with this SEQUENCE, which was only started, is waited for. */
static inline void collopt_recorder_await(uint64_t sequence)
{
    struct collopt_recorded_call *e = collopt_recorder_find(sequence);

    if (e && GET(e->state) == COLLOPT_RECORDED_STARTED)
        PUT(e->state, COLLOPT_RECORDED_AWAITED);
}

/* The call with this SEQUENCE is done. */
static inline void collopt_recorder_leave(uint64_t sequence)
{
    struct collopt_recorded_call *e = collopt_recorder_find(sequence);

    if (e)
        PUT(e->state, COLLOPT_RECORDED_DONE);
}

#undef PUT
#undef GET

#endif
