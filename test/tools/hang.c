/* Hangs in the way that its argument names, after some reductions: rank 1 is the one that is to
 * blame.  Each rank says its process id and "ready" when it is about to.  The way "runs" does not
 * hang. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CULPRIT = 1, LONG = 1 << 20 };

static int rank, ranks;
static double in[LONG], out[LONG];

static void reduce(int count, MPI_Comm comm)
{
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
}

static void missing(void)
{
    while (rank == CULPRIT)
        pause();
    reduce(1, MPI_COMM_WORLD);
}

static void root(void)
{
    MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, rank == CULPRIT, MPI_COMM_WORLD);
    reduce(1, MPI_COMM_WORLD);
}

static void count(void)
{
    reduce(rank == CULPRIT ? LONG : 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    reduce(1, MPI_COMM_WORLD);
}

static void collective(void)
{
    if (rank == CULPRIT)
        MPI_Scan(in, out, LONG, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
        reduce(LONG, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Comm first, second;

static void circle(void)
{
    reduce(1, rank == CULPRIT ? second : first);
    reduce(1, rank == CULPRIT ? first : second);
}

static void receive(void)
{
    if (rank == CULPRIT)
        MPI_Recv(in, 1, MPI_DOUBLE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    reduce(1, MPI_COMM_WORLD);
}

static void io(void)
{
    int end[2];
    char c;

    if (rank == CULPRIT && (pipe(end) || read(end[0], &c, 1) != 1))
        exit(3);
    reduce(1, MPI_COMM_WORLD);
}

static void stopped(void)
{
    if (rank == CULPRIT)
        raise(SIGSTOP);
    reduce(1, MPI_COMM_WORLD);
}

static void killed(void)
{
    if (rank == CULPRIT)
        raise(SIGKILL);
    for (;;)                    /* where the library notices, the next one may hang */
        reduce(1, MPI_COMM_WORLD);
}

static void loop(void *a, void *b, int *n, MPI_Datatype *type)
{
    volatile int goes_on = rank == CULPRIT;

    while (goes_on)
        ;
    memcpy(b, a, (size_t)*n * sizeof(double));
    (void)type;
}

static void operation(void)
{
    MPI_Op op;

    MPI_Op_create(loop, 1, &op);
    MPI_Allreduce(in, out, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    reduce(1, MPI_COMM_WORLD);
}

static void nonblocking(void)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (rank != CULPRIT)
        MPI_Iallreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    while (rank == CULPRIT)
        pause();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void runs(void)
{
    for (;;)
        reduce(1, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*hang)(void);
} ways[] = {
    { "missing", missing },       { "root", root },       { "count", count },
    { "collective", collective }, { "circle", circle },   { "receive", receive },
    { "io", io },                 { "stopped", stopped }, { "killed", killed },
    { "operation", operation },   { "nonblocking", nonblocking }, { "runs", runs },
};

static void prepare(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    MPI_Comm_set_name(first, "first");
    MPI_Comm_set_name(second, "second");
    for (int n = 0; n < 3; n++) {
        reduce(1, MPI_COMM_WORLD);
        reduce(1, first);
        reduce(1, second);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    fprintf(stderr, "rank %d: pid %d ready\n", rank, (int)getpid());
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    prepare();
    for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, argv[1]) == 0)
            ways[i].hang();
    fprintf(stderr, "rank %d: it did not hang\n", rank);
    MPI_Finalize();
    return 0;
}
