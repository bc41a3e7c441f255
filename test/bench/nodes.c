/* What a program sees of the nodes that it runs on, and whether its reductions are right there.
 *
 *     nodes [BYTES]           beside the checks, an Allreduce of so many bytes, for those who count
 *                             what is sent
 *
 * Rank 0 says which ranks share memory and a host name, "h1: 0 1, h2: 2 3"; if collopt is there,
 * how many allreduces ran by which algorithm; and how many results were wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collopt.h"

enum { MOST = 64, MODULUS = 9973 };

static int rank, ranks, wrong;

/* ---- nodes ----------------------------------------------------------------------------------- */

static void say_nodes(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", names[MOST][MPI_MAX_PROCESSOR_NAME];
    int first = rank, firsts[MOST], length;
    MPI_Comm node;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    MPI_Get_processor_name(name, &length);
    MPI_Gather(&first, 1, MPI_INT, firsts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int f = 0; rank == 0 && f < ranks; f++) {
        if (firsts[f] != f)
            continue;
        printf("%s%s:", f ? ", " : "nodes: ", names[f]);
        for (int r = f; r < ranks; r++)
            if (firsts[r] == f)
                printf(" %d%s", r, strcmp(names[r], names[f]) ? " (of another name)" : "");
    }
    if (rank == 0)
        printf("\n");
}

/* ---- results --------------------------------------------------------------------------------- */

static void check(const char *what, int n, int i, int got, int wanted)
{
    if (got != wanted && wrong++ == 0)
        printf("rank %d of %d, %s of %d: element %d is %d, not %d\n", rank, ranks, what, n, i, got,
               wanted);
}

static int value(int r, int i)
{
    return (r + 2) * (i % 100 + 1) + i;
}

static int sum(int last, int i)         /* of ranks 0 to LAST */
{
    int s = 0;

    for (int r = 0; r <= last; r++)
        s += value(r, i);
    return s;
}

static void sums(int n)
{
    int *in = malloc((size_t)n * ranks * sizeof *in), *out = malloc((size_t)n * sizeof *out);

    for (int i = 0; i < n * ranks; i++)
        in[i] = value(rank, i);
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        check("allreduce", n, i, out[i], sum(ranks - 1, i));
    MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
    for (int i = 0; i < n && rank == ranks - 1; i++)
        check("reduce", n, i, out[i], sum(ranks - 1, i));
    MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        check("reduce_scatter_block", n, i, out[i], sum(ranks - 1, rank * n + i));
    MPI_Scan(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        check("scan", n, i, out[i], sum(rank, i));
    MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n && rank > 0; i++)
        check("exscan", n, i, out[i], sum(rank - 1, i));
    free(in);
    free(out);
}

/* Affine maps x -> a x + b, one after the other: associative, not commutative. */
static void compose(void *first, void *second, int *n, MPI_Datatype *type)
{
    int *a = first, *b = second;

    (void)type;
    for (int i = 0; i < 2 * *n; i += 2) {
        b[i + 1] = (a[i + 1] * b[i] + b[i + 1]) % MODULUS;
        b[i] = a[i] * b[i] % MODULUS;
    }
}

static void composition(void)
{
    int in[2] = { rank + 2, 3 * rank + 1 }, out[2], wanted[2] = { 2, 1 }, one = 1;
    MPI_Datatype pair;
    MPI_Op op;

    for (int r = 1; r < ranks; r++) {
        int next[2] = { r + 2, 3 * r + 1 };

        compose(wanted, next, &one, &pair);
        memcpy(wanted, next, sizeof wanted);
    }
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    MPI_Allreduce(in, out, 1, pair, op, MPI_COMM_WORLD);
    check("composition", 1, 0, out[0], wanted[0]);
    check("composition", 1, 1, out[1], wanted[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

static void say_algorithms(void)
{
    const char *name;

    if (rank > 0 || !collopt_version)
        return;
    printf("ran:");
    for (int i = 0; (name = collopt_algorithm_name("allreduce", i)); i++)
        if (collopt_calls("allreduce", name))
            printf(" %s %d", name, (int)collopt_calls("allreduce", name));
    printf("\n");
}

int main(int argc, char **argv)
{
    int extra = argc > 1 ? atoi(argv[1]) / (int)sizeof(int) : 0, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    say_nodes();
    if (extra > 0) {
        int *in = calloc((size_t)extra, sizeof *in), *out = malloc((size_t)extra * sizeof *out);

        MPI_Allreduce(in, out, extra, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        free(in);
        free(out);
    }
    sums(1);
    sums(1000);
    composition();
    say_algorithms();
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("wrong: %d\n", all);
    MPI_Finalize();
    return wrong > 0;
}
