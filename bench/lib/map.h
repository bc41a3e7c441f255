/* An operation that does not commute, for what benches make by MPI_Op_create: the composition of
 * the maps x -> a x + b. */
#ifndef COLLOPT_BENCH_LIB_MAP_H
#define COLLOPT_BENCH_LIB_MAP_H

#include <stdint.h>

#include <mpi.h>

struct map {
    uint32_t a, b;
};

/* The left map first. */
static inline struct map compose(struct map left, struct map right)
{
    return (struct map){ left.a * right.a, right.a * left.b + right.b };
}

static void user_compose(void *in, void *inout, int *n, MPI_Datatype *datatype)
{
    const struct map *left = in;
    struct map *right = inout;

    for (int i = 0; i < *n; i++)
        right[i] = compose(left[i], right[i]);
    (void)datatype;
}

/* Both are for the caller to free. */
static inline void make_compose(MPI_Op *op, MPI_Datatype *datatype)
{
    MPI_Op_create(user_compose, 0, op);
    MPI_Type_contiguous(2, MPI_UINT32_T, datatype);
    MPI_Type_commit(datatype);
}

#endif
