/* Much of everything, with results compared and memory that stays flat.
 *
 *     test_load small N            N reductions of a few elements
 *     test_load communicators N    N communicators alive, each used
 *     test_load threads N          8 threads on 8 communicators, for N seconds
 *     test_load large BYTES        an Allreduce of so many elements of char
 *     test_load blocks BYTES       the same in blocks, by an operation of the program's own
 *
 * The last line has the figures. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

enum { ROOM = 2048 };           /* KiB that a process may grow by */

static void small(long n)
{
    enum { WARM = 1000 };
    long before = 0;

    for (long i = 0; i < n; i++) {
        if (i == (n < 10 * WARM ? n / 10 : WARM))
            before = resident();
        if (i % 1000 == 0)
            at("small reductions");
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
            at("communicators");
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

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 8 };

struct task {
    pthread_t id;
    MPI_Comm comm;
    double seconds;
    long calls, wrong;
};

/* The last element counts the ranks whose time is over, so all make the same calls. */
static void *reduce_for_a_time(void *data)
{
    enum { MOST = 8 };
    struct task *t = data;
    bool over = false;

    while (!over) {
        int n = 1 + (int)(t->calls % MOST), in[MOST + 1], out[MOST + 1];

        for (int i = 0; i < n; i++)
            in[i] = world_rank + i + (int)(t->calls % 1000);
        in[n] = MPI_Wtime() > begun + t->seconds;
        MPI_Allreduce(in, out, n + 1, MPI_INT, MPI_SUM, t->comm);
        for (int i = 0; i < n; i++)
            t->wrong += out[i] != world_ranks * (world_ranks - 1) / 2
                                      + world_ranks * (i + (int)(t->calls % 1000));
        over = out[n] > 0;
        t->calls++;
    }
    return NULL;
}

static double run_threads(struct task *task, double seconds)
{
    double calls = 0;

    begun = MPI_Wtime();
    at_for("threads", (unsigned)seconds + 300);
    for (int i = 0; i < THREADS; i++) {
        task[i].seconds = seconds;
        pthread_create(&task[i].id, NULL, reduce_for_a_time, &task[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(task[i].id, NULL);
        calls += (double)task[i].calls;
        check(task[i].wrong == 0, "%ld sums of thread %d are wrong", task[i].wrong, i);
        task[i].calls = 0;
    }
    return calls;
}

static void threads(long seconds)
{
    struct task task[THREADS];
    long before;
    double calls;

    for (int i = 0; i < THREADS; i++) {
        task[i] = (struct task){ .calls = 0 };
        MPI_Comm_dup(MPI_COMM_WORLD, &task[i].comm);
    }
    run_threads(task, (double)seconds / 10);
    before = resident();
    calls = run_threads(task, (double)seconds);
    check(resident() - before < ROOM, "%ld KiB more are resident", resident() - before);
    tell("reductions of 8 threads", calls, before);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&task[i].comm);
}

/* ---- long vectors ---------------------------------------------------------------------------- */

/* Only each STEP-th element is not 0, so most pages of what is given are none.  It is odd, so all
 * places within a page occur. */
enum { STEP = 65521, BLOCK = 65536 };

struct vectors {
    unsigned char *in, *out;
    size_t n;
};

static unsigned char *reserve(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                   0);

    if (p == MAP_FAILED) {
        fail("no room for %zu bytes", n);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static unsigned char given(size_t i)
{
    return i % STEP ? 0 : (unsigned char)(1 + i / STEP % 100);
}

static struct vectors make_vectors(size_t n)
{
    struct vectors v = { reserve(n), reserve(n), n };

    for (size_t i = 0; i < n; i += STEP)
        v.in[i] = given(i);
    at("a large reduction");
    return v;
}

static void judge_vectors(struct vectors v, long before)
{
    size_t wrong = 0;

    for (size_t i = 0; i < v.n; i++)
        wrong += v.out[i] != (unsigned char)(given(i) * world_ranks);
    check(wrong == 0, "%zu of %zu elements are wrong", wrong, v.n);
    tell("elements of char", (double)v.n, before);
    munmap(v.in, v.n);
    munmap(v.out, v.n);
}

static void large(size_t n)
{
    long before = resident();
    struct vectors v = make_vectors(n);

#if COLLOPT_HAVE_LARGE
    MPI_Allreduce_c(v.in, v.out, (MPI_Count)n, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
#else
    MPI_Allreduce(v.in, v.out, (int)n, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
#endif
    judge_vectors(v, before);
}

static void add_blocks(void *in, void *inout, int *length, MPI_Datatype *type)
{
    unsigned char *a = in, *b = inout;

    (void)type;
    for (size_t i = 0; i < (size_t)*length * BLOCK; i++)
        b[i] = (unsigned char)(a[i] + b[i]);
}

static void blocks(size_t n)
{
    long before = resident();
    struct vectors v = make_vectors(n / BLOCK * BLOCK);
    MPI_Datatype block;
    MPI_Op add;

    MPI_Type_contiguous(BLOCK, MPI_UNSIGNED_CHAR, &block);
    MPI_Type_commit(&block);
    MPI_Op_create(add_blocks, true, &add);
    MPI_Allreduce(v.in, v.out, (int)(n / BLOCK), block, add, MPI_COMM_WORLD);
    judge_vectors(v, before);
    MPI_Op_free(&add);
    MPI_Type_free(&block);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "small";
    long n = argc > 2 ? atol(argv[2]) : 1000;

    begin_with(&argc, &argv, "test_load",
               strcmp(what, "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
    begun = MPI_Wtime();
    if (strcmp(what, "communicators") == 0)
        communicators(n);
    else if (strcmp(what, "threads") == 0)
        threads(n);
    else if (strcmp(what, "large") == 0)
        large((size_t)n);
    else if (strcmp(what, "blocks") == 0)
        blocks((size_t)n);
    else
        small(n);
    check(!with_collopt() || calls_run(NULL, NULL) > 0, "collopt ran nothing");
    return end();
}
