#include "lib/problem.h"
#include "lib/map.h"
#include "lib/measure.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *const bench_collective_names[] = { "allreduce",      "reduce",
                                               "reduce_scatter", "reduce_scatter_block",
                                               "scan",           "exscan",
                                               "reduce_local",   NULL };
const char *const bench_operation_names[] = { "sum",  "prod",           "min",
                                              "max",  "maxloc",         "minloc",
                                              "user", "noncommutative", NULL };
const char *const bench_type_names[] = { "double", "float", "int", "long", NULL };
const char *const bench_form_names[] = { "blocking", "persistent", "nonblocking", NULL };

/* ---- elements -------------------------------------------------------------------------------- */

/* A number; value and index; factor and summand.  Numbers are small and whole, so that every type
 * holds them. */
struct value {
    int64_t a, b;
};

struct bench_kind {
    const char *name;
    size_t extent;
    void (*store)(void *at, struct value v);
    bool (*is)(const void *at, struct value v);
};

#define NUMBER(type) \
    static void store_##type(void *at, struct value v) { *(type *)at = (type)v.a; } \
    static bool is_##type(const void *at, struct value v) { return *(const type *)at == (type)v.a; }
#define PAIR(type) \
    struct type##_int { type a; int b; }; \
    static void store_##type##_int(void *at, struct value v) { \
        *(struct type##_int *)at = (struct type##_int){ (type)v.a, (int)v.b }; } \
    static bool is_##type##_int(const void *at, struct value v) \
    { \
        const struct type##_int *e = at; \
        return e->a == (type)v.a && e->b == (int)v.b; \
    }
#define EACH(DO)    DO(double) DO(float) DO(int) DO(long)
EACH(NUMBER)
EACH(PAIR)

static void store_map(void *at, struct value v)
{
    *(struct map *)at = (struct map){ (uint32_t)v.a, (uint32_t)v.b };
}

static bool is_map(const void *at, struct value v)
{
    const struct map *e = at;

    return e->a == (uint32_t)v.a && e->b == (uint32_t)v.b;
}

#define NUMBER_ROW(type)    { #type, sizeof(type), store_##type, is_##type },
#define PAIR_ROW(type) \
    { #type "_int", sizeof(struct type##_int), store_##type##_int, is_##type##_int },
static const struct bench_kind numbers[] = { EACH(NUMBER_ROW) }, pairs[] = { EACH(PAIR_ROW) },
                               maps = { "2uint32", sizeof(struct map), store_map, is_map };

/* ---- operations ------------------------------------------------------------------------------ */

#define USER_SUM(type) \
    static void user_sum_##type(void *in, void *inout, int *n, MPI_Datatype *datatype) \
    { \
        const type *left = in; \
        type *right = inout; \
        for (int i = 0; i < *n; i++) \
            right[i] += left[i]; \
        (void)datatype; \
    }
EACH(USER_SUM)

static MPI_Op user_op[BENCH_TYPES], compose_op;
static MPI_Datatype map_type;

void bench_problems_begin(void)
{
    static MPI_User_function *const sums[] = { user_sum_double, user_sum_float, user_sum_int,
                                               user_sum_long };

    for (int i = 0; i < BENCH_TYPES; i++)
        MPI_Op_create(sums[i], 1, &user_op[i]);
    make_compose(&compose_op, &map_type);
}

void bench_problems_end(void)
{
    for (int i = 0; i < BENCH_TYPES; i++)
        MPI_Op_free(&user_op[i]);
    MPI_Op_free(&compose_op);
    MPI_Type_free(&map_type);
}

static bool on_pairs(enum bench_operation o)
{
    return o == BENCH_MAXLOC || o == BENCH_MINLOC;
}

static const struct bench_kind *kind_of(enum bench_operation o, enum bench_type t)
{
    return o == BENCH_NONCOMMUTATIVE ? &maps : on_pairs(o) ? &pairs[t] : &numbers[t];
}

static MPI_Datatype datatype_of(enum bench_operation o, enum bench_type t)
{
    const MPI_Datatype number[] = { MPI_DOUBLE, MPI_FLOAT, MPI_INT, MPI_LONG },
                       pair[] = { MPI_DOUBLE_INT, MPI_FLOAT_INT, MPI_2INT, MPI_LONG_INT };

    return o == BENCH_NONCOMMUTATIVE ? map_type : on_pairs(o) ? pair[t] : number[t];
}

static MPI_Op op_of(enum bench_operation o, enum bench_type t)
{
    const MPI_Op op[] = { MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_MAXLOC, MPI_MINLOC };

    return o == BENCH_NONCOMMUTATIVE ? compose_op : o == BENCH_USER ? user_op[t] : op[o];
}

/* The result of operation O on two values. */
static struct value combine(enum bench_operation o, struct value l, struct value r)
{
    struct map m;

    switch (o) {
    case BENCH_PROD:
        return (struct value){ l.a * r.a, 0 };
    case BENCH_MIN:
        return l.a <= r.a ? l : r;
    case BENCH_MAX:
        return l.a >= r.a ? l : r;
    case BENCH_MAXLOC:
        return l.a != r.a ? (l.a > r.a ? l : r) : l.b <= r.b ? l : r;
    case BENCH_MINLOC:
        return l.a != r.a ? (l.a < r.a ? l : r) : l.b <= r.b ? l : r;
    case BENCH_NONCOMMUTATIVE:
        m = compose((struct map){ (uint32_t)l.a, (uint32_t)l.b },
                    (struct map){ (uint32_t)r.a, (uint32_t)r.b });
        return (struct value){ m.a, m.b };
    default:
        return (struct value){ l.a + r.a, 0 };
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Sums of a million ranks are exact in float; products are 1 and -1; a MAXLOC meets ties. */
static struct value value_of(const struct bench_problem *p, int rank, size_t i)
{
    uint64_t h = mix(
        p->seed + 0x9e3779b97f4a7c15u * ((uint64_t)rank * BENCH_PERIOD + i % BENCH_PERIOD + 1));

    switch (p->operation) {
    case BENCH_PROD:
        return (struct value){ h & 1 ? 1 : -1, 0 };
    case BENCH_MIN:
    case BENCH_MAX:
        return (struct value){ (int64_t)(h % 1000003) - 500000, 0 };
    case BENCH_MAXLOC:
    case BENCH_MINLOC:
        return (struct value){ (int64_t)(h % 61), (int64_t)(h >> 32) % 1000 };
    case BENCH_NONCOMMUTATIVE:
        return (struct value){ (int64_t)(uint32_t)(h | 1), (int64_t)(h >> 32) };
    default:
        return (struct value){ (int64_t)(h % 16) - 8, 0 };
    }
}

static size_t period_of(const struct bench_problem *p)
{
    return p->elements < BENCH_PERIOD ? p->elements : BENCH_PERIOD;
}

static void make_pattern(const struct bench_problem *p, void *pattern, int rank)
{
    for (size_t i = 0; i < period_of(p); i++)
        p->kind->store((char *)pattern + i * p->kind->extent, value_of(p, rank, i));
}

/* Makes a vector of PATTERN, again and again; that may be its own beginning. */
static void repeat(const struct bench_problem *p, const void *pattern, void *vector)
{
    size_t period = period_of(p), extent = p->kind->extent;

    for (size_t i = pattern == vector ? period : 0; i < p->elements; i += period) {
        size_t n = p->elements - i < period ? p->elements - i : period;

        memcpy((char *)vector + i * extent, pattern, n * extent);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

/* The ranks whose inputs make this rank's result: from 0 to before END; 0: it has none. */
static int operands_end(const struct bench_problem *p)
{
    switch (p->collective) {
    case BENCH_REDUCE:
        return p->rank == p->root ? p->ranks : 0;
    case BENCH_SCAN:
        return p->rank + 1;
    case BENCH_EXSCAN:
        return p->rank;
    case BENCH_REDUCE_LOCAL:
        return 2;
    default:
        return p->ranks;
    }
}

/* Which elements of the vector this rank's result holds. */
static size_t result_elements(const struct bench_problem *p, size_t *from)
{
    *from = 0;
    if (p->collective == BENCH_REDUCE_SCATTER_BLOCK) {
        *from = (size_t)p->rank * (size_t)p->count;
        return (size_t)p->count;
    }
    if (p->collective != BENCH_REDUCE_SCATTER)
        return p->elements;
    for (int r = 0; r < p->rank; r++)
        *from += (size_t)p->counts[r];
    return (size_t)p->counts[p->rank];
}

bool bench_problem_result_is_right(const struct bench_problem *p)
{
    size_t from, n = result_elements(p, &from), period = n < BENCH_PERIOD ? n : BENCH_PERIOD,
                 extent = p->kind->extent;
    int end = operands_end(p);

    for (size_t k = 0; end > 0 && k < period; k++) {
        struct value right = value_of(p, 0, from + k);

        for (int r = 1; r < end; r++)
            right = combine(p->operation, right, value_of(p, r, from + k));
        for (size_t i = k; i < n; i += BENCH_PERIOD)
            if (!p->kind->is((char *)p->out + i * extent, right))
                return false;
    }
    return true;
}

void bench_problem_prepare_out(const struct bench_problem *p)
{
    if (p->collective == BENCH_REDUCE_LOCAL) {
        make_pattern(p, p->out, 1);
        repeat(p, p->out, p->out);
    } else if (p->in_place) {
        repeat(p, p->pattern, p->out);
    } else {
        memset(p->out, 0xa5, p->elements * p->kind->extent);
    }
}

bool bench_problem_is_fresh(const struct bench_problem *p)
{
    return !p->same && p->bytes >= BENCH_FRESH && p->collective != BENCH_REDUCE_LOCAL;
}

/* In a Reduce only the root can be in place. */
static bool is_in_place(const struct bench_problem *p)
{
    return p->in_place && (p->collective != BENCH_REDUCE || p->rank == p->root);
}

void bench_problem_refresh(const void *what)
{
    const struct bench_problem *p = what;

    repeat(p, p->pattern, is_in_place(p) ? p->out : p->in);
}

/* A call of P's collective by those of the functions F whose names begin with PREFIX; behind the
 * communicator is what this form has more. */
#define CALL(prefix, ...) \
    switch (p->collective) { \
    case BENCH_ALLREDUCE: \
        f->prefix##allreduce(in, p->out, p->count, p->datatype, p->op, p->comm __VA_ARGS__); \
        break; \
    case BENCH_REDUCE: \
        f->prefix##reduce(in, p->out, p->count, p->datatype, p->op, p->root, p->comm __VA_ARGS__); \
        break; \
    case BENCH_REDUCE_SCATTER: \
        f->prefix##reduce_scatter(in, p->out, p->counts, p->datatype, p->op, p->comm __VA_ARGS__); \
        break; \
    case BENCH_REDUCE_SCATTER_BLOCK: \
        f->prefix##reduce_scatter_block(in, p->out, p->count, p->datatype, p->op, \
                                        p->comm __VA_ARGS__); \
        break; \
    case BENCH_SCAN: \
        f->prefix##scan(in, p->out, p->count, p->datatype, p->op, p->comm __VA_ARGS__); \
        break; \
    case BENCH_EXSCAN: \
        f->prefix##exscan(in, p->out, p->count, p->datatype, p->op, p->comm __VA_ARGS__); \
        break; \
    default: \
        f->reduce_local(p->in, p->out, p->count, p->datatype, p->op); \
    }
#define BEHIND(...) , __VA_ARGS__

static const void *input(const struct bench_problem *p)
{
    return is_in_place(p) ? MPI_IN_PLACE : p->in;
}

static void call_blocking(const struct bench_functions *f, const struct bench_problem *p)
{
    const void *in = input(p);

    CALL(,)
}

static void call_nonblocking(const struct bench_functions *f, const struct bench_problem *p)
{
    const void *in = input(p);
    MPI_Request request = MPI_REQUEST_NULL;

    CALL(i, BEHIND(&request))
    f->wait(&request, MPI_STATUS_IGNORE);
}

/* A persistent request keeps its handle. */
static void call_persistent(const struct bench_functions *f, const struct bench_problem *p)
{
    MPI_Request request = p->request;

    f->start(&request);
    f->wait(&request, MPI_STATUS_IGNORE);
}

void bench_problem_call(const struct bench_functions *f, const void *what)
{
    static void (*const call[])(const struct bench_functions *, const struct bench_problem *) = {
        [BENCH_BLOCKING] = call_blocking, [BENCH_PERSISTENT] = call_persistent,
        [BENCH_NONBLOCKING] = call_nonblocking
    };
    const struct bench_problem *p = what;

    call[p->form](f, p);
}

void bench_problem_make_request(const struct bench_functions *f, struct bench_problem *p)
{
    const void *in = input(p);

    if (p->form == BENCH_PERSISTENT)
        CALL(init_, BEHIND(MPI_INFO_NULL, &p->request))
}

void bench_problem_free_request(const struct bench_functions *f, struct bench_problem *p)
{
    if (p->form == BENCH_PERSISTENT)
        f->request_free(&p->request);
}

bool bench_problem_right(const struct bench_functions *f, const struct bench_problem *p)
{
    bench_problem_prepare_out(p);
    bench_barrier();
    bench_problem_call(f, p);
    return bench_problem_result_is_right(p);
}

/* ---- from wishes to a problem ---------------------------------------------------------------- */

static bool count_elements(struct bench_problem *p)
{
    size_t ranks = (size_t)p->ranks, n = p->bytes / p->kind->extent;

    if (p->collective == BENCH_REDUCE_SCATTER_BLOCK)
        n = n / ranks ? n / ranks * ranks : ranks;
    p->elements = n ? n : 1;
    p->bytes = p->elements * p->kind->extent;
    if (p->elements > INT_MAX)
        return false;
    p->count = (int)(p->collective == BENCH_REDUCE_SCATTER_BLOCK ? p->elements / ranks
                                                                 : p->elements);
    return true;
}

bool bench_problem_open(struct bench_problem *p)
{
    MPI_Comm_rank(p->comm, &p->rank);
    MPI_Comm_size(p->comm, &p->ranks);
    p->kind = kind_of(p->operation, p->type);
    p->datatype = datatype_of(p->operation, p->type);
    p->op = op_of(p->operation, p->type);
    if (!count_elements(p))
        return false;
    p->counts = bench_new((size_t)p->ranks * sizeof *p->counts);
    for (int r = 0; r < p->ranks; r++)
        p->counts[r] = (int)(p->elements / (size_t)p->ranks
                             + ((size_t)r < p->elements % (size_t)p->ranks));
    p->in = bench_new(p->bytes);
    p->out = bench_new(p->bytes);
    p->pattern = bench_new(period_of(p) * p->kind->extent);
    make_pattern(p, p->pattern, p->collective == BENCH_REDUCE_LOCAL ? 0 : p->rank);
    repeat(p, p->pattern, p->in);
    return true;
}

void bench_problem_close(struct bench_problem *p)
{
    free(p->counts);
    free(p->in);
    free(p->out);
    free(p->pattern);
}

const char *bench_problem_type(const struct bench_problem *p)
{
    return kind_of(p->operation, p->type)->name;
}
