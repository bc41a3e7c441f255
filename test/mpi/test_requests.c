/* Persistent and nonblocking reductions beside all else that a program does with requests.
 *
 *     mpirun -n 4 env LD_PRELOAD=libcollopt.so TEST_FORM=nonblocking test_requests [STARTS [async]]
 *
 * TEST_FORM=persistent is the other form. STARTS of one request, to see whether memory grows.
 * async: they must end without another call (COLLOPT_ASYNC=thread).
 * TEST_OURS says that collopt has to run all (TEST_OURS=messages: by the host's messages); else
 * the MPI library may, and only what it can do is tried: Open MPI 4.1 fails where a communicator
 * was freed, MPICH 4.0 in MPI_Testall. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"

static enum form form;

enum { MANY = 16, LENGTH = 5000, KINDS = 4 };

static int in[MANY][LENGTH], out[MANY][LENGTH];
static MPI_Status statuses[2 * MANY];

/* Operations of four kinds, short and long. */
static int length_of(int i)
{
    return i % 5 == 4 ? LENGTH - i : 1 + i * 37 % 500;
}

static void fill(int i, int salt)
{
    for (int k = 0; k < length_of(i); k++) {
        in[i][k] = world_rank * (salt + 1) + i + k;
        out[i][k] = -1;
    }
}

/* The root of a sum to one rank. */
static int root_of(int i)
{
    return i % world_ranks;
}

static int ranks_in(int i)
{
    switch (i % KINDS) {
    case 1:
        return world_rank == root_of(i) ? world_ranks : 0;
    case 2:
        return world_rank + 1;
    case 3:
        return world_rank;
    default:
        return world_ranks;
    }
}

static void judge(int i, int salt, const char *what)
{
    int n = ranks_in(i);

    for (int k = 0; k < length_of(i) && (n > 0 || i % KINDS == 1); k++) {
        int right = n > 0 ? n * (i + k) + n * (n - 1) / 2 * (salt + 1) : -1;

        if (out[i][k] != right) {
            fail("%s: operation %d, element %d of %d: %d, not %d", what, i, k, length_of(i),
                 out[i][k], right);
            return;
        }
    }
}

/* Makes a persistent request; a nonblocking one is made when it is started. */
static void make(int i, MPI_Comm comm, MPI_Request *request)
{
    int n = length_of(i);

    *request = MPI_REQUEST_NULL;
    if (form == NONBLOCKING)
        return;
    switch (i % KINDS) {
    case 0:
        CALL_INIT(Allreduce, allreduce, in[i], out[i], n, MPI_INT, MPI_SUM, comm);
        return;
    case 1:
        CALL_INIT(Reduce, reduce, in[i], out[i], n, MPI_INT, MPI_SUM, root_of(i), comm);
        return;
    case 2:
        CALL_INIT(Scan, scan, in[i], out[i], n, MPI_INT, MPI_SUM, comm);
        return;
    default:
        CALL_INIT(Exscan, exscan, in[i], out[i], n, MPI_INT, MPI_SUM, comm);
    }
}

static void start(int i, MPI_Comm comm, MPI_Request *request)
{
    int n = length_of(i);

    if (form == PERSISTENT) {
        MPI_Start(request);
        return;
    }
    check(*request == MPI_REQUEST_NULL, "operation %d: what has ended is not null", i);
    switch (i % KINDS) {
    case 0:
        CALL_NONBLOCKING(Allreduce, allreduce, in[i], out[i], n, MPI_INT, MPI_SUM, comm);
        return;
    case 1:
        CALL_NONBLOCKING(Reduce, reduce, in[i], out[i], n, MPI_INT, MPI_SUM, root_of(i), comm);
        return;
    case 2:
        CALL_NONBLOCKING(Scan, scan, in[i], out[i], n, MPI_INT, MPI_SUM, comm);
        return;
    default:
        CALL_NONBLOCKING(Exscan, exscan, in[i], out[i], n, MPI_INT, MPI_SUM, comm);
    }
}

static void unmake(MPI_Request *request)
{
    if (form == PERSISTENT)
        MPI_Request_free(request);
    check(*request == MPI_REQUEST_NULL, "a request is not null at its end");
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void complete_some(int n, MPI_Request *request, uint64_t *state)
{
    int which, done[2 * MANY], some, flag;
    MPI_Status status[2 * MANY];

    *state = mix(*state + 1);
    which = (int)(*state / 64 % (unsigned)n);
#if COLLOPT_HAVE_GET_STATUSES
    if (*state % 64 == 0)
        MPI_Request_get_status_any(n, request, &which, &flag, status);
    else if (*state % 64 == 1)
        MPI_Request_get_status_some(n, request, &some, done, status);
    else if (*state % 64 == 2)
        MPI_Request_get_status_all(n, request, &flag, statuses);
#endif
    switch (*state % 8) {
    case 0:
        MPI_Waitany(n, request, &which, status);
        check(which == MPI_UNDEFINED || (which >= 0 && which < n), "MPI_Waitany: index %d", which);
        return;
    case 1:
        MPI_Testsome(n, request, &some, done, status);
        check(some == MPI_UNDEFINED || (some >= 0 && some <= n), "MPI_Testsome: %d", some);
        return;
    case 2:
        MPI_Waitsome(n, request, &some, done, status);
        check(some == MPI_UNDEFINED || (some > 0 && some <= n), "MPI_Waitsome: %d", some);
        return;
    case 3:
        MPI_Testany(n, request, &which, &flag, status);
        check(flag || which == MPI_UNDEFINED, "MPI_Testany: index %d, flag %d", which, flag);
        return;
    case 4:
        MPI_Testall(n, request, &flag, statuses);
        return;
    case 5:
        MPI_Request_get_status(request[which], &flag, status);
        return;
    case 6:
        MPI_Test(&request[which], &flag, MPI_STATUS_IGNORE);
        return;
    default:
        MPI_Wait(&request[which], status);
    }
}

/* Operations, of the persistent ones every second one started in another order on each rank, and
 * messages of the program's own. */
static void any_order(void)
{
    MPI_Request request[2 * MANY];
    uint64_t state = (uint64_t)world_rank + 1;
    int next = (world_rank + 1) % world_ranks,
        before = (world_rank + world_ranks - 1) % world_ranks;

    at("operations are made");
    for (int i = 0; i < MANY; i++)
        make(i, MPI_COMM_WORLD, &request[i]);
    for (int round = 0; round < 40; round++) {
        int here[MANY / 2], there[MANY / 2];
        int from = form == PERSISTENT ? (int)(mix(state += 3) % (MANY / 2)) : 0;

        at("started, and completed in another order on each rank");
        for (int i = 0; i < MANY; i++)
            fill(i, round);
        for (int i = 0; i < MANY / 2; i++) {
            there[i] = world_rank + round;
            here[i] = -1;
            MPI_Irecv(&here[i], 1, MPI_INT, before, i, MPI_COMM_WORLD, &request[MANY + 2 * i]);
            start(2 * ((i + from) % (MANY / 2)), MPI_COMM_WORLD,
                  &request[2 * ((i + from) % (MANY / 2))]);
            MPI_Isend(&there[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &request[MANY + 2 * i + 1]);
        }
        for (int i = MANY - 1; i > 0; i -= 2)
            start(i, MPI_COMM_WORLD, &request[i]);
        sum_all(MPI_COMM_WORLD, 10 + round, "a blocking sum among operations");
        for (int tries = 0; tries < 60; tries++)
            complete_some(2 * MANY, request, &state);
        MPI_Waitall(2 * MANY, request, statuses);
        for (int i = 0; i < MANY; i++)
            judge(i, round, "any order");
        for (int i = 0; i < MANY / 2; i++)
            check(here[i] == before + round, "message %d of round %d: %d", i, round, here[i]);
    }
    for (int i = 0; i < MANY; i++)
        unmake(&request[i]);
}

/* Each request is completed once by calls that pick one, and all are started by MPI_Startall. */
static void picked(void)
{
    MPI_Request request[MANY];
    MPI_Status status;

    for (int i = 0; i < MANY; i++)
        make(i, MPI_COMM_WORLD, &request[i]);
    for (int round = 0; round < 20; round++) {
        int found[MANY] = { 0 }, index, some, done[MANY], flag;

        at("picked one by one");
        for (int i = 0; i < MANY; i++)
            fill(i, round);
        if (form == PERSISTENT)
            MPI_Startall(MANY, request);
        for (int i = 0; i < MANY && form == NONBLOCKING; i++)
            start(i, MPI_COMM_WORLD, &request[i]);
        for (int left = MANY; left > 0;) {
            if (round % 2 == 0) {
                MPI_Waitany(MANY, request, &index, &status);
                check(index != MPI_UNDEFINED, "MPI_Waitany finds nothing, %d are left", left);
                if (index == MPI_UNDEFINED)
                    break;
                found[index]++;
                judge(index, round, "picked");
                left--;
            } else {
                MPI_Waitsome(MANY, request, &some, done, statuses);
                check(some != MPI_UNDEFINED, "MPI_Waitsome finds nothing, %d are left", left);
                if (some == MPI_UNDEFINED)
                    break;
                for (int k = 0; k < some; k++, left--) {
                    found[done[k]]++;
                    judge(done[k], round, "picked");
                }
            }
        }
        for (int i = 0; i < MANY; i++)
            check(found[i] == 1, "operation %d is found %d times", i, found[i]);
        MPI_Waitany(MANY, request, &index, &status);
        check(index == MPI_UNDEFINED, "MPI_Waitany finds inactive request %d", index);
        MPI_Testany(MANY, request, &index, &flag, &status);
        check(flag && index == MPI_UNDEFINED, "MPI_Testany of inactive requests: flag %d, index %d",
              flag, index);
        MPI_Waitsome(MANY, request, &some, done, statuses);
        check(some == MPI_UNDEFINED, "MPI_Waitsome finds %d inactive requests", some);
        MPI_Testall(MANY, request, &flag, statuses);
        check(flag, "MPI_Testall: inactive requests are not complete");
    }
    for (int i = 0; i < MANY; i++)
        unmake(&request[i]);
}

/* The handle of an inactive request stands in the array before and behind the one that counts. */
static void several_times(void)
{
    enum { IDLE, SUM = 4, WAYS = 6 };
    MPI_Request idle, request[3];

    at("the same inactive request several times");
    make(IDLE, MPI_COMM_WORLD, &idle);
    make(SUM, MPI_COMM_WORLD, &request[1]);
    for (int way = 0; way < WAYS; way++) {
        int index = 1, flag = 0, some = 1;

        request[0] = request[2] = idle;
        fill(SUM, way);
        start(SUM, MPI_COMM_WORLD, &request[1]);
        while (!flag)
            switch (way) {
            case 0: flag = !MPI_Waitall(3, request, statuses); break;
            case 1: MPI_Testall(3, request, &flag, statuses); break;
            case 2: flag = !MPI_Waitany(3, request, &index, statuses); break;
            case 3: MPI_Testany(3, request, &index, &flag, statuses); break;
            case 4: flag = !MPI_Waitsome(3, request, &some, &index, statuses); break;
            default: flag = !MPI_Testsome(3, request, &some, &index, statuses) && some != 0;
            }
        check(index == 1 && some == 1, "way %d: %d, of them number %d", way, some, index);
        check(request[0] == idle && request[2] == idle, "way %d: a handle is another", way);
        judge(SUM, way, "among inactive ones");
    }
    unmake(&request[1]);
    unmake(&idle);
}

static void start_some(int i, MPI_Request *request)
{
    for (int salt = 0; salt < 4; salt++) {
        fill(i, salt);
        start(i, MPI_COMM_WORLD, request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        judge(i, salt, "run ahead");
    }
}

/* Ranks that need no input of others complete four operations before the others start the first
 * one.  Nonblocking operations that are compared wait for all ranks, so they are left out. */
static void run_ahead(void)
{
    const int sum = 1, root = root_of(sum), scan = 2, last = world_ranks - 1;
    MPI_Request request[2];
    int token = 0;

    if (form == NONBLOCKING && getenv("COLLOPT_CHECK"))
        return;
    at("operations that others start later");
    make(sum, MPI_COMM_WORLD, &request[0]);
    make(scan, MPI_COMM_WORLD, &request[1]);
    for (int r = 0; r < world_ranks && world_rank == root; r++)
        if (r != root)
            MPI_Recv(&token, 1, MPI_INT, r, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    start_some(sum, &request[0]);
    if (world_rank != root)
        MPI_Send(&token, 1, MPI_INT, root, 9, MPI_COMM_WORLD);
    if (world_rank == last && last > 0)
        MPI_Recv(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    start_some(scan, &request[1]);
    if (world_rank == 0 && last > 0)
        MPI_Send(&token, 1, MPI_INT, last, 9, MPI_COMM_WORLD);
    unmake(&request[0]);
    unmake(&request[1]);
}

/* Ranks that need no input of others run ahead as far as they can.  Now and then a rank is late. */
static void run_on(long times)
{
    static const int of[] = { 1, 2, 3, 9, 14 };         /* short ones, and long ones */
    MPI_Request request;

    at("operations that follow one another");
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        int i = of[k];

        make(i, MPI_COMM_WORLD, &request);
        for (int salt = 0; salt < times; salt++) {
            uint64_t drawn = mix((uint64_t)salt * (uint64_t)world_ranks + (uint64_t)world_rank);

            if (drawn % 64 == 0)
                nanosleep(&(struct timespec){ .tv_nsec = (long)(drawn / 64 % 300000) }, NULL);
            fill(i, salt);
            start(i, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            judge(i, salt, "one after another");
        }
        unmake(&request);
    }
}

/* Tests are false as long as the last rank has not started. */
static void incomplete(void)
{
    MPI_Request request[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    int flag = 0, index, some, done[2], token = 0;

    at("tests of what is not complete");
    if (world_ranks == 1)
        return;
    make(0, MPI_COMM_WORLD, &request[0]);
    fill(0, 3);
    if (world_rank == 0) {
        start(0, MPI_COMM_WORLD, request);
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        check(!flag, "MPI_Test: complete before all ranks have started");
        MPI_Testall(2, request, &flag, statuses);
        check(!flag, "MPI_Testall: complete before all ranks have started");
        MPI_Testany(2, request, &index, &flag, MPI_STATUS_IGNORE);
        check(!flag, "MPI_Testany: flag and index %d before all ranks have started", index);
        MPI_Testsome(2, request, &some, done, statuses);
        check(some == 0, "MPI_Testsome: %d before all ranks have started", some);
        MPI_Request_get_status(request[0], &flag, MPI_STATUS_IGNORE);
        check(!flag, "MPI_Request_get_status: complete before all ranks have started");
#if COLLOPT_HAVE_GET_STATUSES
        MPI_Request_get_status_any(2, request, &index, &flag, MPI_STATUS_IGNORE);
        check(!flag, "MPI_Request_get_status_any: flag and index %d before all ranks have started",
              index);
        MPI_Request_get_status_some(2, request, &some, done, statuses);
        check(some == 0, "MPI_Request_get_status_some: %d before all ranks have started", some);
        MPI_Request_get_status_all(2, request, &flag, statuses);
        check(!flag, "MPI_Request_get_status_all: complete before all ranks have started");
#endif
#if COLLOPT_HAVE_IS_COMPLETE
        check(!MPIX_Request_is_complete(request[0]),
              "MPIX_Request_is_complete: complete before all ranks have started");
#endif
        for (int r = 1; r < world_ranks; r++)
            MPI_Send(&token, 1, MPI_INT, r, 9, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        start(0, MPI_COMM_WORLD, request);
    }
#if COLLOPT_HAVE_IS_COMPLETE
    while (!MPIX_Request_is_complete(request[0]))
        MPIX_Stream_progress(MPIX_STREAM_NULL);
    MPI_Request_get_status(request[0], &flag, MPI_STATUS_IGNORE);
    check(flag, "MPI_Request_get_status: MPIX_Request_is_complete has said that it is complete");
#endif
    for (flag = 0; !flag;)
        MPI_Request_get_status(request[0], &flag, MPI_STATUS_IGNORE);
    MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    check(flag, "MPI_Test: MPI_Request_get_status has said that it is complete");
    judge(0, 3, "tested");
    unmake(&request[0]);
}

/* ---- nothing more is needed of a rank that has started --------------------------------------- */

static void receive_before_wait(void)
{
    MPI_Request request;

    make(4, MPI_COMM_WORLD, &request);
    for (int n = 0; n < 20; n++) {
        int token = n;

        at("start, Recv against start, Wait, Send");
        fill(4, n);
        start(4, MPI_COMM_WORLD, &request);
        if (world_rank > 0) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Send(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        }
        for (int r = 1; r < world_ranks && world_rank == 0; r++)
            MPI_Recv(&token, 1, MPI_INT, r, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        judge(4, n, "receive before wait");
        at("start, Allreduce, Wait against start, Wait, Allreduce");
        fill(4, n + 1);
        start(4, MPI_COMM_WORLD, &request);
        if (world_rank % 2)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum_all(MPI_COMM_WORLD, 10 + n, "a blocking sum before the wait");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        judge(4, n + 1, "blocking before wait");
    }
    unmake(&request);
}

/* ---- handles and requests that are freed ----------------------------------------------------- */

/* One int in two. */
static void add(void *left, void *right, int *n, MPI_Datatype *type)
{
    MPI_Aint lb, extent;

    MPI_Type_get_extent(*type, &lb, &extent);
    for (int i = 0; i < *n; i++)
        *(int *)(void *)((char *)right + i * extent) += *(int *)(void *)((char *)left + i * extent);
}

static void init_typed(const int *give, int *take, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       MPI_Request *request)
{
    CALL_INIT(Allreduce, allreduce, give, take, 20, type, op, comm);
}

static void give_all(int *give, int take[2][40], int n)
{
    for (int i = 0; i < 40; i++) {
        give[i] = world_rank + i + n;
        take[0][i] = take[1][i] = -5;
    }
}

static void free_handles_early(void)
{
    for (int n = 0; n < 40; n++) {
        MPI_Request all[2];
        MPI_Datatype type, gapped;
        MPI_Op op;
        MPI_Comm comm;
        int give[40], take[2][40];

        at("operation, datatype and communicator freed before the end");
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        sum_all(comm, 1, "a sum that takes the communicator over");
        MPI_Type_contiguous(1, MPI_INT, &type);
        MPI_Type_create_resized(type, 0, 2 * sizeof(int), &gapped);
        MPI_Type_commit(&gapped);
        MPI_Type_free(&type);
        MPI_Op_create(add, 1, &op);
        give_all(give, take, n);
        for (int k = 0; k < 2; k++)
            if (form == PERSISTENT)
                init_typed(give, take[k], gapped, op, comm, &all[k]);
            else
                MPI_Iallreduce(give, take[k], 20, gapped, op, comm, &all[k]);
        MPI_Op_free(&op);
        MPI_Type_free(&gapped);
        MPI_Comm_free(&comm);
        check(op == MPI_OP_NULL && gapped == MPI_DATATYPE_NULL, "freed handles are not null");
        MPI_Op_create(add, 1, &op);             /* which may get the handle of the old one */
        for (int round = 0; round < 2; round++) {
            if (form == PERSISTENT)
                give_all(give, take, n);
            for (int k = round; k < 2 && form == PERSISTENT; k++)
                MPI_Start(&all[k]);
            for (int k = round; k < 2; k++)
                MPI_Wait(&all[k], MPI_STATUS_IGNORE);
            for (int k = round; k < 2; k++)
                for (int i = 0; i < 40; i++)
                    check(take[k][i]
                              == (i % 2 ? -5
                                        : world_ranks * (i + n)
                                          + world_ranks * (world_ranks - 1) / 2),
                          "freed early, element %d: %d", i, take[k][i]);
            unmake(&all[round]);
        }
        MPI_Op_free(&op);
    }
}

static int last_error;

static void note_error(MPI_Comm *comm, int *err, ...)
{
    (void)comm;
    last_error = *err;
}

/* Never started; freed while it is active, on which the others' do not depend. */
static void free_requests(void)
{
    MPI_Request request;
    int flag;

    at("requests are freed");
    for (int n = 0; n < 20; n++) {
        make(n % MANY, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        check(flag, "an inactive request is not complete");
        MPI_Request_free(&request);
        check(request == MPI_REQUEST_NULL, "a freed request is not null");
    }
    for (int n = 0; n < 20; n++) {
        int i = 8 + n % 3;

        fill(i, n);
        make(i, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        if (world_rank > 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank > 0)
            judge(i, n, "freed while it was active elsewhere");
    }
}

static void errors(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm;
    MPI_Request request;
    int class;

    at("errors");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(note_error, &handler);
    /* errors of requests are raised on the one, since MPI 4 on the other */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    sum_all(comm, 1, "a sum that takes the communicator over");
    make(0, comm, &request);
    fill(0, 1);
    start(0, comm, &request);
    check(MPI_Start(&request) != MPI_SUCCESS && last_error != MPI_SUCCESS, "started twice");
    MPI_Error_class(last_error, &class);
    check(class == MPI_ERR_REQUEST, "started twice: class %d", class);
    last_error = MPI_SUCCESS;
    /* Open MPI allows it for a nonblocking one of one rank, which is complete there */
    check((MPI_Cancel(&request) != MPI_SUCCESS && last_error != MPI_SUCCESS)
              || (form == NONBLOCKING && world_ranks == 1), "cancelled");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    judge(0, 1, "after errors");
    unmake(&request);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct thread {
    MPI_Comm comm;
    int number;
};

static void init_allreduce(const int *give, int *take, int n, MPI_Comm comm, MPI_Request *request)
{
    CALL_INIT(Allreduce, allreduce, give, take, n, MPI_INT, MPI_SUM, comm);
}

static void *reduce_in_thread(void *data)
{
    const struct thread *t = data;

    for (int n = 0; n < 20; n++) {
        int give[8], take[8][8];
        MPI_Request all[8];
        MPI_Status ended[8];

        for (int i = 0; i < 8 && form == PERSISTENT; i++)
            init_allreduce(give, take[i], 8, t->comm, &all[i]);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 8; i++)
                give[i] = world_rank + i + n + t->number + round;
            for (int i = 0; i < 8 && form == NONBLOCKING; i++)
                MPI_Iallreduce(give, take[i], 8, MPI_INT, MPI_SUM, t->comm, &all[i]);
            if (form == PERSISTENT)
                MPI_Startall(8, all);
            for (int i = 0, index; i < 8 && n % 2; i++)
                MPI_Waitany(8, all, &index, MPI_STATUS_IGNORE);
            MPI_Waitall(8, all, ended);
            for (int i = 0; i < 8; i++)
                for (int k = 0; k < 8; k++)
                    check(take[i][k]
                              == world_ranks * (k + n + t->number + round)
                                  + world_ranks * (world_ranks - 1) / 2,
                          "thread %d, call %d, element %d: %d", t->number, n, k, take[i][k]);
        }
        for (int i = 0; i < 8; i++)
            unmake(&all[i]);
    }
    return NULL;
}

static void threads(void)
{
    enum { THREADS = 3 };
    struct thread t[THREADS];
    pthread_t id[THREADS];

    at("threads");
    for (int i = 0; i < THREADS; i++) {
        t[i].number = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &t[i].comm);
        sum_all(t[i].comm, 1, "a sum that takes the communicator over");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&id[i], NULL, reduce_in_thread, &t[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&t[i].comm);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* KiB that a process may grow by for other reasons; ThreadSanitizer takes 1.5 MiB at some start. */
#ifdef __SANITIZE_THREAD__
enum { SLACK = 4096 };
#else
enum { SLACK = 1024 };
#endif

static void leaks(long starts, long renewals)
{
    MPI_Request request;
    long before = 0;

    make(4, MPI_COMM_WORLD, &request);
    for (long n = 0; n < starts; n++) {
        if (n % 1000 == 0)
            at("one operation, again and again");
        if (n == starts / 10)
            before = resident();
        in[4][0] = (int)n;
        start(4, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(out[4][0] == (int)n * world_ranks, "start %ld: %d", n, out[4][0]);
    }
    check(resident() < before + SLACK, "%ld KiB more after %ld starts", resident() - before,
          starts);
    unmake(&request);
    for (long n = 0; n < renewals && form == PERSISTENT; n++) {
        if (n % 100 == 0)
            at("operations are made and freed");
        if (n == renewals / 5)
            before = resident();
        make((int)n % MANY, MPI_COMM_WORLD, &request);
        if (n % 2)
            MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
    check(resident() < before + SLACK, "%ld KiB more after %ld operations", resident() - before,
          renewals);
}

/* Operations and datatypes that come and go. */
static void renewed_handles(long renewals)
{
    long before = resident();

    for (long n = 0; n < renewals; n++) {
        int give = (int)n, take = 0;
        MPI_Datatype type;
        MPI_Op op;

        if (n % 1000 == 0)
            at("handles are made and freed");
        if (n == renewals / 5)
            before = resident();
        MPI_Op_create(add, n % 2, &op);
        MPI_Type_create_resized(MPI_INT, 0, sizeof(int), &type);
        MPI_Type_commit(&type);
        MPI_Allreduce(&give, &take, 1, type, op, MPI_COMM_WORLD);
        MPI_Type_free(&type);
        MPI_Op_free(&op);
        check(take == give * world_ranks, "operation %ld: %d", n, take);
    }
    check(resident() < before + SLACK, "%ld KiB more after %ld operations and datatypes",
          resident() - before, renewals);
}

/* ---- nonblocking alone ----------------------------------------------------------------------- */

/* Hundreds at once, short and long, completed in an order of its own on each rank. */
static void hundreds(void)
{
    enum { HUNDREDS = 400, LONG = 20000 };
    static int give[HUNDREDS], take[HUNDREDS], big[8][LONG], sum[8][LONG];
    MPI_Request all[HUNDREDS + 8];
    uint64_t state = (uint64_t)world_rank + 77;

    at("hundreds at once");
    for (int i = 0; i < 8 * LONG; i++)
        big[i / LONG][i % LONG] = world_rank + i;
    for (int i = 0; i < HUNDREDS; i++) {
        give[i] = world_rank + i;
        take[i] = -1;
        MPI_Iallreduce(&give[i], &take[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &all[i]);
        if (i % 50 == 0)
            MPI_Iallreduce(big[i / 50], sum[i / 50], LONG, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                           &all[HUNDREDS + i / 50]);
    }
    for (int left = HUNDREDS + 8, index; left > 0; left--) {
        state = mix(state + 1);
        index = (int)(state % (HUNDREDS + 8));
        if (all[index] != MPI_REQUEST_NULL)
            MPI_Wait(&all[index], MPI_STATUS_IGNORE);
        else
            MPI_Waitany(HUNDREDS + 8, all, &index, MPI_STATUS_IGNORE);
        check(index != MPI_UNDEFINED && all[index] == MPI_REQUEST_NULL, "%d are left, index %d",
              left, index);
    }
    for (int i = 0; i < HUNDREDS; i++)
        check(take[i] == world_ranks * i + world_ranks * (world_ranks - 1) / 2,
              "sum %d of hundreds: %d", i, take[i]);
    for (int i = 0; i < 8 * LONG; i++)
        if (sum[i / LONG][i % LONG] != world_ranks * i + world_ranks * (world_ranks - 1) / 2) {
            fail("long sum %d, element %d: %d", i / LONG, i % LONG, sum[i / LONG][i % LONG]);
            break;
        }
}

/* One rank is far ahead of the others, which is what its journal is for. */
static void far_ahead(void)
{
    enum { AHEAD = 3000 };
    static int give[AHEAD], take[AHEAD];
    static MPI_Request all[AHEAD];
    static MPI_Status ended[AHEAD];
    int token = 0;

    at("one rank is far ahead");
    if (world_rank > 0)
        MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < AHEAD; i++) {
        give[i] = world_rank + i;
        MPI_Iallreduce(&give[i], &take[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &all[i]);
    }
    for (int r = 1; r < world_ranks && world_rank == 0; r++)
        MPI_Send(&token, 1, MPI_INT, r, 3, MPI_COMM_WORLD);
    MPI_Waitall(AHEAD, all, ended);
    for (int i = 0; i < AHEAD; i++)
        check(take[i] == world_ranks * i + world_ranks * (world_ranks - 1) / 2, "sum %d ahead: %d",
              i, take[i]);
}

/* With COLLOPT_SHM_SIZE=64K: more than the room for inputs, 4 MiB. */
static void more_than_fits(void)
{
    enum { INPUTS = 40, LENGTH = 50000 };
    int *give = malloc(INPUTS * LENGTH * sizeof *give),
        *take = malloc(INPUTS * LENGTH * sizeof *take);
    MPI_Request all[INPUTS];
    MPI_Status ended[INPUTS];

    at("more than fits");
    for (int i = 0; i < INPUTS * LENGTH; i++) {
        give[i] = world_rank + i;
        take[i] = -1;
    }
    for (int n = 0; n < INPUTS; n++)
        MPI_Iallreduce(&give[n * LENGTH], &take[n * LENGTH], LENGTH, MPI_INT, MPI_SUM,
                       MPI_COMM_WORLD, &all[n]);
    MPI_Waitall(INPUTS, all, ended);
    for (int i = 0; i < INPUTS * LENGTH; i++)
        if (take[i] != world_ranks * i + world_ranks * (world_ranks - 1) / 2) {
            fail("more than fits: element %d is %d", i, take[i]);
            break;
        }
    free(give);
    free(take);
}

/* Some ranks never read what the others have written: their journals are freed all the same. */
static void communicators(void)
{
    /* MPICH takes long to make them where ranks share processors */
    int many = world_ranks > 2 ? 60 : 600;
    long before = 0;

    for (int n = 0; n < many; n++) {
        MPI_Comm comm;
        MPI_Request request;
        int give = world_rank + n, take = -1;

        if (n % 100 == 0)
            at("communicators come and go");
        if (n == many / 3)
            before = resident();
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        sum_all(comm, 1, "a sum that takes the communicator over");
        for (int i = 0; i < 1 + n % 3; i++) {
            if (n % 2)
                MPI_Ireduce(&give, &take, 1, MPI_INT, MPI_SUM, n % world_ranks, comm, &request);
            else
                MPI_Iallreduce(&give, &take, 1, MPI_INT, MPI_SUM, comm, &request);
            if (i == n % 3)
                MPI_Comm_free(&comm);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            if (n % 2 == 0 || n % world_ranks == world_rank)
                check(take == world_ranks * n + world_ranks * (world_ranks - 1) / 2,
                      "communicator %d: %d", n, take);
        }
    }
    check(resident() < before + SLACK, "%ld KiB more after %d communicators", resident() - before,
          many);
}

/* Threads that wait for requests of one communicator. */
struct waiting {
    MPI_Request *request;
    int n;
};

static void *wait_in_thread(void *data)
{
    struct waiting *w = data;

    for (int i = 0; i < w->n; i++)
        MPI_Wait(&w->request[i], MPI_STATUS_IGNORE);
    return NULL;
}

static void threads_on_one(void)
{
    enum { EACH = 20, THREADS = 3 };
    int give[THREADS * EACH], take[THREADS * EACH];
    MPI_Request all[THREADS * EACH];
    struct waiting w[THREADS];
    pthread_t id[THREADS];

    at("threads that wait on one communicator");
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < THREADS * EACH; i++) {
            give[i] = world_rank + i + round;
            MPI_Iallreduce(&give[i], &take[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &all[i]);
        }
        for (int t = 0; t < THREADS; t++) {
            w[t] = (struct waiting){ &all[t * EACH], EACH };
            pthread_create(&id[t], NULL, wait_in_thread, &w[t]);
        }
        for (int t = 0; t < THREADS; t++)
            pthread_join(id[t], NULL);
        for (int i = 0; i < THREADS * EACH; i++)
            check(take[i] == world_ranks * (i + round) + world_ranks * (world_ranks - 1) / 2,
                  "sum %d of threads: %d", i, take[i]);
    }
}

/* Then hosts see no mismatch where a message is shorter than its receive. */
static bool by_messages(void)
{
    const char *ours = getenv("TEST_OURS");

    return ours && strcmp(ours, "messages") == 0;
}

/* Ranks that do not call the same: an error on those that look, and nobody hangs. */
static void mismatch(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm;
    MPI_Request request;
    int give[2] = { 1, 1 }, take[2], err;

    at("ranks that do not call the same");
    /* test_check does it where calls are compared, and a line is written */
    if (world_ranks == 1 || by_messages() || getenv("COLLOPT_CHECK"))
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(note_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    sum_all(comm, 1, "a sum that takes the communicator over");
    MPI_Iallreduce(give, take, world_rank == 0 ? 2 : 1, MPI_INT, MPI_SUM, comm, &request);
    last_error = MPI_SUCCESS;
    err = MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(err != MPI_SUCCESS && last_error == err && request == MPI_REQUEST_NULL,
          "other counts on other ranks: error %d, handler %d", err, last_error);
    MPI_Iallreduce(give, take, 2, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(take[0] == world_ranks && take[1] == world_ranks, "after a mismatch: %d %d", take[0],
          take[1]);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

/* Each of the calls that do not wait completes a request, if it is called often enough. */
static void looked_for(void)
{
    enum { SUM = 4 };
    MPI_Request request;
    int which, flag = 0, some = 0;

    at("looking for one until it is complete");
    fill(SUM, 0);
    make(SUM, MPI_COMM_WORLD, &request);
    for (int way = 0; way < 4; way++) {
        start(SUM, MPI_COMM_WORLD, &request);
        for (flag = some = 0; !flag && some <= 0;)
            switch (way) {
            case 0: MPI_Testany(1, &request, &which, &flag, MPI_STATUS_IGNORE); break;
            case 1: MPI_Testsome(1, &request, &some, &which, statuses); break;
            case 2: MPI_Testall(1, &request, &flag, statuses); break;
            default: MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            }
        judge(SUM, 0, "looked for");
    }
    unmake(&request);
}

/* The program frees an active request, then calls MPI_Finalize. The other ranks need its
 * messages. */
static void free_at_the_end(void)
{
    MPI_Request request;

    fill(1, 0);
    make(1, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Request_free(&request);
}

/* The result appears without an MPI call of this rank. */
static void no_call(void)
{
    enum { SUM = 4 };
    const int last = length_of(SUM) - 1,
              right = world_ranks * (SUM + last) + world_ranks * (world_ranks - 1) / 2;
    MPI_Request request;

    at("a result without another call");
    fill(SUM, 0);
    make(SUM, MPI_COMM_WORLD, &request);
    for (int round = 0; round < 100; round++) {
        out[SUM][last] = -1;
        start(SUM, MPI_COMM_WORLD, &request);
        while (__atomic_load_n(&out[SUM][last], __ATOMIC_RELAXED) != right)
            sched_yield();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        judge(SUM, 0, "without another call");
    }
    unmake(&request);
}

static void nonblocking_alone(bool may_have_threads)
{
    hundreds();
    far_ahead();
    if (getenv("COLLOPT_SHM_SIZE"))
        more_than_fits();
    communicators();
    mismatch();
    if (may_have_threads)
        threads_on_one();
}

int main(int argc, char **argv)
{
    bool ours = getenv("TEST_OURS") != NULL;
    /* waiting ranks do not yield, here or in the MPI library */
    bool slow = getenv("COLLOPT_WAIT") || getenv("COLLOPT_CHECK");
    long starts = argc > 1 ? strtol(argv[1], NULL, 10) : 10000;
    /* each takes long; a hundred bytes that it leaves behind show after 10000 */
    long renewals = starts < 50000 ? starts / 100 : starts / 20;
    MPI_Request left;
    uint64_t passed;
    char name[64];
    int level;

    form = form_named(getenv("TEST_FORM"));
    begin_with(&argc, &argv, "test_requests", MPI_THREAD_MULTIPLE);
    MPI_Query_thread(&level);
    check(form != BLOCKING, "TEST_FORM is to be persistent or nonblocking");
    if (form == PERSISTENT && !HAVE_INIT)
        return end();
    sum_all(MPI_COMM_WORLD, 1, "a sum that takes the world over");
    receive_before_wait();
    if (argc > 2)
        no_call();
    if (ours) {
        run_ahead();
        run_on(slow ? 20 : starts < 1000 ? starts : 1000);
        incomplete();
        looked_for();
        any_order();
        picked();
        free_handles_early();
        if (form == PERSISTENT) {
            several_times();
            free_requests();
        }
        errors();
    }
    if (ours && form == NONBLOCKING)
        nonblocking_alone(level == MPI_THREAD_MULTIPLE);
    if (ours && level == MPI_THREAD_MULTIPLE)
        threads();
    leaks(starts, renewals);
    renewed_handles(renewals);
    make(0, MPI_COMM_WORLD, &left);             /* and not freed */
    passed = calls_passed(form_name("Allreduce", form, name));
    check(!with_collopt() || ours == (passed == 0), "%llu operations were left to the MPI library",
          (unsigned long long)passed);
    check(!ours || calls_run("allreduce", algorithm_of_form(form)) > (uint64_t)starts,
          "collopt has run %llu only",
          (unsigned long long)calls_run("allreduce", algorithm_of_form(form)));
    if (ours && form == PERSISTENT)
        free_at_the_end();
    return end();
}
