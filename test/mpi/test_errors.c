/* Errors are answered as the host answers them: each case's error class goes to a file, and the
 * files of a run with collopt and of one without must be the same.  A case that stops the job is
 * the last line of its file, without a class; TEST_WITHOUT, "Reduce, null datatype;...", leaves it
 * out.
 *
 *     test_errors FILE             writes FILE.<rank>
 *     test_errors unchecked        where the host does not look at its arguments, equal buffers
 *                                  work
 *
 * All ranks make the same mistake, and hosts find it before they communicate. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "kernels/kernels.h"

static FILE *answers;
static char in[1024], out[1024];

struct arguments {
    const void *in;
    void *out;
    int count;
    MPI_Datatype type;
    MPI_Op op;
    int root;
    MPI_Comm comm;
};

static int reduce(const struct arguments *a)
{
    return MPI_Reduce(a->in, a->out, a->count, a->type, a->op, a->root, a->comm);
}

static int allreduce(const struct arguments *a)
{
    return MPI_Allreduce(a->in, a->out, a->count, a->type, a->op, a->comm);
}

static int reduce_scatter(const struct arguments *a)
{
    int counts[64];

    for (int i = 0; i < 64; i++)
        counts[i] = a->count;
    return MPI_Reduce_scatter(a->in, a->out, counts, a->type, a->op, a->comm);
}

static int reduce_scatter_block(const struct arguments *a)
{
    return MPI_Reduce_scatter_block(a->in, a->out, a->count, a->type, a->op, a->comm);
}

static int scan(const struct arguments *a)
{
    return MPI_Scan(a->in, a->out, a->count, a->type, a->op, a->comm);
}

static int exscan(const struct arguments *a)
{
    return MPI_Exscan(a->in, a->out, a->count, a->type, a->op, a->comm);
}

#if COLLOPT_HAVE_LARGE
static int reduce_large(const struct arguments *a)
{
    return MPI_Reduce_c(a->in, a->out, a->count, a->type, a->op, a->root, a->comm);
}

static int allreduce_large(const struct arguments *a)
{
    return MPI_Allreduce_c(a->in, a->out, a->count, a->type, a->op, a->comm);
}
#endif

static int reduce_local(const struct arguments *a)
{
    return MPI_Reduce_local(a->in, a->out, a->count, a->type, a->op);
}

static const struct function {
    const char *name;
    int (*call)(const struct arguments *a);
} functions[] = {
    { "Reduce", reduce }, { "Allreduce", allreduce }, { "Reduce_scatter", reduce_scatter },
    { "Reduce_scatter_block", reduce_scatter_block }, { "Scan", scan }, { "Exscan", exscan },
#if COLLOPT_HAVE_LARGE
    { "Reduce_c", reduce_large }, { "Allreduce_c", allreduce_large },
#endif
    { "Reduce_local", reduce_local },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions, LOCAL = FUNCTIONS - 1 };

static bool has_root(int f)
{
    return strcmp(functions[f].name, "Reduce") == 0 || strcmp(functions[f].name, "Reduce_c") == 0;
}

static void answer(int err)
{
    int class = MPI_SUCCESS;

    if (err != MPI_SUCCESS)
        MPI_Error_class(err, &class);
    fprintf(answers, ": class %d\n", class);
    fflush(answers);
}

static char doing[200];

static bool is_left_out(const char *which)
{
    const char *list = getenv("TEST_WITHOUT");

    for (const char *s = list; s && *s; s += strcspn(s, ";"), s += *s == ';')
        if (strcspn(s, ";") == strlen(which) && strncmp(s, which, strlen(which)) == 0)
            return true;
    return false;
}

static void try(int f, const char *what, struct arguments a)
{
    snprintf(doing, sizeof doing, "%s, %s", functions[f].name, what);
    at_for(doing, 60);
    if (is_left_out(doing))
        return;
    fprintf(answers, "%s", doing);
    fflush(answers);
    answer(functions[f].call(&a));
}

static struct arguments right(MPI_Comm comm)
{
    return (struct arguments){ in, out, 2, MPI_INT, MPI_SUM, 0, comm };
}

/* ---- wrong arguments ------------------------------------------------------------------------- */

static void user_operation(void *a, void *b, int *n, MPI_Datatype *type)
{
    (void)a, (void)b, (void)n, (void)type;
}

static void wrong_handles(int f, MPI_Comm comm, MPI_Op user)
{
    struct arguments a;
    MPI_Datatype derived;

    a = right(comm), a.op = MPI_OP_NULL;
    try(f, "null operation", a);
    a = right(comm), a.type = MPI_DATATYPE_NULL;
    try(f, "null datatype", a);
    MPI_Type_contiguous(2, MPI_INT, &derived);
    a = right(comm), a.type = derived, a.op = user;
    if (f != LOCAL && world_ranks > 1)          /* it shows when messages are sent */
        try(f, "datatype that is not committed", a);
    MPI_Type_commit(&derived);
    a.op = MPI_SUM;
    try(f, "sum of a derived datatype", a);
    MPI_Type_free(&derived);
    MPI_Type_dup(MPI_INT, &derived);
    a.type = derived;
    try(f, "sum of a duplicated datatype", a);
    MPI_Type_free(&derived);
    if (f == LOCAL)
        return;
    a = right(MPI_COMM_NULL);
    try(f, "null communicator", a);
#ifdef MPICH_VERSION            /* Open MPI's handles are addresses: one that is none is a crash */
    a = right((MPI_Comm)0x12345678);
    try(f, "no communicator at all", a);
    a = right(comm), a.op = (MPI_Op)0x12345678;
    try(f, "no operation at all", a);
    a = right(comm), a.type = (MPI_Datatype)0x02345678;
    try(f, "no datatype at all", a);
#endif
}

/* Open MPI takes equal buffers for MPI_IN_PLACE but in Reduce and longer Allreduces: also on one
 * rank alone. */
static void equal_buffers(int f, MPI_Comm comm, MPI_Op user)
{
    struct arguments a;

    if (has_root(f))            /* there only the root can know */
        return;
    a = right(comm), a.out = in, a.op = user;
    try(f, "equal buffers, an operation of the user's", a);
    if (on_mpich())
        return;
    a = right(comm), a.count = 1, a.out = world_rank == 0 ? in : out;
    try(f, "one element, equal buffers on one rank", a);
}

static void wrong_buffers(int f, MPI_Comm comm)
{
    struct arguments a;

    if (on_mpich() && !has_root(f)) {       /* there only the root can know */
        a = right(comm), a.out = in;
        try(f, "equal buffers", a);
    }
    /* Open MPI takes equal buffers for MPI_IN_PLACE, and reads from address 0 */
    if (on_mpich()) {
        a = right(comm), a.in = NULL, a.out = NULL;
        try(f, "no buffers", a);
    }
    if (on_mpich() && f == LOCAL) {
        a = right(comm), a.in = MPI_IN_PLACE;
        try(f, "MPI_IN_PLACE", a);
    }
    if (f == 1) {               /* elsewhere some hosts crash */
        a = right(comm), a.out = MPI_IN_PLACE;
        try(f, "MPI_IN_PLACE for the result", a);
    }
}

static void wrong_numbers(int f, MPI_Comm comm, int ranks)
{
    struct arguments a = right(comm);

    if (has_root(f)) {
        a.root = -1;
        try(f, "root -1", a);
        a.root = ranks;
        try(f, "root p", a);
        a.root = MPI_PROC_NULL;
        try(f, "root MPI_PROC_NULL", a);
    }
    if (!on_mpich()) {                      /* MPICH 4.0 crashes */
        a = right(comm), a.count = -1;
        try(f, "count -1", a);
    }
}

/* Communicators were used and freed, as many as collopt keeps at hand and more: a null one must not
 * be taken for one of them. */
static void null_after_freed(void)
{
    enum { MANY = 80 };
    MPI_Comm comm[MANY];

    at_for("communicators used and freed", 60);
    for (int i = 0; i < MANY; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &comm[i]);
        sum_all(comm[i], 1, "one of many");
    }
    for (int i = 0; i < MANY; i++)
        MPI_Comm_free(&comm[i]);
    for (int f = 0; f < LOCAL; f++)
        try(f, "null communicator after others were freed", right(MPI_COMM_NULL));
}

/* ---- operations and datatypes ---------------------------------------------------------------- */

static const struct named_type {
    const char *name;
    MPI_Datatype type;
} *types(int *n)
{
    static struct named_type list[80];
    int k = 0;

#define T(type) list[k++] = (struct named_type){ #type, type };
    T(MPI_CHAR)
    T(MPI_WCHAR) T(MPI_SIGNED_CHAR) T(MPI_UNSIGNED_CHAR) T(MPI_SHORT) T(MPI_UNSIGNED_SHORT)
        T(MPI_INT) T(MPI_UNSIGNED) T(MPI_LONG) T(MPI_UNSIGNED_LONG) T(MPI_LONG_LONG)
            T(MPI_UNSIGNED_LONG_LONG) T(MPI_INT8_T) T(MPI_UINT16_T) T(MPI_INT64_T) T(MPI_FLOAT)
                T(MPI_DOUBLE) T(MPI_LONG_DOUBLE) T(MPI_C_BOOL) T(MPI_C_FLOAT_COMPLEX)
                    T(MPI_C_DOUBLE_COMPLEX) T(MPI_C_LONG_DOUBLE_COMPLEX) T(MPI_BYTE) T(MPI_PACKED)
                        T(MPI_AINT) T(MPI_OFFSET) T(MPI_COUNT) T(MPI_FLOAT_INT) T(MPI_DOUBLE_INT)
                            T(MPI_LONG_INT) T(MPI_SHORT_INT) T(MPI_2INT) T(MPI_LONG_DOUBLE_INT)
                                T(MPI_INTEGER) T(MPI_REAL) T(MPI_DOUBLE_PRECISION) T(MPI_COMPLEX)
                                    T(MPI_DOUBLE_COMPLEX) T(MPI_LOGICAL) T(MPI_CHARACTER)
                                        T(MPI_2INTEGER) T(MPI_2REAL) T(MPI_2DOUBLE_PRECISION)
#undef T
                                            *n = k;
    return list;
}

/* A host may send before it looks: a new communicator each time keeps what is left of it from the
 * next call. */
static void try_pair(MPI_Comm comm, const char *op_name, MPI_Op op, const struct named_type *t,
                     int f)
{
    struct arguments a;
    char what[100];
    MPI_Comm own;

    if (t->type == MPI_DATATYPE_NULL)
        return;
    MPI_Comm_dup(comm, &own);
    snprintf(what, sizeof what, "%s of %s", op_name, t->name);
    a = right(own);
    a.op = op;
    a.type = t->type;
    try(f, what, a);
    MPI_Comm_free(&own);
}

/* MPICH 4.0 stops the job instead of answering. */
static bool host_crashes(MPI_Op op, const char *type)
{
    static const char *const harmless[] = { "CHAR",     "SHORT",   "INT",  "LONG",
                                            "UNSIGNED", "LOGICAL", "BOOL", "BYTE" };
    bool logical = op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;

    for (size_t i = 0; logical && i < sizeof harmless / sizeof *harmless; i++)
        if (strstr(type, harmless[i]) && !strstr(type, "DOUBLE") && !strstr(type, "FLOAT"))
            return false;
    return logical && on_mpich();
}

static void all_pairs(MPI_Comm comm)
{
    int n, number = 0;
    const struct named_type *t = types(&n);

    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
#define OP(ID, text, classes) \
    for (int i = 0; i < n && COLLOPT_##ID < COLLOPT_REPLACE; i++) \
        if (!host_crashes(MPI_##ID, t[i].name)) \
            try_pair(comm, text, MPI_##ID, &t[i], number++ % LOCAL);
    COLLOPT_OPS(OP)
#undef OP
}

/* ---- error handlers -------------------------------------------------------------------------- */

static int heard;
static MPI_Comm heard_of;
static int heard_class;

static void hear(MPI_Comm *comm, int *err, ...)
{
    heard++;
    heard_of = *comm;
    MPI_Error_class(*err, &heard_class);
}

static void handlers(MPI_Comm comm)
{
    MPI_Errhandler handler;
    MPI_Comm own;
    int err;

    MPI_Comm_dup(comm, &own);
    MPI_Comm_create_errhandler(hear, &handler);
    sum_all(own, 3, "before errors");
    MPI_Comm_set_errhandler(own, handler);      /* after the first use, and after collopt's */
    sum_all(own, 3, "with an error handler");
    check(heard == 0, "the error handler was called without an error");
    for (int f = 0; f < LOCAL; f++) {
        struct arguments a = right(own);

        a.op = MPI_OP_NULL;
        heard = 0;
        err = functions[f].call(&a);
        check(err != MPI_SUCCESS, "%s with a null operation succeeded", functions[f].name);
        check(heard == 1, "%s with a null operation called the error handler %d times",
              functions[f].name, heard);
        check(heard_of == own, "%s called the error handler of another communicator",
              functions[f].name);
        fprintf(answers, "%s, handler: class %d\n", functions[f].name, heard_class);
    }
    sum_all(own, 3, "after errors");
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&own);
}

static MPI_Comm forced(MPI_Comm comm, const char *algorithm)
{
    MPI_Comm own;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "collopt_reduce", algorithm);
    MPI_Comm_dup_with_info(comm, info, &own);
    MPI_Info_free(&info);
    return own;
}

/* Messages longer than their receives, under way already: only one rank can know, and its handler
 * hears of it once. */
static void truncated(MPI_Comm comm)
{
    MPI_Comm own = forced(comm, "linear:window=2");
    MPI_Errhandler handler;
    int rank, class = MPI_SUCCESS, err;

    MPI_Comm_rank(own, &rank);
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(own, handler);
    sum_to(own, 4, 0, "before the error");
    heard = 0;
    at_for("MPI_Reduce with unequal counts", 60);
    err = MPI_Reduce(in, out, rank ? 8 : 4, MPI_INT, MPI_SUM, 0, own);
    if (err != MPI_SUCCESS)
        MPI_Error_class(err, &class);
    if (rank == 0) {
        check(class == MPI_ERR_TRUNCATE, "a message too long is of error class %d", class);
        check(heard == 1 && heard_of == own,
              "a message too long called the error handler %d times%s", heard,
              heard_of == own ? "" : ", and of another communicator");
    } else {
        check(err == MPI_SUCCESS && heard == 0, "the sender of a message too long has an error");
    }
    sum_to(own, 4, 0, "after the error");
    check(heard == (rank == 0), "after the error the handler was called again");
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&own);
}

/* More messages than are received: nobody knows, and those that are left are in no later call's
 * way. */
static void left_over(MPI_Comm comm)
{
    MPI_Comm own = forced(comm, "chain:segment=16");
    int rank;

    MPI_Comm_rank(own, &rank);
    memset(in, -1, sizeof in);
    at_for("MPI_Reduce with unequal counts", 60);
    MPI_Reduce(in, out, rank ? 32 : 4, MPI_INT, MPI_SUM, 0, own);
    for (int i = 0; i < 5; i++)
        sum_to(own, 4, 0, "after messages were left over");
    MPI_Comm_free(&own);
}

/* MPICH alone refuses it on rank 0, for which the others then wait. */
static void exscan_to_nowhere(MPI_Comm comm)
{
    int mine = world_rank + 1, got = -1, err;

    at_for("MPI_Exscan without a receive buffer on rank 0", 60);
    err = MPI_Exscan(&mine, world_rank ? &got : NULL, 1, MPI_INT, MPI_SUM, comm);
    check(err == MPI_SUCCESS, "MPI_Exscan without a receive buffer on rank 0 fails");
    check(got == (world_rank ? world_rank * (world_rank + 1) / 2 : -1), "MPI_Exscan gives %d", got);
}

/* Where the host does not look at its arguments, equal buffers are as good as MPI_IN_PLACE, on one
 * rank as on all. */
static int unchecked(void)
{
    int sum = world_ranks * (world_ranks + 1) / 2, mine[2] = { world_rank + 1, 1 },
        other[2] = { 0, 0 };
    int *to = world_rank == 0 ? mine : other;

    at_for("equal buffers without checks", 60);
    MPI_Reduce(mine, to, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    check(world_rank > 0 || mine[0] == sum, "MPI_Reduce with equal buffers gives %d, should be %d",
          mine[0], sum);
    mine[0] = world_rank + 1;
    MPI_Allreduce(mine, to, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(to[0] == sum, "MPI_Allreduce with equal buffers on rank 0 gives %d, should be %d", to[0],
          sum);
    check(calls_run(NULL, NULL) == 2, "collopt ran %d of 2 calls", (int)calls_run(NULL, NULL));
    return end();
}

static jmp_buf before_call;

static void leave(MPI_Comm *comm, int *err, ...)
{
    (void)comm, (void)err;
    longjmp(before_call, 1);
}

/* The handler does not come back to whom it was called by: the communicator is as good as before,
 * and where candidates take turns (COLLOPT_ADAPT) the call was one of theirs, so that the host's
 * turn comes too. */
static int left_by_longjmp(bool trials)
{
    enum { ERRORS = 40, SUMS = 100 };
    static volatile int left;
    static volatile uint64_t run, passed;
    struct arguments a;
    MPI_Errhandler handler;
    MPI_Comm own;
    MPI_Op user;

    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(own, handler);
    MPI_Op_create(user_operation, 1, &user);
    a = right(own), a.op = user;
    /* not committed: an error on every rank, when messages are sent */
    MPI_Type_contiguous(2, MPI_INT, &a.type);
    at_for("errors whose handler leaves by longjmp", 60);
    run = calls_run("allreduce", NULL), passed = calls_passed("Allreduce");
    for (volatile int i = 0; i < ERRORS; i++) {
        if (setjmp(before_call))
            left++;
        else
            MPI_Allreduce(a.in, a.out, a.count, a.type, a.op, own);
    }
    check(left == ERRORS, "%d of %d errors were heard of", left, ERRORS);
    check(!with_collopt() || calls_run("allreduce", NULL) > run,
          "collopt ran none of the calls with errors");
    check(!with_collopt() || (calls_passed("Allreduce") > passed) == trials,
          "the host ran %d of the calls with errors", (int)(calls_passed("Allreduce") - passed));
    MPI_Type_free(&a.type);
    run = calls_run("allreduce", NULL), passed = calls_passed("Allreduce");
    for (int i = 0; i < SUMS; i++)
        sum_all(own, 3, "after handlers that left by longjmp");
    check(!with_collopt() || calls_run("allreduce", NULL) > run,
          "collopt runs nothing after handlers that left by longjmp");
    check(!with_collopt() || trials || calls_passed("Allreduce") == passed,
          "calls are left to the host after handlers that left");
    MPI_Op_free(&user);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&own);
    return end();
}

/* One rank asks for something else. */
static void disagree(int turn, MPI_Comm comm)
{
    bool odd = world_rank == world_ranks - 1;
    int mine[2] = { 1, 2 }, out[2];
    MPI_Request made = MPI_REQUEST_NULL, *request = &made;

    switch (turn % 3) {
    case 0:
        MPI_Allreduce(mine, out, 1 + odd, MPI_INT, MPI_SUM, comm);
        break;
    case 1:
        MPI_Reduce(mine, out, 1, MPI_INT, MPI_SUM, odd ? 1 : 0, comm);
        break;
    default:
        if (odd && HAVE_INIT)
            CALL_INIT(Allreduce, allreduce, mine, out, 1, MPI_INT, MPI_SUM, comm);
        else
            MPI_Allreduce(mine, out, 1 + odd, MPI_INT, MPI_SUM, comm);
    }
}

/* The same where the ranks' calls are compared and differ. */
static int left_comparisons(void)
{
    enum { ERRORS = 30 };
    static volatile int left;
    static volatile uint64_t run;
    MPI_Errhandler handler;
    MPI_Comm own;

    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(own, handler);
    at_for("differences whose handler leaves by longjmp", 60);
    for (volatile int i = 0; i < ERRORS; i++) {
        if (setjmp(before_call))
            left++;
        else
            disagree(i, own);
        run = calls_run(NULL, NULL);
        for (int k = 0; k < 3; k++)
            sum_all(own, 5, "after a difference whose handler left");
        check(calls_run(NULL, NULL) > run || getenv("COLLOPT_ADAPT"),
              "collopt runs nothing after a difference");
    }
    check(left == ERRORS, "%d of %d differences were heard of", left, ERRORS);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&own);
    return end();
}

/* ---- operations that leave ---- */

static volatile bool leaves;

static void add_or_leave(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    if (leaves) {
        leaves = false;
        longjmp(before_call, 1);
    }
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* On the root it leaves a Reduce.  It leaves an Allreduce on both of two ranks: of more, some would
 * wait for those that have left. */
static void call_and_leave(int turn, int *mine, int *sum, int count, MPI_Op op, MPI_Comm comm)
{
    bool all = turn % 2 && world_ranks == 2;

    leaves = all || world_rank == 0;
    if (setjmp(before_call))
        return;
    if (all)
        MPI_Allreduce(mine, sum, count, MPI_INT, op, comm);
    else
        MPI_Reduce(mine, sum, count, MPI_INT, op, 0, comm);
    leaves = false;
}

/* DEPTH frames farther down the stack, with room in them that nobody writes. */
static void add_up(int depth, int *mine, int *sum, int count, MPI_Op op, MPI_Comm comm)
{
    volatile char room[300];
    int right = world_ranks * (world_ranks + 1) / 2;

    room[depth] = (char)depth;
    if (depth > 0) {
        add_up(depth - 1, mine, sum, count, op, comm);
        check(room[depth] == depth, "the stack was written");
        return;
    }
    for (int i = 0; i < 3; i++) {
        sum[0] = sum[count - 1] = -1;
        MPI_Reduce(mine, sum, count, MPI_INT, op, 0, comm);
        check(world_rank > 0 || (sum[0] == right && sum[count - 1] == right),
              "a Reduce after an operation that left gives %d, should be %d", sum[0], right);
    }
    MPI_Allreduce(mine, sum, count, MPI_INT, op, comm);
    check(sum[0] == right && sum[count - 1] == right,
          "an Allreduce after an operation that left gives %d, should be %d", sum[0], right);
}

/* MPI promises nothing of operations that leave by longjmp or an exception, but hosts go on. */
static int left_by_operations(int count)
{
    enum { TURNS = 20 };
    int *mine = malloc((size_t)count * sizeof *mine), *sum = malloc((size_t)count * sizeof *sum);
    static volatile uint64_t run;
    MPI_Comm own;
    MPI_Op op;

    for (int i = 0; i < count; i++)
        mine[i] = world_rank + 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Op_create(add_or_leave, 1, &op);
    add_up(0, mine, sum, count, op, own);
    at_for("operations that leave by longjmp", 20);
    for (volatile int i = 0; i < TURNS; i++) {
        call_and_leave(i, mine, sum, count, op, own);
        run = calls_run(NULL, NULL);
        add_up(i % 3 * 10, mine, sum, count, op, own);
        check(!with_collopt() || getenv("COLLOPT_ADAPT") || calls_run(NULL, NULL) == run + 4,
              "collopt ran %d of 4 calls after an operation that left",
              (int)(calls_run(NULL, NULL) - run));
    }
    /* the last one of all */
    call_and_leave(0, mine, sum, count, op, own);
    MPI_Op_free(&op);
    MPI_Comm_free(&own);
    sum_all(MPI_COMM_WORLD, 5, "after operations that left");
    free(mine);
    free(sum);
    return end();
}

int main(int argc, char **argv)
{
    char name[1024];
    MPI_Op user;
    MPI_Comm comm;

    begin(&argc, &argv, "test_errors");
    if (argc > 1 && strcmp(argv[1], "unchecked") == 0)
        return unchecked();
    if (argc > 2 && strcmp(argv[1], "operations") == 0)
        return left_by_operations(atoi(argv[2]));
    if (argc > 1 && strcmp(argv[1], "longjmp-checked") == 0)
        return left_comparisons();
    if (argc > 1 && strncmp(argv[1], "longjmp", 7) == 0)
        return left_by_longjmp(strcmp(argv[1], "longjmp-trials") == 0);
    snprintf(name, sizeof name, "%s.%d", argc > 1 ? argv[1] : "answers", world_rank);
    answers = fopen(name, "w");
    if (!answers) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Op_create(user_operation, 1, &user);
    for (int f = 0; f < FUNCTIONS; f++) {
        wrong_handles(f, comm, user);
        equal_buffers(f, comm, user);
        wrong_buffers(f, comm);
        wrong_numbers(f, comm, world_ranks);
    }
    null_after_freed();
    if (world_ranks <= 2)       /* making communicators is slow where ranks outnumber processors */
        all_pairs(comm);
    handlers(comm);
    sum_all(comm, 100, "after all errors");
    if (with_collopt()) {
        check(calls_run(NULL, NULL) > (world_ranks <= 2 ? 100 : 5), "collopt ran only %llu calls",
              (unsigned long long)calls_run(NULL, NULL));
        if (world_ranks > 1) {
            truncated(MPI_COMM_WORLD);
            left_over(MPI_COMM_WORLD);
            exscan_to_nowhere(comm);
        }
    }
    MPI_Op_free(&user);
    MPI_Comm_free(&comm);
    fclose(answers);
    return end();
}
