/* Much of everything, with results compared and memory that stays flat.
 *
 *     test_load small N            N reductions of a few elements
 *     test_load communicators N    N communicators alive, each used
 *     test_load large BYTES        an Allreduce of so many elements of char
 *
 * Eight threads on communicators of their own: test_threads.  The last line has the figures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static double begun;

static void tell(const char *what, double n, long before)
{
    long now = resident(), most;
    double seconds = MPI_Wtime() - begun;

    now -= before;
    MPI_Reduce(&now, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("%.0f %s on %d ranks: %.1f s, %ld KiB more resident\n", n, what, world_ranks,
               seconds, most);
}

static void small(long n)
{
    enum { WARM = 1000, ROOM = 2048 };          /* KiB */
    long before = 0;

    for (long i = 0; i < n; i++) {
        if (i == (n < 10 * WARM ? n / 10 : WARM))
            before = resident();
        if (i % 1000 == 0)
            at("small reductions", 300);
        sum_all(MPI_COMM_WORLD, 1 + (int)(i % 8), "a small reduction");
    }
    check(resident() - before < ROOM, "%ld KiB more are resident", resident() - before);
    tell("small reductions", (double)n, before);
}

static void communicators(long n)
{
    MPI_Comm *comm = malloc((size_t)n * sizeof *comm);
    long before = resident();

    for (long i = 0; i < n; i++) {
        if (i % 100 == 0)
            at("communicators", 300);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        sum_all(comm[i], 3, "one of many communicators");
    }
    tell("communicators", (double)n, before);
    for (long i = 0; i < n; i++) {
        sum_all(comm[i], 2, "one of many communicators, again");
        MPI_Comm_free(&comm[i]);
    }
    free(comm);
}

static void large(size_t n)
{
    unsigned char *in = malloc(n), *out = malloc(n);
    long before = resident();
    size_t wrong = 0;

    if (!in || !out) {
        fail("no memory for %zu bytes", 2 * n);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t i = 0; i < n; i++)
        in[i] = (unsigned char)(i % 251 / (size_t)world_ranks);
    at("a large reduction", 600);
#if COLLOPT_HAVE_LARGE
    MPI_Allreduce_c(in, out, (MPI_Count)n, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
#else
    MPI_Allreduce(in, out, (int)n, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
#endif
    for (size_t i = 0; i < n; i++)
        wrong += out[i] != (unsigned char)(i % 251 / (size_t)world_ranks * (size_t)world_ranks);
    check(wrong == 0, "%zu of %zu elements are wrong", wrong, n);
    tell("elements of char", (double)n, before);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "small";
    long n = argc > 2 ? atol(argv[2]) : 1000;

    begin(&argc, &argv, "test_load");
    begun = MPI_Wtime();
    if (strcmp(what, "communicators") == 0)
        communicators(n);
    else if (strcmp(what, "large") == 0)
        large((size_t)n);
    else
        small(n);
    check(!with_collopt() || calls_run(NULL, NULL) > 0, "collopt ran nothing");
    return end();
}
