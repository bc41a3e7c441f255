/* Threads, each on a communicator of its own, with MPI_THREAD_MULTIPLE.  They begin in opposite
 * orders on odd and even ranks, so that first uses, and the agreements that belong to them,
 * overlap.
 *
 * What threads share is used by all of them at once: the first call of the process,
 * MPI_Reduce_local, operations, datatypes and communicators that come and go while others are in
 * use, and whose handles come back in other threads.
 *
 * "handlers": while one thread waits in a reduction, the error handler of the communicator is the
 * program's, as another thread finds out. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

enum { THREADS = 4, ROUNDS = 60, COMINGS = 12 };

struct task {
    MPI_Comm comm, alone;
    int number;
};

static void *work(void *data)
{
    static const int count[] = { 1, 100, 5000, 0, 17 };
    const struct task *t = data;
    int ranks;

    MPI_Comm_size(t->comm, &ranks);
    usleep((useconds_t)(world_rank % 2 ? t->number : THREADS - 1 - t->number) * 2000);
    for (int i = 0; i < ROUNDS; i++) {
        sum_all(t->comm, count[(i + t->number) % 5], "a thread's allreduce");
        sum_to(t->comm, count[i % 5], (i + t->number) % ranks, "a thread's reduce");
    }
    return NULL;
}

static void in_threads(void *run(void *), struct task task[THREADS])
{
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, run, task ? &task[i] : NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* Before MPI_Init: the first of them finds the MPI library. */
static void *ask(void *unused)
{
    char text[64] = "";

    if (with_collopt())
        check(collopt_explain("allreduce", 8, 1024, 1, text, sizeof text) > 0,
              "collopt_explain says \"%s\"", text);
    return unused;
}

/* ---- what comes and goes --------------------------------------------------------------------- */

/* The same combinations in every thread, each beginning with another. */
static void reduce_locally(int from)
{
    enum { KINDS = 4 };
    static const int right[KINDS] = { 3 + 4, 3 * 4, 4, 3 };
    const MPI_Op op[KINDS] = { MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN };

    for (int i = from; i < from + KINDS; i++) {
        int n[] = { 3, 4 };
        long l[] = { 3, 4 };
        float f[] = { 3, 4 };
        double d[] = { 3, 4 };
        short s[] = { 3, 4 };
        int err = MPI_Reduce_local(&n[0], &n[1], 1, MPI_INT, op[i % KINDS]);

        err = err ? err : MPI_Reduce_local(&l[0], &l[1], 1, MPI_LONG, op[i % KINDS]);
        err = err ? err : MPI_Reduce_local(&f[0], &f[1], 1, MPI_FLOAT, op[i % KINDS]);
        err = err ? err : MPI_Reduce_local(&d[0], &d[1], 1, MPI_DOUBLE, op[i % KINDS]);
        err = err ? err : MPI_Reduce_local(&s[0], &s[1], 1, MPI_SHORT, op[i % KINDS]);
        check(!err && n[1] == right[i % KINDS] && l[1] == right[i % KINDS]
                  && f[1] == (float)right[i % KINDS] && d[1] == right[i % KINDS]
                  && s[1] == right[i % KINDS],
              "a thread's reduce_local, operation %d", i % KINDS);
    }
}

static void add_twos(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n * 2; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void highest_twos(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n * 2; i++)
        if (((int *)inout)[i] < ((int *)in)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

/* Two threads' operations are never the same at the same time, though their handles may be. */
static void use_handles(const struct task *t, bool add)
{
    enum { TWOS = 3 };
    int in[2 * TWOS], out[2 * TWOS] = { -1 }, rank, ranks, err;
    MPI_Datatype two;
    MPI_Op op;

    MPI_Comm_rank(t->comm, &rank);
    MPI_Comm_size(t->comm, &ranks);
    for (int i = 0; i < 2 * TWOS; i++)
        in[i] = rank + i;
    MPI_Op_create(add ? add_twos : highest_twos, 1, &op);
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    err = MPI_Allreduce(in, out, TWOS, two, op, t->comm);
    for (int i = 0; i < 2 * TWOS && !err; i++) {
        int right = add ? ranks * (ranks - 1) / 2 + ranks * i : ranks - 1 + i;

        check(out[i] == right, "a thread's %s: element %d is %d, should be %d",
              add ? "sum" : "maximum", i, out[i], right);
    }
    check(err == MPI_SUCCESS, "a thread's own operation: error %d", err);
    MPI_Type_free(&two);
    MPI_Op_free(&op);
}

static void use_communicator(MPI_Comm comm, int count)
{
    MPI_Comm copy;

    MPI_Comm_dup(comm, &copy);
    sum_all(copy, count, "a thread's allreduce on a new communicator");
    MPI_Comm_free(&copy);
}

static void *come_and_go(void *data)
{
    const struct task *t = data;

    for (int i = 0; i < COMINGS; i++) {
        reduce_locally(i + t->number);
        use_handles(t, (i + t->number) % 2 == 0);
        use_communicator(t->alone, i + t->number);
        if (i % 4 == 0)                 /* on few processors it takes long */
            use_communicator(t->comm, i + t->number);
    }
    return NULL;
}

/* ---- equal buffers --------------------------------------------------------------------------- */

static pthread_barrier_t together;

/* MPI forbids them.  Whether the host refuses them collopt finds out on MPI_COMM_SELF. */
static void *equal_buffers(void *data)
{
    const struct task *t = data;
    int x[2] = { 0 };

    MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN);
    pthread_barrier_wait(&together);
    MPI_Allreduce(x, x, 2, MPI_INT, MPI_SUM, t->comm);
    MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_ARE_FATAL);
    return NULL;
}

/* Open MPI takes such an error to MPI_COMM_WORLD. */
static void use_equal_buffers(struct task task[THREADS])
{
    MPI_Errhandler handler;

    pthread_barrier_init(&together, NULL, THREADS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    in_threads(equal_buffers, task);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler);
    check(handler == MPI_ERRORS_ARE_FATAL, "MPI_COMM_SELF has another error handler");
    MPI_Errhandler_free(&handler);
}

/* ---- error handlers ---- */

static int heard[2];

static void hear_first(MPI_Comm *comm, int *err, ...)
{
    (void)comm, (void)err;
    heard[0]++;
}

static void hear_second(MPI_Comm *comm, int *err, ...)
{
    (void)comm, (void)err;
    heard[1]++;
}

static struct handlers {
    MPI_Comm comm;
    MPI_Errhandler handler[2];
    int now;                    /* the one that COMM has */
} handlers;

static void go_wrong(const char *when)
{
    int before[] = { heard[0], heard[1] }, word = 0, ranks;
    const struct handlers *h = &handlers;

    MPI_Comm_size(h->comm, &ranks);
    MPI_Send(&word, 1, MPI_INT, ranks, 0, h->comm);
    check(heard[h->now] == before[h->now] + 1 && heard[!h->now] == before[!h->now],
          "%s: an error called the handler that was set %d times, the other one %d times", when,
          heard[h->now] - before[h->now], heard[!h->now] - before[!h->now]);
}

static void *change_handler(void *unused)
{
    struct handlers *h = &handlers;

    usleep(15000);
    go_wrong("while another thread waits");
    h->now = !h->now;
    MPI_Comm_set_errhandler(h->comm, h->handler[h->now]);
    go_wrong("set while another thread waits");
    return unused;
}

/* All forms of calls, and info keys, which are compared at the next call, take turns. */
static void call_in_turn(int turn)
{
    static const char *const algorithm[] = { "ring", "linear", "auto" };
    int mine = world_rank + turn, sum = -1;
    MPI_Request made = MPI_REQUEST_NULL, *request = &made;
    MPI_Info info;

    switch (turn % 8) {
    case 3:
        MPI_Info_create(&info);
        MPI_Info_set(info, "collopt_allreduce", algorithm[turn / 8 % 3]);
        MPI_Comm_set_info(handlers.comm, info);
        MPI_Info_free(&info);
        break;
    case 5:
        CALL_INIT(Allreduce, allreduce, &mine, &sum, 1, MPI_INT, MPI_SUM, handlers.comm);
        if (made != MPI_REQUEST_NULL) {
            MPI_Start(request);
            MPI_Wait(request, MPI_STATUS_IGNORE);
            MPI_Request_free(request);
        }
        break;
    case 6:
        CALL_NONBLOCKING(Allreduce, allreduce, &mine, &sum, 1, MPI_INT, MPI_SUM, handlers.comm);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        break;
    }
    if (turn % 8 != 5 && turn % 8 != 6)
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, handlers.comm);
    check(sum == world_ranks * (world_ranks - 1) / 2 + turn * world_ranks,
          "a sum while handlers change is %d", sum);
}

/* Rank 0 waits for the others, and its second thread has an error meanwhile. */
static void change_handlers(void)
{
    enum { TURNS = 48 };
    struct handlers *h = &handlers;

    MPI_Comm_dup(MPI_COMM_WORLD, &h->comm);
    MPI_Comm_create_errhandler(hear_first, &h->handler[0]);
    MPI_Comm_create_errhandler(hear_second, &h->handler[1]);
    MPI_Comm_set_errhandler(h->comm, h->handler[0]);
    at("handlers that change");
    for (int i = 0; i < TURNS; i++) {
        pthread_t thread;

        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 0)
            pthread_create(&thread, NULL, change_handler, NULL);
        else
            usleep(40000);
        call_in_turn(i);
        if (world_rank == 0)
            pthread_join(thread, NULL);
        go_wrong("after a call");
    }
    MPI_Errhandler_free(&h->handler[0]);
    MPI_Errhandler_free(&h->handler[1]);
    MPI_Comm_free(&h->comm);
}

/* What the host says of equal buffers is heard of once for each call, though collopt tries it. */
static void hear_of_equal_buffers(void)
{
    MPI_Comm all[] = { MPI_COMM_WORLD, MPI_COMM_SELF };
    MPI_Errhandler handler;
    int x[2] = { 0 };

    MPI_Comm_create_errhandler(hear_first, &handler);
    for (int i = 0; i < 2; i++)
        MPI_Comm_set_errhandler(all[i], handler);
    heard[0] = 0;
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(x, x, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(heard[0] == 3 || heard[0] == 0, "3 calls with equal buffers called the handlers %d times",
          heard[0]);
    for (int i = 0; i < 2; i++)
        MPI_Comm_set_errhandler(all[i], MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

/* ---- all together ---------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    struct task task[THREADS];
    uint64_t run, passed;

    in_threads(ask, NULL);
    begin_with(&argc, &argv, "test_threads", MPI_THREAD_MULTIPLE);
    if (argc > 1 && strcmp(argv[1], "handlers") == 0) {
        hear_of_equal_buffers();
        change_handlers();
        return end();
    }
    at("threads");
    for (int i = 0; i < THREADS; i++) {
        task[i].number = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &task[i].comm);
        MPI_Comm_dup(MPI_COMM_SELF, &task[i].alone);
    }
    in_threads(work, task);
    run = calls_run(NULL, NULL);
    passed = calls_passed(NULL);
    check(run + passed == THREADS * ROUNDS * 2,
          "collopt ran %llu calls and passed on %llu, not %d together", (unsigned long long)run,
          (unsigned long long)passed, THREADS * ROUNDS * 2);
    /* in trials */
    check(passed == 0 || getenv("COLLOPT_ADAPT"), "%llu calls were passed on",
          (unsigned long long)passed);

    at("what comes and goes in threads");
    use_equal_buffers(task);
    in_threads(come_and_go, task);
    check(calls_run(NULL, NULL) > run || !with_collopt(),
          "collopt ran no call while others came and went");
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_free(&task[i].comm);
        MPI_Comm_free(&task[i].alone);
    }
    sum_all(MPI_COMM_WORLD, 10, "after the threads");
    return end();
}
