/* A program to be compiled with a sanitizer: a blocking and a nonblocking sum. With the
 * word "overflow" it then writes past a block. With -DDEFAULTS it has options of its own for
 * AddressSanitizer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DEFAULTS
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
#endif

int main(int argc, char **argv)
{
    enum { COUNT = 100 };
    double *in = calloc(COUNT, sizeof *in), *out = calloc(COUNT, sizeof *out);
    volatile int past = COUNT;
    MPI_Request request;
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    in[COUNT - 1] = rank + 1;
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        if (nonblocking) {
            MPI_Iallreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
        if (out[COUNT - 1] != ranks * (ranks + 1) / 2)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (argc > 1 && strcmp(argv[1], "overflow") == 0)
        out[past] = 1;
    if (rank == 0)
        puts("right");
    free(in);
    free(out);
    return MPI_Finalize();
}
