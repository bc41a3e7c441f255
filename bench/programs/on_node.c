/* The bound for an Allreduce by shared memory: what two threads on two processors of a node reach.
 *
 *     on_node [--processors=A,B] [--rounds=N] [--piece=BYTES] [--csv]
 *
 * Two threads on two processors exchange flags, copy and add doubles; no MPI, and no library in
 * between.  Each line is an Allreduce of so many bytes done in one of these ways, in microseconds,
 * the median of the rounds:
 *
 *     inline   a flag and 48 bytes at most, in one cache line of each thread
 *     whole    each copies its vector to a block, and adds the other's block to its own vector
 *     halves   the same of one half each; the sums go by a second block
 *     pieces   the same in pieces of 32 KiB, which stay in the caches: one is copied, one added and
 *              one taken at a time
 *     direct   each adds its half straight from the other's memory, and copies the other half of
 *              the result straight from there
 *     readv    the same by process_vm_readv in such pieces
 *
 * "whole" and "halves" are what a segment allows, "direct" what one address space (XPMEM) would,
 * "readv" a copy by the kernel. Every input is written before each round, as programs do.  Rates
 * follow: a copy of the thread's own data, a copy of what the other thread has just written, a sum
 * with it, and writing what the other thread has just read, in GB/s of one vector. */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 128, MOST = 4 << 20, ROUNDS_MOST = 1001, SHORT = 2048 };

struct line {
    _Alignas(LINE) atomic_ulong number;
    char payload[48];
};

/* One thread's; it alone writes here. */
static struct side {
    struct line flag[2];        /* by turns: nobody can be two exchanges ahead */
    unsigned long n;            /* exchanges so far */
    double *in, *out, *block[2], *piece;
    int processor;
} side[2];

static struct {
    int rounds;
    size_t piece;               /* bytes */
    bool csv, placed;
} asked = { .rounds = 101, .piece = 32 << 10 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

/* ---- what two threads do --------------------------------------------------------------------- */

static struct line *publish(struct side *me)
{
    struct line *l = &me->flag[++me->n % 2];

    atomic_store_explicit(&l->number, me->n, memory_order_release);
    return l;
}

static const struct line *look_for(const struct side *me, struct side *other)
{
    struct line *l = &other->flag[me->n % 2];

    while (atomic_load_explicit(&l->number, memory_order_acquire) != me->n)
        relax();
    return l;
}

static void meet(struct side *me, struct side *other)
{
    publish(me);
    look_for(me, other);
}

static void add(double *restrict to, const double *restrict a, const double *restrict b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = a[i] + b[i];
}

/* Where the half of N elements begins that WHO adds, and how long it is. */
static size_t half(int who, size_t n, size_t *length)
{
    *length = who ? n - n / 2 : n / 2;
    return who ? n / 2 : 0;
}

static void inline_(struct side *me, struct side *other, size_t n)
{
    size_t bytes = n * sizeof *me->in;
    double got[6];

    memcpy(me->flag[(me->n + 1) % 2].payload, me->in, bytes);
    publish(me);
    memcpy(got, look_for(me, other)->payload, bytes);
    add(me->out, me->in, got, n);
}

static void whole(struct side *me, struct side *other, size_t n)
{
    int turn = (int)(me->n % 2);

    memcpy(me->block[turn], me->in, n * sizeof *me->in);
    meet(me, other);
    add(me->out, me->in, other->block[turn], n);
}

static void halves(struct side *me, struct side *other, size_t n)
{
    size_t mine, its, from = half(me == &side[1], n, &mine), to = half(me != &side[1], n, &its);

    memcpy(me->block[0], me->in + to, its * sizeof *me->in);
    meet(me, other);
    add(me->out + from, me->in + from, other->block[0], mine);
    memcpy(me->block[1], me->out + from, mine * sizeof *me->in);
    meet(me, other);
    memcpy(me->out + to, other->block[1], its * sizeof *me->in);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* In step k piece k is copied, the sum of piece k - 1 is made and published, and that of k - 2 is
 * fetched.  What is written in a step was read in the step before the last, which the other one has
 * ended. */
static void pieces(struct side *me, struct side *other, size_t n)
{
    size_t mine, its, from = half(me == &side[1], n, &mine), to = half(me != &side[1], n, &its),
                      most = asked.piece / sizeof *me->in;
    size_t steps = (n - n / 2 + most - 1) / most + 2;

    for (size_t k = 0; k < steps; k++) {
        size_t turn = k % 2 * most, before = (k + 1) % 2 * most, at = k * most;

        if (at < its)
            memcpy(me->block[0] + turn, me->in + to + at, least(most, its - at) * sizeof *me->in);
        if (k > 0 && (at = (k - 1) * most) < mine) {
            add(me->out + from + at, me->in + from + at, other->block[0] + before,
                least(most, mine - at));
            memcpy(me->block[1] + turn, me->out + from + at,
                   least(most, mine - at) * sizeof *me->in);
        }
        if (k > 1 && (at = (k - 2) * most) < its)
            memcpy(me->out + to + at, other->block[1] + before,
                   least(most, its - at) * sizeof *me->in);
        meet(me, other);
    }
}

static void direct(struct side *me, struct side *other, size_t n)
{
    size_t mine, its, from = half(me == &side[1], n, &mine), to = half(me != &side[1], n, &its);

    meet(me, other);
    add(me->out + from, me->in + from, other->in + from, mine);
    meet(me, other);
    memcpy(me->out + to, other->out + to, its * sizeof *me->in);
    meet(me, other);
}

static void fetch(void *to, const void *from, size_t bytes)
{
    struct iovec here = { to, bytes }, there = { (void *)from, bytes };

    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)bytes) {
        perror("process_vm_readv");
        exit(77);
    }
}

static void readv_(struct side *me, struct side *other, size_t n)
{
    size_t mine, its, from = half(me == &side[1], n, &mine), to = half(me != &side[1], n, &its),
                      most = asked.piece / sizeof *me->in;

    meet(me, other);
    for (size_t at = from; at < from + mine; at += most) {
        size_t some = least(most, from + mine - at);

        fetch(me->piece, other->in + at, some * sizeof *me->in);
        add(me->out + at, me->in + at, me->piece, some);
    }
    meet(me, other);
    fetch(me->out + to, other->out + to, its * sizeof *me->in);
    meet(me, other);
}

static void copy_own(struct side *me, struct side *other, size_t n)
{
    (void)other;
    memcpy(me->block[0], me->in, n * sizeof *me->in);
}

static void copy_fresh(struct side *me, struct side *other, size_t n)
{
    memcpy(me->out, other->in, n * sizeof *me->in);
}

static void add_fresh(struct side *me, struct side *other, size_t n)
{
    add(me->out, me->in, other->in, n);
}

static void write_read(struct side *me, struct side *other, size_t n)
{
    (void)other;
    memset(me->block[1], (int)me->n, n * sizeof *me->in);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static const struct way {
    const char *name;
    void (*run)(struct side *me, struct side *other, size_t n);
    size_t most;                /* bytes */
    bool rate;                  /* told as GB/s */
} ways[] = {
    { "inline", inline_, 48, false },       { "whole", whole, MOST, false },
    { "halves", halves, MOST, false },      { "pieces", pieces, MOST, false },
    { "direct", direct, MOST, false },      { "readv", readv_, MOST, false },
    { "copy own", copy_own, MOST, true },   { "copy fresh", copy_fresh, MOST, true },
    { "add fresh", add_fresh, MOST, true }, { "rewrite", write_read, MOST, true },
};
enum { WAYS = sizeof ways / sizeof *ways };

static const size_t lengths[] = { 8,         64,        512,     4 << 10, 32 << 10,
                                  256 << 10, 512 << 10, 1 << 20, 4 << 20 };
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static double median_us[LENGTHS][WAYS];

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void refresh(struct side *me, size_t n, int round)
{
    for (size_t i = 0; i < n; i++)
        me->in[i] = (double)(i % 1000) + round;
}

static void check(const struct side *me, const struct way *w, size_t n, int round)
{
    for (size_t i = 0; i < n && !w->rate; i++)
        if (me->out[i] != 2 * ((double)(i % 1000) + round)) {
            fprintf(stderr, "on_node: %s, %zu bytes: a wrong sum\n", w->name, n * sizeof *me->in);
            exit(1);
        }
}

/* "rewrite" writes what the other thread has read, so that has to be read before. */
static double touch(const double *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i += 8)
        sum += v[i];
    return sum;
}

static void measure(struct side *me, struct side *other, size_t bytes, const struct way *w,
                    double *median)
{
    size_t n = bytes / sizeof(double);
    /* short inputs stay as they are: the clock would be seen */
    int repeat = bytes < SHORT ? 1000 : 1;
    double us[ROUNDS_MOST];
    volatile double seen;

    for (int r = 0; r < asked.rounds; r++) {
        double start;

        refresh(me, n, r);
        seen = touch(other->block[1], n);
        meet(me, other);
        start = now();
        for (int k = 0; k < repeat; k++)
            w->run(me, other, n);
        us[r] = (now() - start) / repeat * 1e6;
        meet(me, other);
        check(me, w, n, r);
    }
    (void)seen;
    qsort(us, (size_t)asked.rounds, sizeof *us, ascending);
    *median = us[asked.rounds / 2];
}

static void *work(void *which)
{
    struct side *me = which, *other = &side[me == side];
    double unused;
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(me->processor, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set)) {
        fprintf(stderr, "on_node: cannot run on processor %d\n", me->processor);
        exit(1);
    }
    double **vector[] = { &me->in, &me->out, &me->block[0], &me->block[1], &me->piece };

    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
        if (!(*vector[i] = aligned_alloc(LINE, MOST)))
            exit(1);
        memset(*vector[i], 0, MOST);
    }
    meet(me, other);
    for (int l = 0; l < LENGTHS; l++)
        for (int w = 0; w < WAYS; w++)
            if (lengths[l] <= ways[w].most)
                measure(me, other, lengths[l], &ways[w], me == side ? &median_us[l][w] : &unused);
    return NULL;
}

static bool two_processors(void)
{
    cpu_set_t set;
    int found = 0;

    if (asked.placed)
        return true;
    if (sched_getaffinity(0, sizeof set, &set))
        return false;
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &set))
            side[found++].processor = i;
    return found == 2;
}

static void print(void)
{
    printf(asked.csv ? "bytes" : "%10s", "bytes");
    for (int w = 0; w < WAYS; w++)
        printf(asked.csv ? ",%s" : "%12s", ways[w].name);
    for (int l = 0; l < LENGTHS; l++) {
        printf(asked.csv ? "\n%zu" : "\n%10zu", lengths[l]);
        for (int w = 0; w < WAYS; w++) {
            double us = median_us[l][w];

            if (lengths[l] > ways[w].most)
                printf(asked.csv ? "," : "%12s", "");
            else
                printf(asked.csv ? ",%.4g" : "%12.4g",
                       ways[w].rate ? (double)lengths[l] / us * 1e-3 : us);
        }
    }
    printf("\n");
}

static bool understand(const char *word)
{
    if (sscanf(word, "--processors=%d,%d", &side[0].processor, &side[1].processor) == 2)
        return asked.placed = true;
    if (sscanf(word, "--piece=%zu", &asked.piece) == 1)
        return asked.piece >= sizeof(double) && asked.piece <= MOST / 2;
    if (sscanf(word, "--rounds=%d", &asked.rounds) == 1)
        return asked.rounds > 0 && asked.rounds <= ROUNDS_MOST;
    return asked.csv = strcmp(word, "--csv") == 0;
}

int main(int words, char **word)
{
    pthread_t thread[2];

    for (int i = 1; i < words; i++)
        if (!understand(word[i])) {
            fprintf(stderr,
                    "usage: on_node [--processors=A,B] [--rounds=1..%d] [--piece=BYTES] [--csv]\n",
                    ROUNDS_MOST);
            return 2;
        }
    if (!two_processors()) {
        fprintf(stderr, "on_node: two processors are needed\n");
        return 77;
    }
    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, work, &side[i]))
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    print();
    return 0;
}
