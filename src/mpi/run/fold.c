/* Combines and copies; see fold.h. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>

#include "mpi/run/fold.h"
#include "kernels/isa.h"
#include "kernels/kernels.h"
#include "mpi/host/attributes.h"
#include "schedule/problem.h"

int collopt_combine_by_host(const struct collopt_facts *f, char *left, char *right, size_t n)
{
    while (n > 0) {
        int part = n > INT_MAX ? INT_MAX : (int)n;
        int err = collopt_host.Reduce_local(left, right, part, f->type, f->op);

        if (err)
            return err;
        left += part * f->extent;
        right += part * f->extent;
        n -= (size_t)part;
    }
    return MPI_SUCCESS;
}

/* More operands than a kernel takes, in strips that stay in the nearest cache: the result may be
 * one of them, so it is written when all have been read. */
static void fold_many(const struct collopt_facts *f, char *to, int operands,
                      const void *const *operand, size_t n)
{
    _Alignas(64) char strip[4096];
    size_t extent = (size_t)f->extent, most = sizeof strip / extent;

    for (size_t at = 0; at < n; at += most) {
        size_t some = n - at < most ? n - at : most;
        const void *from[COLLOPT_FOLD_OPERANDS] = { (const char *)operand[0] + at * extent };
        int done = 1;

        while (done < operands) {
            int k = 1;

            for (; k < COLLOPT_FOLD_OPERANDS && done < operands; k++, done++)
                from[k] = (const char *)operand[done] + at * extent;
            f->kernel->fold(done < operands ? strip : to + at * extent, from, k, some);
            from[0] = strip;
        }
    }
}

void collopt_fold_here(const struct collopt_facts *f, char *to, int operands,
                       const void *const *operand, size_t n)
{
    if (operands <= COLLOPT_FOLD_OPERANDS || f->once)
        f->kernel->fold(to, operand, operands, n);
    else
        fold_many(f, to, operands, operand, n);
}

/* Gaps between the data of elements are not ours to write.  So elements that are neither dense nor
 * a pair that a kernel copies are packed: short vectors on the stack, long ones in parts that stay
 * in the caches and in the heap (a buffer of 1 MiB would be mapped anew each time). */
static int copy_packed(const struct collopt_facts *f, MPI_Datatype type, MPI_Comm comm, char *to,
                       char *from, size_t n)
{
    size_t at_once = ((size_t)64 << 10) / (f->size ? f->size : 1) + 1;
    int err = MPI_SUCCESS, room;
    char here[2048], *buffer;

    if (at_once > n)
        at_once = n;
    if ((err = PMPI_Pack_size((int)at_once, type, comm, &room)))
        return err;
    buffer = (size_t)room <= sizeof here ? here : malloc((size_t)room);
    if (!buffer)
        return MPI_ERR_NO_MEM;
    while (n > 0 && !err) {
        int part = (int)(n < at_once ? n : at_once), packed = 0, unpacked = 0;

        if (!(err = PMPI_Pack(from, part, type, buffer, room, &packed, comm)))
            err = PMPI_Unpack(buffer, packed, &unpacked, to, part, type, comm);
        from += part * f->extent;
        to += part * f->extent;
        n -= (size_t)part;
    }
    if (buffer != here)
        free(buffer);
    return err;
}

/* Address 0 is MPI_BOTTOM, which MPICH's MPI_Unpack reports as an error.  So the datatype is
 * shifted, and both addresses are shifted back. */
static int copy_from_bottom(const struct collopt_facts *f, MPI_Comm comm, char *to, char *from,
                            size_t n)
{
    static char elsewhere;
    MPI_Aint away, back;
    MPI_Datatype moved;
    int err, one = 1;

    if ((err = PMPI_Get_address(&elsewhere, &away)))
        return err;
    back = -away;
    if ((err = PMPI_Type_create_hindexed(1, &one, &back, f->type, &moved)))
        return err;
    if (!(err = PMPI_Type_commit(&moved)))
        err = copy_packed(f, moved, comm, (char *)((uintptr_t)to + (uintptr_t)away),
                          (char *)((uintptr_t)from + (uintptr_t)away), n);
    collopt_host.Type_free(&moved);
    return err;
}

/* Copies elements and leaves their gaps alone, or NULL. */
static const struct collopt_kernel *copier(const struct collopt_facts *f)
{
    return collopt_type_size(f->type_id) == (size_t)f->extent
        ? collopt_kernel(COLLOPT_REPLACE, f->type_id)
        : NULL;
}

COLLOPT_OUT_OF_LINE int collopt_copy_between_gaps(const struct collopt_facts *f, MPI_Comm comm,
                                                  char *to, char *from, size_t n)
{
    const struct collopt_kernel *kernel = copier(f);

    if (kernel) {
        kernel->combine(to, from, from, n);
        return MPI_SUCCESS;
    }
    if (!to || !from)
        return copy_from_bottom(f, comm, to, from, n);
    return copy_packed(f, f->type, comm, to, from, n);
}
