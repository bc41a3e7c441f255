/* collopt.h: what a program may ask collopt.
 *
 * No program needs this header: collopt works on unmodified programs.  It is for tests, benchmarks
 * and tools that want to know whether collopt is there and what it did.
 *
 * All functions are declared weak (where the compiler can), so that one executable runs with and
 * without the library, linked or preloaded.  Ask first:
 *
 *     if (collopt_version)
 *         printf("ring allreduces so far: %llu\n", (unsigned long long)collopt_calls("allreduce",
 *         "ring"));
 *
 * Only exact sums, at the end, communicate; every other answer is about the calling process, and
 * every other function may be called by any thread, before MPI_Init and after MPI_Finalize.  Until
 * the process has made its first MPI call that collopt intercepts, and in a process without an MPI
 * that collopt knows, there are no collectives to be listed and all sums are 0. */
#ifndef COLLOPT_H
#define COLLOPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLOPT_VERSION_MAJOR 0
#define COLLOPT_VERSION_MINOR 1
#define COLLOPT_VERSION_PATCH 0
/* For comparisons: 0x000100 is 0.1.0. */
#define COLLOPT_VERSION \
    (COLLOPT_VERSION_MAJOR << 16 | COLLOPT_VERSION_MINOR << 8 | COLLOPT_VERSION_PATCH)

#ifndef COLLOPT_API
# ifdef __GNUC__
#  define COLLOPT_API __attribute__((weak))
# else
#  define COLLOPT_API
# endif
#endif

/* The version of the library that is running, to be compared with COLLOPT_VERSION.
 * \return major << 16 | minor << 8 | patch. */
COLLOPT_API unsigned collopt_version(void);

/* ---- what there is --------------------------------------------------------------------------- */

/* The collectives, by number from 0: "reduce", "allreduce", ...
 * \return the name; NULL if there is no collective of this number. */
COLLOPT_API const char *collopt_collective_name(int i);

/* How many algorithms there are for a collective.
 * \return their number; -1 if COLLECTIVE is NULL or none of the names above. */
COLLOPT_API int collopt_algorithm_count(const char *collective);

/* The algorithms of a collective, by number from 0.  The name is the one that COLLOPT_ALLREDUCE=...
 * and its like take. \return the name, or one line that describes the algorithm; NULL if there is
 * no such collective or number. */
COLLOPT_API const char *collopt_algorithm_name(const char *collective, int i);
COLLOPT_API const char *collopt_algorithm_summary(const char *collective, int i);

/* ---- what would be done ---------------------------------------------------------------------- */

/* What would run, and why, for a vector of BYTES bytes (one rank's input) on RANKS ranks of one
 * node, with the environment of this process.  The answer is one line without a line feed, such as
 * "ring (predicted 12.3 us; swing 14.0 us)"; it is cut to SIZE bytes with its final zero.  TEXT may
 * be NULL if SIZE is 0. \return the length of the whole answer, as snprintf does; -1 if COLLECTIVE
 * is unknown, RANKS is below 1, or this process has no MPI that collopt knows. */
COLLOPT_API int collopt_explain(const char *collective, int ranks, uint64_t bytes, int commutative,
                                char *text, size_t size);

/* ---- what was done --------------------------------------------------------------------------- */

/* How many calls this process has run by an algorithm of collopt; NULL for all algorithms, or all
 * collectives. Blocking calls are counted when they begin, and count under their collective
 * whatever the MPI name was (MPI_Allreduce and MPI_Allreduce_c alike).
 * collopt_calls("reduce_local", NULL) tells of MPI_Reduce_local, which is no collective. \return
 * the number of calls; 0 also for unknown names. */
COLLOPT_API uint64_t collopt_calls(const char *collective, const char *algorithm);

/* How many calls collopt has handed to the MPI library's own collectives.  MPI_NAME is the
 * function's name, with or without its MPI_ ("MPI_Iallreduce", "Allreduce_c"), or NULL for all.
 * \return the number of calls; 0 also for unknown names. */
COLLOPT_API uint64_t collopt_calls_passed(const char *mpi_name);

/* ---- exact sums ------------------------------------------------------------------------------ */

/* The sum of all elements of all ranks of a communicator, or of their squares or products, rounded
 * once: the floating-point number nearest to the exact real number, ties to even, on all ranks.  So
 * it has the same bits however the elements are divided among ranks, in whatever order, on any
 * number of ranks and any machine.
 *
 * Each rank adds its elements to an integer that has room for all bits of all products of two
 * doubles and for 2^63 terms; these integers are added by one MPI_Allreduce of 8-byte integers.
 * Nothing overflows on the way, and subnormal numbers count in full.  An infinity among the terms,
 * or several of one sign, give that infinity; a NaN, infinities of both signs, or the product of an
 * infinity and 0 give the quiet NaN of C's NAN.  0 is +0, unless there are terms and all are -0.  A
 * sum of products that is too small for the type keeps its sign.  A rank may have no elements. */

enum {
    COLLOPT_EXACT_SUM,                  /* of x[i] */
    COLLOPT_EXACT_SQUARES,              /* of x[i] * x[i]; complex: of |x[i]|^2 */
    COLLOPT_EXACT_DOT,                  /* of x[i] * y[i] */
    COLLOPT_EXACT_DOT_CONJUGATED        /* of conj(x[i]) * y[i]; real: as COLLOPT_EXACT_DOT */
};

/* Of x and y, and of the result; the squares of complex numbers have a complex sum whose imaginary
 * part is 0.  Real and imaginary part are each correctly rounded. */
enum {
    COLLOPT_EXACT_FLOAT, COLLOPT_EXACT_DOUBLE, COLLOPT_EXACT_FLOAT_COMPLEX,
    COLLOPT_EXACT_DOUBLE_COMPLEX
};

/* Sums the N elements at x[0], x[x_stride], x[2 * x_stride] ... of this rank, with those of y where
 * OPERATION has products, and those of all other ranks of COMM, into RESULT.  Strides are in
 * elements, and may be 0 or negative.  All in host memory.  N may differ between ranks, OPERATION
 * and TYPE must not.  COMM is a handle of Fortran: MPI_Comm_c2f(comm) in C, MPI_Comm_toint(comm)
 * where the header is that of the standard ABI, comm%MPI_VAL of mpi_f08, comm.py2f() of mpi4py; not
 * of an intercommunicator.  A collective call between MPI_Init and MPI_Finalize, blocking, by the
 * rules of MPI_Allreduce.
 * \return 0; an error code of MPI, which for errors of communication the error handler of COMM
 * sees first; -1 in a process without an MPI that collopt knows. */
COLLOPT_API int collopt_exact_sum(int operation, int type, size_t n, const void *x,
                                  ptrdiff_t x_stride, const void *y, ptrdiff_t y_stride,
                                  void *result, int comm);

/* The same, nonblocking, by the rules of MPI_Iallreduce.  The elements are added before it returns,
 * so x and y may be changed then; RESULT is set by the call below that completes REQUEST.
 * \return as above; *REQUEST is NULL after an error. */
struct collopt_exact_request;
COLLOPT_API int collopt_exact_sum_start(int operation, int type, size_t n, const void *x,
                                        ptrdiff_t x_stride, const void *y, ptrdiff_t y_stride,
                                        void *result, int comm,
                                        struct collopt_exact_request **request);

/* Completes REQUEST: test only if that needs no waiting, when *DONE becomes 1, else 0.  A request
 * that is complete becomes NULL, and NULL is complete.
 * \return as above; after an error the request is gone too. */
COLLOPT_API int collopt_exact_sum_test(struct collopt_exact_request **request, int *done);
COLLOPT_API int collopt_exact_sum_wait(struct collopt_exact_request **request);

#ifdef __cplusplus
}
#endif

#endif
