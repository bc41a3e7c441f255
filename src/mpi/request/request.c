/* What persistent and nonblocking reductions have in common; see operation.h. */
#include "config.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/request/request.h"
#include "base/clock.h"
#include "base/numbers.h"
#include "mpi/check/comparison.h"
#include "mpi/comm/arguments.h"
#include "mpi/comm/comm.h"
#include "mpi/device/gpu.h"
#include "mpi/device/staging.h"
#include "mpi/host/call.h"
#include "mpi/node/world.h"
#include "mpi/plan/plan.h"
#include "mpi/run/fold.h"
#include "mpi/run/scratch.h"
#include "report/counters.h"
#include "settings/settings.h"
#include "shm/writer.h"

bool collopt_many_threads;

enum {
    ALIGNMENT = 64,
    LEAST_SLICE = 8 << 10, MOST_SLICE = 64 << 10,       /* bytes */
    WORTH_SLICES = 16 << 10     /* bytes that each rank is spared */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* never unmapped: requests.c may look at one that was just freed */
static struct collopt_request *unused;

static void free_scratch(struct collopt_request *op)
{
    if (op->counted)
        collopt_scratch_let_go(op->scratch_size);
    collopt_scratch_free(op->scratch);
    op->scratch = NULL;
    op->scratch_size = 0;
    op->counted = false;
}

static size_t unit(const struct collopt_request *op)
{
    return op->packed ? op->facts.size : (size_t)op->facts.extent;
}

/* ---- the pool -------------------------------------------------------------------------------- */

struct collopt_request *collopt_request_take(void)
{
    struct collopt_request *op;

    pthread_mutex_lock(&lock);
    op = unused;
    if (op)
        unused = op->next;
    pthread_mutex_unlock(&lock);
    return op ? op : calloc(1, sizeof *op);
}

/* Short scratch serves the next operation. */
void collopt_request_clear(struct collopt_request *op)
{
    if (op->scratch_size <= COLLOPT_KEPT_SCRATCH && !op->counted)
        op->counted = collopt_scratch_keep(op->scratch_size);
    if (!op->counted)
        free_scratch(op);
    memset((char *)op + offsetof(struct collopt_request, stage), 0,
           sizeof *op - offsetof(struct collopt_request, stage));
}

void collopt_request_give_back(struct collopt_request *op)
{
    collopt_poke_end(&op->poke);
    collopt_request_clear(op);
    pthread_mutex_lock(&lock);
    op->next = unused;
    unused = op;
    pthread_mutex_unlock(&lock);
}

/* ---- from a call ----------------------------------------------------------------------------- */

static void measure(struct collopt_request *op, const struct collopt_call *call)
{
    bool scatters = call->collective == COLLOPT_REDUCE_SCATTER
        || call->collective == COLLOPT_REDUCE_SCATTER_BLOCK;

    op->count = op->mine = call->collective == COLLOPT_REDUCE_SCATTER ? 0 : call->count;
    op->first = 0;
    if (scatters) {
        op->count = 0;
        for (int r = 0; r < op->ranks; r++) {
            if (r == op->rank)
                op->first = op->count;
            op->count += collopt_call_count(call, r);
        }
        op->mine = collopt_call_count(call, op->rank);
    }
    op->bytes = op->count * op->facts.size;
}

/* Elements that kernels know are published as they lie in memory, and so are those of predefined
 * datatypes without gaps. Others may lie otherwise on other ranks: their data are packed. */
static bool lies_as_it_is(const struct collopt_facts *f)
{
    if (f->dense)
        return f->kernel || f->lasting || f->but_op;
    return f->kernel && collopt_kernel(COLLOPT_REPLACE, f->type_id)
        && collopt_type_size(f->type_id) == (size_t)f->extent;
}

static bool scratch_suffices(struct collopt_request *op, size_t size)
{
    if (size <= op->scratch_size)
        return true;
    free_scratch(op);
    op->scratch = collopt_scratch_make(size);
    op->scratch_size = op->scratch ? size : 0;
    return op->scratch != NULL;
}

/* Bytes of scratch for a vector of N elements; *BEFORE: of them before element 0.  An operation may
 * touch the gaps of its operands, and wants element 0 aligned as the program's own would be. */
static size_t span(const struct collopt_facts *f, size_t n, ptrdiff_t *before)
{
    ptrdiff_t last = ((ptrdiff_t)n - 1) * f->extent;
    ptrdiff_t from = f->low + (last < 0 ? last : 0), to = f->high + (last > 0 ? last : 0);

    *before = from < 0 ? (ptrdiff_t)rounded_up((size_t)-from, ALIGNMENT)
                       : -(from / ALIGNMENT * ALIGNMENT);
    return rounded_up((size_t)(*before + to), ALIGNMENT) + ALIGNMENT;
}

/* Packed data are combined in the layout of the program's datatype: a slice in two vectors of
 * scratch, else in the result and one vector. */
static bool make_scratch(struct collopt_request *op)
{
    size_t vectors = !op->packed ? 0 : op->slices > 0 ? 2 : 1,
           elements = op->slices > 0 ? op->slice : op->mine;
    ptrdiff_t before = 0;
    size_t size = vectors > 0 && elements > 0 ? span(&op->facts, elements, &before) : 0;
    size_t operands = rounded_up((size_t)op->ranks * sizeof *op->operand, ALIGNMENT);

    if (!scratch_suffices(op, vectors * size + operands))
        return false;
    op->operand = (const void **)(void *)(op->scratch + vectors * size);
    op->aside[0] = op->scratch + before;
    op->aside[1] = op->aside[0] + size;
    return true;
}

static int operands_of(const struct collopt_request *op)
{
    switch (op->collective) {
    case COLLOPT_REDUCE:
        return op->rank == op->root ? op->ranks : 0;
    case COLLOPT_SCAN:
        return op->rank + 1;
    case COLLOPT_EXSCAN:
        return op->rank;
    default:
        return op->ranks;
    }
}

/* For calls that need some communicator, whose error handler returns. */
static MPI_Comm any_comm(void)
{
    const struct collopt_world *world = collopt_world();

    return world ? world->hidden : MPI_COMM_SELF;
}

static bool can_be_kept(MPI_Op op)
{
#ifdef COLLOPT_STATIC
    return collopt_op_predefined(op);
#else
    (void)op;
    return true;
#endif
}

/* Cuts it into slices, if they save the ranks enough work.  Alike on all ranks: the bytes that are
 * published do not depend on the layout of a rank's datatype. */
static void cut(struct collopt_request *op)
{
    size_t bytes = collopt_request_published(op), slice = bytes / (size_t)op->ranks / 2;

    if (op->ranks <= 2 || bytes * (size_t)(op->ranks - 2) < WORTH_SLICES)
        return;
    slice = slice < LEAST_SLICE ? LEAST_SLICE : slice > MOST_SLICE ? MOST_SLICE : slice;
    op->slice = (slice + unit(op) - 1) / unit(op);
    op->slices = (unsigned)((op->count + op->slice - 1) / op->slice);
}

const char *collopt_request_fill(struct collopt_request *op, struct collopt_comm *c,
                                   const struct collopt_call *call)
{
    op->owner = c;
    op->comm = call->comm;
    op->rank = c->rank;
    op->ranks = c->ranks;
    op->collective = call->collective;
    if (!can_be_kept(call->op))
        return "the archive does not see when the operation is freed";
    op->root = call->root;
    op->users_in = call->in == MPI_IN_PLACE ? call->out : call->in;
    op->users_out = call->out;
    op->timed = c->timed;
    op->yields = c->yields || collopt_settings()->async == COLLOPT_ASYNC_THREAD;
    op->operands = operands_of(op);
    measure(op, call);
    return NULL;
}

const char *collopt_request_describe(struct collopt_request *op, struct collopt_comm *c,
                                       struct collopt_call *call, bool sliceable)
{
    const char *why;

    if (!collopt_arguments_fit(c, call, &op->facts))
        return "arguments left to the MPI library";
    if ((why = collopt_request_fill(op, c, call)))
        return why;
    op->packed = !lies_as_it_is(&op->facts);
    if (op->packed && PMPI_Send(op, 1, op->facts.type, MPI_PROC_NULL, 0, any_comm()))
        return "the datatype is not committed";
    if (sliceable)
        cut(op);
    op->lacks_memory = !make_scratch(op);
    return NULL;
}

size_t collopt_request_published(const struct collopt_request *op)
{
    return op->count * unit(op);
}

/* ---- layouts --------------------------------------------------------------------------------- */

static void copy(const struct collopt_request *op, char *to, const char *from, size_t n)
{
    if (op->facts.dense)
        memcpy(to, from, n * op->facts.size);
    else
        collopt_kernel(COLLOPT_REPLACE, op->facts.type_id)->combine(to, from, from, n);
}

/* MPICH takes address 0 for a mistake, where derived datatypes may begin: *TYPE becomes one of all
 * COUNT elements that begins at *AT. */
static int anchor(const void **at, int *count, MPI_Datatype *type)
{
    static char here;
    MPI_Datatype of_one = *type;        /* MPICH writes the new type before it reads the old one */
    MPI_Aint from;
    int err = PMPI_Get_address(&here, &from);

    if (!err)
        err = PMPI_Type_create_hindexed(1, (int[]){ *count }, (MPI_Aint[]){ -from }, of_one, type);
    if (!err)
        err = PMPI_Type_commit(type);
    *at = &here;
    *count = 1;
    return err;
}

/* Packs N elements from USERS on to PACKED, or unpacks them.  N is small enough for ints. */
static int convert_part(const struct collopt_facts *f, bool packs, char *packed, const void *users,
                        size_t n)
{
    MPI_Datatype type = f->type;
    int count = (int)n, position = 0, err = MPI_SUCCESS;
    bool anchored = !users;

    if (anchored && (err = anchor(&users, &count, &type)))
        return err;
    if (packs)
        err = PMPI_Pack(users, count, type, packed, (int)(n * f->size), &position, any_comm());
    else
        err = PMPI_Unpack(packed, (int)(n * f->size), &position, (void *)users, count, type,
                          any_comm());
    if (anchored)
        collopt_host.Type_free(&type);
    return err;
}

static int convert(const struct collopt_facts *f, bool packs, const char *packed, const char *users,
                   size_t n)
{
    const size_t at_once = (1u << 30) / f->size + 1;
    int err = MPI_SUCCESS;

    for (size_t part; n > 0 && !err; n -= part) {
        part = n < at_once ? n : at_once;
        err = convert_part(f, packs, (char *)packed, users, part);
        packed += part * f->size;
        users = (const char *)((uintptr_t)users + part * (uintptr_t)f->extent);
    }
    return err;
}

static int pack(const struct collopt_request *op, char *to, const char *from, size_t n)
{
    return convert(&op->facts, true, to, from, n);
}

static int unpack(const struct collopt_request *op, char *to, const char *from, size_t n)
{
    return convert(&op->facts, false, from, to, n);
}

/* ---- starting -------------------------------------------------------------------------------- */

/* A datatype with a layout of its own may reach anywhere from its address. */
static bool may_be_on_device(const struct collopt_request *op)
{
    return (!op->facts.dense && !op->facts.lasting) || !collopt_plainly_host(op->users_in)
        || !collopt_plainly_host(op->users_out);
}

void collopt_request_begin(struct collopt_request *op)
{
    op->in = op->users_in;
    op->out = op->users_out;
    op->err = op->lacks_memory ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    op->seen = 0;
    op->time = 0;
    if (!op->err && may_be_on_device(op) && collopt_gpu_possible())
        op->err = collopt_stage_begin(&op->facts, any_comm(), op->count,
                                      op->operands > 0 ? op->mine : 0, &op->in, &op->out,
                                      &op->staging);
}

#ifndef COLLOPT_ONE_THREAD
_Thread_local
#endif
/* of this thread's operations, since a nonblocking one is only one copy */
static struct collopt_writer writer;

void collopt_request_copy_in(struct collopt_request *op, char *to)
{
    if (op->count == 0 || op->err)
        return;
    if (op->packed)
        op->err = pack(op, to, op->in, op->count);
    else if (op->facts.dense && op->bytes >= COLLOPT_WRITE_LEAST)
        collopt_write(&writer, to, op->in, op->bytes);
    else
        copy(op, to, op->in, op->count);
}

/* ---- combining ------------------------------------------------------------------------------- */

/* This rank's own input lies in its caches rather than what it has copied for the others. */
static const char *input_of(const struct collopt_request *op, int rank)
{
    return rank == op->rank && op->in != op->out ? op->in : op->data(op, rank);
}

/* TO = the N elements from FIRST on of ranks 0 to OPERANDS - 1, combined in the order of the
 * ranks. */
static int combine(const struct collopt_request *op, char *to, size_t first, size_t n,
                   int operands)
{
    const void **operand = op->operand;

    for (int r = 0; r < operands; r++)
        operand[r] = input_of(op, r) + first * unit(op);
    if (operands == 1)
        copy(op, to, operand[0], n);
    else if (op->facts.kernel)
        collopt_fold_here(&op->facts, to, operands, operand, n);
    else {
        copy(op, to, operand[operands - 1], n);
        for (int r = operands - 2; r >= 0; r--) {
            int err = collopt_combine_by_host(&op->facts, (char *)operand[r], to, n);

            if (err)
                return err;
        }
    }
    return MPI_SUCCESS;
}

/* The same from packed data.  TO and ASIDE have the layout of the program's datatype. */
static int combine_packed(const struct collopt_request *op, char *to, char *aside, size_t first,
                          size_t n, int operands)
{
    size_t at = first * op->facts.size;
    int err = unpack(op, to, op->data(op, operands - 1) + at, n);

    for (int r = operands - 2; r >= 0 && !err; r--)
        if (!(err = unpack(op, aside, op->data(op, r) + at, n)))
            err = collopt_combine_by_host(&op->facts, aside, to, n);
    return err;
}

static int combine_slice(const struct collopt_request *op, size_t first, size_t n)
{
    char *result = op->result + first * unit(op);
    int err;

    if (!op->packed)
        return combine(op, result, first, n, op->ranks);
    err = combine_packed(op, op->aside[0], op->aside[1], first, n, op->ranks);
    return err ? err : pack(op, result, op->aside[0], n);
}

/* A slice of this start that nobody has claimed; false: there is none. */
static bool claim(const struct collopt_request *op, size_t *slice)
{
    uint64_t before = op->slices_before;
    uint64_t next = atomic_load_explicit(&op->work->claimed, memory_order_relaxed);

    do
        if (next >= before + op->slices)
            return false;
    while (!atomic_compare_exchange_weak_explicit(&op->work->claimed, &next, next + 1,
                                                  memory_order_relaxed,
                                                  memory_order_relaxed));
    *slice = (size_t)(next - before);
    return true;
}

/* An error is this rank's; the others get what there is.  Where there is one from the start, slices
 * are only counted, as later starts count on from here. */
static void work_on_slices(struct collopt_request *op)
{
    bool failed = op->err != MPI_SUCCESS;
    size_t slice;

    while (claim(op, &slice)) {
        size_t first = slice * op->slice, left = op->count - first;
        size_t n = left < op->slice ? left : op->slice;
        int err = failed ? op->err : combine_slice(op, first, n);

        op->err = op->err ? op->err : err;
        atomic_fetch_add_explicit(&op->work->finished, 1, memory_order_release);
    }
}

static bool all_finished(const struct collopt_request *op)
{
    uint64_t finished = atomic_load_explicit(&op->work->finished, memory_order_acquire);

    return finished >= op->slices_before + op->slices;
}

bool collopt_request_combine(struct collopt_request *op)
{
    int err = MPI_SUCCESS;

    if (op->slices > 0)
        work_on_slices(op);
    if (op->err)                /* the buffers may be where the processor must not read */
        return true;
    if (op->operands == 0 || op->mine == 0)
        return true;
    if (op->slices > 0 && !all_finished(op))
        return false;
    if (op->slices > 0 && op->packed)
        err = unpack(op, op->out, op->result, op->count);
    else if (op->slices > 0)
        copy(op, op->out, op->result, op->count);
    else if (op->packed)
        err = combine_packed(op, op->out, op->aside[0], op->first, op->mine, op->operands);
    else
        err = combine(op, op->out, op->first, op->mine, op->operands);
    op->err = op->err ? op->err : err;
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The counters' entries: no algorithm was chosen. */
#define ENTRY(ID, NAME) [COLLOPT_##ID] = { .name = NAME, .collective = COLLOPT_##ID }
#define ENTRIES(NAME) \
    { ENTRY(REDUCE, NAME), ENTRY(ALLREDUCE, NAME), ENTRY(REDUCE_SCATTER, NAME), \
      ENTRY(REDUCE_SCATTER_BLOCK, NAME), ENTRY(SCAN, NAME), ENTRY(EXSCAN, NAME) }
static const struct collopt_algorithm counted[2][COLLOPT_COLLECTIVES] = {
    ENTRIES("persistent"), ENTRIES("nonblocking")
};

void collopt_request_count(const struct collopt_request *op)
{
    const struct collopt_algorithm *a = &counted[op->nonblocking][op->collective];
    int class = collopt_size_class(op->bytes);

    if (op->comparison && (op->by_host || op->refused))
        return;
    if (!op->timed)
        collopt_count_call(a, class, op->bytes);
    else
        collopt_count(a, class, &(struct collopt_counter){
            .calls = 1, .bytes = op->bytes, .time = op->time, .least = op->time,
            .most = op->time,
            .sent = { op->plan ? op->plan->sent[COLLOPT_SENT_BY_HOST] : 0,
                      op->plan ? 0 : op->bytes } });
}

bool collopt_request_is_plain(const struct collopt_request *op)
{
    return op->facts.kernel && !op->packed && !op->staging && !op->comparison;
}

bool collopt_request_compare(struct collopt_request *op)
{
    bool raised;
    int err;

    if (!collopt_comparison_advance(op->comparison, op->plan != NULL))
        return false;
    err = collopt_comparison_result(op->comparison, &raised);
    if (err) {
        op->err = err;
        op->raised = raised;
        op->refused = true;
    }
    return true;
}

void collopt_request_end(struct collopt_request *op)
{
    if (op->staging) {
        int err = collopt_stage_end(op->staging, op->err == MPI_SUCCESS);

        op->err = op->err ? op->err : err;
        op->staging = NULL;
    }
    atomic_store_explicit(&op->stage, COLLOPT_DONE, memory_order_release);
}
