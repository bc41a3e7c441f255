/* The other names of the family: nonblocking calls, persistent ones and large counts are run; a
 * name that the host lacks is an error and no crash.
 *
 *     test_calls [N]               N calls outstanding at once; without it, all that is deferred as
 *                                  well
 *     test_calls huge              more bytes than an int can count
 *     test_calls huge_count        more elements, by functions for large counts and an operation
 *                                  for small
 * ones */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"

/* Persistent calls as this host spells them. */
#if COLLOPT_HAVE_PERSISTENT
# define PERSISTENT(name) MPI_##name
# define INIT_PREFIX "MPI_"
#elif COLLOPT_HAVE_PERSISTENT_X
# include <mpi-ext.h>
# define PERSISTENT(name) MPIX_##name
# define INIT_PREFIX "MPIX_"
#endif

enum { COUNT = 24, RANKS = 64 };

enum which { REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, FUNCTIONS };
static const char *const names[FUNCTIONS] = { "Reduce",         "Allreduce",
                                              "Reduce_scatter", "Reduce_scatter_block",
                                              "Scan",           "Exscan" };

static int counts[RANKS];
#if COLLOPT_HAVE_LARGE
static MPI_Count large_counts[RANKS];
#endif

struct buffers {
    int in[COUNT * RANKS], out[COUNT * RANKS];
};

static void prepare(struct buffers *b, int salt)
{
    for (int i = 0; i < COUNT * RANKS; i++) {
        b->in[i] = world_rank * 1000 + i + salt;
        b->out[i] = -1;
    }
}

/* The sum over ranks 0 .. RANKS-1 of element I. */
static int sum_of(int ranks, int i, int salt)
{
    return ranks * (ranks - 1) / 2 * 1000 + ranks * (i + salt);
}

static bool scatters(enum which f)
{
    return f == REDUCE_SCATTER || f == REDUCE_SCATTER_BLOCK;
}

/* How many ranks' elements this one gets the sum of; 0: nothing. */
static int ranks_summed(enum which f, int root)
{
    return f == SCAN                        ? world_rank + 1
        : f == EXSCAN                       ? world_rank
        : f == REDUCE && world_rank != root ? 0
                                            : world_ranks;
}

static void check_result(enum which f, const struct buffers *b, int salt, const char *what)
{
    int from = scatters(f) ? world_rank * COUNT : 0, ranks = ranks_summed(f, 0);

    for (int i = 0; i < COUNT; i++) {
        int right = ranks ? sum_of(ranks, from + i, salt) : -1;

        if (b->out[i] != right) {
            fail("%s: element %d is %d, should be %d", what, i, b->out[i], right);
            return;
        }
    }
}

static void check_passed(const char *name, uint64_t before, uint64_t calls)
{
    if (with_collopt())
        check(calls_passed(name) == before + calls, "%s was counted %llu times, not %llu", name,
              (unsigned long long)(calls_passed(name) - before), (unsigned long long)calls);
}

/* ---- calls that are deferred: nonblocking and persistent, with counts of both kinds ---------- */

struct arguments {
    const void *in;
    void *out;
    int count, root;            /* Reduce_scatter: as many for each rank */
    MPI_Datatype type;
    MPI_Op op;
};

/* NAME makes a request of the call that has ARGUMENTS; BEFORE it stands what persistent ones
 * want. */
#define STARTER(name, reduce, allreduce, reduce_scatter, reduce_scatter_block, scan, exscan, \
                counts, before) \
    static int name(enum which f, const struct arguments *a, MPI_Request *request) \
    { \
        switch (f) { \
        case REDUCE: \
            return reduce(a->in, a->out, a->count, a->type, a->op, a->root, MPI_COMM_WORLD, \
                before request); \
        case ALLREDUCE: \
            return allreduce(a->in, a->out, a->count, a->type, a->op, MPI_COMM_WORLD, \
                before request); \
        case REDUCE_SCATTER: \
            for (int i = 0; i < RANKS; i++) \
                counts[i] = a->count; \
            return reduce_scatter(a->in, a->out, counts, a->type, a->op, MPI_COMM_WORLD, \
                before request); \
        case REDUCE_SCATTER_BLOCK: \
            return reduce_scatter_block(a->in, a->out, a->count, a->type, a->op, MPI_COMM_WORLD, \
                before request); \
        case SCAN: \
            return scan(a->in, a->out, a->count, a->type, a->op, MPI_COMM_WORLD, before request); \
        default: \
            return exscan(a->in, a->out, a->count, a->type, a->op, MPI_COMM_WORLD, \
                before request); \
        } \
    }
#define NOTHING
#define NO_INFO MPI_INFO_NULL,
#define PERSISTENT_STARTER(name, reduce, allreduce, reduce_scatter, reduce_scatter_block, scan, \
                           exscan, counts) \
    STARTER(name, PERSISTENT(reduce), PERSISTENT(allreduce), PERSISTENT(reduce_scatter), \
        PERSISTENT(reduce_scatter_block), \
            PERSISTENT(scan), PERSISTENT(exscan), counts, NO_INFO)

STARTER(begin_one, MPI_Ireduce, MPI_Iallreduce, MPI_Ireduce_scatter, MPI_Ireduce_scatter_block,
        MPI_Iscan, MPI_Iexscan, counts, NOTHING)
#ifdef PERSISTENT
PERSISTENT_STARTER(init_one, Reduce_init, Allreduce_init, Reduce_scatter_init,
                   Reduce_scatter_block_init, Scan_init, Exscan_init, counts)
#endif
#if COLLOPT_HAVE_LARGE
STARTER(begin_large, MPI_Ireduce_c, MPI_Iallreduce_c, MPI_Ireduce_scatter_c,
        MPI_Ireduce_scatter_block_c, MPI_Iscan_c, MPI_Iexscan_c, large_counts, NOTHING)
#endif
#if COLLOPT_HAVE_PERSISTENT_LARGE
PERSISTENT_STARTER(init_large, Reduce_init_c, Allreduce_init_c, Reduce_scatter_init_c,
                   Reduce_scatter_block_init_c, Scan_init_c, Exscan_init_c, large_counts)
#endif

static const struct way {
    int (*start)(enum which f, const struct arguments *a, MPI_Request *request);
    bool persistent;
    const char *before, *after; /* around the function's name */
} ways[] = {
    { begin_one, false, "MPI_I", "" },
#ifdef PERSISTENT
    { init_one, true, INIT_PREFIX, "_init" },
#endif
#if COLLOPT_HAVE_LARGE
    { begin_large, false, "MPI_I", "_c" },
#endif
#if COLLOPT_HAVE_PERSISTENT_LARGE
    { init_large, true, "MPI_", "_init_c" },
#endif
};

static void name_call(const struct way *w, enum which f, char *name, size_t size)
{
    snprintf(name, size, "%s%s%s", w->before, names[f], w->after);
    if (!w->persistent)
        name[5] = (char)(name[5] - 'A' + 'a');
}

/* What a call like this leaves in the receive buffer; in place, its input is IN[i] there. */
static void check_deferred(enum which f, const struct buffers *b, const struct arguments *a,
                           int salt, const char *what)
{
    int from = scatters(f) ? world_rank * a->count : 0, ranks = ranks_summed(f, a->root);

    for (int i = 0; i < a->count && ranks; i++)
        if (b->out[i] != sum_of(ranks, from + i, salt)) {
            fail("%s of %d, root %d%s: element %d is %d, should be %d", what, a->count, a->root,
                 a->in == MPI_IN_PLACE ? ", in place" : "", i, b->out[i],
                 sum_of(ranks, from + i, salt));
            return;
        }
}

/* May buffers without elements be null?  Open MPI's MPI_Reduce_init says that two null ones are the
 * same buffer. */
static bool null_allowed(const struct way *w)
{
    return !w->persistent || !on_openmpi();
}

/* Ranks that get no result have no receive buffer; where there are no elements, no rank has any
 * buffer. */
static void defer(const struct way *w, enum which f, int count, int root, bool in_place)
{
    static struct buffers b;
    struct arguments a = { b.in, b.out, count, root, MPI_INT, MPI_SUM };
    MPI_Request request = MPI_REQUEST_NULL;
    char name[64];
    int starts = w->persistent ? 3 : 1;
    uint64_t passed, run = calls_run(NULL, NULL);

    name_call(w, f, name, sizeof name);
    passed = calls_passed(name);
    at(names[f]);
    if (f == REDUCE && world_rank != root)
        a.out = NULL;
    else if (in_place)
        a.in = MPI_IN_PLACE;
    if (count == 0 && a.in != MPI_IN_PLACE && null_allowed(w))
        a.in = a.out = NULL;
    for (int i = 0; i < starts; i++) {
        prepare(&b, i);
        if (a.in == MPI_IN_PLACE)
            memcpy(b.out, b.in, sizeof b.out);
        if (i == 0)
            check(w->start(f, &a, &request) == MPI_SUCCESS, "%s of %d failed", name, count);
        if (w->persistent)
            MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check((request != MPI_REQUEST_NULL) == w->persistent, "%s of %d: its request is %s", name,
              count, w->persistent ? "gone" : "still there");
        check_deferred(f, &b, &a, i, name);
    }
    if (w->persistent)
        MPI_Request_free(&request);
    check_passed(name, passed, 0);
    if (with_collopt())
        check(calls_run(NULL, NULL) == run + (uint64_t)starts,
              "%s was started %d times, and run %llu times", name, starts,
              (unsigned long long)(calls_run(NULL, NULL) - run));
}

/* None, fewer than ranks, more than ranks; the root is another one each time. */
static void test_deferred(void)
{
    const struct {
        int count;
        bool in_place;
    } some[] = { { 0, false }, { 1, true }, { world_ranks + 1, true }, { COUNT, false } };
    const int cases = sizeof some / sizeof *some;

    sum_all(MPI_COMM_WORLD, 1, "a sum that takes the world over");
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        for (int f = 0; f < FUNCTIONS; f++)
            for (int i = 0; i < cases; i++)
                defer(&ways[k], (enum which)f, some[i].count, f == REDUCE ? (i + 1) % world_ranks
                      : 0, some[i].in_place);
}

static void start(enum which f, struct buffers *b, MPI_Op op, MPI_Datatype type,
                  MPI_Request *request)
{
    begin_one(f, &(struct arguments){ b->in, b->out, COUNT, 0, type, op }, request);
}

/* Many at once, waited for in another order, with blocking calls between them. */
static void test_outstanding(int n)
{
    struct buffers *b = malloc((size_t)n * sizeof *b);
    MPI_Request *request = malloc((size_t)n * sizeof *request);

    at("outstanding calls");
    for (int i = 0; i < n; i++) {
        prepare(&b[i], i);
        start((enum which)(i % FUNCTIONS), &b[i], MPI_SUM, MPI_INT, &request[i]);
        if (i % 10 == 0)
            sum_all(MPI_COMM_WORLD, 50, "a blocking call among nonblocking ones");
    }
    for (int i = n; i-- > 0;) {
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
        check_result((enum which)(i % FUNCTIONS), &b[i], i, "one of many outstanding");
    }
    free(b);
    free(request);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* Operation and datatype are freed while the call is under way, and their handles come back as
 * others. */
static void test_freed(void)
{
    static struct buffers b;

    for (int i = 0; i < 20; i++) {
        MPI_Request request;
        MPI_Datatype type;
        MPI_Op op;

        at("freed handles");
        prepare(&b, i);
        MPI_Op_create(add, 1, &op);
        MPI_Type_contiguous(1, MPI_INT, &type);
        MPI_Type_commit(&type);
        start((enum which)(i % FUNCTIONS), &b, op, type, &request);
        MPI_Op_free(&op);
        MPI_Type_free(&type);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_result((enum which)(i % FUNCTIONS), &b, i, "a call whose handles were freed");
    }
}

/* ---- large counts ---------------------------------------------------------------------------- */

#if COLLOPT_HAVE_LARGE
static void call_large(enum which f, struct buffers *b, const MPI_Count *large)
{
    switch (f) {
    case REDUCE:
        MPI_Reduce_c(b->in, b->out, COUNT, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        break;
    case ALLREDUCE:
        MPI_Allreduce_c(b->in, b->out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER:
        MPI_Reduce_scatter_c(b->in, b->out, large, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER_BLOCK:
        MPI_Reduce_scatter_block_c(b->in, b->out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case SCAN:
        MPI_Scan_c(b->in, b->out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        break;
    default:
        MPI_Exscan_c(b->in, b->out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void add_large(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    (void)type;
    for (MPI_Count i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* An operation of the large kind in a call of the small one, and the other way round. */
static void mixed_operations(void)
{
    static struct buffers b;
    MPI_Op small, large;

    at("operations of both kinds");
    MPI_Op_create(add, 1, &small);
    MPI_Op_create_c(add_large, 1, &large);
    prepare(&b, 1);
    MPI_Allreduce(b.in, b.out, COUNT, MPI_INT, large, MPI_COMM_WORLD);
    check_result(ALLREDUCE, &b, 1, "MPI_Allreduce with an operation for large counts");
    prepare(&b, 2);
    MPI_Allreduce_c(b.in, b.out, COUNT, MPI_INT, small, MPI_COMM_WORLD);
    check_result(ALLREDUCE, &b, 2, "MPI_Allreduce_c with an operation for small counts");
    prepare(&b, 3);
    MPI_Allreduce_c(b.in, b.out, COUNT, MPI_INT, large, MPI_COMM_WORLD);
    check_result(ALLREDUCE, &b, 3, "MPI_Allreduce_c with an operation for large counts");
    MPI_Op_free(&small);
    MPI_Op_free(&large);
}

static void test_large(void)
{
    static struct buffers b;
    static MPI_Count large[RANKS];
    uint64_t run = calls_run(NULL, NULL), passed = calls_passed(NULL);

    for (int i = 0; i < RANKS; i++)
        large[i] = COUNT;
    for (int f = 0; f < FUNCTIONS; f++) {
        at("large counts");
        prepare(&b, f);
        call_large((enum which)f, &b, large);
        check_result((enum which)f, &b, f, "a function for large counts");
    }
    mixed_operations();
    if (with_collopt()) {
        check(calls_run(NULL, NULL) - run == FUNCTIONS + 3,
              "of %d calls with large counts collopt ran %llu", FUNCTIONS + 3,
              (unsigned long long)(calls_run(NULL, NULL) - run));
        check(calls_passed(NULL) == passed, "calls with large counts were passed on");
    }
}
#else
typedef int allreduce_c(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);

/* The host has no such names; collopt exports them all the same. */
static void test_large(void)
{
    allreduce_c *call = (allreduce_c *)(uintptr_t)dlsym(RTLD_DEFAULT, "MPI_Allreduce_c");
    int in = 1, out = -1, err, class = -1;

    if (!call)                  /* linked statically, or without collopt */
        return;
    err = call(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Error_class(err, &class);
    check(class == MPI_ERR_UNSUPPORTED_OPERATION || class == MPI_ERR_OTHER,
          "MPI_Allreduce_c: error class %d", class);
    check(out == -1, "MPI_Allreduce_c wrote a result");
}
#endif

/* ---- MPI_Reduce_local ------------------------------------------------------------------------ */

static void average(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] = (((int *)in)[i] + ((int *)inout)[i]) / 2;
}

/* Ours are counted as run, under a name of their own, the others as passed on. */
static void test_local(void)
{
    int a[3] = { 1, 2, 3 }, b[3] = { 10, 20, 30 };
    uint64_t collectives = calls_run(NULL, NULL), run = calls_run("reduce_local", NULL),
             passed = calls_passed("Reduce_local");
    MPI_Op mean;

    check(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_SUM) == MPI_SUCCESS && b[0] == 11 && b[1] == 22
              && b[2] == 33,
          "MPI_Reduce_local gives %d %d %d", b[0], b[1], b[2]);
    check(MPI_Reduce_local(a, b, 0, MPI_INT, MPI_SUM) == MPI_SUCCESS && b[0] == 11,
          "MPI_Reduce_local of nothing gives %d", b[0]);
    MPI_Op_create(average, 1, &mean);
    check(MPI_Reduce_local(a, b, 3, MPI_INT, mean) == MPI_SUCCESS && b[0] == 6 && b[1] == 12
              && b[2] == 18,
          "MPI_Reduce_local by the user's operation gives %d %d %d", b[0], b[1], b[2]);
    MPI_Op_free(&mean);
    if (!with_collopt())
        return;
    check(calls_run("reduce_local", "kernels") - run == 2 && calls_run(NULL, NULL) == collectives,
          "%d of 2 calls of MPI_Reduce_local were counted",
          (int)(calls_run("reduce_local", NULL) - run));
    check(calls_passed("Reduce_local") - passed == 1,
          "%d calls of MPI_Reduce_local were counted as passed on, not 1",
          (int)(calls_passed("Reduce_local") - passed));
}

/* ---- more bytes than an int can count -------------------------------------------------------- */

enum { MARKS = 4, PIECE = 1 << 21 };

/* A vector so long that there is not the memory for it: all of it is one PIECE again and again, but
 * for a few of its own at the MARKS, 8 bytes each that are looked at.  Maxima, which are what is
 * done with it, may be taken twice. */
struct vast {
    char *at;
    size_t bytes;
    size_t mark[MARKS];         /* in bytes */
};

static bool map_piece(struct vast *v, size_t piece, FILE *file)
{
    int shared = file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;

    return mmap(v->at + piece * PIECE, PIECE, PROT_READ | PROT_WRITE, MAP_FIXED | shared,
                file ? fileno(file) : -1, 0)
        != MAP_FAILED;
}

static bool vast_open(struct vast *v, size_t bytes)
{
    size_t pieces = (bytes + PIECE - 1) / PIECE;
    FILE *file = tmpfile();
    bool good = file && ftruncate(fileno(file), PIECE) == 0;

    *v = (struct vast){ .bytes = pieces * PIECE,
                        .mark = { 0, ((size_t)1 << 31) - 8, (size_t)1 << 31, bytes - 8 } };
    v->at = mmap(NULL, v->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    good = good && v->at != MAP_FAILED;
    for (size_t i = 0; i < pieces && good; i++)
        good = map_piece(v, i, file);
    for (int i = 0; i < MARKS && good; i++)
        good = map_piece(v, v->mark[i] / PIECE, NULL);
    if (file)
        fclose(file);
    return good;
}

/* A mark is one byte eight times, positive as a double: the greatest of doubles and the greatest
 * bytes are the same. */
static void vast_mark(struct vast *v, int value)
{
    for (int i = 0; i < MARKS; i++)
        memset(v->at + v->mark[i], value == 0 ? 0 : value + i, 8);
}

/* Elements from FROM on, in bytes, are those of RANKS ranks. */
static void check_marks(const struct vast *out, const struct vast *in, size_t from, size_t bytes,
                        int ranks, const char *what)
{
    for (int i = 0; i < MARKS && ranks > 0; i++)
        for (size_t at = in->mark[i]; at < in->mark[i] + 8; at++)
            if (at >= from && at < from + bytes && out->at[at - from] != 10 * ranks + i) {
                fail("%s: byte %zu is %d, should be %d", what, at, out->at[at - from],
                     10 * ranks + i);
                break;
            }
}

/* Of doubles, whose count an int holds but not their bytes; and bytes in parts that an int counts
 * each, but not all of them together. */
static void test_huge(void)
{
    const size_t bytes_first = ((size_t)1 << 30) + 7, bytes_second = ((size_t)1 << 30) + 8001,
                 bytes = bytes_first + bytes_second;
    const int shares[2] = { (int)bytes_first, (int)bytes_second }, block = (1 << 30) + 4;
    struct vast in, out;

    check(world_ranks == 2, "two ranks are wanted");
    if (world_ranks != 2 || !vast_open(&in, bytes) || !vast_open(&out, bytes)) {
        printf("no memory\n");
        return;
    }
    vast_mark(&in, 10 * (world_rank + 1));
    at("an allreduce of 2 GiB");
    MPI_Allreduce(in.at, out.at, (int)(bytes / 8), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    check_marks(&out, &in, 0, bytes, 2, "an allreduce of 2 GiB");

    vast_mark(&out, 0);
    at("a scan of 2 GiB");
    MPI_Scan(in.at, out.at, (int)(bytes / 8), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    check_marks(&out, &in, 0, bytes, world_rank + 1, "a scan of 2 GiB");

    vast_mark(&out, 0);
    at("a reduce_scatter of 2 GiB");
    MPI_Reduce_scatter(in.at, out.at, shares, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    check_marks(&out, &in, world_rank ? bytes_first : 0, (size_t)shares[world_rank], 2,
                "a reduce_scatter of 2 GiB");

    vast_mark(&out, 0);
    at("a reduce_scatter_block of 2 GiB");
    MPI_Reduce_scatter_block(in.at, out.at, block, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
    check_marks(&out, &in, (size_t)world_rank * (size_t)block, (size_t)block, 2,
                "a reduce_scatter_block of 2 GiB");
    check(calls_run(NULL, NULL) == 4 || !with_collopt(), "collopt ran %llu of 4 calls",
          (unsigned long long)calls_run(NULL, NULL));
}

#if COLLOPT_HAVE_LARGE
/* What a user's function for small counts was called for, in all. */
static size_t parts_added;
static bool odd_part;

static void greatest(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const signed char *from = in;
    signed char *to = inout;

    (void)type;
    odd_part |= *n <= 0;
    parts_added += *n > 0 ? (size_t)*n : 0;
    for (int i = 0; i < *n; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

/* More elements than an int can count, and an operation that is told how many by an int. */
static void test_huge_count(void)
{
    const size_t bytes = ((size_t)1 << 31) + 8008;
    struct vast in, out;
    MPI_Op op;

    check(world_ranks == 2, "two ranks are wanted");
    if (world_ranks != 2 || !vast_open(&in, bytes) || !vast_open(&out, bytes)) {
        printf("no memory\n");
        return;
    }
    MPI_Op_create(greatest, 0, &op);
    vast_mark(&in, 10 * (world_rank + 1));
    at("a scan of 2^31 elements");
    MPI_Scan_c(in.at, out.at, (MPI_Count)bytes, MPI_SIGNED_CHAR, op, MPI_COMM_WORLD);
    check_marks(&out, &in, 0, bytes, world_rank + 1, "a scan of 2^31 elements");
    check(!odd_part, "the operation was called for no elements, or for a negative number");
    check(parts_added == (world_rank ? bytes : 0),
          "the operation was called for %zu elements of %zu", parts_added, bytes);
    check(calls_run("scan", NULL) == 1 || !with_collopt(), "collopt did not run the call");
    MPI_Op_free(&op);
}
#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv, "test_calls");
    if (argc > 1 && strcmp(argv[1], "huge") == 0) {
        test_huge();
        return end();
    }
#if COLLOPT_HAVE_LARGE
    if (argc > 1 && strcmp(argv[1], "huge_count") == 0) {
        test_huge_count();
        return end();
    }
#endif
    if (argc < 2)
        test_deferred();
    test_outstanding(argc > 1 ? atoi(argv[1]) : 60);
    test_freed();
    test_large();
    test_local();
    sum_all(MPI_COMM_WORLD, 100, "after all");
    return end();
}
