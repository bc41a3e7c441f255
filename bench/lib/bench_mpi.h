/* For all benches on a real MPI: the host's own functions and those that the program calls, the
 * clock, and a common start of all ranks. */
#ifndef COLLOPT_BENCH_LIB_BENCH_MPI_H
#define COLLOPT_BENCH_LIB_BENCH_MPI_H

#include <mpi.h>
#if COLLOPT_HAVE_PERSISTENT_X && !COLLOPT_HAVE_PERSISTENT
# include <mpi-ext.h>
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does this MPI library have persistent collectives?  Open MPI 4.1 spells them MPIX_. */
#if COLLOPT_HAVE_PERSISTENT || COLLOPT_HAVE_PERSISTENT_X
# define BENCH_HAVE_PERSISTENT true
#else
# define BENCH_HAVE_PERSISTENT false
#endif

/* Blocking, nonblocking and persistent; the last is NULL where there is none. */
#define BENCH_FORMS(name, ...) \
    int (*name)(__VA_ARGS__); \
    int (*i##name)(__VA_ARGS__, MPI_Request *); \
    int (*init_##name)(__VA_ARGS__, MPI_Info, MPI_Request *);
struct bench_functions {
    BENCH_FORMS(allreduce, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm)
    BENCH_FORMS(reduce, const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm)
    BENCH_FORMS(reduce_scatter, const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm)
    BENCH_FORMS(reduce_scatter_block, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm)
    BENCH_FORMS(scan, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm)
    BENCH_FORMS(exscan, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm)
    int (*reduce_local)(const void *, void *, int, MPI_Datatype, MPI_Op);
    int (*start)(MPI_Request *);
    int (*wait)(MPI_Request *, MPI_Status *);
    int (*request_free)(MPI_Request *);
    int (*bcast)(void *, int, MPI_Datatype, int, MPI_Comm);
    int (*barrier)(MPI_Comm);
};

/* the MPI library's own; without collopt the same as bench_mpi */
extern struct bench_functions bench_host;
extern const struct bench_functions bench_mpi;  /* MPI_Allreduce ... as the program sees them */

/* Sets bench_host; ends the job if that is not possible (a static program). */
void bench_find_host(void);

/* lets all ranks start together; yields where ranks outnumber processors */
void bench_barrier(void);
/* each of N values becomes the greatest of all ranks; yields the processor as it waits */
void bench_max(double *v, int n);
void *bench_new(size_t bytes);  /* zeroed and touched; ends the job if there is no memory */
const char *bench_size_text(size_t bytes, char *text, size_t size);     /* "4K" */

/* Which of collopt's algorithms ran between start and now: its name, "host" or, without collopt,
 * "none".  Persistent and nonblocking reductions have one each, "persistent" and "nonblocking".
 * COLLECTIVE may be "reduce_local"; what collopt has for that are "kernels". */
enum { BENCH_ALGORITHMS = 64 };         /* of a collective, at most */
struct bench_algorithm {
    const char *collective;
    uint64_t before[BENCH_ALGORITHMS], local;
};
void bench_algorithm_start(struct bench_algorithm *a, const char *collective);
const char *bench_algorithm_ran(const struct bench_algorithm *a);

#endif
