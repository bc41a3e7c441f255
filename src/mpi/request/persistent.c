/* Makes, starts and completes persistent reductions; see persistent.h. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/request/persistent.h"
#include "base/numbers.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/greatest.h"
#include "mpi/host/call.h"
#include "mpi/request/request.h"
#include "report/timing.h"
#include "shm/segment.h"

enum {
    LINE = COLLOPT_SHM_LINE, PAGE = 4096,
    INLINE_AT = 16,             /* a short input lies in the line of its number */
    SLOTS = 8, SHORT = 4096,    /* one way: the number of slots of at most SHORT bytes */
    ACK_INTERVAL = 4            /* starts for each acknowledgement of a reader */
};
_Static_assert(SLOTS > ACK_INTERVAL && (SLOTS & (SLOTS - 1)) == 0, "see persistent.h");
static const size_t MOST_BYTES = (size_t)1 << 28;       /* of one rank */

/* beside a number: its rank has no input, an error of its own */
static const uint64_t FAILED = (uint64_t)1 << 63;

struct slot {
    _Alignas(LINE) _Atomic uint64_t number;
};

struct part {                   /* of a rank; its slots follow */
    _Alignas(LINE) _Atomic uint64_t passed;     /* as reader: its acknowledgement */
};

struct head {                   /* at the start of the memory */
    _Alignas(LINE) char segment[LINE];
    struct collopt_work work;
};

static const struct collopt_request_ops ops;

/* ---- where things lie ------------------------------------------------------------------------ */

static struct part *part_of(const struct collopt_request *op, int rank)
{
    return (struct part *)(op->memory + sizeof(struct head) + (size_t)rank * op->part);
}

static struct slot *slot_of(const struct collopt_request *op, int rank)
{
    return (struct slot *)((char *)(part_of(op, rank) + 1) + op->at);
}

static char *payload(const struct collopt_request *op, int rank)
{
    return (char *)slot_of(op, rank) + (op->slot > LINE ? LINE : INLINE_AT);
}

static const char *data(const struct collopt_request *op, int rank)
{
    return payload(op, rank);
}

/* Readers are the ranks that combine this rank's input.  Begins with the first one. */
static void look_at_readers(struct collopt_request *op)
{
    op->reader = op->collective == COLLOPT_REDUCE ? op->root : op->rank + 1;
    op->least = UINT64_MAX;
}

/* The rank after the last reader. */
static int end_of_readers(const struct collopt_request *op)
{
    return op->collective != COLLOPT_REDUCE ? op->ranks
        : op->root == op->rank              ? op->root
                                            : op->root + 1;
}

/* Alike on all ranks. */
static void lay_out(struct collopt_request *op)
{
    size_t bytes = collopt_request_published(op);

    op->one_way = op->slices == 0
        && (op->collective == COLLOPT_REDUCE || op->collective == COLLOPT_SCAN
            || op->collective == COLLOPT_EXSCAN);
    look_at_readers(op);
    op->slot = bytes <= LINE - INLINE_AT ? LINE : LINE + rounded_up(bytes, LINE);
    op->slots = op->one_way && op->slot <= SHORT ? SLOTS : 2;
    op->part = rounded_up(sizeof(struct part) + op->slots * op->slot,
                          op->slot >= PAGE ? PAGE : LINE);
    op->size = sizeof(struct head) + (size_t)op->ranks * op->part;
    if (op->slices > 0)
        op->size += rounded_up(bytes, LINE);
}

static void find_places(struct collopt_request *op)
{
    op->data = data;
    op->work = &((struct head *)op->memory)->work;
    op->result = op->memory + sizeof(struct head) + (size_t)op->ranks * op->part;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void release(struct collopt_request *op)
{
    if (op->memory && op->ranks > 1)
        collopt_segment_detach(op->memory);
    else
        free(op->memory);
}

static const char *describe(struct collopt_request *op, struct collopt_comm *c,
                            struct collopt_call *call)
{
    bool sliceable = call->collective == COLLOPT_ALLREDUCE || call->collective == COLLOPT_REDUCE;
    const char *why = collopt_request_describe(op, c, call, sliceable);

    if (why)
        return why;
    if (op->lacks_memory)       /* the ranks agree on who cannot */
        return "no memory";
    lay_out(op);
    return op->part > MOST_BYTES ? "it is too long for shared memory" : NULL;
}

enum { PROCESS, DESCRIPTOR, TOKEN, SIZE, SMALL, SLOT, THIN, CANNOT, WORDS };

/* ALL has the maxima over the ranks.  Do all ranks lay the memory out alike? */
static bool alike(const long long *all)
{
    return all[SIZE] == -all[SMALL] && all[SLOT] == -all[THIN];
}

/* One rank makes the memory, and those of the others attach to it that agree on its size. */
static bool attach(struct collopt_request *op, const struct collopt_segment_key *key)
{
    size_t from = sizeof(struct head) + (size_t)op->rank * op->part;
    size_t to = op->rank == op->ranks - 1 ? op->size : from + op->part;
    char why[160];

    if (op->rank > 0)
        op->memory = collopt_segment_attach_part(key, from, to, why, sizeof why);
    return op->memory != NULL;
}

static int share(struct collopt_request *op, struct collopt_comm *c, const char **why)
{
    struct collopt_segment_key key = { .descriptor = -1 };
    long long all[WORDS];
    char text[160];
    int err;

    if (c->rank == 0 && !*why
        && !(op->memory = collopt_segment_make_apart(op->size, sizeof(struct head) + op->part, &key,
                                                     text, sizeof text)))
        *why = "no shared memory";

    long long mine[WORDS] = { c->rank == 0 ? key.process : 0, c->rank == 0 ? key.descriptor : -1,
                              c->rank == 0 ? key.token : LLONG_MIN,
                              (long long)op->size, -(long long)op->size,
                              (long long)op->slot, -(long long)op->slot, *why != NULL };

    err = collopt_greatest(c, mine, all, WORDS);
    if (!err && !*why && (all[CANNOT] || !alike(all)))
        *why = "another rank cannot serve it";
    if (!err && !all[CANNOT] && alike(all)) {
        const struct collopt_segment_key found = { .process = (int)all[PROCESS],
                                                   .descriptor = (int)all[DESCRIPTOR],
                                                   .token = (int)all[TOKEN] };
        bool attached = attach(op, &found);

        mine[0] = !attached;
        err = collopt_greatest(c, mine, all, 1);
        if (!err && all[0])
            *why = attached ? "another rank cannot serve it" : "no shared memory";
    }
    collopt_segment_close(&key);
    return err;
}

static const char *have_alone(struct collopt_request *op)
{
    op->memory = aligned_alloc(LINE, rounded_up(op->size, LINE));
    if (!op->memory)
        return "no memory";
    memset(op->memory, 0, op->size);
    return NULL;
}

/* ---- from start to end ----------------------------------------------------------------------- */

static void start(struct collopt_request *op)
{
    uint64_t before = op->timed ? collopt_timing_begin() : 0;

    op->number++;
    op->at = (op->number & (op->slots - 1)) * op->slot;
    op->slices_before = (op->number - 1) * op->slices;
    collopt_request_begin(op);
    collopt_request_copy_in(op, payload(op, op->rank));
    atomic_store_explicit(&slot_of(op, op->rank)->number, op->number | (op->err ? FAILED : 0),
                          memory_order_release);
    atomic_store_explicit(&op->stage, COLLOPT_STARTED, memory_order_release);
    if (op->timed)
        op->time = collopt_timing_end(before);
}

static bool has_started(struct collopt_request *op, int rank)
{
    uint64_t number = atomic_load_explicit(&slot_of(op, rank)->number, memory_order_acquire);

    if (number == (op->number | FAILED) && !op->err)
        op->err = MPI_ERR_OTHER;
    return (number & ~FAILED) == op->number;
}

/* Have all ranks started whose inputs this rank needs? */
static bool all_started(struct collopt_request *op)
{
    int needed = op->one_way ? op->operands : op->ranks;

    while (op->seen < needed && has_started(op, op->seen))
        op->seen++;
    return op->seen == needed;
}

/* Is there a slot for the next start?  Reads the acknowledgement of one reader until it suffices,
 * then that of the next one. */
static bool has_room(struct collopt_request *op)
{
    uint64_t needs = op->number < op->slots ? 0 : op->number + 1 - op->slots;
    int end = end_of_readers(op);

    if (op->passed >= needs)
        return true;
    for (; op->reader < end; op->reader++) {
        uint64_t passed = atomic_load_explicit(&part_of(op, op->reader)->passed,
                                               memory_order_acquire);

        if (passed < needs)
            return false;
        op->least = passed < op->least ? passed : op->least;
    }
    op->passed = op->least;
    look_at_readers(op);
    return true;
}

static void acknowledge(const struct collopt_request *op)
{
    if (op->slots == 2 || op->number % ACK_INTERVAL == 0)
        atomic_store_explicit(&part_of(op, op->rank)->passed, op->number, memory_order_release);
}

static bool go_on(struct collopt_request *op)
{
    if (!all_started(op) || (op->one_way && !has_room(op)) || !collopt_request_combine(op))
        return false;
    if (op->one_way)
        acknowledge(op);
    collopt_request_end(op);
    return true;
}

static bool advance(struct collopt_request *op)
{
    if (!collopt_request_claim(op))
        return false;
    if (collopt_stage_of(op) == COLLOPT_STARTED && collopt_request_ops_of(op) == &ops)
        go_on(op);
    collopt_request_unclaim(op);
    return collopt_stage_of(op) != COLLOPT_STARTED;
}

static const struct collopt_request_ops ops = { .start = start, .advance = advance,
                                                .release = release, .help = go_on };

struct collopt_request *collopt_persistent_make(struct collopt_comm *c, struct collopt_call *call,
                                                  const char **why, int *err)
{
    struct collopt_request *op = collopt_request_take(), none = { .err = MPI_SUCCESS };

    *err = MPI_SUCCESS;
    *why = op ? describe(op, c, call) : "no memory";
    if (c->ranks > 1)
        *err = share(op ? op : &none, c, why);
    else if (op && !*why)
        *why = have_alone(op);
    if (op && (*err || *why)) {
        release(op);
        collopt_request_give_back(op);
        op = NULL;
    }
    if (op) {
        find_places(op);
        atomic_store_explicit(&op->ops, &ops, memory_order_relaxed);
    }
    return op;
}
