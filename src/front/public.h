/* The functions of include/collopt.h on their way from the program to the backend.
 *
 *     program -> report/public_names.c (the exported functions) -> this table
 *         -> report/public.c (the answers)
 *
 * public_names.c is the same file in the front, which asks for the table of its backend, found as
 * for an MPI call, and in the static archives (-DCOLLOPT_STATIC), where there is only one backend.
 * public.c is part of every backend, which puts &collopt_public into the table that it hands to the
 * front. */
#ifndef COLLOPT_FRONT_PUBLIC_H
#define COLLOPT_FRONT_PUBLIC_H

#include <stddef.h>
#include <stdint.h>

/* No types of MPI and none of the backend's own: this table is read by code that was compiled
 * without mpi.h. New members go to the end; a member is there if `size` covers it. */
struct collopt_public {
    size_t size;                /* sizeof(struct collopt_public) of the backend */
    const char *(*collective_name)(int i);
    int (*algorithm_count)(const char *collective);
    const char *(*algorithm_name)(const char *collective, int i);
    const char *(*algorithm_summary)(const char *collective, int i);
    int (*explain)(const char *collective, int ranks, uint64_t bytes, int commutative, char *text,
                   size_t size);
    uint64_t (*calls)(const char *collective, const char *algorithm);
    uint64_t (*calls_passed)(const char *mpi_name);
};

struct collopt_exact_request;

/* Those that communicate, which need mpi.h: in mpi/call/exact.c. */
struct collopt_exact_functions {
    int (*sum)(int operation, int type, size_t n, const void *x, ptrdiff_t x_stride, const void *y,
               ptrdiff_t y_stride, void *result, int comm);
    int (*start)(int operation, int type, size_t n, const void *x, ptrdiff_t x_stride,
                 const void *y, ptrdiff_t y_stride, void *result, int comm,
                 struct collopt_exact_request **request);
    int (*test)(struct collopt_exact_request **request, int *done);
    int (*wait)(struct collopt_exact_request **request);
};

#endif
