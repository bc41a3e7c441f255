/* Pairs with gaps.  What is the user's between and behind their data stays the user's:
 *
 * guards   buffers end with the last element's data, at a page that may be neither read nor
 *          written;
 * gaps     another thread counts up in the gaps of both buffers, and nothing that it wrote is
 * lost. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"
#include "kernels/kernels.h"

enum { MOST = 4096, ROOM = MOST * 32 };

struct type {
    const char *name;
    MPI_Datatype type;
    /* bytes: of an element, where its index and its gap begin, where the gap ends */
    size_t extent, index, gap, end;
};

static struct type types[4];

static char *memory[2], *limit[2];      /* IN, OUT */

static void make_memory(int i)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    memory[i] = mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    limit[i] = memory[i] + ROOM;
    if (memory[i] == MAP_FAILED || mprotect(limit[i], page, PROT_NONE))
        abort();
}

static size_t bytes_of(const struct type *t, size_t n)
{
    return n ? (n - 1) * t->extent + (t->gap > t->index ? t->gap : t->extent) : 0;
}

/* Small values with many ties, which the index decides. */
static int value_of(int rank, size_t i)
{
    return (int)((i * 7 + (size_t)rank * 5) % 11) - 5;
}

static void put(const struct type *t, char *at, int value, int index)
{
    short s = (short)value;
    double d = value;
    long l = value;
    long double x = value;

    if (t->type == MPI_SHORT_INT)
        memcpy(at, &s, sizeof s);
    else if (t->type == MPI_DOUBLE_INT)
        memcpy(at, &d, sizeof d);
    else if (t->type == MPI_LONG_INT)
        memcpy(at, &l, sizeof l);
    else
        memcpy(at, &x, 10);
    memcpy(at + t->index, &index, sizeof index);
}

static bool holds(const struct type *t, const char *at, int value, int index)
{
    char right[32] = { 0 }, found[32] = { 0 };
    size_t data = t->type == MPI_LONG_DOUBLE_INT ? 10 : t->type == MPI_SHORT_INT ? 2 : 8;

    put(t, right, value, index);
    memcpy(found, at, data);
    memcpy(found + t->index, at + t->index, sizeof index);
    return memcmp(found, right, sizeof right) == 0;
}

/* Of element I on ranks FROM to TO. */
static void expect(MPI_Op op, size_t i, int from, int to, int *value, int *index)
{
    *value = value_of(from, i);
    *index = from;
    for (int r = from + 1; r <= to; r++) {
        int v = value_of(r, i);

        if (op == MPI_MAXLOC ? v > *value : v < *value) {
            *value = v;
            *index = r;
        }
    }
}

/* ---- the thread that owns the gaps ----------------------------------------------------------- */

struct owner {
    const struct type *type;
    char *vector[2];
    size_t n[2];                /* elements whose gap is memory */
    atomic_bool stop;
    long lost;
};

static void *count_up(void *data)
{
    struct owner *o = data;

    for (unsigned char count = 1; !atomic_load(&o->stop); count++) {
        for (int v = 0; v < 2; v++)
            for (size_t e = 0; e < o->n[v]; e++)
                for (size_t i = o->type->gap; i < o->type->end; i++)
                    ((volatile unsigned char *)o->vector[v])[e * o->type->extent + i] = count;
        sched_yield();
        for (int v = 0; v < 2; v++)
            for (size_t e = 0; e < o->n[v]; e++)
                for (size_t i = o->type->gap; i < o->type->end; i++)
                    o->lost += ((volatile unsigned char *)o->vector[v])[e * o->type->extent + i]
                        != count;
    }
    return NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

struct trial {
    const char *name;
    const struct type *type;
    MPI_Op op;
    int count;
    bool in_place;
    int (*call)(const struct trial *t, const void *in, void *out);
    size_t in_count, out_count; /* elements of the buffers; in place IN_COUNT are in OUT's memory */
    size_t first;               /* which of the vector OUT has, from its beginning on */
    int from, to;               /* ranks that go into it; FROM > TO: nothing comes out */
};

static int allreduce(const struct trial *t, const void *in, void *out)
{
    return MPI_Allreduce(in, out, t->count, t->type->type, t->op, MPI_COMM_WORLD);
}

static int reduce(const struct trial *t, const void *in, void *out)
{
    return MPI_Reduce(in, out, t->count, t->type->type, t->op, world_ranks - 1, MPI_COMM_WORLD);
}

static int counts[64];

static int reduce_scatter(const struct trial *t, const void *in, void *out)
{
    return MPI_Reduce_scatter(in, out, counts, t->type->type, t->op, MPI_COMM_WORLD);
}

static int reduce_scatter_block(const struct trial *t, const void *in, void *out)
{
    return MPI_Reduce_scatter_block(in, out, t->count, t->type->type, t->op, MPI_COMM_WORLD);
}

static int scan(const struct trial *t, const void *in, void *out)
{
    return MPI_Scan(in, out, t->count, t->type->type, t->op, MPI_COMM_WORLD);
}

static int exscan(const struct trial *t, const void *in, void *out)
{
    return MPI_Exscan(in, out, t->count, t->type->type, t->op, MPI_COMM_WORLD);
}

static void run(const struct trial *t, bool with_thread)
{
    size_t extent = t->type->extent,
           out_count = t->in_place && t->in_count > t->out_count ? t->in_count : t->out_count;
    char *in = limit[0] - bytes_of(t->type, t->in_count),
         *out = limit[1] - bytes_of(t->type, out_count);
    char *source = t->in_place ? out : in, words[200];
    bool trailing = t->type->gap > t->type->index;
    struct owner o = { .type = t->type, .vector = { in, out } };
    pthread_t thread;

    snprintf(words, sizeof words, "%s of %d %s, %s, %s", t->name, t->count, t->type->name,
             t->op == MPI_MAXLOC ? "maxloc" : "minloc", t->in_place ? "in place" : "two buffers");
    at(words);
    o.n[0] = t->in_count - (trailing && t->in_count > 0);
    o.n[1] = out_count - (trailing && out_count > 0);
    if (with_thread && pthread_create(&thread, NULL, count_up, &o))
        abort();
    for (int again = 0; again < (with_thread ? 20 : 2); again++) {
        for (size_t i = 0; i < t->in_count; i++)
            put(t->type, source + i * extent, value_of(world_rank, i), world_rank);
        check(t->call(t, t->in_place ? MPI_IN_PLACE : in, out) == MPI_SUCCESS, "%s: an error",
              words);
        for (size_t i = 0; i < t->out_count && t->from <= t->to; i++) {
            int value, index;

            expect(t->op, t->first + i, t->from, t->to, &value, &index);
            if (!holds(t->type, out + i * extent, value, index)) {
                fail("%s: element %zu is wrong", words, i);
                break;
            }
        }
    }
    if (with_thread) {
        atomic_store(&o.stop, true);
        pthread_join(thread, NULL);
        check(o.lost == 0, "%s: %ld bytes in gaps were lost", words, o.lost);
    }
}

static void run_all(const struct type *type, MPI_Op op, int count, bool in_place, bool with_thread)
{
    int p = world_ranks, r = world_rank;
    size_t n = (size_t)count, all = 0, before = 0;
    bool root = r == p - 1;
    struct trial t = { .type = type,
                       .op = op,
                       .count = count,
                       .in_place = in_place,
                       .in_count = n,
                       .out_count = n,
                       .to = p - 1 };

    t.name = "allreduce", t.call = allreduce;
    run(&t, with_thread);
    t.name = "scan", t.call = scan, t.to = r;
    run(&t, with_thread);
    t.name = "exscan", t.call = exscan, t.to = r - 1;
    run(&t, with_thread);
    t.name = "reduce", t.call = reduce, t.to = root ? p - 1 : -1, t.in_place = in_place && root;
    t.out_count = root ? n : 0;
    run(&t, with_thread);
    for (int i = 0; i < p; i++) {
        counts[i] = count / p + (i % 2 ? i : 0);
        all += (size_t)counts[i];
        before += i < r ? (size_t)counts[i] : 0;
    }
    t.name = "reduce_scatter", t.call = reduce_scatter, t.to = p - 1, t.in_place = in_place;
    t.in_count = all, t.out_count = (size_t)counts[r], t.first = before;
    run(&t, with_thread);
    t.name = "reduce_scatter_block", t.call = reduce_scatter_block, t.count = count / p + 1;
    t.in_count = (size_t)(t.count * p), t.out_count = (size_t)t.count,
    t.first = (size_t)(t.count * r);
    run(&t, with_thread);
}

int main(int argc, char **argv)
{
    static const int some[] = { 1, 2, 3, 7, 64, 129, 1000, 4000 };
    static const char *const family[] = { "allreduce",      "reduce",
                                          "reduce_scatter", "reduce_scatter_block",
                                          "scan",           "exscan" };
    bool with_thread = argc > 1 && strcmp(argv[1], "gaps") == 0;

    begin_with(&argc, &argv, "test_pairs", MPI_THREAD_FUNNELED);
    types[0] =
        (struct type){ "MPI_SHORT_INT", MPI_SHORT_INT, sizeof(struct collopt_short_int), 4, 2, 4 };
    types[1] = (struct type){
        "MPI_DOUBLE_INT", MPI_DOUBLE_INT, sizeof(struct collopt_double_int), 8, 12, 16
    };
    types[2] =
        (struct type){ "MPI_LONG_INT", MPI_LONG_INT, sizeof(struct collopt_long_int), 8, 12, 16 };
    types[3] = (struct type){ "MPI_LONG_DOUBLE_INT",
                              MPI_LONG_DOUBLE_INT,
                              sizeof(struct collopt_long_double_int),
                              16,
                              20,
                              32 };
    make_memory(0);
    make_memory(1);
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; k < sizeof some / sizeof *some; k++)
            for (int in_place = 0;
                 in_place < 2 && (!with_thread || some[k] == 64 || some[k] == 4000); in_place++)
                run_all(&types[i], (i + (int)k) % 2 ? MPI_MAXLOC : MPI_MINLOC, some[k], in_place,
                        with_thread);
    for (int i = 0; i < 6 && with_collopt(); i++)
        check(calls_run(family[i], NULL) > 0, "collopt has run no %s", family[i]);
    return end();
}
