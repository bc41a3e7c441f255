/* What the tests with MPI share: failures, a guard against hanging, and what collopt says it has
 * done. */
#ifndef COLLOPT_TEST_MPI_COMMON_H
#define COLLOPT_TEST_MPI_COMMON_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collopt.h"

extern int world_rank, world_ranks;

/* MPI_Init with a name for messages; begin_with: the level of threads wanted. */
void begin(int *argc, char ***argv, const char *program);
void begin_with(int *argc, char ***argv, const char *program, int level);
/* MPI_Finalize; what main is to return. */
int end(void);

/* "FAIL: PROGRAM rank 3 of 8: ..."; the first few are printed, all are counted. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define check(right, ...) ((right) ? (void)0 : fail(__VA_ARGS__))
int failures(void);

/* If nothing is heard of for minutes, or for SECONDS, the rank says what it is at and the job ends:
 * it hangs, as nothing takes so long on the busiest machine.  WORDS is not copied. */
void at(const char *words);
void at_for(const char *words, unsigned seconds);

/* Whose library runs this, whatever mpi.h it was compiled with?  Those that come of MPICH are
 * MPICH's here.  From begin on. */
bool on_mpich(void), on_openmpi(void);

/* Is collopt in this process?  The same programs also tell how the host alone behaves. */
bool with_collopt(void);

/* A sum of COUNT integers over COMM by MPI_Allreduce, or by MPI_Reduce to ROOT; a wrong result
 * fails with WHAT. */
void sum_all(MPI_Comm comm, int count, const char *what);
void sum_to(MPI_Comm comm, int count, int root, const char *what);

/* Calls run by collopt, and of one MPI name (NULL: any) passed on; 0 without collopt. */
uint64_t calls_run(const char *collective, const char *algorithm);
uint64_t calls_passed(const char *name);

/* The forms of a call, which make a REQUEST of the caller's; persistent ones as this host spells
 * them. */
#define CALL_BLOCKING(name, nonblocking, ...) ((void)request, MPI_##name(__VA_ARGS__))
#define CALL_NONBLOCKING(name, nonblocking, ...) MPI_I##nonblocking(__VA_ARGS__, request)
#if COLLOPT_HAVE_PERSISTENT
# define CALL_INIT(name, nonblocking, ...) MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request)
# define HAVE_INIT true
#elif COLLOPT_HAVE_PERSISTENT_X
# include <mpi-ext.h>
# define CALL_INIT(name, nonblocking, ...) MPIX_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request)
# define HAVE_INIT true
#else
# define CALL_INIT CALL_BLOCKING
# define HAVE_INIT false
#endif

/* In which form a collective is called. */
enum form { BLOCKING, PERSISTENT, NONBLOCKING, FORMS };
enum form form_named(const char *name);         /* NULL: BLOCKING */
/* The name under which collopt counts what it has run in this form; NULL: any. */
const char *algorithm_of_form(enum form form);
/* The MPI name behind MPI_ by which calls of COLLECTIVE ("Allreduce") that are passed on are
 * counted. */
const char *form_name(const char *collective, enum form form, char name[64]);

/* What is resident of this process, in KiB. */
long resident(void);

uint64_t mix(uint64_t x);

#endif
