/* What the benches on a real MPI share: the host's own functions beside those that the program sees, time, starting together. */
#ifndef BENCH_MPI_H
#define BENCH_MPI_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct bench_functions {
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
    int (*reduce_scatter)(const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*reduce_scatter_block)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*scan)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*exscan)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*reduce_local)(const void *, void *, int, MPI_Datatype, MPI_Op);
    int (*bcast)(void *, int, MPI_Datatype, int, MPI_Comm);
    int (*barrier)(MPI_Comm);
};

extern struct bench_functions bench_host;       /* the MPI library's own; without collopt the same as bench_mpi */
extern const struct bench_functions bench_mpi;  /* MPI_Allreduce ... as the program sees them */

/* Sets bench_host; ends the job if that is not possible (a static program). */
void bench_find_host(void);

void bench_barrier(void);       /* ranks start together; waits politely where ranks outnumber processors */
void bench_max(double *v, int n);       /* each of N values becomes the greatest of all ranks; waits politely */
double bench_now(void);         /* seconds */
void *bench_new(size_t bytes);  /* zeroed and touched; ends the job if there is no memory */
const char *bench_size_text(size_t bytes, char *text, size_t size);     /* "4K" */

/* Which of collopt's algorithms ran between start and now: its name, "host" or, without collopt, "none".  COLLECTIVE may be
 * "reduce_local"; what collopt has for that are "kernels". */
enum { BENCH_ALGORITHMS = 64 };         /* of a collective, at most */
struct bench_algorithm {
    const char *collective;
    uint64_t before[BENCH_ALGORITHMS], local;
};
void bench_algorithm_start(struct bench_algorithm *a, const char *collective);
const char *bench_algorithm_ran(const struct bench_algorithm *a);

#endif
