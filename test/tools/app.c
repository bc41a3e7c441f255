/* A program to be compared: CALLS sums of COUNT doubles on all ranks, after a pause of PAUSE ms.
 *
 *     app CALLS COUNT PAUSE [slow-without|fail|fail-with|other-with|hang|no-finalize]
 *
 * slow-without: 20 ms more for each call where collopt is not loaded or is off, as if the MPI
 * library were slow; fail: ends with status 3; fail-with: only where collopt is loaded; other-with:
 * prints another result there; hang: prints "ready" and waits; no-finalize: ends without
 * MPI_Finalize.  Prints "sum X" and "loop time: SECONDS". */
#include "collopt.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    int calls = atoi(argv[1]), count = atoi(argv[2]), pause = atoi(argv[3]), rank;
    const char *mode = argc > 4 ? argv[4] : "";
    const struct timespec t = { pause / 1000, pause % 1000 * 1000000L };
    double *in = calloc((size_t)count, sizeof *in), *out = calloc((size_t)count, sizeof *out),
           start;
    int loaded = collopt_version != NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    in[0] = rank + 1;
    if (strncmp(mode, "hang", 4) == 0) {
        if (rank == 0)
            puts("ready");
        fflush(stdout);
        for (;;)
            nanosleep(&(struct timespec){ 1, 0 }, NULL);
    }
    nanosleep(&t, NULL);
    start = MPI_Wtime();
    for (int i = 0; i < calls; i++) {
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (strcmp(mode, "slow-without") == 0 && (!loaded || getenv("COLLOPT")))
            nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
    }
    if (rank == 0)
        printf("sum %g\nloop time: %.6f s\n", out[0] + (loaded && strcmp(mode, "other-with") == 0),
               MPI_Wtime() - start);
    fflush(stdout);
    if (strcmp(mode, "fail") == 0 || (loaded && strcmp(mode, "fail-with") == 0)) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            fprintf(stderr, "app: it fails\n");
        MPI_Finalize();
        return 3;
    }
    if (strcmp(mode, "no-finalize") == 0)
        _Exit(0);
    free(in);
    free(out);
    return MPI_Finalize();
}
