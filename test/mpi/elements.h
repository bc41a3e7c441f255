/* Elements of every kind that the tests reduce: how they lie in memory, which values they are
 * given, and what an operation makes of two of them, computed here in plain C. */
#ifndef COLLOPT_TEST_MPI_ELEMENTS_H
#define COLLOPT_TEST_MPI_ELEMENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* What one part of an element is. */
enum part { S8, S16, S32, S64, U8, U16, U32, U64, F32, F64, FL };

struct number {
    uint64_t i;                 /* integers, extended to 64 bits */
    long double r;              /* reals */
};

/* A number; a complex one; value and index; the factor and the summand of an affine map. */
struct value {
    struct number part[2];
};

struct element {
    MPI_Datatype type;
    int parts;
    enum part part[2];
    ptrdiff_t at[2];            /* bytes from the element's address */
    ptrdiff_t extent;
    ptrdiff_t low, high;        /* all that an element may span, gaps included */
    bool derived;               /* of the program's making */
};

enum { AFFINE = COLLOPT_OP_USER, MINGLE };      /* operations of our own, beside enum collopt_op */

struct kind {
    const char *op_name, *type_name;
    MPI_Op op;
    int op_id;                  /* enum collopt_op, or AFFINE, MINGLE */
    enum collopt_type_class class;
    struct element element[2];  /* on even ranks, and on odd ones */
    bool commutative;
    bool user;
    /* the operation writes the gaps of its elements, as far as their extent goes */
    bool whole;
    /* values are such that the sum depends on the order, in the last bits */
    bool rounds;
    bool exact;                 /* as collopt_problem has it */
};

/* All kinds there are on this host, those to be tried with all counts first. */
const struct kind *kinds(int *n, int *with_all_counts);
void kinds_free(void);

struct value value_of(const struct kind *k, int rank, size_t index);
struct value value_load(const struct element *e, const char *address);
void value_store(const struct element *e, char *address, struct value v);
struct value value_combine(const struct kind *k, struct value left, struct value right);
/* What an operation of our own does to N elements; it tells what MPI does not allow of operands. */
void apply_kind(const struct kind *k, const struct element *e, char *in, char *inout, int n);
/* Is it what it should be?  WEIGHT: the sum of the absolute values that went into it, of RANKS
 * ranks. */
bool value_right(const struct kind *k, struct value found, struct value right, long double weight,
                 int ranks);
/* How often operations of our own were given operands that overlap since it was last asked: what
 * MPI forbids, and Open MPI does. */
unsigned operands_overlapped(void);
bool part_is_real(enum part part);
size_t part_size(enum part part);

#endif
