/* Delays one rank, which is another one for each kind of reduction, in a random tenth of the calls,
 * and measures on its own how long each rank waits: waiting.py compares this with the report.
 *
 * Or "many", "lonely", "pairs", "rows", "hasty" or "swapped": calls of which little or all is to be
 * known.
 *
 * Arguments: a file for what is expected, a seed, and how many calls of each kind (40).  Rank 0
 * writes a line for each kind: collective (iallreduce and allreduce_init in the other forms),
 * bytes, the delayed rank of MPI_COMM_WORLD, the seconds injected, those that all ranks waited, and
 * for each rank those that they waited for it.  The clock is not the one that collopt reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

enum { LONGEST = 4096, RANKS = 8 };

enum depends { ON_ALL, AS_ROOT, ON_LOWER };

struct kind {
    const char *collective;
    int count;                  /* of doubles, of the input of Reduce_scatter_block for each rank */
    enum depends depends;
    int late;                   /* the rank that is delayed, of P; negative: from the end */
    bool half;                  /* on a communicator of the ranks from the last one down to 0, which
                                 * is made for each call */
    enum form form;
    enum { BY_WAIT, BY_WAITALL, BY_WAITANY, BY_TEST } by;       /* what completes it */
    int work;                   /* us from the call that starts it to the one that completes it */
};

static const struct kind kinds[] = {
    { "allreduce", 1, ON_ALL, 1, .form = BLOCKING },
    { "allreduce", 4096, ON_ALL, 0, .form = BLOCKING },
    { "reduce_scatter_block", 64, ON_ALL, -1, .form = BLOCKING },
    { "reduce", 16, AS_ROOT, -1, .form = BLOCKING },
    { "scan", 8, ON_LOWER, 0, .form = BLOCKING },
    { "exscan", 32, ON_LOWER, 0, .form = BLOCKING },
    { "allreduce", 128, ON_ALL, 0, .half = true },
    { "allreduce", 1, ON_ALL, 1, .form = NONBLOCKING },
    { "allreduce", 64, ON_ALL, -1, .form = NONBLOCKING, .by = BY_WAITALL, .work = 5000 },
    { "allreduce", 4096, ON_ALL, 0, .form = NONBLOCKING, .by = BY_WAITANY },
    { "allreduce", 16, ON_ALL, 0, .form = NONBLOCKING, .by = BY_TEST },
    { "reduce", 16, AS_ROOT, -1, .form = NONBLOCKING },
    { "scan", 8, ON_LOWER, 0, .form = NONBLOCKING },
    { "allreduce", 2, ON_ALL, 1, .form = PERSISTENT },
    { "reduce", 64, AS_ROOT, 1, .form = PERSISTENT, .by = BY_WAITALL, .work = 5000 },
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

static void run_blocking(const struct kind *k, MPI_Comm comm)
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

static void start_nonblocking(const struct kind *k, MPI_Request *request)
{
    if (strcmp(k->collective, "allreduce") == 0)
        MPI_Iallreduce(in, out, k->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
    else if (strcmp(k->collective, "reduce") == 0)
        MPI_Ireduce(in, out, k->count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, request);
    else
        MPI_Iscan(in, out, k->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

/* Not every host has persistent ones. */
static bool can_run(const struct kind *k)
{
    return k->form != PERSISTENT || HAVE_INIT;
}

static void make_persistent(const struct kind *k, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (!can_run(k) || k->form != PERSISTENT)
        return;
    if (strcmp(k->collective, "allreduce") == 0)
        CALL_INIT(Allreduce, allreduce, in, out, k->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
        CALL_INIT(Reduce, reduce, in, out, k->count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void start(const struct kind *k, MPI_Request *request)
{
    if (k->form == NONBLOCKING)
        start_nonblocking(k, request);
    else
        MPI_Start(request);
}

/* Beside a receive, so that one array has requests of both. */
static void complete(const struct kind *k, MPI_Request *request)
{
    MPI_Request both[2] = { MPI_REQUEST_NULL, *request };
    MPI_Status statuses[2];
    int token[2] = { 0 }, index = 0, done = 0;

    switch (k->by) {
    case BY_WAIT:
        MPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    case BY_TEST:
        while (!done)
            MPI_Test(request, &done, MPI_STATUS_IGNORE);
        return;
    case BY_WAITALL:
        MPI_Irecv(&token[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &both[0]);
        MPI_Send(&token[1], 1, MPI_INT, 0, 0, MPI_COMM_SELF);
        MPI_Waitall(2, both, statuses);
        break;
    case BY_WAITANY:
        MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE);
        break;
    }
    *request = both[1];
}

/* When a rank came, when it began to wait for the reduction, and when that was over. */
struct passage { double entered, awaited, left; };

static struct passage run(const struct kind *k, MPI_Comm comm, MPI_Request *request)
{
    struct passage p = { .entered = now() };

    if (k->form == BLOCKING) {
        p.awaited = p.entered;
        run_blocking(k, comm);
    } else {
        start(k, request);
        if (k->work > 0)
            usleep((useconds_t)k->work);
        p.awaited = now();
        complete(k, request);
    }
    p.left = now();
    return p;
}

/* Adds the seconds that all ranks have waited in a call that this one has passed so to those for
 * which they waited. */
static void add_waiting(const struct kind *k, struct passage own, double *waited_for)
{
    struct passage all[RANKS];

    MPI_Allgather(&own, 3, MPI_DOUBLE, all, 3, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) {
        int last = r;
        double until;

        for (int other = 0; other < ranks; other++)
            if ((k->depends != ON_LOWER || other <= r) && all[other].entered > all[last].entered)
                last = other;
        until = all[last].entered < all[r].left ? all[last].entered : all[r].left;
        if ((k->depends != AS_ROOT || r == 0) && k->by != BY_TEST && until > all[r].awaited)
            waited_for[last] += until - all[r].awaited;
    }
}

static void write_kind(FILE *file, const struct kind *k, double injected, const double *waited_for)
{
    static const char *const form[FORMS][2] = { { "", "" }, { "", "_init" }, { "i", "" } };
    bool scatters = strcmp(k->collective, "reduce_scatter_block") == 0;
    double sum = 0;

    for (int r = 0; r < ranks; r++)
        sum += waited_for[r];
    fprintf(file, "%s%s%s %zu %d %.9f %.9f", form[k->form][0], k->collective, form[k->form][1],
            sizeof(double) * (size_t)k->count * (scatters ? (size_t)ranks : 1),
            k->late < 0 ? ranks + k->late : k->late, injected, sum);
    for (int r = 0; r < ranks; r++)
        fprintf(file, " %.9f", waited_for[r]);
    fputc('\n', file);
}

/* The seconds that all ranks wait for one that comes so late. */
static double waiting_of(const struct kind *k, double delay)
{
    double of_one = delay - 1e-6 * k->work;

    return of_one <= 0 || k->by == BY_TEST ? 0 : k->depends == AS_ROOT ? of_one
                                                                       : of_one * (ranks - 1);
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

/* Nonblocking reductions that are waited for at once, and such that are not. */
static void make_hasty(void)
{
    for (int i = 0; i < 200; i++) {
        MPI_Request request;

        MPI_Iallreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        if (i % 2)
            usleep(1000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Two communicators with the same ranks, which these use first in another order; rank 1 is late on
 * both. */
static void make_swapped(void)
{
    MPI_Comm comm[2];
    MPI_Request request[2];

    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (int i = 0; i < 2; i++)
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_DOUBLE, MPI_SUM, comm[(rank + i) % 2], &request[i]);
    for (int i = 0; i < 2; i++)
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            usleep(20000);
        MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, comm[i % 2]);
    }
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comm[i]);
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
    else if (strcmp(name, "hasty") == 0)
        make_hasty();
    else if (strcmp(name, "swapped") == 0)
        make_swapped();
    else
        make_pairs();
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    double waited_for[KINDS][RANKS] = { 0 }, injected[KINDS] = { 0 };
    MPI_Request request[KINDS];
    int calls = KINDS * (argc > 3 ? atoi(argv[3]) : 40);
    FILE *file = NULL;

    MPI_Init(&argc, &argv);
    if (argc == 2)
        return run_other(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    state = mix((uint64_t)atoll(argv[2]));
    for (int i = 0; i < KINDS; i++)
        make_persistent(&kinds[i], &request[i]);
    for (int call = 0; call < calls; call++) {
        int i = call % KINDS;
        const struct kind *k = &kinds[i];
        int late = k->late < 0 ? ranks + k->late : k->late;
        MPI_Comm comm = MPI_COMM_WORLD;
        double delay = 0;

        if (!can_run(k))
            continue;
        if (k->half)
            MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
        if (draw() % 10 == 0 || call < KINDS)
            delay = 0.02 + 1e-4 * (double)(draw() % 200);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == late && delay > 0)
            usleep((useconds_t)(1e6 * delay));
        injected[i] += waiting_of(k, delay);
        add_waiting(k, run(k, comm, &request[i]), waited_for[i]);
        if (k->half)
            MPI_Comm_free(&comm);
    }
    if (rank == 0)
        file = fopen(argv[1], "w");
    for (int i = 0; i < KINDS; i++) {
        if (request[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&request[i]);
        if (file && can_run(&kinds[i]))
            write_kind(file, &kinds[i], injected[i], waited_for[i]);
    }
    if (file)
        fclose(file);
    MPI_Finalize();
    return 0;
}
