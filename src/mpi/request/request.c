/* Takes, fills in, ends and counts requests; see request.h. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/request/request.h"
#include "mpi/check/comparison.h"
#include "mpi/comm/comm.h"
#include "mpi/host/call.h"
#include "mpi/run/scratch.h"
#include "recorder/recorder.h"
#include "report/timing.h"
#include "report/traced.h"
#include "schedule/descriptor.h"
#include "settings/settings.h"

bool collopt_many_threads;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* never unmapped: table.c may look at one that was just freed */
static struct collopt_request *unused;

/* ---- the pool -------------------------------------------------------------------------------- */

struct collopt_request *collopt_request_take(void)
{
    struct collopt_request *r;

    pthread_mutex_lock(&lock);
    r = unused;
    if (r)
        unused = r->next;
    pthread_mutex_unlock(&lock);
    return r ? r : calloc(1, COLLOPT_REQUEST_SIZE);
}

static void free_scratch(struct collopt_kept *k)
{
    if (k->counted)
        collopt_scratch_release(k->size);
    collopt_scratch_free(k->scratch);
    k->scratch = NULL;
    k->size = 0;
    k->counted = false;
}

bool collopt_request_scratch(struct collopt_request *r, size_t size)
{
    struct collopt_kept *k = &r->kept;

    if (size <= k->size)
        return true;
    free_scratch(k);
    k->scratch = collopt_scratch_make(size);
    k->size = k->scratch ? size : 0;
    return k->scratch != NULL;
}

/* Short scratch serves the next request. */
void collopt_request_clear(struct collopt_request *r)
{
    struct collopt_kept *k = &r->kept;

    if (k->size <= COLLOPT_KEPT_SCRATCH && !k->counted)
        k->counted = collopt_scratch_keep(k->size);
    if (!k->counted)
        free_scratch(k);
    memset((char *)r + offsetof(struct collopt_request, state), 0,
           COLLOPT_REQUEST_SIZE - offsetof(struct collopt_request, state));
}

void collopt_request_give_back(struct collopt_request *r)
{
    collopt_poke_end(&r->poke);
    collopt_request_clear(r);
    pthread_mutex_lock(&lock);
    r->next = unused;
    unused = r;
    pthread_mutex_unlock(&lock);
}

/* ---- from a call ----------------------------------------------------------------------------- */

static bool can_be_kept(MPI_Op op)
{
#ifdef COLLOPT_STATIC
    return collopt_op_predefined(op);
#else
    (void)op;
    return true;
#endif
}

const char *collopt_request_fill(struct collopt_request *r, struct collopt_comm *c,
                                 const struct collopt_call *call)
{
    r->owner = c;
    r->comm = call->comm;
    r->collective = call->collective;
    if (!can_be_kept(call->op))
        return "the archive does not see when the operation is freed";
    r->measured.timed = c->timed;
    r->yields = c->yields || collopt_settings()->async == COLLOPT_ASYNC_THREAD;
    r->bytes = collopt_call_elements(call, c->ranks) * r->facts.size;
    return NULL;
}

bool collopt_request_compare(struct collopt_request *r)
{
    bool raised;
    int err;

    if (!collopt_comparison_advance(r->comparison, collopt_request_in_progress(r)))
        return false;
    err = collopt_comparison_result(r->comparison, &raised);
    if (err) {
        r->err = err;
        r->raised = raised;
        r->refused = true;
    }
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The entries of the counters for calls without a chosen algorithm. */
#define ENTRY(ID, NAME) [COLLOPT_##ID] = { .name = NAME, .collective = COLLOPT_##ID }
#define ENTRIES(NAME) \
    { ENTRY(REDUCE, NAME), ENTRY(ALLREDUCE, NAME), ENTRY(REDUCE_SCATTER, NAME), \
      ENTRY(REDUCE_SCATTER_BLOCK, NAME), ENTRY(SCAN, NAME), ENTRY(EXSCAN, NAME) }
static const struct collopt_algorithm counted[2][COLLOPT_COLLECTIVES] = {
    ENTRIES("persistent"), ENTRIES("nonblocking")
};

static const struct collopt_algorithm *counted_as(const struct collopt_request *r)
{
    return &counted[r->nonblocking][r->collective];
}

void collopt_request_starts(struct collopt_request *r, const struct collopt_noting *noting,
                            bool root)
{
    r->measured.noting = *noting;
    collopt_noting_describe(&r->measured.noting, r->measured.noted, r->collective,
                            collopt_counted_run(counted_as(r), collopt_size_class(r->bytes)),
                            root);
    r->measured.noting.entered = collopt_timing_begin();
}

void collopt_request_has_started(struct collopt_request *r)
{
    struct collopt_noting *g = &r->measured.noting;

    g->starting = collopt_timing_end(g->entered);
}

static void count_timed(const struct collopt_request *r)
{
    uint64_t time = collopt_noting_time(&r->measured.noting);

    collopt_count_timed(counted_as(r), collopt_size_class(r->bytes), &(struct collopt_timed_call){
        .bytes = r->bytes, .time = time,
        .sent = { r->measured.sent[COLLOPT_SENT_BY_HOST],
                  r->measured.sent[COLLOPT_SENT_BY_SHM] } });
    if (!r->err)
        collopt_noting_end(&r->measured.noting);
}

void collopt_request_count(const struct collopt_request *r)
{
    collopt_traced_end(r->measured.traced);
    if (r->comparison && (r->by_host || r->refused))
        return;
    if (r->measured.timed)
        count_timed(r);
    else
        collopt_count_call(counted_as(r), collopt_size_class(r->bytes), r->bytes);
}

void collopt_request_end(struct collopt_request *r)
{
    if (collopt_recording)
        collopt_recorder_leave(r->measured.recorded);
    atomic_store_explicit(&r->state, COLLOPT_DONE, memory_order_release);
}
