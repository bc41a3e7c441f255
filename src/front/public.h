/* The functions of include/collopt.h on their way from the program to the backend.
 *
 *     program -> public_names.c (the exported functions) -> collopt_public_table() -> public.c (the
 *         answers)
 *
 * public_names.c is the same file in the front and in the static archives; what differs is
 * collopt_public_table():
 *  - the front defines it: the backend's table, found as for an MPI call, or NULL where there is no
 *      backend;
 *  - in a static archive (-DCOLLOPT_STATIC) public_names.c does, as there is only one backend.
 * public.c is part of every backend, which puts &collopt_public into the table that it hands to the
 * front. */
#ifndef COLLOPT_PUBLIC_H
#define COLLOPT_PUBLIC_H

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

extern const struct collopt_public collopt_public;      /* public.c */

/* The table of this process's backend; NULL: there is none (yet). May be called before the first
 * MPI call. */
const struct collopt_public *collopt_public_table(void);

#endif
