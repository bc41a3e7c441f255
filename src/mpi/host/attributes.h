/* The attributes of a datatype and an operation: kernel, size, gaps, order. */
#ifndef COLLOPT_MPI_HOST_ATTRIBUTES_H
#define COLLOPT_MPI_HOST_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/kernels.h"
#include "mpi/host/host.h"

struct collopt_kernel;

struct collopt_facts {
    MPI_Datatype type;
    MPI_Op op;
    const struct collopt_kernel *kernel;        /* NULL: PMPI_Reduce_local combines */
    size_t size;                /* bytes of data per element */
    ptrdiff_t extent;           /* bytes from one element to the next */
    /* bytes that one element may occupy, gaps included, relative to its address */
    ptrdiff_t low, high;
    bool dense;                 /* n elements are n * size bytes in one piece at the address */
    bool commutative, exact;
    /* KERNEL folds any number of operands, and rounds once: COLLOPT_REPRODUCIBLE=exact */
    bool once;
    /* predefined type and operation: the handles never change meaning */
    bool predefined;
    /* user-defined operation, predefined type: only the operation's handle may be reused */
    bool predefined_type;
    enum collopt_op op_id;
    enum collopt_type type_id;  /* COLLOPT_TYPE_NONE: derived, or the host combines it */
    const char *op_name, *type_name;
};

/* In MPI_Init: asks the host which operations it allows on datatypes that it combines itself. */
void collopt_attributes_begin(void);
/* Fills F; false: null, unknown or invalid handle, or a pair that MPI does not allow, left to
 * the host. */
bool collopt_facts(MPI_Op op, MPI_Datatype type, struct collopt_facts *f);
/* True if the handles still mean this: always for predefined ones; false if the host does not
 * tell. */
bool collopt_facts_last(const struct collopt_facts *f);
/* A quick test: null and user-defined operations are not predefined. */
bool collopt_op_predefined(MPI_Op op);

#endif
