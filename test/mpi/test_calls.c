/* The other names of the family: nonblocking and persistent calls are handed on and counted; large counts are run; a name
 * that the host lacks is an error and no crash. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#ifdef OPEN_MPI
# include <mpi-ext.h>
# define PERSISTENT(name) MPIX_##name
# define HAVE_PERSISTENT 1
#elif MPI_VERSION >= 4
# define PERSISTENT(name) MPI_##name
# define HAVE_PERSISTENT 1
#endif

enum { COUNT = 24, RANKS = 64 };

static int counts[RANKS];

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

enum which { REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, FUNCTIONS };

static void check_result(enum which f, const struct buffers *b, int salt, const char *what)
{
    bool scatters = f == REDUCE_SCATTER || f == REDUCE_SCATTER_BLOCK;
    int from = scatters ? world_rank * COUNT : 0;
    int ranks = f == SCAN ? world_rank + 1 : f == EXSCAN ? world_rank : f == REDUCE && world_rank != 0 ? 0 : world_ranks;

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

/* ---- nonblocking ------------------------------------------------------------------------------------------------------ */

static void start(enum which f, struct buffers *b, MPI_Op op, MPI_Datatype type, MPI_Request *request)
{
    switch (f) {
    case REDUCE:
        MPI_Ireduce(b->in, b->out, COUNT, type, op, 0, MPI_COMM_WORLD, request);
        break;
    case ALLREDUCE:
        MPI_Iallreduce(b->in, b->out, COUNT, type, op, MPI_COMM_WORLD, request);
        break;
    case REDUCE_SCATTER:
        MPI_Ireduce_scatter(b->in, b->out, counts, type, op, MPI_COMM_WORLD, request);
        break;
    case REDUCE_SCATTER_BLOCK:
        MPI_Ireduce_scatter_block(b->in, b->out, COUNT, type, op, MPI_COMM_WORLD, request);
        break;
    case SCAN:
        MPI_Iscan(b->in, b->out, COUNT, type, op, MPI_COMM_WORLD, request);
        break;
    default:
        MPI_Iexscan(b->in, b->out, COUNT, type, op, MPI_COMM_WORLD, request);
    }
}

static const char *const nonblocking[FUNCTIONS] = {
    "MPI_Ireduce", "MPI_Iallreduce", "MPI_Ireduce_scatter", "MPI_Ireduce_scatter_block", "MPI_Iscan", "MPI_Iexscan"
};

static void test_nonblocking(void)
{
    static struct buffers b;
    MPI_Request request;

    for (int f = 0; f < FUNCTIONS; f++) {
        uint64_t passed = calls_passed(nonblocking[f]);

        at(nonblocking[f], 60);
        prepare(&b, f);
        start((enum which)f, &b, MPI_SUM, MPI_INT, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_result((enum which)f, &b, f, nonblocking[f]);
        check_passed(nonblocking[f], passed, 1);
    }
}

/* Many at once, waited for in another order, with blocking calls between them. */
static void test_outstanding(int n)
{
    struct buffers *b = malloc((size_t)n * sizeof *b);
    MPI_Request *request = malloc((size_t)n * sizeof *request);

    at("outstanding calls", 120);
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

/* Operation and datatype are freed while the call is under way, and their handles come back as others. */
static void test_freed(void)
{
    static struct buffers b;

    for (int i = 0; i < 20; i++) {
        MPI_Request request;
        MPI_Datatype type;
        MPI_Op op;

        at("freed handles", 60);
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

/* ---- persistent ---------------------------------------------------------------------------------------------------------- */

#if HAVE_PERSISTENT
static void init(enum which f, struct buffers *b, MPI_Request *request)
{
    MPI_Info none = MPI_INFO_NULL;

    switch (f) {
    case REDUCE:
        PERSISTENT(Reduce_init)(b->in, b->out, COUNT, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, none, request);
        break;
    case ALLREDUCE:
        PERSISTENT(Allreduce_init)(b->in, b->out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, none, request);
        break;
    case REDUCE_SCATTER:
        PERSISTENT(Reduce_scatter_init)(b->in, b->out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, none, request);
        break;
    case REDUCE_SCATTER_BLOCK:
        PERSISTENT(Reduce_scatter_block_init)(b->in, b->out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, none, request);
        break;
    case SCAN:
        PERSISTENT(Scan_init)(b->in, b->out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, none, request);
        break;
    default:
        PERSISTENT(Exscan_init)(b->in, b->out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, none, request);
    }
}

static const char *const persistent[FUNCTIONS] = {
    "Reduce_init", "Allreduce_init", "Reduce_scatter_init", "Reduce_scatter_block_init", "Scan_init", "Exscan_init"
};

static void test_persistent(void)
{
    static struct buffers b;

    for (int f = 0; f < FUNCTIONS; f++) {
        char name[64];
        uint64_t passed;
        MPI_Request request;

#ifdef OPEN_MPI
        snprintf(name, sizeof name, "MPIX_%s", persistent[f]);
#else
        snprintf(name, sizeof name, "MPI_%s", persistent[f]);
#endif
        at(name, 60);
        passed = calls_passed(name);
        init((enum which)f, &b, &request);
        for (int i = 0; i < 3; i++) {
            prepare(&b, i);
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            check_result((enum which)f, &b, i, name);
        }
        MPI_Request_free(&request);
        check_passed(name, passed, 1);
    }
}
#endif

/* ---- large counts ----------------------------------------------------------------------------------------------------------- */

#if MPI_VERSION >= 4
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

    at("operations of both kinds", 60);
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
        at("large counts", 60);
        prepare(&b, f);
        call_large((enum which)f, &b, large);
        check_result((enum which)f, &b, f, "a function for large counts");
    }
    mixed_operations();
    if (with_collopt()) {
        check(calls_run(NULL, NULL) - run == FUNCTIONS + 3, "of %d calls with large counts collopt ran %llu", FUNCTIONS + 3,
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
    check(class == MPI_ERR_UNSUPPORTED_OPERATION || class == MPI_ERR_OTHER, "MPI_Allreduce_c: error class %d", class);
    check(out == -1, "MPI_Allreduce_c wrote a result");
}
#endif

/* ---- MPI_Reduce_local ------------------------------------------------------------------------------------------------------- */

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
    uint64_t collectives = calls_run(NULL, NULL), run = calls_run("reduce_local", NULL), passed = calls_passed("Reduce_local");
    MPI_Op mean;

    check(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_SUM) == MPI_SUCCESS && b[0] == 11 && b[1] == 22 && b[2] == 33,
          "MPI_Reduce_local gives %d %d %d", b[0], b[1], b[2]);
    check(MPI_Reduce_local(a, b, 0, MPI_INT, MPI_SUM) == MPI_SUCCESS && b[0] == 11, "MPI_Reduce_local of nothing gives %d", b[0]);
    MPI_Op_create(average, 1, &mean);
    check(MPI_Reduce_local(a, b, 3, MPI_INT, mean) == MPI_SUCCESS && b[0] == 6 && b[1] == 12 && b[2] == 18,
          "MPI_Reduce_local by the user's operation gives %d %d %d", b[0], b[1], b[2]);
    MPI_Op_free(&mean);
    if (!with_collopt())
        return;
    check(calls_run("reduce_local", "kernels") - run == 2 && calls_run(NULL, NULL) == collectives,
          "%d of 2 calls of MPI_Reduce_local were counted", (int)(calls_run("reduce_local", NULL) - run));
    check(calls_passed("Reduce_local") - passed == 1, "%d calls of MPI_Reduce_local were counted as passed on, not 1",
          (int)(calls_passed("Reduce_local") - passed));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, "test_calls");
    for (int i = 0; i < RANKS; i++)
        counts[i] = COUNT;
    test_nonblocking();
    test_outstanding(argc > 1 ? atoi(argv[1]) : 60);
    test_freed();
#if HAVE_PERSISTENT
    test_persistent();
#endif
    test_large();
    test_local();
    sum_all(MPI_COMM_WORLD, 100, "after all");
    return end();
}
