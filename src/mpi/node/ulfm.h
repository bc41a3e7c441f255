/* Fault tolerance. */
#ifndef COLLOPT_MPI_NODE_ULFM_H
#define COLLOPT_MPI_NODE_ULFM_H

#include <stdbool.h>

bool collopt_fault_tolerant(void);      /* the job goes on when a process fails */

#endif
