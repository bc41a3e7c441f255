/* MPI_Reduce_local of short vectors: what a call costs as the program makes it, and the host's own,
 * in turn.
 *
 *     LD_PRELOAD=libcollopt.so bench_local        one line for each length of a sum of doubles
 *
 * "N HOST OURS RATIO": elements, ns of a call, and the median of the ratios host/ours (above 1:
 * collopt is faster). */
#include "lib/bench_mpi.h"
#include "lib/clock.h"
#include "lib/statistics.h"

#include <stdio.h>

enum { ROUNDS = 201, LONGEST = 4000 };

typedef int reduce_local(const void *, void *, int, MPI_Datatype, MPI_Op);

static double ns_per_call(reduce_local *f, const double *in, double *out, int n)
{
    int calls = 200000 / (n + 20) + 10;
    double start = bench_now();

    for (int i = 0; i < calls; i++)
        f(in, out, n, MPI_DOUBLE, MPI_SUM);
    return 1e9 * (bench_now() - start) / calls;
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 1, 2, 4, 8, 16, 33, 64, 100, 200, 256, 1000, LONGEST };
    double host[ROUNDS], ours[ROUNDS], ratio[ROUNDS];

    MPI_Init(&argc, &argv);
    bench_find_host();

    double *in = bench_new(LONGEST * sizeof *in), *out = bench_new(LONGEST * sizeof *out);

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int round = 0; round < ROUNDS; round++) {
            if (round % 2)
                ours[round] = ns_per_call(bench_mpi.reduce_local, in, out, lengths[i]);
            host[round] = ns_per_call(bench_host.reduce_local, in, out, lengths[i]);
            if (round % 2 == 0)
                ours[round] = ns_per_call(bench_mpi.reduce_local, in, out, lengths[i]);
            ratio[round] = host[round] / ours[round];
        }
        printf("%d %.1f %.1f %.2f\n", lengths[i], bench_quantile(host, ROUNDS, 0.5),
               bench_quantile(ours, ROUNDS, 0.5), bench_quantile(ratio, ROUNDS, 0.5));
    }
    MPI_Finalize();
    return 0;
}
