/* Delays one rank, which is another one for each kind of reduction, in a random tenth of the calls,
 * and measures on its own how long each rank waits: waiting.py compares this with the report.
 *
 * Or "many", "lonely", "pairs" or "rows": calls of which little or all is to be known.
 *
 * Arguments: a file for what is expected, and a seed.  Rank 0 writes a line for each kind of call:
 * collective, bytes, the delayed rank (of MPI_COMM_WORLD), the seconds injected, the seconds that
 * all ranks waited, and for each rank those that they waited for it.  The clock is not the one that
 * collopt reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

enum { CALLS = 40, LONGEST = 4096, RANKS = 8 };

enum depends { ON_ALL, AS_ROOT, ON_LOWER };

struct kind {
    const char *collective;
    int count;                  /* of doubles, of the input of Reduce_scatter_block for each rank */
    enum depends depends;
    int late;                   /* the rank that is delayed, of P; negative: from the end */
    bool half;                  /* on a communicator of the ranks from the last one down to 0, which
                                 * is made for each call */
};

static const struct kind kinds[] = {
    { "allreduce", 1, ON_ALL, 1, false },       { "allreduce", 4096, ON_ALL, 0, false },
    { "reduce_scatter_block", 64, ON_ALL, -1, false },
    { "reduce", 16, AS_ROOT, -1, false },       { "scan", 8, ON_LOWER, 0, false },
    { "exscan", 32, ON_LOWER, 0, false },       { "allreduce", 128, ON_ALL, 0, true },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int rank, ranks;
static uint64_t state;
static double in[LONGEST * 8], out[LONGEST];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The same on all ranks. */
static uint64_t draw(void)
{
    return state = mix(state + 1);
}

static void run(const struct kind *k, MPI_Comm comm)
{
    if (strcmp(k->collective, "allreduce") == 0)
        MPI_Allreduce(in, out, k->count, MPI_DOUBLE, MPI_SUM, comm);
    else if (strcmp(k->collective, "reduce") == 0)
        MPI_Reduce(in, out, k->count, MPI_DOUBLE, MPI_SUM, 0, comm);
    else if (strcmp(k->collective, "scan") == 0)
        MPI_Scan(in, out, k->count, MPI_DOUBLE, MPI_SUM, comm);
    else if (strcmp(k->collective, "exscan") == 0)
        MPI_Exscan(in, out, k->count, MPI_DOUBLE, MPI_SUM, comm);
    else
        MPI_Reduce_scatter_block(in, out, k->count, MPI_DOUBLE, MPI_SUM, comm);
}

/* Adds the seconds that all ranks have waited in a call that each entered and left then to those
 * for which they waited. */
static void add_waiting(const struct kind *k, double entered, double left, double *waited_for)
{
    double times[2] = { entered, left }, all[2 * RANKS];

    MPI_Allgather(times, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) {
        int last = r;
        double until;

        for (int other = 0; other < ranks; other++)
            if ((k->depends != ON_LOWER || other <= r) && all[2 * other] > all[2 * last])
                last = other;
        until = all[2 * last] < all[2 * r + 1] ? all[2 * last] : all[2 * r + 1];
        if (k->depends != AS_ROOT || r == 0)
            waited_for[last] += until - all[2 * r];
    }
}

static void write_kind(FILE *file, const struct kind *k, double injected, const double *waited_for)
{
    bool scatters = strcmp(k->collective, "reduce_scatter_block") == 0;
    double sum = 0;

    for (int r = 0; r < ranks; r++)
        sum += waited_for[r];
    fprintf(file, "%s %zu %d %.9f %.9f", k->collective,
            sizeof(double) * (size_t)k->count * (scatters ? (size_t)ranks : 1),
            k->late < 0 ? ranks + k->late : k->late, injected, sum);
    for (int r = 0; r < ranks; r++)
        fprintf(file, " %.9f", waited_for[r]);
    fputc('\n', file);
}

static int waiting_ranks(const struct kind *k)
{
    return k->depends == AS_ROOT ? 1 : ranks - 1;
}

/* More calls than there may be notes, between some that all ranks make; then a communicator that
 * can have none. */
static void make_many(void)
{
    enum { FEW = 10, MANY = (64 << 20) / 16 + 1000 };
    MPI_Comm comm;

    for (int i = 0; i < FEW; i++)
        MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++)
        MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    for (int i = 0; i < FEW; i++)
        MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Comm_free(&comm);
}

/* A program with a mistake: rank 0 does not come to the reduction of the others, who only send. */
static void make_lonely(void)
{
    MPI_Comm comm;

    MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank > 0)
        MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
}

/* Rings of pairs: each rank has its communicators in an order of its own. */
static void make_pairs(void)
{
    MPI_Comm comm[RANKS];

    for (int r = 0; r < ranks; r++)
        MPI_Comm_split(MPI_COMM_WORLD, rank == r || rank == (r + 1) % ranks ? 0 : MPI_UNDEFINED,
                       rank, &comm[r]);
    for (int i = 0; i < 50; i++)
        for (int parity = 0; parity < 2; parity++)
            for (int k = 0; k < 2; k++) {
                int r = k == 0 ? rank : (rank + ranks - 1) % ranks;

                if (r % 2 == parity)
                    MPI_Allreduce(in, out, 1 + r, MPI_DOUBLE, MPI_SUM, comm[r]);
            }
    MPI_Comm_free(&comm[rank]);
}

/* Three short reductions in a row, and one that is long; on one rank all are left out. */
static void make_rows(void)
{
    for (int i = 0; i < 100; i++) {
        usleep(1000);
        for (int k = 0; k < 3; k++)
            MPI_Allreduce(in, out, 1 + k, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(in, out, LONGEST, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
        MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    }
}

static int run_other(const char *name)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(name, "many") == 0)
        make_many();
    else if (strcmp(name, "lonely") == 0)
        make_lonely();
    else if (strcmp(name, "rows") == 0)
        make_rows();
    else
        make_pairs();
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    double waited_for[KINDS][RANKS] = { 0 }, injected[KINDS] = { 0 };
    FILE *file = NULL;

    MPI_Init(&argc, &argv);
    if (argc == 2)
        return run_other(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    state = mix((uint64_t)atoll(argv[2]));
    for (int call = 0; call < CALLS * KINDS; call++) {
        int i = call % KINDS;
        const struct kind *k = &kinds[i];
        int late = k->late < 0 ? ranks + k->late : k->late;
        MPI_Comm comm = MPI_COMM_WORLD;
        double delay = 0, entered;

        if (k->half)
            MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
        if (draw() % 10 == 0 || call < KINDS)
            delay = 0.02 + 1e-4 * (double)(draw() % 200);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == late && delay > 0)
            usleep((useconds_t)(1e6 * delay));
        injected[i] += delay * waiting_ranks(k);
        entered = now();
        run(k, comm);
        add_waiting(k, entered, now(), waited_for[i]);
        if (k->half)
            MPI_Comm_free(&comm);
    }
    if (rank == 0)
        file = fopen(argv[1], "w");
    for (int i = 0; i < KINDS && file; i++)
        write_kind(file, &kinds[i], injected[i], waited_for[i]);
    if (file)
        fclose(file);
    MPI_Finalize();
    return 0;
}
