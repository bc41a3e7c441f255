/* The cost of taking over: reductions on communicators of all lifetimes.
 *
 *     lifetimes                   a CSV line for each pattern on standard output
 *
 * Each pattern is run with collopt switched off and on in turn, by MPI_Pcontrol, on communicators
 * made anew for each run, so that the library has to take them over again.  Columns: pattern, calls
 * of a run, communicators of a run, microseconds in reductions of a run without and with collopt
 * (medians), lost microseconds (negative: gained).
 *
 * To be run with COLLOPT_PCONTROL=on. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 31, LONGEST = 1 << 16 };

static double in[LONGEST], out[LONGEST];

static const struct pattern {
    const char *name;
    int communicators, calls;   /* of a run; of each communicator */
    /* doubles of the first call, and how many more of each further one */
    int first, step;
} patterns[] = {
    { "one call each", 40, 1, 1, 0 },
    { "five short calls each", 40, 5, 1, 0 },
    { "a hundred short calls each", 20, 100, 1, 0 },
    { "few calls, all different", 1, 20, 1, 37 },
    { "many calls, all different", 1, 300, 1, 101 },
    { "1000 short calls", 1, 1000, 1, 0 },
    { "20000 short calls", 1, 20000, 1, 0 },
    { "ten calls of 512 KiB", 1, 10, LONGEST, 0 },
};

/* Seconds in the reductions of one run. */
static double run(const struct pattern *p)
{
    double seconds = 0;

    for (int c = 0; c < p->communicators; c++) {
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Barrier(comm);
        for (int i = 0; i < p->calls; i++) {
            int n = p->first + i * p->step;
            double start = MPI_Wtime();

            MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm);
            seconds += MPI_Wtime() - start;
        }
        MPI_Comm_free(&comm);
    }
    return seconds;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double median(double *seconds)
{
    qsort(seconds, RUNS, sizeof *seconds, ascending);
    return seconds[RUNS / 2];
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("pattern,calls,communicators,us_without,us_with,us_lost\n");
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const struct pattern *p = &patterns[i];
        double seconds[2][RUNS], us[2];

        for (int r = 0; r < 2 * RUNS; r++) {
            MPI_Pcontrol(r % 2);
            seconds[r % 2][r / 2] = run(p);
        }
        for (int on = 0; on < 2; on++) {
            double mine = 1e6 * median(seconds[on]);

            MPI_Pcontrol(0);
            MPI_Reduce(&mine, &us[on], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        }
        if (rank == 0)
            printf("%s,%d,%d,%.1f,%.1f,%.1f\n", p->name, p->communicators * p->calls,
                   p->communicators, us[0], us[1], us[1] - us[0]);
    }
    MPI_Finalize();
    return 0;
}
