/* Makes, starts and completes persistent reductions; see persistent.h. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/persistent.h"
#include "base/clock.h"
#include "base/numbers.h"
#include "mpi/comm.h"
#include "mpi/dispatch.h"
#include "mpi/operation.h"
#include "shm/segment.h"

enum {
    LINE = COLLOPT_SHM_LINE, PAGE = 4096,
    INLINE_AT = 16              /* a short input lies in the line of its number */
};
static const size_t MOST_BYTES = (size_t)1 << 28;       /* of one rank */

struct slot {
    _Alignas(LINE) _Atomic uint64_t number;
};

struct head {                   /* at the start of the memory */
    _Alignas(LINE) char segment[LINE];
    struct collopt_work work;
};

/* ---- where things lie ------------------------------------------------------------------------ */

static struct slot *slot_of(const struct collopt_operation *op, int rank)
{
    return (struct slot *)(op->memory + sizeof(struct head) + (size_t)rank * op->part
                           + (op->number & 1) * op->slot);
}

static char *payload(const struct collopt_operation *op, int rank)
{
    return (char *)slot_of(op, rank) + (op->slot > LINE ? LINE : INLINE_AT);
}

static const char *data(const struct collopt_operation *op, int rank)
{
    return payload(op, rank);
}

/* Alike on all ranks. */
static void lay_out(struct collopt_operation *op)
{
    size_t bytes = collopt_operation_published(op);

    op->slot = bytes <= LINE - INLINE_AT ? LINE : LINE + rounded_up(bytes, LINE);
    op->part = rounded_up(2 * op->slot, op->slot >= PAGE ? PAGE : LINE);
    op->size = sizeof(struct head) + (size_t)op->ranks * op->part;
    if (op->collective == COLLOPT_ALLREDUCE || op->collective == COLLOPT_REDUCE)
        collopt_operation_cut(op);
    if (op->slices > 0)
        op->size += rounded_up(bytes, LINE);
}

static void find_places(struct collopt_operation *op)
{
    op->data = data;
    op->work = &((struct head *)op->memory)->work;
    op->result = op->memory + sizeof(struct head) + (size_t)op->ranks * op->part;
}

/* ---- making ---------------------------------------------------------------------------------- */

void collopt_persistent_free(struct collopt_operation *op)
{
    if (op->memory && op->ranks > 1)
        collopt_segment_detach(op->memory);
    else
        free(op->memory);
    collopt_operation_give_back(op);
}

static const char *describe(struct collopt_operation *op, struct collopt_comm *c,
                            struct collopt_call *call)
{
    const char *why = collopt_operation_describe(op, c, call);

    if (why)
        return why;
    lay_out(op);
    return op->part > MOST_BYTES ? "it is too long for shared memory" : NULL;
}

enum { PROCESS, DESCRIPTOR, TOKEN, SIZE, SMALL, CANNOT, WORDS };

/* One rank makes the memory, and those of the others attach to it that agree on its size. */
static bool attach(struct collopt_operation *op, const struct collopt_segment_key *key)
{
    size_t from = sizeof(struct head) + (size_t)op->rank * op->part;
    size_t to = op->rank == op->ranks - 1 ? op->size : from + op->part;
    char why[160];

    if (op->rank > 0)
        op->memory = collopt_segment_attach_part(key, from, to, why, sizeof why);
    return op->memory != NULL;
}

static int share(struct collopt_operation *op, struct collopt_comm *c, const char **why)
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
                              (long long)op->size, -(long long)op->size, *why != NULL };

    err = collopt_greatest(c, mine, all, WORDS);
    if (!err && !*why && (all[CANNOT] || all[SIZE] != -all[SMALL]))
        *why = "another rank cannot serve it";
    if (!err && !all[CANNOT] && all[SIZE] == -all[SMALL]) {
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

static const char *have_alone(struct collopt_operation *op)
{
    op->memory = aligned_alloc(LINE, rounded_up(op->size, LINE));
    if (!op->memory)
        return "no memory";
    memset(op->memory, 0, op->size);
    return NULL;
}

struct collopt_operation *collopt_persistent_make(struct collopt_comm *c, struct collopt_call *call,
                                                  const char **why, int *err)
{
    struct collopt_operation *op = collopt_operation_take(), none = { .err = MPI_SUCCESS };

    *err = MPI_SUCCESS;
    *why = op ? describe(op, c, call) : "no memory";
    if (c->ranks > 1)
        *err = share(op ? op : &none, c, why);
    else if (op && !*why)
        *why = have_alone(op);
    if (op && (*err || *why)) {
        collopt_persistent_free(op);
        op = NULL;
    }
    if (op)
        find_places(op);
    return op;
}

/* ---- from start to end ----------------------------------------------------------------------- */

void collopt_persistent_start(struct collopt_operation *op)
{
    double start = op->timed ? collopt_now() : 0;

    op->number++;
    op->slices_before = (op->number - 1) * op->slices;
    collopt_operation_begin(op);
    collopt_operation_copy_in(op, payload(op, op->rank));
    atomic_store_explicit(&slot_of(op, op->rank)->number, op->number, memory_order_release);
    atomic_store_explicit(&op->stage, COLLOPT_STARTED, memory_order_release);
    if (op->timed)
        op->seconds = collopt_now() - start;
}

static bool has_started(const struct collopt_operation *op, int rank)
{
    return atomic_load_explicit(&slot_of(op, rank)->number, memory_order_acquire) == op->number;
}

static bool all_started(struct collopt_operation *op)
{
    while (op->seen < op->ranks && has_started(op, op->seen))
        op->seen++;
    return op->seen == op->ranks;
}

bool collopt_persistent_advance(struct collopt_operation *op)
{
    if (!all_started(op) || !collopt_operation_combine(op))
        return false;
    collopt_operation_end(op);
    return true;
}
