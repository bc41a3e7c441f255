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
 * Nothing here communicates: every answer is about the calling process, and every function may be
 * called by any thread, before MPI_Init and after MPI_Finalize.  Until the process has made its
 * first MPI call that collopt intercepts, and in a process without an MPI that collopt knows, there
 * are no collectives to be listed and all sums are 0. */
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

#ifdef __cplusplus
}
#endif

#endif
