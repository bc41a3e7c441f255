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
    SECOND,
    SECOND_POOL,
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
enum step { PIN, TO_HOST, TO_DEVICE, ARRIVE };  /* of the stand-in, that may fail */

static const char *const name[COLLECTIVES] = { "reduce",         "allreduce",
                                               "reduce_scatter", "reduce_scatter_block",
                                               "scan",           "exscan" };

static void *(*standin_alloc)(size_t size, int memory);
static void (*standin_begin)(void), (*standin_reset)(void), (*standin_free)(void *);
static void (*standin_register)(void *p, size_t size), (*standin_place)(void *p, size_t size);
static void (*standin_fail)(int step, long n);
static void (*standin_write)(void *to, const void *from, size_t n),
    (*standin_read)(void *to, const void *from, size_t n);
static void (*standin_counts)(long counts[5]);

/* In place of the C library's: the machine that the test wants. */
__attribute__((visibility("default"))) int access(const char *path, int mode)
{
    const char *nodes = getenv("TEST_GPU_NODES"),
               *at = nodes && !strncmp(path, "/dev/", 5) ? strstr(nodes, path) : NULL;

    if (at && (at[strlen(path)] == '\0' || at[strlen(path)] == ':'))
        return 0;
    return (int)syscall(SYS_faccessat, -100, path, mode);
}

/* Likewise: memory that runs out, from the call of that number on. */
static long allocations = -1;

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t size)
{
    void *memory = NULL;

    if (allocations == 0 || posix_memalign(&memory, alignment, size))
        return NULL;
    allocations -= allocations > 0;
    return memory;
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
        *(void **)&standin_register = dlsym(library, "standin_register");
        *(void **)&standin_place = dlsym(library, "standin_place");
        *(void **)&standin_fail = dlsym(library, "standin_fail");
        *(void **)&standin_write = dlsym(library, "standin_write");
        *(void **)&standin_read = dlsym(library, "standin_read");
        *(void **)&standin_counts = dlsym(library, "standin_counts");
    }
}

static long counted(int which)
{
    long counts[5];

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

enum { INTS, PAIRS, APART, BEHIND, KINDS };
static struct kind kind[KINDS];

/* Two fields, an element every 24 bytes, at a multiple of 8. */
static void sum_fields(const struct kind *k, const char *in, char *inout, int n)
{
    check((uintptr_t)in % 8 == 0 && (uintptr_t)inout % 8 == 0, "%s: operands at %p and %p",
          k->name, (const void *)in, (void *)inout);
    for (int i = 0; i < n; i++)
        for (int f = 0; f < 2; f++) {
            int at = 24 * i + k->field[f];

            *(int *)(inout + at) += *(const int *)(in + at);
        }
}

static void sum_apart(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    sum_fields(&kind[APART], in, inout, *n);
}

static void sum_behind(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    sum_fields(&kind[BEHIND], in, inout, *n);
}

static void make_type_of(struct kind *k, MPI_User_function *sum)
{
    int two[2] = { 1, 1 };
    MPI_Aint at[2] = { k->field[0], k->field[1] };
    MPI_Datatype type;

    MPI_Type_create_hindexed(2, two, at, MPI_INT, &type);
    MPI_Type_create_resized(type, k->low < 0 ? k->low : 0, k->extent, &k->type);
    MPI_Type_commit(&k->type);
    MPI_Type_free(&type);
    MPI_Op_create(sum, 1, &k->op);
}

static void make_kinds(void)
{
    kind[INTS] = (struct kind){ "int", MPI_INT, MPI_SUM, 4, 0, 4, 1, { 0 } };
    kind[PAIRS] = (struct kind){ "double_int", MPI_DOUBLE_INT, MPI_MINLOC, 16, 0, 12, 2, { 0, 8 } };
    kind[APART] = (struct kind){ "apart", MPI_INT, MPI_SUM, 24, -8, 8, 2, { -8, 4 } };
    kind[BEHIND] = (struct kind){ "behind", MPI_INT, MPI_SUM, 24, 4, 20, 2, { 4, 16 } };
    make_type_of(&kind[APART], sum_apart);
    make_type_of(&kind[BEHIND], sum_behind);
}

static void free_kinds(void)
{
    for (int k = APART; k < KINDS; k++) {
        MPI_Op_free(&kind[k].op);
        MPI_Type_free(&kind[k].type);
    }
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

    for (int f = 0; f < k->fields && k != &kind[PAIRS]; f++) {
        int sum = 0;

        for (int r = from; r <= upto; r++)
            sum += number(r, i, f);
        memcpy(at + k->field[f], &sum, sizeof sum);
    }
    if (k != &kind[PAIRS])
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

static void begin_devices(int argc, char **argv, char *on_stack)
{
    load(argc, argv);
    standin_begin();
    make_buffers(on_stack, true);
    sum_all(MPI_COMM_WORLD, 1, "a sum that takes the world over");
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

    s.bytes = bytes + 2 * GUARD + 8;
    if (s.bytes > 50000 && memory < OURS)
        memory = MAPPED;
    s.at = buffer[which][memory];
    s.element = s.at + (GUARD - k->low + 7) / 8 * 8;
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
    at(what);

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
        for (int k = 0; k < KINDS; k++)
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
        run(&(struct call){ e, &kind[INTS],
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
    enum { PROGRAMS = 64 << 10 };
    long kept = getenv("COLLOPT_SCRATCH") ? atol(getenv("COLLOPT_SCRATCH")) << 20 : 64 << 20;
    uint64_t before;
    char *program[2], *must = malloc(PROGRAMS);
    int calls;

    begin_devices(argc, argv, on_stack);
    before = all_run();
    calls = all_calls(MEMORIES);
    long_calls();
    bottom();
    local();
    check(counted(3) - 2 * MOST_BYTES <= kept, "%ld bytes of pinned memory are kept",
          counted(3) - 2 * MOST_BYTES);
    standin_reset();            /* what is pinned now gets the addresses of what was */
    memset(must, POISON, PROGRAMS);
    for (int i = 0; i < 2; i++) {
        program[i] = standin_alloc(PROGRAMS, 1 + PINNED - DEVICE);
        memcpy(program[i], must, PROGRAMS);
    }
    for (int side = 0; side < 2; side++)
        buffer[side][PINNED] = standin_alloc(MOST_BYTES, 1 + PINNED - DEVICE);
    calls += all_calls(MEMORIES) + COLLECTIVES + 1;
    for (int i = 0; i < 2; i++)
        check(memcmp(program[i], must, PROGRAMS) == 0, "memory that the program pinned is written");
    free(must);
    check(all_run() - before == (uint64_t)calls, "collopt ran %llu calls of %d",
          (unsigned long long)(all_run() - before), calls);
    check(counted(1) > 0, "nothing was copied");
    check((counted(2) > 0) == (getenv("TEST_GPU_PINS") != NULL), "%ld copies were by pinned memory",
          counted(2));
    check(counted(4) == 0, "%ld contexts were not left", counted(4));
}

/* Arrays of the processor's memory of which one end is registered with the runtime. */
static void halves(int argc, char **argv, char *on_stack)
{
    begin_devices(argc, argv, on_stack);
    for (int side = 0; side < 2; side++) {
        char *memory = mmap(NULL, 3 * MOST_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        standin_register(memory + MOST_BYTES, MOST_BYTES);
        buffer[side][MAPPED] = memory + MOST_BYTES - 80;
        buffer[side][REGISTERED] = memory + 2 * MOST_BYTES - 80;
    }
    all_calls(SECOND);
    local();
}

static ptrdiff_t place_of[2];           /* absolute addresses */

static void sum_two(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)n, (void)type;
    for (int i = 0; i < 2; i++) {
        int operand, result;

        memcpy(&operand, (void *)((uintptr_t)in + (uintptr_t)place_of[i]), sizeof operand);
        memcpy(&result, (void *)((uintptr_t)inout + (uintptr_t)place_of[i]), sizeof result);
        result += operand;
        memcpy((void *)((uintptr_t)inout + (uintptr_t)place_of[i]), &result, sizeof result);
    }
}

static bool processors(enum memory m)
{
    return m < OURS || m == MANAGED || m == REGISTERED || m == PINNED;
}

/* One element with a field in memory A, the other in memory B: right where both are the processor's
 * or in one kind of device memory, in however many allocations; else an error or right, and of an
 * error nothing is written. */
static void reduce_two(enum memory a, enum memory b)
{
    static char what[100];
    int one[2] = { 1, 1 }, mine[2] = { number(world_rank, 0, 0), number(world_rank, 1, 0) };
    int sum[2] = { 0, 0 }, now[2];
    bool right = (processors(a) && processors(b)) || a == b, error;
    int far;
    struct call c = { .collective = ALLREDUCE, .n = 1 };
    struct kind k = { .name = "two" };
    MPI_Aint at_[2];

    snprintf(what, sizeof what, "two fields, memory %d and %d", a, b);
    at(what);
    for (int r = 0; r < world_ranks; r++)
        for (int i = 0; i < 2; i++)
            sum[i] += number(r, (size_t)i, 0);
    for (int i = 0; i < 2; i++) {
        char *field = buffer[i][i ? b : a] + 4000;

        set(field, &mine[i], sizeof mine[i]);
        MPI_Get_address(field, &at_[i]);
        place_of[i] = at_[i];
    }
    /* an operand's copy spans both fields and what lies between them: some rank may lack memory */
    far = at_[0] - at_[1] > 1 << 30 || at_[1] - at_[0] > 1 << 30;
    MPI_Allreduce(MPI_IN_PLACE, &far, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Type_create_hindexed(2, one, at_, MPI_INT, &k.type);
    MPI_Type_commit(&k.type);
    MPI_Op_create(sum_two, 1, &k.op);
    c.kind = &k;
    error = make(&c, MPI_IN_PLACE, MPI_BOTTOM, NULL) != MPI_SUCCESS;
    for (int i = 0; i < 2; i++)
        get(&now[i], buffer[i][i ? b : a] + 4000, sizeof now[i]);
    check(!right || !error || far, "%s: an error", what);
    check(right || error || processors(a) == processors(b), "%s: no error", what);
    check(!memcmp(now, error ? mine : sum, sizeof now), "%s: %d %d", what, now[0], now[1]);
    MPI_Op_free(&k.op);
    MPI_Type_free(&k.type);
}

/* An array of which one end is device memory, on one rank: errors, and nothing is written. */
static void reduce_across(bool device_first)
{
    enum { PAGE = 4096, N = 16 };
    char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *across = page + PAGE - 32, *host = page + (device_first ? PAGE : 0);
    static char zeros[PAGE];
    int other[N] = { 0 };
    struct call c = { .collective = ALLREDUCE, .kind = &kind[INTS], .n = N };

    standin_place(page + (device_first ? 0 : PAGE), PAGE);
    check(MPI_Reduce_local(across, other, N, MPI_INT, MPI_SUM) != MPI_SUCCESS, "local: no error");
    check(MPI_Reduce_local(other, across, N, MPI_INT, MPI_SUM) != MPI_SUCCESS, "local: no error");
    check(make(&c, MPI_IN_PLACE, across, NULL) != MPI_SUCCESS, "across: no error");
    check(!memcmp(host, zeros, PAGE), "across: written");
}

static void ends(int argc, char **argv, char *on_stack)
{
    bool mixed = getenv("TEST_GPU_MIXED") != NULL;

    begin_devices(argc, argv, on_stack);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (enum memory a = MAPPED; a < MEMORIES; a++)
        for (enum memory b = MAPPED; b < MEMORIES; b++)
            if (a != STACK && b != STACK
                && (mixed ? processors(a) != processors(b)
                          : a == b || (processors(a) && processors(b))))
                reduce_two(a, b);
    for (int device_first = 0; device_first < 2 && mixed; device_first++)
        reduce_across(device_first);
}

/* ---- datatypes of every construction --------------------------------------------------------- */

static MPI_Datatype of_vector(int count, int block, int stride, MPI_Datatype old)
{
    MPI_Datatype type;

    MPI_Type_vector(count, block, stride, old, &type);
    return type;
}

static MPI_Datatype of_array(bool cyclic, MPI_Datatype old)
{
    int size[] = { 6, 5 }, part[] = { 3, 2 }, first[] = { 2, 1 };
    int way[] = { MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC }, chunk[] = { 1, 2 },
        grid[] = { 2, 1 };
    MPI_Datatype type;

    if (cyclic)
        MPI_Type_create_darray(2, 1, 2, size, way, chunk, grid, MPI_ORDER_FORTRAN, old, &type);
    else
        MPI_Type_create_subarray(2, size, part, first, MPI_ORDER_C, old, &type);
    return type;
}

static MPI_Datatype of_blocks(MPI_Datatype old)
{
    int place[] = { 9, 0, 3 };
    MPI_Datatype type;

    MPI_Type_create_indexed_block(3, 2, place, old, &type);
    return type;
}

static MPI_Datatype of_far_blocks(MPI_Datatype old)
{
    MPI_Aint place[] = { 400, -16, 100 };
    MPI_Datatype type;

    MPI_Type_create_hindexed_block(3, 1, place, old, &type);
    return type;
}

static MPI_Datatype of_struct(MPI_Datatype old)
{
    int block[] = { 1, 2, 0, 3 };
    MPI_Aint place[] = { 1600, 8, 0, 2000 };
    MPI_Datatype part[] = { old, MPI_DOUBLE_INT, MPI_CHAR, MPI_SHORT }, type, copy;

    MPI_Type_create_struct(4, block, place, part, &type);
    MPI_Type_dup(type, &copy);
    MPI_Type_free(&type);
    return copy;
}

static MPI_Datatype of_resized(MPI_Datatype old)
{
    MPI_Datatype type;

    MPI_Type_create_resized(old, -24, 2400, &type);
    return type;
}

static MPI_Datatype of_several(MPI_Datatype old)
{
    MPI_Datatype type;

    MPI_Type_contiguous(2, old, &type);
    return type;
}

static MPI_Datatype named_type(int which, MPI_Datatype old)
{
    switch (which) {
    case 0: return of_vector(4, 2, 3, old);
    case 1: return of_array(false, old);
    case 2: return of_array(true, old);
    case 3: return of_blocks(old);
    case 4: return of_far_blocks(old);
    case 5: return of_struct(old);
    case 6: return of_resized(old);
    case 7: return of_several(old);
    default: return MPI_DATATYPE_NULL;
    }
}

static void keep_first(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

/* All ranks have the same input, of which the result is a copy; the host alone says where it must
 * be. */
static void reduce_layout(const char *what, MPI_Datatype type, MPI_Op op)
{
    enum { BYTES = 200000, AT = 100000, N = 2 };
    static char from[BYTES], must[BYTES], now[BYTES], packed[BYTES];
    struct kind k = { .name = what, .type = type, .op = op };
    struct call c = { .collective = ALLREDUCE, .kind = &k, .n = N };
    int to = 0, at_ = 0;

    at(what);
    for (int i = 0; i < BYTES; i++)
        from[i] = (char)number(7, (size_t)i, 0);
    memset(must, POISON, sizeof must);
    MPI_Pack(from + AT, N, type, packed, BYTES, &to, MPI_COMM_WORLD);
    MPI_Unpack(packed, to, &at_, must + AT, N, type, MPI_COMM_WORLD);
    set(buffer[0][DEVICE], from, sizeof from);
    memset(from, POISON, sizeof from);
    set(buffer[1][POOL], from, sizeof from);
    check(make(&c, buffer[0][DEVICE] + AT, buffer[1][POOL] + AT, NULL) == MPI_SUCCESS,
          "%s: an error", what);
    get(now, buffer[1][POOL], sizeof now);
    check(!memcmp(now, must, sizeof now), "%s: a wrong result, or a gap is written", what);
}

static void layouts(int argc, char **argv, char *on_stack)
{
    static char what[40];
    MPI_Datatype outer, inner;
    MPI_Op op;

    begin_devices(argc, argv, on_stack);
    MPI_Op_create(keep_first, 1, &op);
    for (int i = 0; (outer = named_type(i, MPI_INT)) != MPI_DATATYPE_NULL; i++) {
        MPI_Type_free(&outer);
        for (int j = 0; (inner = named_type(j, MPI_INT)) != MPI_DATATYPE_NULL; j++) {
            outer = named_type(i, inner);
            MPI_Type_commit(&outer);
            snprintf(what, sizeof what, "type %d of type %d", i, j);
            reduce_layout(what, outer, op);
            MPI_Type_free(&outer);
            MPI_Type_free(&inner);
        }
    }
    MPI_Op_free(&op);
}

/* ---- columns of a matrix in device memory, reduced at the same time -------------------------- */

enum { ROWS = 300, COLUMNS = 4 };

static void sum_column(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)n, (void)type;
    for (int r = 0; r < ROWS; r++)
        ((int *)inout)[r * COLUMNS] += ((const int *)in)[r * COLUMNS];
}

/* All start before any ends: each must leave the others' columns alone. */
static void reduce_columns(const struct kind *k, int *from, int *to)
{
    const struct call c = { .collective = ALLREDUCE, .kind = k, .n = 1 };
    MPI_Request request[COLUMNS];

    for (int i = 0; i < COLUMNS; i++) {
        const void *in = from == to ? MPI_IN_PLACE : from + i;

        if (form == PERSISTENT) {
            call_init(&c, in, to + i, NULL, &request[i]);
            MPI_Start(&request[i]);
        } else
            call_nonblocking(&c, in, to + i, NULL, &request[i]);
    }
    for (int i = 0; i < COLUMNS; i++) {
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
        if (form == PERSISTENT)
            MPI_Request_free(&request[i]);
    }
}

static void columns(int argc, char **argv, char *on_stack)
{
    static int matrix[ROWS * COLUMNS], must[ROWS * COLUMNS], now[ROWS * COLUMNS];
    struct kind k = { .name = "column" };

    begin_devices(argc, argv, on_stack);
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &k.type);
    MPI_Type_commit(&k.type);
    MPI_Op_create(sum_column, 1, &k.op);
    for (int in_place = 0; in_place < 2; in_place++) {
        int *from = (int *)(void *)buffer[0][DEVICE];
        int *to = in_place ? from : (int *)(void *)buffer[1][DEVICE];

        for (int i = 0; i < ROWS * COLUMNS; i++) {
            matrix[i] = number(world_rank, (size_t)i, 0);
            must[i] = 0;
            for (int r = 0; r < world_ranks; r++)
                must[i] += number(r, (size_t)i, 0);
        }
        set(from, matrix, sizeof matrix);
        reduce_columns(&k, from, to);
        get(now, to, sizeof now);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            check(now[i] == must[i], "column %d, row %d%s: %d, not %d", i % COLUMNS, i / COLUMNS,
                  in_place ? ", in place" : "", now[i], must[i]);
    }
    MPI_Op_free(&k.op);
    MPI_Type_free(&k.type);
}

/* ---- what fails on one rank ------------------------------------------------------------------ */

enum { FAILING = 8000 };        /* ints: three ranks share the work on them */

static bool fails_here(void)
{
    return world_rank == world_ranks - 1;
}

static void no_pin(bool now)
{
    standin_fail(PIN, now);
}

static void no_read(bool now)
{
    standin_fail(TO_HOST, now);
}

static void no_write(bool now)
{
    standin_fail(TO_DEVICE, now);
}

static void no_arrival(bool now)
{
    standin_fail(ARRIVE, now);
}

static void no_memory(bool now)
{
    allocations = now ? 0 : -1;
}

static void one_less(bool now)
{
    allocations = now ? 1 : -1;
}

/* A sum of which one step fails on the last rank, and one more with the same request.  OTHERS: this
 * is an error on all ranks. */
static void fail_at(const char *what, bool error, bool others, void (*arm)(bool))
{
    static int mine[FAILING], must[FAILING], now[FAILING], poison[FAILING];
    const struct call c = { .collective = ALLREDUCE, .kind = &kind[INTS], .n = FAILING };
    void *in = buffer[0][DEVICE], *out = buffer[1][DEVICE];
    MPI_Request request = MPI_REQUEST_NULL;

    at(what);
    memset(poison, POISON, sizeof poison);
    for (int i = 0; i < FAILING; i++) {
        mine[i] = number(world_rank, (size_t)i, 0);
        must[i] = 0;
        for (int r = 0; r < world_ranks; r++)
            must[i] += number(r, (size_t)i, 0);
    }
    set(in, mine, sizeof mine);
    if (form == PERSISTENT)
        call_init(&c, in, out, NULL, &request);
    for (int turn = 0; turn < 4; turn++) {
        bool now_fails = turn % 2 == 0, here = now_fails && error && (others || fails_here());
        int err;

        set(out, poison, sizeof poison);
        if (now_fails && fails_here())
            arm(true);
        if (form == PERSISTENT)
            err = MPI_Start(&request);
        else
            err = form == NONBLOCKING ? call_nonblocking(&c, in, out, NULL, &request)
                                      : call_blocking(&c, in, out, NULL, NULL);
        if (!err && form != BLOCKING)
            err = MPI_Wait(&request, MPI_STATUS_IGNORE);
        arm(false);
        get(now, out, sizeof now);
        check(!err == !here, "%s, turn %d: error %d", what, turn, err);
        check((here && arm == no_arrival) || !memcmp(now, here ? poison : must, sizeof now),
              "%s, turn %d: a wrong result", what, turn);
    }
    if (form == PERSISTENT)
        MPI_Request_free(&request);
}

static void failing(int argc, char **argv, char *on_stack)
{
    bool keeps = getenv("COLLOPT_SCRATCH") == NULL;

    begin_devices(argc, argv, on_stack);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fail_at("no pinned memory", false, false, no_pin);
    fail_at("no copy to the host", true, true, no_read);
    fail_at("no copy to the device", true, false, no_write);
    if (getenv("TEST_GPU_LATE"))
        fail_at("no arrival", true, false, no_arrival);
    fail_at("no memory", !keeps, true, no_memory);
    fail_at("memory for the input alone", !keeps, true, one_less);
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
    struct call c = { ALLREDUCE, &kind[INTS], 7, false, STACK, HEAP, 0 };

    begin_devices(argc, argv, on_stack);
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
        run(&(struct call){ ALLREDUCE, &kind[INTS], 7, false, MAPPED, MAPPED, 0 });
}

/* A datatype with one part on a device, the other not: an error on this rank, and no byte of either
 * is touched. */
static void partly(int argc, char **argv, char *on_stack)
{
    int one[2] = { 1, 1 }, mine = 7, theirs = 0;
    MPI_Aint at[2];
    MPI_Datatype type;
    MPI_Op op;

    begin_devices(argc, argv, on_stack);
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
                 { "questions", questions },     { "partly", partly }, { "lacking", lacking },
                 { "halves", halves },           { "ends", ends },     { "columns", columns },
                 { "layouts", layouts },         { "failing", failing } };
    char on_stack[100000];

    begin(&argc, &argv, "test_gpu");
    form = form_named(getenv("TEST_FORM"));
    make_kinds();
    for (size_t i = 0; i < sizeof mode / sizeof *mode; i++)
        if (argc > 2 && !strcmp(argv[1], mode[i].name))
            mode[i].run(argc, argv, on_stack);
    free_kinds();
    return end();
}
