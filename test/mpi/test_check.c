/* Programs whose ranks disagree, for COLLOPT_CHECK=on.
 *
 *     test_check [COMMAND]...
 *
 *     count=2 root=2 ...          one call in which rank 2 does not do what the others do; all must
 *                                 get the error class that belongs to it, and a right call after it
 *                                 must work.  Also op, commutes, type, element, collective, counts,
 *                                 sum (of counts), null, pcontrol
 *     nonblocking                 from now on, nonblocking calls, which are completed at once
 *     host                        the MPI library serves them: it may write what a wrong call gets
 *     among=2                     rank 2 makes a mistake in one of several calls that are under way
 *     late=1                      the same while rank 0 waits for a message of the others
 *     free=0                      rank 0 frees a communicator on which others have not called yet
 *     upper                       from now on, on a communicator of all ranks but the first of
 *                                 MPI_COMM_WORLD
 *     fresh                       from now on, on a communicator on which nothing was reduced
 *     ring=2                      so many times, each rank reduces to the next one on such a
 *                                 communicator, and all call rightly on another such one
 *     fatal                       errors are fatal again: the next mistake ends the job
 *     upwards=1                   this rank lets the processor round upwards, and all make right
 *                                 calls of many lengths
 *     right=20                    so many rounds of right calls of everything, with datatypes that
 *                                 differ and yet go together
 *
 * At the end each rank writes "rank 0: run 5 passed 3". */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"

enum { COUNT = 12, MOST_RANKS = 16 };

static MPI_Comm comm = MPI_COMM_WORLD;
static int rank, ranks;
static bool fatal, nonblocking, by_host;
static MPI_Request pending, *const request = &pending;
static int in[2 * COUNT * MOST_RANKS], out[2 * COUNT * MOST_RANKS];

static void user_sum(void *a, void *b, int *n, MPI_Datatype *type)
{
    int size;

    MPI_Type_size(*type, &size);
    for (int i = 0; i < *n * size / (int)sizeof(int); i++)
        ((int *)b)[i] += ((int *)a)[i];
}

/* Completes PENDING, which was started unless ERR, by another call each time. */
static int completed(int err)
{
    static unsigned ways;
    MPI_Status status = { .MPI_ERROR = MPI_SUCCESS };
    int flag = 0, index, class = MPI_SUCCESS;

    if (err)
        return err;
    switch (ways++ % 4) {
    case 0:
        return MPI_Wait(request, MPI_STATUS_IGNORE);
    case 1:
        while (!flag && !err)
            err = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        return err;
    case 2:
        return MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
    default:
        err = MPI_Waitall(1, request, &status);
        if (err)
            MPI_Error_class(err, &class);
        return class == MPI_ERR_IN_STATUS ? status.MPI_ERROR : err;
    }
}

#define CALL(name, later, ...) \
    (nonblocking ? completed(CALL_NONBLOCKING(name, later, __VA_ARGS__)) : MPI_##name(__VA_ARGS__))

static int allreduce(int count, MPI_Datatype type, MPI_Op op)
{
    return CALL(Allreduce, allreduce, in, out, count, type, op, comm);
}

/* ---- mistakes: one call, in which the rank with ODD does something else; its error code ------ */

static int odd_count(bool odd)
{
    return allreduce(odd ? COUNT - 1 : COUNT, MPI_INT, MPI_SUM);
}

static int odd_root(bool odd)
{
    return CALL(Reduce, reduce, in, out, COUNT, MPI_INT, MPI_SUM, odd ? ranks - 1 : 0, comm);
}

static int odd_op(bool odd)
{
    return CALL(Scan, scan, in, out, COUNT, MPI_INT, odd ? MPI_MAX : MPI_SUM, comm);
}

static int odd_commutes(bool odd)
{
    MPI_Op op;
    int err;

    MPI_Op_create(user_sum, !odd, &op);
    err = CALL(Exscan, exscan, in, out, COUNT, MPI_INT, op, comm);
    MPI_Op_free(&op);
    return err;
}

static int odd_type(bool odd)
{
    return allreduce(COUNT, odd ? MPI_FLOAT : MPI_INT, MPI_SUM);
}

static int odd_element(bool odd)
{
    return CALL(Reduce_scatter_block, reduce_scatter_block, in, out, 1,
                odd ? MPI_DOUBLE : MPI_INT, MPI_SUM, comm);
}

static int odd_collective(bool odd)
{
    return odd ? CALL(Reduce, reduce, in, out, COUNT, MPI_INT, MPI_SUM, 0, comm)
               : allreduce(COUNT, MPI_INT, MPI_SUM);
}

static int scatter(int add_first, int add_last)
{
    int counts[MOST_RANKS];

    for (int i = 0; i < ranks; i++)
        counts[i] = 2;
    counts[0] += add_first;
    counts[ranks - 1] += add_last;
    return CALL(Reduce_scatter, reduce_scatter, in, out, counts, MPI_INT, MPI_SUM, comm);
}

static int odd_counts(bool odd)
{
    return odd ? scatter(1, -1) : scatter(0, 0);
}

static int odd_sum(bool odd)
{
    return scatter(0, odd ? 3 : 0);
}

static int odd_null(bool odd)
{
    return CALL(Allreduce, allreduce, odd ? NULL : in, out, COUNT, MPI_INT, MPI_SUM, comm);
}

static int odd_pcontrol(bool odd)
{
    int err;

    if (odd)
        MPI_Pcontrol(0);
    err = allreduce(COUNT, MPI_INT, MPI_SUM);
    MPI_Pcontrol(1);
    return err;
}

static const struct mistake {
    const char *name;
    int class;
    int (*make)(bool odd);
} mistakes[] = {
    { "count", MPI_ERR_COUNT, odd_count },
    { "root", MPI_ERR_ROOT, odd_root },
    { "op", MPI_ERR_OP, odd_op },
    { "commutes", MPI_ERR_OP, odd_commutes },
    { "type", MPI_ERR_TYPE, odd_type },
    { "element", MPI_ERR_TYPE, odd_element },
    { "collective", MPI_ERR_ARG, odd_collective },
    { "counts", MPI_ERR_COUNT, odd_counts },
    { "sum", MPI_ERR_COUNT, odd_sum },
    { "null", MPI_ERR_ARG, odd_null },
    { "pcontrol", MPI_ERR_ARG, odd_pcontrol },
};

static int class_of(int err)
{
    int class = MPI_SUCCESS;

    if (err != MPI_SUCCESS)
        MPI_Error_class(err, &class);
    return class;
}

static void sum_later(const char *what)
{
    static int give[COUNT], take[COUNT];

    for (int i = 0; i < COUNT; i++)
        give[i] = rank + i;
    check(completed(MPI_Iallreduce(give, take, COUNT, MPI_INT, MPI_SUM, comm, request))
              == MPI_SUCCESS, "%s: nonblocking", what);
    for (int i = 0; i < COUNT; i++)
        check(take[i] == ranks * i + ranks * (ranks - 1) / 2, "%s: nonblocking, element %d is %d",
              what, i, take[i]);
}

static void make(const struct mistake *m, int who)
{
    int class;

    memset(out, 0x5a, sizeof out);
    if (!fatal)
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    class = class_of(m->make(rank == who));
    check(class == m->class, "%s=%d: error class %d, not %d", m->name, who, class, m->class);
    for (size_t i = 0; i < sizeof out / sizeof *out && !by_host; i++)
        if (out[i] != 0x5a5a5a5a) {
            fail("%s=%d: element %zu of the receive buffer was written", m->name, who, i);
            break;
        }
    sum_all(comm, COUNT, "a right call behind a wrong one");
    sum_to(comm, COUNT, ranks - 1, "a right call behind a wrong one");
    if (nonblocking)
        sum_later("a right call behind a wrong one");
}

/* Several calls are active, and rank WHO makes a mistake in some.  Each rank completes them in
 * another order. */
static void among(int who)
{
    enum { SEVERAL = 9, WRONG = 3 };    /* every third one */
    static int give[SEVERAL][COUNT], take[SEVERAL][COUNT];
    MPI_Request all[SEVERAL];

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < SEVERAL; i++) {
        give[i][0] = rank + i;
        take[i][0] = -1;
        MPI_Iallreduce(give[i], take[i], i % WRONG == 1 && rank == who ? 1 : COUNT, MPI_INT,
                       MPI_SUM, comm, &all[i]);
    }
    for (int k = 0; k < SEVERAL; k++) {
        int i = (k * (1 + rank % 2) + rank) % SEVERAL;
        int class = class_of(MPI_Wait(&all[i], MPI_STATUS_IGNORE));
        bool wrong = i % WRONG == 1;

        check(class == (wrong ? MPI_ERR_COUNT : MPI_SUCCESS), "among=%d: call %d: error class %d",
              who, i, class);
        check(take[i][0] == (wrong ? -1 : ranks * i + ranks * (ranks - 1) / 2),
              "among=%d: call %d: %d", who, i, take[i][0]);
    }
}

/* Rank 0 waits for messages of the other ranks before it completes its call.  The other ranks must
 * not wait for it. */
static void be_late(int who)
{
    int class, token = 0;

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Iallreduce(in, out, rank == who ? 1 : COUNT, MPI_INT, MPI_SUM, comm, request);
    for (int r = 1; r < ranks && rank == 0; r++)
        MPI_Recv(&token, 1, MPI_INT, r, 7, comm, MPI_STATUS_IGNORE);
    class = class_of(MPI_Wait(request, MPI_STATUS_IGNORE));
    check(class == MPI_ERR_COUNT, "late=%d: error class %d", who, class);
    if (rank > 0)
        MPI_Send(&token, 1, MPI_INT, 0, 7, comm);
    sum_later("a right call behind one that was late");
}

/* ---- what is right --------------------------------------------------------------------------- */

/* Sums of 2 * COUNT integers, 1 of each rank, as pairs: where RANK is odd, with a gap between the
 * two. */
static void pairs(MPI_Op op)
{
    static int gapped[3 * COUNT], summed[3 * COUNT];
    MPI_Datatype plain, wide;

    MPI_Type_contiguous(2, MPI_INT, &plain);
    MPI_Type_vector(2, 1, 2, MPI_INT, &wide);
    MPI_Type_commit(&plain);
    MPI_Type_commit(&wide);
    for (int i = 0; i < 3 * COUNT; i++)
        gapped[i] = 1;
    memset(summed, 0, sizeof summed);
    CALL(Allreduce, allreduce, gapped, summed, COUNT, rank % 2 ? wide : plain, op, comm);
    check(summed[0] == ranks && summed[rank % 2 ? 3 * COUNT - 1 : 2 * COUNT - 1] == ranks,
          "pairs: wrong");
    MPI_Type_free(&plain);
    MPI_Type_free(&wide);
}

/* User operations touch whole elements, gaps included, so the sums of pairs need one that looks at
 * the first and last int. */
static void sum_ends(void *a, void *b, int *n, MPI_Datatype *type)
{
    MPI_Aint lb, extent;

    MPI_Type_get_extent(*type, &lb, &extent);
    for (int i = 0; i < *n; i++) {
        int *x = (int *)((char *)a + i * extent), *y = (int *)((char *)b + i * extent);
        size_t last = (size_t)extent / sizeof(int) - 1;

        y[0] += x[0];
        y[last] += x[last];
    }
}

static void rounds(int n)
{
    MPI_Op op;

    MPI_Op_create(sum_ends, 1, &op);
    for (int i = 0; i < n; i++) {
        sum_all(comm, COUNT + i % 3, "right");
        sum_to(comm, COUNT, i % ranks, "right");
        pairs(op);
        check(scatter(i % 3, 0) == MPI_SUCCESS, "right: Reduce_scatter");
        check(allreduce(COUNT, rank % 2 ? MPI_INT : MPI_INT32_T, MPI_SUM) == MPI_SUCCESS,
              "right: two names of one type");
        check(CALL(Scan, scan, rank % 2 ? MPI_IN_PLACE : in, out, COUNT, MPI_INT, MPI_SUM, comm)
                  == MPI_SUCCESS,
              "right: Scan");
        check(CALL(Exscan, exscan, in, out, COUNT, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS,
              "right: Exscan");
        check(CALL(Reduce_scatter_block, reduce_scatter_block, in, out, 1, MPI_INT, MPI_SUM, comm)
                  == MPI_SUCCESS,
              "right: Reduce_scatter_block");
    }
    MPI_Op_free(&op);
}

/* Times that are predicted to the last bit alike must not be told apart by how a rank's program
 * rounds. */
static void round_upwards(int odd)
{
    enum { LONGEST = 4096 };
    int *to = malloc(sizeof *to * LONGEST),
        *from = calloc((size_t)LONGEST * (size_t)ranks, sizeof *from);

    if (rank == odd)
        fesetround(FE_UPWARD);
    for (int n = 1; n <= LONGEST && to && from; n = n < 32 ? n + 1 : n * 5 / 4) {
        check(MPI_Reduce_scatter_block(from, to, n, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS,
              "upwards: Reduce_scatter_block");
        check(MPI_Allreduce(from, to, n, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS,
              "upwards: Allreduce");
    }
    check(fegetround() == (rank == odd ? FE_UPWARD : FE_TONEAREST),
          "upwards: how the program rounds");
    fesetround(FE_TONEAREST);
    free(from);
    free(to);
}

/* Some hosts crash if a communicator is freed during one of their nonblocking collectives. */
static void free_early(int who)
{
    const struct timespec late = { .tv_nsec = 100000000 };
    int give = rank, take = -1;
    MPI_Comm made;

    MPI_Comm_dup(comm, &made);
    sum_all(made, 1, "a sum that takes the communicator over");
    if (rank != who)
        nanosleep(&late, NULL);
    MPI_Iallreduce(&give, &take, 1, MPI_INT, MPI_SUM, made, request);
    MPI_Comm_free(&made);
    check(completed(MPI_SUCCESS) == MPI_SUCCESS && take == ranks * (ranks - 1) / 2,
          "free=%d: %d", who, take);
}

static void go_over_to(MPI_Comm made)
{
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    comm = made;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
}

static void all_but_the_first(void)
{
    MPI_Comm made;

    MPI_Comm_split(MPI_COMM_WORLD, world_rank > 0, world_rank, &made);
    go_over_to(made);
}

static void begin_afresh(void)
{
    MPI_Comm made;

    MPI_Comm_dup(comm, &made);
    go_over_to(made);
}

/* Messages of a refused call must not reach a communicator that is made after its own is freed. */
static void ring(int times)
{
    int class;

    for (int i = 0; i < times; i++) {
        begin_afresh();
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        class = class_of(MPI_Reduce(in, out, COUNT, MPI_INT, MPI_SUM, (rank + 1) % ranks, comm));
        check(class == MPI_ERR_ROOT, "to the next one: error class %d", class);
        begin_afresh();
        for (int root = 0; root < ranks; root++)
            sum_to(comm, COUNT, root, "a communicator behind one with a wrong call");
    }
}

static void obey(const char *word)
{
    const char *value = strchr(word, '=');
    size_t n = strcspn(word, "=");

    at(word);
    if (strcmp(word, "upper") == 0)
        all_but_the_first();
    else if (strcmp(word, "fresh") == 0)
        begin_afresh();
    else if (strcmp(word, "nonblocking") == 0)
        nonblocking = true;
    else if (strcmp(word, "host") == 0)
        by_host = true;
    else if (strcmp(word, "fatal") == 0)
        fatal = MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL) == MPI_SUCCESS;
    else if (strncmp(word, "ring=", 5) == 0)
        ring(atoi(value + 1));
    else if (strncmp(word, "right=", 6) == 0)
        rounds(atoi(value + 1));
    else if (strncmp(word, "upwards=", 8) == 0)
        round_upwards(atoi(value + 1));
    else if (strncmp(word, "among=", 6) == 0)
        among(atoi(value + 1));
    else if (strncmp(word, "late=", 5) == 0)
        be_late(atoi(value + 1));
    else if (strncmp(word, "free=", 5) == 0)
        free_early(atoi(value + 1));
    else
        for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
            if (strlen(mistakes[i].name) == n && memcmp(mistakes[i].name, word, n) == 0
                && (ranks > 1 || !value))
                make(&mistakes[i], atoi(value + 1));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, "test_check");
    rank = world_rank;
    ranks = world_ranks;
    for (int i = 1; i < argc; i++)
        obey(argv[i]);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    printf("rank %d: run %llu passed %llu\n", world_rank, (unsigned long long)calls_run(NULL, NULL),
           (unsigned long long)calls_passed(NULL));
    fflush(stdout);
    return end();
}
