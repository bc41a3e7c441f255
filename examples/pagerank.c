/* PageRank of a made-up web: which pages do links lead to most often?
 *
 *     pagerank [N [ITERATIONS]]         N pages (default 20000), rounded up to a multiple of the
 *                                       ranks; 20 iterations
 *
 * Each rank has a block of the pages and their links.  An iteration hands on what the pages are
 * worth along their links, which gives every rank a vector for all pages; the sum of these vectors,
 * of which a rank wants its own block, is what MPI_Reduce_scatter_block is for.  What all pages
 * together are worth stays 1. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAMPING 0.85

enum { LINKS = 4 };                 /* of each page */

static int rank, ranks;
static int pages, own;              /* all, and those of a rank */
static double reducing;             /* seconds spent in reductions */

static void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n, size);

    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return memory;
}

/* Pages with small numbers are linked to more often. */
static int target(int page, int link)
{
    uint64_t h = ((uint64_t)page * LINKS + (uint64_t)link + 1) * 0x9e3779b97f4a7c15u;
    double x;

    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    x = (double)(h >> 11) / 9007199254740992.0;
    return (int)(x * x * pages);
}

static void hand_on(const double *worth, const int *links, double *all)
{
    memset(all, 0, (size_t)pages * sizeof *all);
    for (int i = 0; i < own; i++)
        for (int k = 0; k < LINKS; k++)
            all[links[i * LINKS + k]] += worth[i] / LINKS;
}

static void iterate(double *worth, const int *links, double *all)
{
    double start;

    hand_on(worth, links, all);
    start = MPI_Wtime();
    MPI_Reduce_scatter_block(all, worth, own, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    reducing += MPI_Wtime() - start;
    for (int i = 0; i < own; i++)
        worth[i] = (1 - DAMPING) / pages + DAMPING * worth[i];
}

int main(int argc, char **argv)
{
    int wanted = argc > 1 ? atoi(argv[1]) : 20000, iterations = argc > 2 ? atoi(argv[2]) : 20;
    struct { double worth; int page; } mine = { 0, 0 }, best;
    double *worth, *all, start, seconds, part = 0, sum;
    int *links;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (wanted < 1 || iterations < 1) {
        if (rank == 0)
            fprintf(stderr, "pagerank: needs at least one page and one iteration\n");
        MPI_Finalize();
        return 2;
    }
    own = (wanted + ranks - 1) / ranks;
    pages = own * ranks;
    worth = allocate((size_t)own, sizeof *worth);
    all = allocate((size_t)pages, sizeof *all);
    links = allocate((size_t)own * LINKS, sizeof *links);
    for (int i = 0; i < own; i++) {
        worth[i] = 1.0 / pages;
        for (int k = 0; k < LINKS; k++)
            links[i * LINKS + k] = target(rank * own + i, k);
    }

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < iterations; i++)
        iterate(worth, links, all);
    seconds = MPI_Wtime() - start;

    for (int i = 0; i < own; i++) {
        part += worth[i];
        if (worth[i] > mine.worth) {
            mine.worth = worth[i];
            mine.page = rank * own + i;
        }
    }
    MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("pagerank: %d pages, %d iterations, page %d is worth most: %.6f\n", pages,
               iterations, best.page, best.worth);
        printf("time: %.4f s, %.4f s of it in reductions\n", seconds, reducing);
    }
    free(worth);
    free(all);
    free(links);
    MPI_Finalize();
    return !(fabs(sum - 1) < 1e-9);
}
