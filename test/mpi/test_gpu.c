/* Buffers in device memory, which the stand-in runtimes of gpu_standin.c map without access for the
 * processor.
 *
 *     test_gpu MODE LIBRARY...
 *
 * loads the libraries, of which the first has the stand-in's memory, when MODE wants them.  Every
 * collective, in place and not, of types with and without gaps; each rank has its buffers in other
 * kinds of memory.  All bytes of all buffers are compared with what they must be.  TEST_FORM:
 * blocking, persistent or nonblocking calls.  TEST_GPU_NODES: the device files that are taken to be
 * there. */
#include "common.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum memory {
    HEAP,
    MAPPED,
    STACK,
    OURS,
    DEVICE = OURS,
    POOL,
    MANAGED,
    REGISTERED,
    PINNED,
    MEMORIES
};
static enum form form;          /* TEST_FORM */
enum collective {
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    COLLECTIVES
};

enum { MOST_RANKS = 8, MOST_BYTES = 1 << 20, GUARD = 64, POISON = 0xa5 };

static const char *const name[COLLECTIVES] = { "reduce",         "allreduce",
                                               "reduce_scatter", "reduce_scatter_block",
                                               "scan",           "exscan" };

static void *(*standin_alloc)(size_t size, int memory);
static void (*standin_begin)(void), (*standin_reset)(void), (*standin_free)(void *);
static void (*standin_write)(void *to, const void *from, size_t n),
    (*standin_read)(void *to, const void *from, size_t n);
static void (*standin_counts)(long counts[3]);

/* In place of the C library's: the machine that the test wants. */
__attribute__((visibility("default"))) int access(const char *path, int mode)
{
    const char *nodes = getenv("TEST_GPU_NODES"),
               *at = nodes && !strncmp(path, "/dev/", 5) ? strstr(nodes, path) : NULL;

    if (at && (at[strlen(path)] == '\0' || at[strlen(path)] == ':'))
        return 0;
    return (int)syscall(SYS_faccessat, -100, path, mode);
}

static void load(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);

        if (!library) {
            fail("%s", dlerror());
            exit(1);
        }
        if (i > 2)
            continue;
        *(void **)&standin_alloc = dlsym(library, "standin_alloc");
        *(void **)&standin_free = dlsym(library, "standin_free");
        *(void **)&standin_begin = dlsym(library, "standin_begin");
        *(void **)&standin_reset = dlsym(library, "standin_reset");
        *(void **)&standin_write = dlsym(library, "standin_write");
        *(void **)&standin_read = dlsym(library, "standin_read");
        *(void **)&standin_counts = dlsym(library, "standin_counts");
    }
}

static long counted(int which)
{
    long counts[3];

    standin_counts(counts);
    return counts[which];
}

/* ---- types ----------------------------------------------------------------------------------- */

struct kind {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    ptrdiff_t extent, low, high;        /* of data in an element */
    int fields, field[2];       /* bytes from its address */
};

static struct kind kind[3];

/* Data at -8 and 4, an element every 24 bytes. */
static void sum_apart(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        for (int f = 0; f < 2; f++) {
            int at = 24 * i + kind[2].field[f];

            *(int *)((char *)inout + at) += *(int *)((char *)in + at);
        }
}

static void make_kinds(void)
{
    int two[2] = { 1, 1 };
    MPI_Aint at[2] = { -8, 4 };
    MPI_Datatype apart;

    kind[0] = (struct kind){ "int", MPI_INT, MPI_SUM, 4, 0, 4, 1, { 0 } };
    kind[1] = (struct kind){ "double_int", MPI_DOUBLE_INT, MPI_MINLOC, 16, 0, 12, 2, { 0, 8 } };
    kind[2] = (struct kind){ "apart", MPI_INT, MPI_SUM, 24, -8, 8, 2, { -8, 4 } };
    MPI_Type_create_hindexed(2, two, at, MPI_INT, &apart);
    MPI_Type_create_resized(apart, -8, 24, &kind[2].type);
    MPI_Type_commit(&kind[2].type);
    MPI_Type_free(&apart);
    MPI_Op_create(sum_apart, 1, &kind[2].op);
}

static int number(int rank, size_t i, int f)
{
    return (int)(mix((uint64_t)rank << 40 ^ i << 2 ^ (uint64_t)f) % 1000);
}

/* Puts element TO of the fold of ranks FROM to UPTO, element I, behind IMAGE, where element 0
 * is. */
static void put(const struct kind *k, char *image, size_t to, size_t i, int from, int upto)
{
    char *at = image + (ptrdiff_t)to * k->extent;
    int best = from;

    for (int f = 0; f < k->fields && k != &kind[1]; f++) {
        int sum = 0;

        for (int r = from; r <= upto; r++)
            sum += number(r, i, f);
        memcpy(at + k->field[f], &sum, sizeof sum);
    }
    if (k != &kind[1])
        return;
    for (int r = from; r <= upto; r++)
        if (number(r, i, 0) < number(best, i, 0))
            best = r;
    memcpy(at, &(double){ number(best, i, 0) }, sizeof(double));
    memcpy(at + 8, &best, sizeof best);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static char *buffer[2][MEMORIES];

static void make_buffers(char *on_stack, bool device)
{
    for (int side = 0; side < 2; side++) {
        buffer[side][HEAP] = malloc(100000);            /* less than what malloc() maps */
        buffer[side][MAPPED] = mmap(NULL, MOST_BYTES, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        buffer[side][STACK] = on_stack + side * 50000;
        for (int m = OURS; m < MEMORIES && device; m++)
            buffer[side][m] = standin_alloc(MOST_BYTES, 1 + m - DEVICE);
    }
}

static void set(void *to, const void *from, size_t n)
{
    if (standin_write)
        standin_write(to, from, n);
    else
        memcpy(to, from, n);
}

static void get(void *to, const void *from, size_t n)
{
    if (standin_read)
        standin_read(to, from, n);
    else
        memcpy(to, from, n);
}

struct side {
    char *at;                   /* the buffer's memory */
    char *element;              /* the address that MPI gets */
    char *must;                 /* what must be there afterwards */
    size_t bytes;
};

static struct side place(int which, enum memory memory, const struct kind *k, size_t n)
{
    struct side s;
    size_t bytes = n ? (size_t)(k->high - k->low) + (n - 1) * (size_t)k->extent : 0;

    s.bytes = bytes + 2 * GUARD;
    if (s.bytes > 50000 && memory < OURS)
        memory = MAPPED;
    s.at = buffer[which][memory];
    s.element = s.at + GUARD - k->low;
    s.must = malloc(s.bytes);
    memset(s.must, POISON, s.bytes);
    return s;
}

static char *image_of(const struct side *s)
{
    return s->must + (s->element - s->at);
}

static void compare(const struct side *s, const char *what, const char *which)
{
    char *now = malloc(s->bytes);
    size_t i = 0;

    get(now, s->at, s->bytes);
    while (i < s->bytes && now[i] == s->must[i])
        i++;
    check(i == s->bytes, "%s: byte %zu of %zu of the %s is %d, not %d", what, i, s->bytes, which,
          now[i], s->must[i]);
    free(now);
    free(s->must);
}

/* ---- a call ---------------------------------------------------------------------------------- */

struct call {
    enum collective collective;
    const struct kind *kind;
    size_t n;
    bool in_place;
    enum memory in, out;
    int root;
};

#define CALLER(function, FORM) \
    static int function(const struct call *c, const void *in, void *out, const int *counts, \
        MPI_Request *request) \
    { \
        const struct kind *k = c->kind; \
        int n = (int)c->n; \
        \
        switch (c->collective) { \
        case REDUCE: \
            return FORM(Reduce, reduce, in, out, n, k->type, k->op, c->root, MPI_COMM_WORLD); \
        case ALLREDUCE: \
            return FORM(Allreduce, allreduce, in, out, n, k->type, k->op, MPI_COMM_WORLD); \
        case REDUCE_SCATTER: \
            return FORM(Reduce_scatter, reduce_scatter, in, out, counts, k->type, k->op, \
                MPI_COMM_WORLD); \
        case REDUCE_SCATTER_BLOCK: \
            return FORM(Reduce_scatter_block, reduce_scatter_block, in, out, n, k->type, k->op, \
                MPI_COMM_WORLD); \
        case SCAN: \
            return FORM(Scan, scan, in, out, n, k->type, k->op, MPI_COMM_WORLD); \
        default: \
            return FORM(Exscan, exscan, in, out, n, k->type, k->op, MPI_COMM_WORLD); \
        } \
    }
CALLER(call_blocking, CALL_BLOCKING)
CALLER(call_init, CALL_INIT)
CALLER(call_nonblocking, CALL_NONBLOCKING)

static int make(const struct call *c, const void *in, void *out, const int *counts)
{
    MPI_Request request;
    int err;

    switch (form) {
    case PERSISTENT:
        if ((err = call_init(c, in, out, counts, &request)) || (err = MPI_Start(&request))
            || (err = MPI_Wait(&request, MPI_STATUS_IGNORE)))
            return err;
        return MPI_Request_free(&request);
    case NONBLOCKING:
        err = call_nonblocking(c, in, out, counts, &request);
        return err ? err : MPI_Wait(&request, MPI_STATUS_IGNORE);
    default:
        return call_blocking(c, in, out, counts, NULL);
    }
}

/* What rank gets: N elements, the first of which is number AT of the whole. */
static void result(const struct call *c, const int *counts, size_t *n, size_t *at, int *upto)
{
    *at = 0;
    *n = c->n;
    *upto = world_ranks - 1;
    switch (c->collective) {
    case REDUCE:
        *n = world_rank == c->root ? c->n : 0;
        return;
    case REDUCE_SCATTER:
        for (int r = 0; r < world_rank; r++)
            *at += (size_t)counts[r];
        *n = (size_t)counts[world_rank];
        return;
    case REDUCE_SCATTER_BLOCK:
        *at = c->n * (size_t)world_rank;
        return;
    case SCAN:
        *upto = world_rank;
        return;
    case EXSCAN:
        *n = world_rank ? c->n : 0;
        *upto = world_rank - 1;
        return;
    default:
        return;
    }
}

static void run(const struct call *c)
{
    static char what[256];
    bool in_place = c->in_place && (c->collective != REDUCE || world_rank == c->root);
    int counts[MOST_RANKS], upto;
    size_t all = c->n, n, first;
    struct side in, out;

    for (int r = 0; r < world_ranks; r++)
        counts[r] = r == 1 ? 0 : (int)c->n + r;
    if (c->collective == REDUCE_SCATTER)
        for (int r = all = 0; r < world_ranks; r++)
            all += (size_t)counts[r];
    if (c->collective == REDUCE_SCATTER_BLOCK)
        all *= (size_t)world_ranks;
    snprintf(what, sizeof what, "%s %s count %zu%s memory %d %d", name[c->collective],
             c->kind->name, c->n, in_place ? " inplace" : "", c->in, c->out);
    at(what, 60);

    in = place(0, c->in, c->kind, in_place ? 0 : all);
    result(c, counts, &n, &first, &upto);
    out = place(1, c->out, c->kind, in_place ? all : n);
    for (size_t i = 0; i < all; i++)
        put(c->kind, in_place ? image_of(&out) : image_of(&in), i, i, world_rank, world_rank);
    set(in.at, in.must, in.bytes);
    set(out.at, out.must, out.bytes);
    check(make(c, in_place ? MPI_IN_PLACE : in.element, out.element, counts) == MPI_SUCCESS,
          "%s: an error", what);
    for (size_t i = 0; i < n; i++)
        put(c->kind, image_of(&out), i, first + i, 0, upto);
    compare(&in, what, "input");
    compare(&out, what, "output");
}

/* Each rank has other kinds of memory; MOST: of which it may choose. */
static int all_calls(int most)
{
    static const size_t length[] = { 0, 1, 7, 2000 };
    int calls = 0;

    for (enum collective e = 0; e < COLLECTIVES; e++)
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 4; l++)
                for (int in_place = 0; in_place < 2; in_place++)
                    for (int turn = 0; turn < 4; turn++, calls++) {
                        uint64_t x = mix((uint64_t)(calls * 31 + world_rank));
                        struct call c = { e,
                                          &kind[k],
                                          length[l],
                                          in_place,
                                          (enum memory)(x % (uint64_t)most),
                                          (enum memory)(x / 64 % (uint64_t)most),
                                          calls % world_ranks };

                        run(&c);
                    }
    return calls;
}

/* Long ones get memory for one call; the processor's buffers are not asked for twice. */
static void long_calls(void)
{
    for (enum collective e = 0; e < COLLECTIVES; e++)
        run(&(struct call){ e, &kind[0],
                            e == REDUCE_SCATTER || e == REDUCE_SCATTER_BLOCK ? 40000 : 200000,
                            false, world_rank % 2 ? DEVICE : MAPPED, POOL, 0 });
}

static void sum_at_bottom(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint at = 0, extent;

    (void)n;
    MPI_Type_get_true_extent(*type, &at, &extent);
    *(int *)((uintptr_t)inout + (uintptr_t)at) += *(int *)((uintptr_t)in + (uintptr_t)at);
}

/* At absolute addresses. */
static void bottom(void)
{
    int one = 1, mine = number(world_rank, 0, 0), sum = 0, all = 0;
    MPI_Datatype type;
    MPI_Aint at;
    MPI_Op op;

    for (int r = 0; r < world_ranks; r++)
        all += number(r, 0, 0);
    set(buffer[0][DEVICE], &mine, sizeof mine);
    MPI_Get_address(buffer[0][DEVICE], &at);
    MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(sum_at_bottom, 1, &op);
    MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, MPI_COMM_WORLD);
    get(&sum, buffer[0][DEVICE], sizeof sum);
    check(sum == all, "at absolute addresses: %d, not %d", sum, all);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

/* MPI_Reduce_local, with one operand or both on a device. */
static void local(void)
{
    for (int k = 0; k < 2; k++)
        for (int m = 0; m < MEMORIES * MEMORIES; m++) {
            const struct kind *q = &kind[k];
            struct side in = place(0, (enum memory)(m % MEMORIES), q, 100),
                        out = place(1, (enum memory)(m / MEMORIES), q, 100);

            for (size_t i = 0; i < 100; i++) {
                put(q, image_of(&in), i, i, 0, 0);
                put(q, image_of(&out), i, i, 1, 1);
            }
            set(in.at, in.must, in.bytes);
            set(out.at, out.must, out.bytes);
            check(MPI_Reduce_local(in.element, out.element, 100, q->type, q->op) == MPI_SUCCESS,
                  "reduce_local: an error");
            for (size_t i = 0; i < 100; i++)
                put(q, image_of(&out), i, i, 0, 1);
            compare(&in, "reduce_local", "input");
            compare(&out, "reduce_local", "output");
        }
}

/* ---- modes ----------------------------------------------------------------------------------- */

static uint64_t all_run(void)
{
    uint64_t sum = 0;

    for (enum collective e = 0; e < COLLECTIVES; e++)
        sum += calls_run(name[e], NULL);
    return sum;
}

static void collectives(int argc, char **argv, char *on_stack)
{
    uint64_t before;
    int calls;

    load(argc, argv);
    standin_begin();
    make_buffers(on_stack, true);
    sum_all(MPI_COMM_WORLD, 1, "a sum that takes the world over");
    before = all_run();
    calls = all_calls(MEMORIES);
    long_calls();
    bottom();
    local();
    standin_reset();
    for (int side = 0; side < 2; side++)
        buffer[side][PINNED] = standin_alloc(MOST_BYTES, 1 + PINNED - DEVICE);
    calls += all_calls(MEMORIES) + COLLECTIVES + 1;
    check(all_run() - before == (uint64_t)calls, "collopt ran %llu calls of %d",
          (unsigned long long)(all_run() - before), calls);
    check(counted(1) > 0, "nothing was copied");
    check((counted(2) > 0) == (getenv("TEST_GPU_PINS") != NULL), "%ld copies were by pinned memory",
          counted(2));
}

/* A runtime that comes when communicators have long been taken over. */
static void late(int argc, char **argv, char *on_stack)
{
    make_buffers(on_stack, false);
    all_calls(OURS);
    load(argc, argv);
    make_buffers(on_stack, true);
    all_calls(OURS);
    standin_begin();
    all_calls(MEMORIES);
    check(counted(1) > 0, "nothing was copied");
}

/* It is there, but there is no device, or nobody has opened it. */
static void idle(int argc, char **argv, char *on_stack)
{
    int calls;

    load(argc, argv);
    if (getenv("TEST_GPU_BEGINS"))
        standin_begin();
    make_buffers(on_stack, false);
    calls = all_calls(OURS);
    check(all_run() == (uint64_t)calls, "collopt ran %llu calls of %d",
          (unsigned long long)all_run(), calls);
    check(counted(0) == 0, "%ld questions were asked", counted(0));
}

/* Where it must be asked: the stack and the heap are known to be host memory. */
static void questions(int argc, char **argv, char *on_stack)
{
    struct call c = { ALLREDUCE, &kind[0], 7, false, STACK, HEAP, 0 };

    load(argc, argv);
    standin_begin();
    make_buffers(on_stack, true);
    c.in = MAPPED;
    run(&c);                    /* from now on the stack is known */
    long before = counted(0);
    for (int i = 0; i < 10; i++) {
        c.in = i % 2 ? STACK : HEAP;
        c.out = i % 2 ? HEAP : STACK;
        run(&c);
    }
    check(counted(0) == before, "%ld questions about the stack and the heap", counted(0) - before);
    c.in = MAPPED;
    run(&c);
    check(counted(0) > before, "no question about memory that was mapped");
}

/* A library of this name that is none; the test looks at what is said. */
static void lacking(int argc, char **argv, char *on_stack)
{
    load(argc, argv);
    standin_write = NULL;
    standin_read = NULL;
    make_buffers(on_stack, false);
    for (int i = 0; i < 3; i++)
        run(&(struct call){ ALLREDUCE, &kind[0], 7, false, MAPPED, MAPPED, 0 });
}

/* A datatype with one part on a device, the other not: an error on this rank, and no byte of either
 * is touched. */
static void partly(int argc, char **argv, char *on_stack)
{
    int one[2] = { 1, 1 }, mine = 7, theirs = 0;
    MPI_Aint at[2];
    MPI_Datatype type;
    MPI_Op op;

    load(argc, argv);
    standin_begin();
    make_buffers(on_stack, true);
    set(buffer[0][DEVICE], &mine, sizeof mine);
    set(buffer[0][MAPPED], &mine, sizeof mine);
    MPI_Get_address(buffer[0][DEVICE], &at[0]);
    MPI_Get_address(buffer[0][MAPPED], &at[1]);
    MPI_Type_create_hindexed(2, one, at, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(sum_at_bottom, 1, &op);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check(MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, MPI_COMM_SELF) != MPI_SUCCESS,
          "partly on a device: no error");
    get(&theirs, buffer[0][MAPPED], sizeof theirs);
    check(theirs == mine, "partly on a device: %d, not %d", theirs, mine);
    check(counted(1) == 0, "partly on a device: %ld bytes were copied", counted(1));
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int argc, char **argv, char *on_stack);
    } mode[] = { { "collectives", collectives }, { "late", late },     { "idle", idle },
                 { "questions", questions },     { "partly", partly }, { "lacking", lacking } };
    char on_stack[100000];

    begin(&argc, &argv, "test_gpu");
    form = form_named(getenv("TEST_FORM"));
    make_kinds();
    for (size_t i = 0; i < sizeof mode / sizeof *mode; i++)
        if (argc > 2 && !strcmp(argv[1], mode[i].name))
            mode[i].run(argc, argv, on_stack);
    MPI_Op_free(&kind[2].op);
    MPI_Type_free(&kind[2].type);
    return end();
}
