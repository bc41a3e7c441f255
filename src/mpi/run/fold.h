/* Combining and copying vectors in memory, by kernels or by the host. */
#ifndef COLLOPT_MPI_RUN_FOLD_H
#define COLLOPT_MPI_RUN_FOLD_H

#include <stddef.h>

#include "mpi/host/host.h"

struct collopt_facts;

/* TO = the operands, which lie in memory, combined from left to right by a kernel. */
void collopt_fold_here(const struct collopt_facts *f, char *to, int operands,
                       const void *const *operand, size_t n);
/* RIGHT = LEFT op RIGHT by the host, for operations and datatypes that we have no loop for. */
int collopt_combine_by_host(const struct collopt_facts *f, char *left, char *right, size_t n);
/* Copies elements that are not dense, without their gaps.  COMM: any, to pack with. */
int collopt_copy_between_gaps(const struct collopt_facts *f, MPI_Comm comm, char *to, char *from,
                              size_t n);

#endif
