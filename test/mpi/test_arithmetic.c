/* The floating-point environment is the program's: collopt neither raises exceptions in it nor
 * depends on it, apart from what the combination of the data does.
 *
 *     mpirun -n 2 env LD_PRELOAD=libcollopt.so test_arithmetic WORD...
 *
 * traps      every exception ends the program, also FE_INEXACT; all data are exact
 * upwards, downwards, towards_zero
 *            rounds so, and flushes subnormal numbers where that can be set.  On two ranks every
 *            sum has one rounding, which is compared with the program's own
 * early, late
 *            the environment is set before MPI_Init; it still is in MPI_Finalize
 * off        collopt runs none of the calls
 *
 * Around the data, in both buffers, are signalling NaNs: no loop may touch them. */
#include <complex.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __SSE2__
# include <xmmintrin.h>
#endif

#include "common.h"

enum { MOST = 50000, RANKS = 8, AROUND = 64 };

static const int lengths[] = { 1, 17, 200, 5000, MOST };
static bool traps, early, late, off;
static int rounding = FE_TONEAREST;

static const char *doing = "MPI_Init";

/* ---- types ----------------------------------------------------------------------------------- */

struct float_int {
    float value;
    int index;
};
struct double_int {
    double value;
    int index;
};

/* What element I of RANK is, and what it has to be after those of FIRST .. LAST - 1 are summed up;
 * the pair keeps the last of them. */
static int number(int rank, int i)
{
    return (rank + 1) * (i % 61 + 1);
}

#define THIRD 3                 /* what a third of is rounded */

#define REAL(name, type_) \
    static void put_##name(void *at, int rank, int i) \
    { \
        volatile type_ x = (type_)number(rank, i); \
        \
        ((type_ *)at)[i] = rounding == FE_TONEAREST ? x : x / THIRD; \
    } \
    static bool is_##name(const void *at, int i, int first, int last, int index) \
    { \
        volatile type_ sum = (type_)number(first, index), next; \
        \
        sum = rounding == FE_TONEAREST ? sum : sum / THIRD; \
        for (int r = first + 1; r < last; r++) { \
            next = (type_)number(r, index); \
            sum += rounding == FE_TONEAREST ? next : next / THIRD; \
        } \
        return ((const type_ *)at)[i] == sum; \
    }
REAL(float, float)
REAL(double, double)
REAL(long_double, long double)

static void put_complex(void *at, int rank, int i)
{
    put_double(at, rank, 2 * i);
    put_double(at, rank, 2 * i + 1);
}

static bool is_complex(const void *at, int i, int first, int last, int index)
{
    return is_double(at, 2 * i, first, last, 2 * index)
        && is_double(at, 2 * i + 1, first, last, 2 * index + 1);
}

static void put_int(void *at, int rank, int i)
{
    ((int *)at)[i] = number(rank, i);
}

static bool is_int(const void *at, int i, int first, int last, int index)
{
    int sum = 0;

    for (int r = first; r < last; r++)
        sum += number(r, index);
    return ((const int *)at)[i] == sum;
}

#define PAIR(name) \
    static void put_##name(void *at, int rank, int i) \
    { \
        ((struct name *)at)[i].value = number(rank, i); \
        ((struct name *)at)[i].index = rank; \
    } \
    static bool is_##name(const void *at, int i, int first, int last, int index) \
    { \
        const struct name *p = (const struct name *)at + i; \
        \
        (void)first; \
        return p->value == number(last - 1, index) && p->index == last - 1; \
    }
PAIR(float_int)
PAIR(double_int)

static const struct type {
    const char *name;
    MPI_Datatype *type;
    MPI_Op *op;
    size_t size;
    void (*put)(void *at, int rank, int i);
    bool (*is)(const void *at, int i, int first, int last, int index);
} *kind;

static MPI_Datatype of_float, of_double, of_long_double, of_complex, of_int, of_float_int,
    of_double_int;
static MPI_Op sum_op, maxloc, users;

static const struct type types[] = {
    { "float", &of_float, &sum_op, sizeof(float), put_float, is_float },
    { "double", &of_double, &sum_op, sizeof(double), put_double, is_double },
    { "long double", &of_long_double, &sum_op, sizeof(long double), put_long_double,
      is_long_double },
    { "complex", &of_complex, &sum_op, 2 * sizeof(double), put_complex, is_complex },
    { "int", &of_int, &sum_op, sizeof(int), put_int, is_int },
    { "float and int", &of_float_int, &maxloc, sizeof(struct float_int), put_float_int,
      is_float_int },
    { "double and int", &of_double_int, &maxloc, sizeof(struct double_int), put_double_int,
      is_double_int },
    { "double, an operation of the program's", &of_double, &users, sizeof(double), put_double,
      is_double },
};

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    volatile double *to = inout;

    (void)type;
    for (int i = 0; i < *n; i++)
        to[i] += ((double *)in)[i];
}

static void make_types(void)
{
    of_float = MPI_FLOAT;
    of_double = MPI_DOUBLE;
    of_long_double = MPI_LONG_DOUBLE;
    of_complex = MPI_C_DOUBLE_COMPLEX;
    of_int = MPI_INT;
    of_float_int = MPI_FLOAT_INT;
    of_double_int = MPI_DOUBLE_INT;
    sum_op = MPI_SUM;
    maxloc = MPI_MAXLOC;
    MPI_Op_create(add, 0, &users);
}

/* ---- the environment ------------------------------------------------------------------------- */

static unsigned control(void)
{
#ifdef __SSE2__
    return _mm_getcsr() & ~0x3fu;
#else
    return (unsigned)fegetround();
#endif
}

static unsigned wanted;

static void set_environment(void)
{
    fesetround(rounding);
#ifdef __SSE2__
    if (rounding != FE_TONEAREST)
        _mm_setcsr(_mm_getcsr() | 0x8040);      /* subnormal numbers are zero */
#endif
    feclearexcept(FE_ALL_EXCEPT);
#ifdef FE_NOMASK_ENV
    if (traps)
        feenableexcept(FE_ALL_EXCEPT);
#endif
    wanted = control();
}

static void usual_environment(void)
{
    fesetenv(FE_DFL_ENV);
}

static void check_environment(const char *what)
{
    check(control() == wanted, "%s: the environment is 0x%x, was 0x%x", what, control(), wanted);
    if (traps)
        check(fetestexcept(FE_ALL_EXCEPT) == 0, "%s: raises 0x%x", what,
              (unsigned)fetestexcept(FE_ALL_EXCEPT));
}

static void trapped(int signal)
{
    char text[300];
    int n = snprintf(text, sizeof text, "FAIL: arithmetic: rank %d traps in %s\n", world_rank,
                     doing);

    (void)signal;
    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        _exit(3);
    _exit(4);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static char *in, *out;          /* [AROUND elements] data [AROUND elements] */

/* All bytes are 0x7f but for the highest of each number's fraction: signalling NaNs of any size. */
static void poison(char *at, size_t bytes)
{
    static const unsigned char nan[8] = { 1, 0, 0xa0, 0x7f, 1, 0, 0xf4, 0x7f };

    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)nan[i % sizeof nan];
}

static size_t margin(void)
{
    return AROUND * 16;
}

static void fill(int n)
{
    size_t bytes = (size_t)n * kind->size;

    poison(in, bytes + 2 * margin());
    poison(out, bytes + 2 * margin());
    for (int i = 0; i < n; i++)
        kind->put(in + margin(), world_rank, i);
}

enum which { REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, FUNCTIONS };
static const char *const names[FUNCTIONS] = { "Reduce", "Allreduce", "Reduce_scatter",
                                              "Reduce_scatter_block", "Scan", "Exscan" };
static int counts[RANKS];

#define CALLER(name, form) \
    static int name(enum which f, const void *from, void *to, int n, MPI_Request *request) \
    { \
        MPI_Datatype type = *kind->type; \
        MPI_Op op = *kind->op; \
        MPI_Comm comm = MPI_COMM_WORLD; \
        \
        switch (f) { \
        case REDUCE: \
            return form(Reduce, reduce, from, to, n, type, op, world_ranks - 1, comm); \
        case ALLREDUCE: \
            return form(Allreduce, allreduce, from, to, n, type, op, comm); \
        case REDUCE_SCATTER: \
            return form(Reduce_scatter, reduce_scatter, from, to, counts, type, op, comm); \
        case REDUCE_SCATTER_BLOCK: \
            return form(Reduce_scatter_block, reduce_scatter_block, from, to, n / world_ranks, \
                        type, op, comm); \
        case SCAN: \
            return form(Scan, scan, from, to, n, type, op, comm); \
        default: \
            return form(Exscan, exscan, from, to, n, type, op, comm); \
        } \
    }
CALLER(call_blocking, CALL_BLOCKING)
CALLER(call_init, CALL_INIT)
CALLER(call_nonblocking, CALL_NONBLOCKING)

static void complete(MPI_Request *request, int turn)
{
    MPI_Status status;
    int done = 0, index;

    switch (turn % 4) {
    case 0:
        MPI_Wait(request, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Waitall(1, request, &status);
        break;
    case 2:
        MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
        break;
    default:
        while (!done)
            MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
}

static void run(enum which f, enum form form, int n, int turn)
{
    MPI_Request request = MPI_REQUEST_NULL;

    switch (form) {
    case BLOCKING:
        call_blocking(f, in + margin(), out + margin(), n, &request);
        break;
    case PERSISTENT:
        if (!HAVE_INIT)
            break;
        call_init(f, in + margin(), out + margin(), n, &request);
        for (int i = 0; i < 3; i++) {
            MPI_Start(&request);
            complete(&request, turn + i);
        }
        MPI_Request_free(&request);
        break;
    default:
        call_nonblocking(f, in + margin(), out + margin(), n, &request);
        complete(&request, turn);
    }
}

static void judge(enum which f, int n, const char *what)
{
    int from = 0, last = f == SCAN ? world_rank + 1 : f == EXSCAN ? world_rank : world_ranks;

    if (f == REDUCE_SCATTER || f == REDUCE_SCATTER_BLOCK) {
        n /= world_ranks;
        from = world_rank * n;
    }
    if ((f == REDUCE && world_rank != world_ranks - 1) || last == 0)
        return;
    for (int i = 0; i < n; i++)
        if (!kind->is(out + margin(), i, 0, last, from + i)) {
            fail("%s: element %d", what, i);
            return;
        }
}

static void try(enum which f, enum form form, int n, int turn)
{
    static const char *const form_names[FORMS] = { "blocking", "persistent", "nonblocking" };
    char what[200];

    snprintf(what, sizeof what, "%s, %s, %d elements of %s", names[f], form_names[form], n,
             kind->name);
    doing = what;
    at(what);
    set_environment();
    fill(n);
    run(f, form, n, turn);
    check_environment(what);
    if (form != PERSISTENT || HAVE_INIT)
        judge(f, n, what);
    check_environment(what);
    doing = "the test";
}

/* ---- beside reductions ----------------------------------------------------------------------- */

/* Communicators, datatypes, the public header, MPI_Pcontrol. */
static void beside(void)
{
    double x[6] = { 1, 2, 3, 4, 5, 6 }, y[6];
    char text[200];
    MPI_Comm comm;

    set_environment();
    doing = "beside: MPI_Comm_dup";
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    doing = "beside: reductions on a duplicate";
    for (int i = 0; i < 50; i++)
        MPI_Allreduce(x, y, 6, MPI_DOUBLE, MPI_SUM, comm);
    doing = "beside: MPI_Comm_free";
    MPI_Comm_free(&comm);
    doing = "beside: MPI_Reduce_local";
    MPI_Reduce_local(x, y, 6, MPI_DOUBLE, MPI_SUM);
    doing = "beside: collopt_explain";
    if (with_collopt())
        collopt_explain("allreduce", 64, 1 << 20, 1, text, sizeof text);
    doing = "beside: MPI_Pcontrol";
    MPI_Pcontrol(2);
    check_environment("beside");
    usual_environment();
}

static void set_words(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "traps") == 0)
            traps = true;
        else if (strcmp(argv[i], "early") == 0)
            early = true;
        else if (strcmp(argv[i], "late") == 0)
            late = true;
        else if (strcmp(argv[i], "off") == 0)
            off = true;
        else if (strcmp(argv[i], "upwards") == 0)
            rounding = FE_UPWARD;
        else if (strcmp(argv[i], "downwards") == 0)
            rounding = FE_DOWNWARD;
        else if (strcmp(argv[i], "towards_zero") == 0)
            rounding = FE_TOWARDZERO;
        else
            abort();
}

static void try_all(void)
{
    int turn = 0;

    for (kind = types; kind < types + sizeof types / sizeof *types; kind++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (enum which f = REDUCE; f < FUNCTIONS; f++)
                for (enum form form = BLOCKING; form < FORMS; form++) {
                    int n = lengths[i];

                    if (f == REDUCE_SCATTER || f == REDUCE_SCATTER_BLOCK)
                        n = (n + world_ranks - 1) / world_ranks * world_ranks;
                    for (int r = 0; r < world_ranks; r++)
                        counts[r] = n / world_ranks;
                    try(f, form, n, turn++);
                }
}

int main(int argc, char **argv)
{
    set_words(argc, argv);
    signal(SIGFPE, trapped);
    if (early)
        set_environment();
    begin(&argc, &argv, "arithmetic");
    if (early)
        check_environment("MPI_Init");
    usual_environment();
    make_types();
    in = malloc((MOST + RANKS) * 16 + 2 * margin());
    out = malloc((MOST + RANKS) * 16 + 2 * margin());
    try_all();
    if (with_collopt())
        check((calls_run(NULL, NULL) > 0) != off, "collopt has run %s", off ? "calls" : "nothing");
    beside();
    MPI_Op_free(&users);
    if (late)
        set_environment();
    doing = "MPI_Finalize";
    return end();
}
