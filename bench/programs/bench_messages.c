/* How fast an Allreduce of two ranks can be at most: its messages alone, nothing combined.
 *
 *     mpirun -n 2 --bind-to core env LD_PRELOAD=libcollopt.so bench_messages [BYTES]...
 *
 * Either the ranks exchange their vectors, one message each way; or they exchange halves of them
 * and then halves of the result, two messages each way.  Both are measured with whole messages and
 * in pieces.  The shortest of these times is the bound for an Allreduce by the host's messages; it
 * leaves out the combining.  Vectors are written before each call as programs do (measure.h).
 * Lengths: 8 64 512 4096 32768 ... 16777216, or those given: multiples of 16, or 8.
 *
 * A line for each length, in us: the host's Allreduce of doubles, collopt's, the best of the
 * messages and its pieces; and how many times as fast as the host collopt is, and the messages are.
 * Then the geometric means of both. */
#include "lib/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PIECES = 4096, LENGTHS = 32 };

struct vectors {
    double *in, *out, *other;
    size_t n;
    size_t part, piece;         /* messages(): elements of the first exchange, and of one message */
};

static int rank;

static void refresh(const void *what)
{
    const struct vectors *v = what;

    for (size_t i = 0; i < v->n; i++)
        v->in[i] = (double)(i % 97 + 1);
}

static void allreduce(const struct bench_functions *f, const void *what)
{
    const struct vectors *v = what;

    f->allreduce(v->in, v->out, (int)v->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* N elements each way, all pieces sent before any is received. */
static void swap(double *give, double *take, size_t n, size_t piece)
{
    MPI_Request sent[MOST_PIECES];
    int pieces = 0;

    for (size_t at = 0; at < n; at += piece, pieces++)
        MPI_Isend(give + at, (int)(n - at < piece ? n - at : piece), MPI_DOUBLE, !rank, 0,
                  MPI_COMM_WORLD, &sent[pieces]);
    for (size_t at = 0; at < n; at += piece)
        MPI_Recv(take + at, (int)(n - at < piece ? n - at : piece), MPI_DOUBLE, !rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < pieces; i++)
        MPI_Wait(&sent[i], MPI_STATUS_IGNORE);
}

static void messages(const struct bench_functions *f, const void *what)
{
    const struct vectors *v = what;

    (void)f;
    if (v->part == v->n) {
        swap(v->in, v->other, v->n, v->piece);
    } else {
        size_t mine = rank ? v->n - v->part : 0, theirs = rank ? 0 : v->n - v->part;

        swap(v->in + theirs, v->other, v->part, v->piece);
        swap(v->other, v->out + mine, v->part, v->part);
    }
}

/* One message each way, without a request. */
static void one_message(const struct bench_functions *f, const void *what)
{
    const struct vectors *v = what;

    (void)f;
    if (v->n * sizeof *v->in <= 512)
        /* eager everywhere */
        MPI_Send(v->in, (int)v->n, MPI_DOUBLE, !rank, 0, MPI_COMM_WORLD);
    MPI_Recv(v->other, (int)v->n, MPI_DOUBLE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static const struct bench_effort effort = { .seconds = 0.3, .precise = 0.01 };

static double against_host(struct vectors *v, enum bench_who who,
                           void (*call)(const struct bench_functions *, const void *),
                           struct bench_figures *g)
{
    void (*write)(const void *) = v->n * sizeof *v->in >= BENCH_FRESH ? refresh : NULL;
    struct bench_side host = { BENCH_HOST, allreduce, v, write }, side = { who, call, v, write };

    bench_compare(&host, &side, &effort, g);
    return g->ratio;
}

/* The best ratio of all ways to send the messages; *piece: the length of a message there. */
static double best_messages(struct vectors *v, struct bench_figures *best, size_t *piece)
{
    static const size_t pieces[] = { 32, 500, 32768, (size_t)1 << 40 };
    struct bench_figures g;
    double most = 0;

    for (size_t part = v->n; part > 0 && part >= v->n / 2;
         part = part == v->n && v->n > 1 ? v->n / 2 : 0)
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            bool alone = part == v->n && i + 1 == sizeof pieces / sizeof *pieces
                && v->n * sizeof *v->in <= 512;

            v->part = part, v->piece = pieces[i] < part ? pieces[i] : part;
            if ((part <= pieces[i] && i + 1 < sizeof pieces / sizeof *pieces)
                || part / v->piece > 64)
                continue;
            against_host(v, BENCH_HOST, alone ? one_message : messages, &g);
            if (g.ratio > most)
                most = g.ratio, *best = g, *piece = v->piece;
        }
    return most;
}

static void open_vectors(struct vectors *v, size_t bytes)
{
    v->n = bytes / sizeof *v->in;
    v->in = bench_new(bytes);
    v->out = bench_new(bytes);
    v->other = bench_new(bytes);
    refresh(v);
}

static void close_vectors(struct vectors *v)
{
    free(v->in);
    free(v->out);
    free(v->other);
}

static void one_length(size_t bytes, double *own, double *bound)
{
    struct bench_figures collopt, best = { 0 };
    struct vectors v = { 0 };
    size_t piece = 0;
    char text[32];

    open_vectors(&v, bytes);
    *own = against_host(&v, BENCH_COLLOPT, allreduce, &collopt);
    *bound = best_messages(&v, &best, &piece);
    close_vectors(&v);
    if (rank == 0)
        printf("%8s %10.2f %10.2f %10.2f %9zu %9.2f %9.2f\n",
               bench_size_text(bytes, text, sizeof text), collopt.first_us, collopt.second_us,
               best.second_us, piece * sizeof(double), *own, *bound);
    fflush(stdout);
}

/* Returns how many lengths there are; 0 if one is none. */
static int read_lengths(int argc, char **argv, size_t *length)
{
    static const size_t preset[] = { 8, 64, 512, 4096, 32768, 262144, 2097152, 16777216 };
    int n = 0;

    for (; argc < 2 && n < (int)(sizeof preset / sizeof *preset); n++)
        length[n] = preset[n];
    for (int i = 1; i < argc; i++) {
        char *end;

        length[n] = strtoull(argv[i], &end, 10);
        if (n == LENGTHS - 1 || *end || length[n] == 0 || (length[n] != 8 && length[n] % 16)
            || length[n] > 1 << 30)
            return 0;
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    double own = 0, bound = 0;
    size_t length[LENGTHS];
    int ranks, n;

    setenv("COLLOPT_AFTER", "1", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bench_find_host();
    n = read_lengths(argc, argv, length);
    if (ranks != 2 || n == 0) {
        if (rank == 0)
            fprintf(stderr,
                    ranks != 2 ? "bench_messages: needs two ranks\n"
                               : "bench_messages: lengths are bytes: 8, or multiples of 16 up to 1 "
                                 "GiB, 31 of them at most\n");
        MPI_Finalize();
        return 2;
    }
    if (rank == 0)
        printf("%8s %10s %10s %10s %9s %9s %9s\n", "bytes", "native us", "collopt us", "messages",
               "in pieces", "collopt", "messages");
    for (int i = 0; i < n; i++) {
        double ratio, most;

        one_length(length[i], &ratio, &most);
        own += log(ratio) / n;
        bound += log(most) / n;
    }
    if (rank == 0)
        printf("%-51s %9.2f %9.2f\n", "geometric mean", exp(own), exp(bound));
    MPI_Finalize();
    return 0;
}
