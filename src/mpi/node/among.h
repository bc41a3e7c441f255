/* Collectives among some ranks of a communicator, by messages: for the report, which needs no speed
 * but must make no communicators.  (MPI_Comm_create_group crashes in MPICH 4.0.) */
#ifndef COLLOPT_MPI_NODE_AMONG_H
#define COLLOPT_MPI_NODE_AMONG_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { COLLOPT_AMONG_PIECE = 4096 };    /* elements that are sent at once, at most */

struct collopt_among {
    MPI_Comm comm;
    const int *member;          /* [ranks], in COMM */
    int rank, ranks;            /* of the members */
    int tag;
    int64_t scratch[COLLOPT_AMONG_PIECE];
};

typedef int64_t collopt_among_op(int64_t a, int64_t b);
int64_t collopt_among_least(int64_t a, int64_t b);
int64_t collopt_among_greatest(int64_t a, int64_t b);
int64_t collopt_among_sum(int64_t a, int64_t b);        /* modulo 2^64 */

/* X [n] becomes the combination of all members' X, or of this one's and of those before it: N is at
 * most COLLOPT_AMONG_PIECE there.  They return an error of MPI. */
int collopt_among_allreduce(struct collopt_among *a, int64_t *x, size_t n, collopt_among_op *op);
int collopt_among_scan(struct collopt_among *a, int64_t *x, size_t n, collopt_among_op *op);

#endif
