/* Inputs in shared memory, and their combination; see shared.h. */
#include "config.h"

#include <string.h>

#include "mpi/request/shared.h"
#include "base/numbers.h"
#include "kernels/isa.h"
#include "kernels/kernels.h"
#include "mpi/comm/arguments.h"
#include "mpi/comm/comm.h"
#include "mpi/host/call.h"
#include "mpi/node/world.h"
#include "mpi/run/fold.h"
#include "shm/writer.h"

enum {
    ALIGNMENT = 64,
    LEAST_SLICE = 8 << 10, MOST_SLICE = 64 << 10,       /* bytes */
    WORTH_SLICES = 16 << 10     /* bytes that each rank is spared */
};

static size_t unit(const struct collopt_shared *s)
{
    return s->packed ? s->r.facts.size : (size_t)s->r.facts.extent;
}

/* Elements of the vector before those of this rank's result. */
static size_t elements_before(const struct collopt_call *call, int rank)
{
    size_t n = 0;

    if (call->collective == COLLOPT_REDUCE_SCATTER
        || call->collective == COLLOPT_REDUCE_SCATTER_BLOCK)
        for (int r = 0; r < rank; r++)
            n += collopt_call_count(call, r);
    return n;
}

/* Elements that kernels know are published as they lie in memory, and so are those of predefined
 * datatypes without gaps. Others may lie otherwise on other ranks: their data are packed. */
static bool lies_as_it_is(const struct collopt_facts *f)
{
    if (f->dense)
        return f->kernel || f->predefined || f->predefined_type;
    return f->kernel && collopt_kernel(COLLOPT_REPLACE, f->type_id)
        && collopt_type_size(f->type_id) == (size_t)f->extent;
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
static bool make_scratch(struct collopt_shared *s)
{
    size_t vectors = !s->packed ? 0 : s->slices > 0 ? 2 : 1,
           elements = s->slices > 0 ? s->slice : s->buffers.results;
    ptrdiff_t before = 0;
    size_t size = vectors > 0 && elements > 0 ? span(&s->r.facts, elements, &before) : 0;
    size_t operands = rounded_up((size_t)s->ranks * sizeof *s->operand, ALIGNMENT);

    if (!collopt_request_scratch(&s->r, vectors * size + operands))
        return false;
    s->operand = (const void **)(void *)(s->r.kept.scratch + vectors * size);
    s->aside[0] = s->r.kept.scratch + before;
    s->aside[1] = s->aside[0] + size;
    return true;
}

static int operands_of(const struct collopt_shared *s)
{
    switch (s->r.collective) {
    case COLLOPT_REDUCE:
        return s->rank == s->root ? s->ranks : 0;
    case COLLOPT_SCAN:
        return s->rank + 1;
    case COLLOPT_EXSCAN:
        return s->rank;
    default:
        return s->ranks;
    }
}

/* Cuts it into slices, if they save the ranks enough work.  Alike on all ranks: the bytes that are
 * published do not depend on the layout of a rank's datatype. */
static void cut(struct collopt_shared *s)
{
    size_t bytes = collopt_shared_published(s), slice = bytes / (size_t)s->ranks / 2;

    if (s->ranks <= 2 || bytes * (size_t)(s->ranks - 2) < WORTH_SLICES)
        return;
    slice = slice < LEAST_SLICE ? LEAST_SLICE : slice > MOST_SLICE ? MOST_SLICE : slice;
    s->slice = (slice + unit(s) - 1) / unit(s);
    s->slices = (unsigned)((s->buffers.inputs + s->slice - 1) / s->slice);
}

const char *collopt_shared_describe(struct collopt_shared *s, struct collopt_comm *c,
                                    struct collopt_call *call, bool sliceable)
{
    const char *why;

    if (!collopt_arguments_fit(c, call, &s->r.facts))
        return "arguments left to the MPI library";
    if ((why = collopt_request_fill(&s->r, c, call)))
        return why;
    collopt_buffers_set(&s->buffers, c, call);
    s->root = call->root;
    s->rank = c->rank;
    s->ranks = c->ranks;
    s->first = elements_before(call, c->rank);
    s->operands = operands_of(s);
    s->r.measured.sent[COLLOPT_SENT_BY_SHM] = s->r.bytes;
    s->r.transport = "shared memory";
    s->packed = !lies_as_it_is(&s->r.facts);
    if (s->packed && PMPI_Send(s, 1, s->r.facts.type, MPI_PROC_NULL, 0, collopt_world_comm()))
        return "the datatype is not committed";
    if (sliceable)
        cut(s);
    s->lacks_memory = !make_scratch(s);
    return NULL;
}

size_t collopt_shared_published(const struct collopt_shared *s)
{
    return s->buffers.inputs * unit(s);
}

/* ---- layouts --------------------------------------------------------------------------------- */

static void copy(const struct collopt_shared *s, char *to, const char *from, size_t n)
{
    if (s->r.facts.dense)
        memcpy(to, from, n * s->r.facts.size);
    else
        collopt_kernel(COLLOPT_REPLACE, s->r.facts.type_id)->combine(to, from, from, n);
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
        err = PMPI_Pack(users, count, type, packed, (int)(n * f->size), &position,
                        collopt_world_comm());
    else
        err = PMPI_Unpack(packed, (int)(n * f->size), &position, (void *)users, count, type,
                          collopt_world_comm());
    if (anchored)
        collopt_host.Type_free(&type);
    return err;
}

static int convert(const struct collopt_facts *f, bool packs, const char *packed, const char *users,
                   size_t n)
{
    const size_t at_once = ((1u << 30) - 1) / f->size + 1;
    int err = MPI_SUCCESS;

    for (size_t part; n > 0 && !err; n -= part) {
        part = n < at_once ? n : at_once;
        err = convert_part(f, packs, (char *)packed, users, part);
        packed += part * f->size;
        users = (const char *)((uintptr_t)users + part * (uintptr_t)f->extent);
    }
    return err;
}

static int pack(const struct collopt_shared *s, char *to, const char *from, size_t n)
{
    return convert(&s->r.facts, true, to, from, n);
}

static int unpack(const struct collopt_shared *s, char *to, const char *from, size_t n)
{
    return convert(&s->r.facts, false, from, to, n);
}

/* ---- starting -------------------------------------------------------------------------------- */

void collopt_shared_begin(struct collopt_shared *s)
{
    s->r.err = s->lacks_memory ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    s->seen = 0;
    if (!s->r.err)
        s->r.err = collopt_buffers_begin(&s->buffers, &s->r.facts);
}

#ifndef COLLOPT_ONE_THREAD
_Thread_local
#endif
/* one for each thread, not for each request: a nonblocking request makes only one copy */
static struct collopt_writer writer;

void collopt_shared_copy_in(struct collopt_shared *s, char *to)
{
    if (s->buffers.inputs == 0 || s->r.err)
        return;
    if (s->packed)
        s->r.err = pack(s, to, s->buffers.in, s->buffers.inputs);
    else if (s->r.facts.dense && s->r.bytes >= COLLOPT_WRITE_LEAST)
        collopt_write(&writer, to, s->buffers.in, s->r.bytes);
    else
        copy(s, to, s->buffers.in, s->buffers.inputs);
}

/* ---- combining ------------------------------------------------------------------------------- */

/* This rank's own input lies in its caches rather than what it has copied for the others. */
static const char *input_of(const struct collopt_shared *s, int rank)
{
    return rank == s->rank && s->buffers.in != s->buffers.out ? s->buffers.in : s->data(s, rank);
}

/* TO = the N elements from FIRST on of ranks 0 to OPERANDS - 1, combined in the order of the
 * ranks. */
static int combine(const struct collopt_shared *s, char *to, size_t first, size_t n,
                   int operands)
{
    const void **operand = s->operand;

    for (int r = 0; r < operands; r++)
        operand[r] = input_of(s, r) + first * unit(s);
    if (operands == 1)
        copy(s, to, operand[0], n);
    else if (s->r.facts.kernel)
        collopt_fold_here(&s->r.facts, to, operands, operand, n);
    else {
        copy(s, to, operand[operands - 1], n);
        for (int r = operands - 2; r >= 0; r--) {
            int err = collopt_combine_by_host(&s->r.facts, (char *)operand[r], to, n);

            if (err)
                return err;
        }
    }
    return MPI_SUCCESS;
}

/* The same from packed data.  TO and ASIDE have the layout of the program's datatype. */
static int combine_packed(const struct collopt_shared *s, char *to, char *aside, size_t first,
                          size_t n, int operands)
{
    size_t at = first * s->r.facts.size;
    int err = unpack(s, to, s->data(s, operands - 1) + at, n);

    for (int r = operands - 2; r >= 0 && !err; r--)
        if (!(err = unpack(s, aside, s->data(s, r) + at, n)))
            err = collopt_combine_by_host(&s->r.facts, aside, to, n);
    return err;
}

static int combine_slice(const struct collopt_shared *s, size_t first, size_t n)
{
    char *result = s->result + first * unit(s);
    int err;

    if (!s->packed)
        return combine(s, result, first, n, s->ranks);
    err = combine_packed(s, s->aside[0], s->aside[1], first, n, s->ranks);
    return err ? err : pack(s, result, s->aside[0], n);
}

/* A slice of this start that nobody has claimed; false: there is none. */
static bool claim(const struct collopt_shared *s, size_t *slice)
{
    uint64_t before = s->slices_before;
    uint64_t next = atomic_load_explicit(&s->work->claimed, memory_order_relaxed);

    do
        if (next >= before + s->slices)
            return false;
    while (!atomic_compare_exchange_weak_explicit(&s->work->claimed, &next, next + 1,
                                                  memory_order_relaxed,
                                                  memory_order_relaxed));
    *slice = (size_t)(next - before);
    return true;
}

/* An error is this rank's; the others get what there is.  Where there is one from the start, slices
 * are only counted, as later starts count on from here. */
static void work_on_slices(struct collopt_shared *s)
{
    bool failed = s->r.err != MPI_SUCCESS;
    size_t slice;

    while (claim(s, &slice)) {
        size_t first = slice * s->slice, left = s->buffers.inputs - first;
        size_t n = left < s->slice ? left : s->slice;
        int err = failed ? s->r.err : combine_slice(s, first, n);

        s->r.err = s->r.err ? s->r.err : err;
        atomic_fetch_add_explicit(&s->work->finished, 1, memory_order_release);
    }
}

static bool all_finished(const struct collopt_shared *s)
{
    uint64_t finished = atomic_load_explicit(&s->work->finished, memory_order_acquire);

    return finished >= s->slices_before + s->slices;
}

bool collopt_shared_combine(struct collopt_shared *s)
{
    int err = MPI_SUCCESS;

    if (s->slices > 0)
        work_on_slices(s);
    if (s->r.err)                /* the buffers may be where the processor must not read */
        return true;
    if (s->operands == 0 || s->buffers.results == 0)
        return true;
    if (s->slices > 0 && !all_finished(s))
        return false;
    if (s->slices > 0 && s->packed)
        err = unpack(s, s->buffers.out, s->result, s->buffers.inputs);
    else if (s->slices > 0)
        copy(s, s->buffers.out, s->result, s->buffers.inputs);
    else if (s->packed)
        err = combine_packed(s, s->buffers.out, s->aside[0], s->first, s->buffers.results,
                             s->operands);
    else
        err = combine(s, s->buffers.out, s->first, s->buffers.results, s->operands);
    s->r.err = s->r.err ? s->r.err : err;
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

bool collopt_shared_is_plain(const struct collopt_shared *s)
{
    return s->r.facts.kernel && !s->packed && !s->buffers.staging && !s->r.comparison;
}

void collopt_shared_end(struct collopt_shared *s)
{
    int err = collopt_buffers_end(&s->buffers, s->r.err == MPI_SUCCESS);

    s->r.err = s->r.err ? s->r.err : err;
    collopt_request_end(&s->r);
}
