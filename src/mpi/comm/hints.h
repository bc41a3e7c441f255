/* Info keys of communicators, such as collopt_allreduce=ring. */
#ifndef COLLOPT_MPI_COMM_HINTS_H
#define COLLOPT_MPI_COMM_HINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/host/host.h"
#include "schedule/problem.h"

struct collopt_comm;
struct collopt_decision;
struct collopt_problem;

/* Reads the keys of INFO that start with collopt_. Collective. */
void collopt_hints_take(MPI_Comm comm, MPI_Info info);
/* The same for a communicator under construction by MPI_Comm_idup_with_info: its keys wait until
 * they can be compared. */
void collopt_hints_later(MPI_Comm *made, MPI_Info info);
/* A hash of the waiting keys, to be compared over the ranks; and the result of the comparison. */
uint64_t collopt_hints_waiting(const struct collopt_comm *c);
void collopt_hints_compared(struct collopt_comm *c, bool are_alike);
/* Compares them, collectively, if due. */
int collopt_hints_compare(struct collopt_comm *c);
/* Do info keys say what runs COLLECTIVE?  *HOST: the host. */
bool collopt_hints_force(const struct collopt_comm *c, enum collopt_collective collective,
                         bool *host);
/* The choice by info keys for P; false: none that is usable. */
bool collopt_hints_select(const struct collopt_comm *c, const struct collopt_problem *p,
                          struct collopt_decision *d);

#endif
