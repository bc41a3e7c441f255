/* What is recorded of a communicator and of the calls on it (src/recorder). */
#ifndef COLLOPT_MPI_COMM_RECORDED_H
#define COLLOPT_MPI_COMM_RECORDED_H

#include "mpi/comm/comm.h"
#include "mpi/host/call.h"
#include "recorder/recorder.h"

/* The process is recorded unless COLLOPT_RECORD=off; in MPI_Init, collective.  THREADS: calls of
 * several may overlap. */
void collopt_record_begin(bool threads);
/* C is recorded from now on; NULL: it is not. */
struct collopt_recorded_comm *collopt_record_comm(struct collopt_comm *c);
/* C is taken over: its ranks have an id for it that no other communicator has. */
void collopt_record_agreed(const struct collopt_comm *c);

static inline struct collopt_recorded_comm *collopt_recorded(const struct collopt_comm *c)
{
    return collopt_part(c, COLLOPT_PART_RECORDED);
}

/* The numbers of the calls have to be the same on all ranks: this comes before whatever may leave
 * the call. */
static inline void collopt_record_enter(struct collopt_comm *c, const struct collopt_call *call,
                                        enum collopt_recorded_mode mode)
{
    struct collopt_recorded_comm *r;

    if (!collopt_recording || !c || (!(r = collopt_recorded(c)) && !(r = collopt_record_comm(c))))
        return;
    collopt_recorder_enter(r, (struct collopt_recorded_what){
        .collective = (uint8_t)call->collective,
        .mode = (uint8_t)mode,
        .root = call->collective == COLLOPT_REDUCE ? call->root : -1,
        .count = collopt_call_scatters(call) ? UINT64_MAX : call->count });
}

static inline void collopt_record_run(const struct collopt_comm *c, uint64_t bytes, unsigned name)
{
    if (collopt_recorded(c))
        collopt_recorder_run(collopt_recorded(c), bytes, name);
}

static inline void collopt_record_wait(const struct collopt_comm *c, int rank)
{
    if (collopt_recorded(c))
        collopt_recorder_wait(collopt_recorded(c), rank);
}

/* The sequence of the latest call; 0: none. */
static inline uint64_t collopt_record_latest(const struct collopt_comm *c)
{
    return c && collopt_recorded(c)
        ? atomic_load_explicit(&collopt_recorded(c)->latest, memory_order_relaxed) : 0;
}

static inline void collopt_record_leave(const struct collopt_comm *c)
{
    if (c && collopt_recorded(c))
        collopt_recorder_leave(collopt_record_latest(c));
}

#endif
