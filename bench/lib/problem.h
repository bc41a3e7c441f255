/* The problem to measure: one reduction of vectors whose result is known.
 *
 * Every rank can tell every rank's input, and folds them serially in rank order; all values are
 * such that the result is exact, whatever the order of combination.  Values repeat after
 * BENCH_PERIOD elements, a prime, so that a long vector is checked whole and fast. */
#ifndef COLLOPT_BENCH_LIB_PROBLEM_H
#define COLLOPT_BENCH_LIB_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bench_mpi.h"

enum { BENCH_PERIOD = 4093 };

enum bench_collective {
    BENCH_ALLREDUCE,
    BENCH_REDUCE,
    BENCH_REDUCE_SCATTER,
    BENCH_REDUCE_SCATTER_BLOCK,
    BENCH_SCAN,
    BENCH_EXSCAN,
    BENCH_REDUCE_LOCAL,
    BENCH_COLLECTIVES
};
/* "allreduce" ...; NULL at the end, as for the next two */
extern const char *const bench_collective_names[];

/* sum prod min max: predefined; maxloc minloc: predefined, on the pair of the type and an int;
 * user: a sum made by MPI_Op_create; noncommutative: composition of the maps x -> a x + b, made by
 * MPI_Op_create, on its own type of two 32-bit numbers. */
enum bench_operation {
    BENCH_SUM,
    BENCH_PROD,
    BENCH_MIN,
    BENCH_MAX,
    BENCH_MAXLOC,
    BENCH_MINLOC,
    BENCH_USER,
    BENCH_NONCOMMUTATIVE,
    BENCH_OPERATIONS
};
extern const char *const bench_operation_names[];

enum bench_type { BENCH_DOUBLE, BENCH_FLOAT, BENCH_INT, BENCH_LONG, BENCH_TYPES };
extern const char *const bench_type_names[];

/* In which form a collective is called: MPI_Allreduce; MPI_Start and MPI_Wait of what
 * MPI_Allreduce_init has made; MPI_Iallreduce and MPI_Wait. */
enum bench_form { BENCH_BLOCKING, BENCH_PERSISTENT, BENCH_NONBLOCKING };
extern const char *const bench_form_names[];

struct bench_kind;              /* how an element lies in memory */

struct bench_problem {
    enum bench_collective collective;
    enum bench_operation operation;
    enum bench_type type;
    enum bench_form form;
    /* same: the input is written once, not before every call (measure.h) */
    bool in_place, same;
    uint64_t seed;              /* of the values */
    MPI_Comm comm;
    size_t bytes;               /* bytes of one rank's vector that are wanted; ELEMENTS says how
                                 * many there are */

    int rank, ranks, root;
    const struct bench_kind *kind;
    MPI_Op op;
    MPI_Datatype datatype;
    size_t elements;            /* of the vector */
    /* Reduce_scatter_block: of one rank's part; Reduce_scatter: of all parts */
    int count, *counts;
    /* pattern: this rank's first BENCH_PERIOD elements, or as many as there are */
    void *in, *out, *pattern;
    MPI_Request request;        /* the persistent one, from bench_problem_make_request() on */
};

/* Once, before and after all problems. */
void bench_problems_begin(void);
void bench_problems_end(void);

/* Fills P from its first lines: as many elements as fit into the bytes, at least one
 * (Reduce_scatter_block: one for each rank). False: more than an int can count. */
bool bench_problem_open(struct bench_problem *p);
void bench_problem_close(struct bench_problem *p);

/* The name of the element's type: "double", "double_int", "2uint32". */
const char *bench_problem_type(const struct bench_problem *p);

/* Makes and frees what P's calls by the functions F start, where they are persistent; collective.
 * Each side of a comparison has a copy of the problem, with the same vectors, for a request of its
 * own. */
void bench_problem_make_request(const struct bench_functions *f, struct bench_problem *p);
void bench_problem_free_request(const struct bench_functions *f, struct bench_problem *p);
/* One call by the functions F; P is a struct bench_problem.  What measure.h calls. */
void bench_problem_call(const struct bench_functions *f, const void *p);
/* Does a measurement write P's input before every call?  Not a short one (measure.h), nor that of a
 * Reduce_local, which has no peer. */
bool bench_problem_is_fresh(const struct bench_problem *p);
/* Writes the input anew, with the same values; P is a struct bench_problem. */
void bench_problem_refresh(const void *p);
/* Overwrites the output, or with in_place writes the input there; and, behind a call, is its
 * result right on this rank? */
void bench_problem_prepare_out(const struct bench_problem *p);
bool bench_problem_result_is_right(const struct bench_problem *p);
/* Both, with one call between them. */
bool bench_problem_right(const struct bench_functions *f, const struct bench_problem *p);

#endif
