/* Legal programs of unusual kinds, which a library between program and MPI may break.
 *
 *     mpirun -n 3 env LD_PRELOAD=libcollopt.so test_legal SUBJECT [ARGUMENT]...
 *
 * handles         handles of freed operations and datatypes come back as something else, on some
 *                 ranks only
 * layouts         ranks describe the same elements by different datatypes
 * outstanding     many long nonblocking reductions are under way while a rank waits for a message
 * latest_first    thousands of short nonblocking reductions are under way, and a rank waits for the
 *                 latest one first
 * ahead           ranks that need no input of others go far ahead of a late one
 * polling         a rank looks at its reductions only, while it owes another rank a message
 * nothing_owed    ranks wait outside of MPI for one whose call has returned
 * pauses          ranks wait in MPI for a long time between two starts of a persistent reduction
 * beside          a thread looks for messages while another one makes nonblocking reductions
 * past LIBRARY    requests are started and completed by functions of the MPI library itself
 * plugin FILE     the same, by a plugin that is bound to the MPI library
 * at_end          delete callbacks of MPI_COMM_SELF reduce in MPI_Finalize
 *
 * The plugin is this file, compiled with -DTEST_PLUGIN. */
#include <mpi.h>

#ifdef TEST_PLUGIN
int finish(MPI_Request *request);
int finish(MPI_Request *request)
{
    return MPI_Wait(request, MPI_STATUS_IGNORE);
}
#else

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

static enum form forms[] = { BLOCKING, NONBLOCKING, PERSISTENT };

static void nap(long microseconds)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000 * microseconds }, NULL);
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Elements of any layout that begin with a double. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint lb, extent;

    MPI_Type_get_extent(*type, &lb, &extent);
    for (int i = 0; i < *n; i++)
        *(double *)((char *)inout + i * extent) += *(double *)((char *)in + i * extent);
}

static void add_all(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int size;

    MPI_Type_size(*type, &size);
    for (int i = 0; i < *n * size / (int)sizeof(double); i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

static void left(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int size;

    MPI_Type_size(*type, &size);
    memcpy(inout, in, (size_t)*n * (size_t)size);
}

static double sum_of_ranks(void)
{
    return world_ranks * (world_ranks + 1) / 2.0;
}

/* An Allreduce of any form, to its end. */
static void reduce(enum form form, const void *in, void *out, int n, MPI_Datatype type, MPI_Op op)
{
    MPI_Request made = MPI_REQUEST_NULL, *request = &made;

    switch (form) {
    case BLOCKING:
        CALL_BLOCKING(Allreduce, allreduce, in, out, n, type, op, MPI_COMM_WORLD);
        return;
    case NONBLOCKING:
        CALL_NONBLOCKING(Allreduce, allreduce, in, out, n, type, op, MPI_COMM_WORLD);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    default:
        CALL_INIT(Allreduce, allreduce, in, out, n, type, op, MPI_COMM_WORLD);
        if (!HAVE_INIT)
            return;
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        MPI_Request_free(request);
    }
}

/* ---- handles --------------------------------------------------------------------------------- */

/* The odd ranks make theirs before the old one is freed, and get another handle. */
static void operation_comes_back(void)
{
    MPI_Op op, next;
    double in = world_rank + 1, out = 0;

    at("an operation that does not commute gets the handle of one that does");
    MPI_Op_create(add_all, 1, &op);
    for (int i = 0; i < 2000; i++)
        reduce(BLOCKING, &in, &out, 1, MPI_DOUBLE, op);
    check(out == sum_of_ranks(), "an operation of the program: %g", out);
    if (world_rank % 2 == 0)
        MPI_Op_free(&op);
    MPI_Op_create(left, 0, &next);
    if (world_rank % 2 == 1)
        MPI_Op_free(&op);
    for (int i = 0; i < 3; i++) {
        out = 0;
        reduce(BLOCKING, &in, &out, 1, MPI_DOUBLE, next);
        check(out == 1, "the operation that came after it: %g, not 1", out);
    }
    MPI_Op_free(&next);
}

static void reduce_by_new_type(int doubles, MPI_Op op, int times)
{
    double in[16], out[16];

    for (int i = 0; i < 16; i++)
        in[i] = world_rank + 1;
    for (int i = 0; i < times; i++) {
        MPI_Datatype type;

        MPI_Type_contiguous(doubles, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        memset(out, 0, sizeof out);
        reduce(BLOCKING, in, out, 1, type, op);
        MPI_Type_free(&type);
        for (int k = 0; k < doubles; k++)
            check(out[k] == sum_of_ranks(), "%d doubles: element %d is %g", doubles, k, out[k]);
    }
}

/* One rank has a datatype more, so its new ones have other handles. */
static void datatypes_come_back(void)
{
    MPI_Datatype mine = MPI_DATATYPE_NULL;
    MPI_Op op;

    at("datatypes made for each call, and one more on some ranks");
    MPI_Op_create(add_all, 1, &op);
    reduce_by_new_type(2, op, 2000);
    for (int size = 3; size < 16; size++) {
        if (world_rank == size % world_ranks) {
            MPI_Type_contiguous(100, MPI_CHAR, &mine);
            MPI_Type_commit(&mine);
        }
        reduce_by_new_type(size, op, 5 + size % 3 * 60);
        if (mine != MPI_DATATYPE_NULL)
            MPI_Type_free(&mine);
    }
    MPI_Op_free(&op);
}

static void handles(void)
{
    operation_comes_back();
    datatypes_come_back();
}

/* ---- layouts --------------------------------------------------------------------------------- */

enum layout { PLAIN, WIDE, INDEXED, F90, LAYOUTS };

/* Of N doubles; *STEP: doubles from one to the next. */
static MPI_Datatype describe(enum layout layout, int *step)
{
    MPI_Datatype type = MPI_DOUBLE, inner;

    *step = 1;
    if (layout == F90) {
        MPI_Type_create_f90_real(15, MPI_UNDEFINED, &type);
        return type;
    }
    if (layout == WIDE) {
        *step = 2;
        MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &type);
    }
    if (layout == INDEXED) {
        *step = 3;
        MPI_Type_create_hindexed(1, (int[]){ 1 }, (MPI_Aint[]){ 0 }, MPI_DOUBLE, &inner);
        MPI_Type_create_resized(inner, 0, 3 * sizeof(double), &type);
        MPI_Type_free(&inner);
    }
    if (type != MPI_DOUBLE)
        MPI_Type_commit(&type);
    return type;
}

static void compare_layouts(enum form form, enum layout layout, int n, MPI_Op op, bool in_place)
{
    int step;
    MPI_Datatype type = describe(layout, &step);
    size_t all = (size_t)n * (size_t)step;
    double *in = malloc(all * sizeof *in), *out = malloc(all * sizeof *out);

    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < all; i++) {
            in[i] = i % (size_t)step ? -7 : world_rank + 1 + (double)(i / (size_t)step);
            out[i] = in_place && i % (size_t)step == 0 ? in[i] : -9;
        }
        reduce(form, in_place ? MPI_IN_PLACE : in, out, n, type, op);
        for (size_t i = 0; i < all; i++) {
            double right = i % (size_t)step
                ? -9 : sum_of_ranks() + world_ranks * (double)(i / (size_t)step);

            check(out[i] == right, "form %d, layout %d, %d elements, %s: element %zu is %g, not %g",
                  form, layout, n, in_place ? "in place" : "not in place", i, out[i], right);
            if (out[i] != right)
                break;
        }
    }
    free(in);
    free(out);
    if (layout == WIDE || layout == INDEXED)
        MPI_Type_free(&type);
}

static void layouts(void)
{
    static const int length[] = { 1, 7, 500, 2049, 16384, 70001 };
    MPI_Op op;

    MPI_Op_create(add, 1, &op);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t k = 0; k < sizeof length / sizeof *length; k++)
            for (int odd = 0; odd < 3 * LAYOUTS; odd++) {
                enum layout layout = (enum layout)((world_rank + odd) % 3);

                at("ranks with different layouts");
                if (odd >= 6)   /* of predefined operations: two names of one type */
                    compare_layouts(forms[f], world_rank % 2 ? F90 : PLAIN, length[k], MPI_SUM,
                                    odd % 2);
                else
                    compare_layouts(forms[f], layout, length[k], op, odd % 2);
            }
    MPI_Op_free(&op);
}

/* ---- many under way -------------------------------------------------------------------------- */

/* Rank 0 waits for a message that the others send when their reductions have ended. */
static void outstanding(int n, size_t bytes)
{
    size_t length = bytes / sizeof(double);
    double *in = malloc(bytes), *out = malloc((size_t)n * bytes);
    MPI_Request *request = malloc((size_t)n * sizeof *request);
    MPI_Status *status = malloc((size_t)n * sizeof *status);
    int token = 0;

    at("many are under way while a rank waits for a message");
    for (size_t i = 0; i < length; i++)
        in[i] = world_rank + 1;
    for (int k = 0; k < n; k++)
        MPI_Iallreduce(in, out + (size_t)k * length, (int)length, MPI_DOUBLE, MPI_SUM,
                       MPI_COMM_WORLD, &request[k]);
    for (int r = 1; r < world_ranks && world_rank == 0; r++)
        MPI_Recv(&token, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(n, request, status);
    if (world_rank > 0)
        MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (size_t i = 0; i < (size_t)n * length; i += length / 2)
        check(out[i] == sum_of_ranks(), "of many under way: %g", out[i]);
    free(in);
    free(out);
    free(request);
    free(status);
}

/* Where they go by messages, each look at one of them must not cost a look at all. */
static void latest_first(int n)
{
    int *in = malloc((size_t)n * sizeof *in), *out = malloc((size_t)n * sizeof *out);
    MPI_Request *request = malloc((size_t)n * sizeof *request);

    at("the latest one of thousands is waited for first");
    sum_all(MPI_COMM_WORLD, 1, "before thousands");     /* takes the communicator over */
    for (int i = 0; i < n; i++) {
        in[i] = i + world_rank;
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[i]);
    }
    for (int i = n - 1; i >= 0; i--)
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        check(out[i] == world_ranks * i + world_ranks * (world_ranks - 1) / 2,
              "number %d of %d under way: %d", i, n, out[i]);
    free(in);
    free(out);
    free(request);
}

/* Does not let the memory grow: the ranks that are ahead wait for the late one. */
static void ahead(void)
{
    enum { TIMES = 600, LENGTH = 1 << 17 };
    double *in = malloc(LENGTH * sizeof *in), *out = malloc(LENGTH * sizeof *out);
    long before, most;

    at("ranks that are far ahead");
    for (int i = 0; i < LENGTH; i++)
        in[i] = world_rank + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    before = resident();
    for (int i = 0; i < TIMES; i++) {
        MPI_Request request;

        if (world_rank == 0 && i % 100 == 0)
            nap(100000);
        MPI_Ireduce(in, out, LENGTH, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (world_rank == 0)
            check(out[LENGTH - 1] == sum_of_ranks(), "of ranks that are ahead: %g",
                  out[LENGTH - 1]);
    }
    most = resident() - before;
    check(!with_collopt() || most < 300 << 10, "600 MiB were sent ahead: %ld MiB are resident",
          most >> 10);
    free(in);
    free(out);
}

/* ---- polling --------------------------------------------------------------------------------- */

static bool look(int how, MPI_Request *request)
{
    int flag = 0, index, some = 0;
    MPI_Status status;

    switch (how) {
    case 0:
        MPI_Test(request, &flag, &status);
        return flag;
    case 1:
        MPI_Testany(1, request, &index, &flag, &status);
        return flag;
    case 2:
        MPI_Testsome(1, request, &some, &index, &status);
        return some != 0;
    case 3:
        MPI_Testall(1, request, &flag, &status);
        return flag;
    case 4:
        MPI_Request_get_status(*request, &flag, &status);
        return flag;
#if COLLOPT_HAVE_GET_STATUSES
    case 5:
        MPI_Request_get_status_any(1, request, &index, &flag, &status);
        return flag;
    case 6:
        MPI_Request_get_status_some(1, request, &some, &index, &status);
        return some != 0;
    case 7:
        MPI_Request_get_status_all(1, request, &flag, &status);
        return flag;
#endif
    case 8:
        MPI_Waitany(1, request, &index, &status);
        return true;
    case 9:
        MPI_Waitsome(1, request, &some, &index, &status);
        return true;
    case 10:
        MPI_Waitall(1, request, &status);
        return true;
    default:
        MPI_Wait(request, &status);
        return true;
    }
}

/* Rank 1 comes to the reduction when it has got a message whose data rank 0 sends while it looks at
 * the reduction. */
static void polling(void)
{
    enum { LENGTH = 1 << 18 };
    double *message = calloc(LENGTH, sizeof *message), in = world_rank + 1, out = 0;

    for (int how = 0; how < 12; how++) {
        MPI_Request reduction, sent = MPI_REQUEST_NULL;

        at("a rank looks at its reduction while it sends");
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 0 && world_ranks > 1)
            MPI_Isend(message, LENGTH, MPI_DOUBLE, 1, how, MPI_COMM_WORLD, &sent);
        if (world_rank == 1) {
            nap(20000);
            MPI_Recv(message, LENGTH, MPI_DOUBLE, 0, how, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &reduction);
        while (!look(how, &reduction))
            ;
        MPI_Wait(&reduction, MPI_STATUS_IGNORE);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        check(out == sum_of_ranks(), "look %d: %g", how, out);
    }
    free(message);
}

/* ---- nothing is owed ------------------------------------------------------------------------- */

static atomic_int *flags;       /* of all ranks */

/* In a file of the working directory, which rank 0 makes and removes. */
static void share_flags(void)
{
    enum { FLAGS = 64 };
    char name[64] = "";
    int fd = -1;

    if (world_rank == 0) {
        strcpy(name, "legal.XXXXXX");
        fd = mkstemp(name);
        if (ftruncate(fd, FLAGS * sizeof *flags))
            fail("%s cannot be made", name);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (world_rank > 0)
        fd = open(name, O_RDWR);
    flags = mmap(NULL, FLAGS * sizeof *flags, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        unlink(name);
}

/* The ranks but RANK wait outside of MPI until it says that it has passed number N. */
static void wait_outside(int rank, int n)
{
    if (world_rank == rank)
        atomic_store(&flags[rank], n);
    while (atomic_load(&flags[rank]) < n)
        nap(10);
}

static void nothing_owed(void)
{
    double in = world_rank + 1, out = 0;
    int last = world_ranks - 1, n = 0;

    share_flags();
    for (int i = 0; i < 30; i++) {
        for (int root = 0; root < world_ranks; root++) {
            at("the root of a Reduce needs its call only");
            MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
            check(world_rank != root || out == sum_of_ranks(), "to root %d: %g", root, out);
            wait_outside(root, ++n);
        }
        at("the last rank of a Scan needs its call only");
        MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        wait_outside(last, ++n);
        MPI_Exscan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        wait_outside(last, ++n);
        for (int r = 0; r < world_ranks; r++) {
            at("a rank of an Allreduce needs its call only");
            MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            check(out == sum_of_ranks(), "Allreduce: %g", out);
            wait_outside(r, ++n);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* ---- long waits in MPI ----------------------------------------------------------------------- */

/* Rank 0 comes late to each start; the others wait for its message meanwhile. */
static void pauses(void)
{
    MPI_Request made = MPI_REQUEST_NULL, *request = &made;
    double in = 0, out = 0;

    CALL_INIT(Allreduce, allreduce, &in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 4 && HAVE_INIT; i++) {
        int token = i;

        at("a persistent reduction is started after a long wait");
        if (world_rank == 0)
            nap(50000);
        for (int r = 1; r < world_ranks && world_rank == 0; r++)
            MPI_Send(&token, 1, MPI_INT, r, 3, MPI_COMM_WORLD);
        if (world_rank > 0)
            MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        in = world_rank + 1 + i;
        out = -1;
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        check(out == sum_of_ranks() + world_ranks * (double)i, "after a pause: %g", out);
    }
    if (HAVE_INIT)
        MPI_Request_free(request);
}

static atomic_bool enough;

static void *look_for_messages(void *data)
{
    int flag;

    while (!atomic_load(&enough))
        MPI_Iprobe(0, 4, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    return data;
}

/* The other thread makes the host progress, from which collopt is called. */
static void beside(void)
{
    enum { LENGTH = 1 << 20 };
    double *in = malloc(LENGTH * sizeof *in), *out = malloc(LENGTH * sizeof *out);
    MPI_Comm comm[2];
    pthread_t thread;
    int level;

    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE)
        return;
    MPI_Comm_dup(MPI_COMM_SELF, &comm[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    for (int i = 0; i < LENGTH; i++)
        in[i] = world_rank + 1;
    pthread_create(&thread, NULL, look_for_messages, NULL);
    for (int i = 0; i < 200; i++) {
        int length = i % 4 ? 1 + i : LENGTH;
        double right = i % 2 ? sum_of_ranks() : world_rank + 1;
        MPI_Request request;

        at("nonblocking reductions beside a thread that waits");
        MPI_Iallreduce(in, out, length, MPI_DOUBLE, MPI_SUM, comm[i % 2], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(out[length - 1] == right, "beside a thread: %g, not %g", out[length - 1], right);
    }
    atomic_store(&enough, true);
    pthread_join(thread, NULL);
    MPI_Comm_free(&comm[0]);
    MPI_Comm_free(&comm[1]);
    free(in);
    free(out);
}

/* ---- past collopt ---------------------------------------------------------------------------- */

typedef int on_request(MPI_Request *request);
typedef int waiting(MPI_Request *request, MPI_Status *status);
typedef int waiting_all(int n, MPI_Request *requests, MPI_Status *statuses);
typedef int testing(MPI_Request *request, int *flag, MPI_Status *status);

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);

    if (!symbol)
        fail("%s is not there", name);
    return symbol;
}

static waiting *their_wait;
static waiting_all *their_waitall;
static testing *their_test;
static on_request *their_start, *finish;

static void complete(int how, MPI_Request *request)
{
    int flag = 0;

    switch (how % 4) {
    case 0:
        their_wait(request, MPI_STATUS_IGNORE);
        return;
    case 1:
        their_waitall(1, request, MPI_STATUSES_IGNORE);
        return;
    case 2:
        while (!flag)
            their_test(request, &flag, MPI_STATUS_IGNORE);
        return;
    default:
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
}

static void nonblocking_past(void)
{
    for (int i = 0; i < 40; i++) {
        MPI_Request request;
        double in = world_rank + i, out = -1;
        double right = world_ranks * (double)i + sum_of_ranks() - world_ranks;

        at("a nonblocking reduction is completed past collopt");
        if (world_rank == world_ranks - 1)
            nap(3000);
        MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        if (finish)
            finish(&request);
        else
            complete(i, &request);
        check(out == right, "completed past collopt: %g, not %g", out, right);
        check(request == MPI_REQUEST_NULL, "a request is not null at its end");
    }
}

/* STARTS, COMPLETES: past collopt. */
static void persistent_past(bool starts, bool completes)
{
    MPI_Request made = MPI_REQUEST_NULL, *request = &made;
    double in = 0, out = 0;

    CALL_INIT(Allreduce, allreduce, &in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 20 && HAVE_INIT; i++) {
        double right = world_ranks * (double)i + sum_of_ranks();

        at("a persistent reduction is started or completed past collopt");
        in = world_rank + 1 + i;
        out = -1;
        if (world_rank == world_ranks - 1)
            nap(3000);
        (starts ? their_start : MPI_Start)(request);
        if (completes)
            their_wait(request, MPI_STATUS_IGNORE);
        else
            MPI_Wait(request, MPI_STATUS_IGNORE);
        check(out == right, "persistent, starts %d, completes %d: %g, not %g", starts, completes,
              out, right);
    }
    if (HAVE_INIT)
        MPI_Request_free(request);
}

/* Does the MPI library call collopt while it waits?  Else code that completes a persistent
 * reduction past collopt would wait for good. */
static bool calls_back(void)
{
    return dlsym(RTLD_DEFAULT, "opal_progress_register")
        || dlsym(RTLD_DEFAULT, "PMPIX_Async_start");
}

static void past(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);

    if (!library) {
        fail("%s is not the library of this program", name);
        return;
    }
    *(void **)&their_wait = find(library, "MPI_Wait");
    *(void **)&their_waitall = find(library, "MPI_Waitall");
    *(void **)&their_test = find(library, "MPI_Test");
    *(void **)&their_start = find(library, "MPI_Start");
    nonblocking_past();
    persistent_past(true, false);
    if (!calls_back())
        return;
    persistent_past(false, true);
    persistent_past(true, true);
}

static void plugin(const char *file)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);

    if (!library) {
        fail("%s", dlerror());
        return;
    }
    *(void **)&finish = find(library, "finish");
    nonblocking_past();
}

/* ---- in MPI_Finalize ------------------------------------------------------------------------- */

static MPI_Request kept[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
static double kept_in[2], kept_out[2];
static MPI_Op kept_op;
static MPI_Datatype kept_type;

/* By each completion call, a plain one and one by the host's packing. */
static void use_kept(int how)
{
    for (int i = 0; i < 2 && HAVE_INIT; i++) {
        kept_in[i] = world_rank + 1 + how;
        kept_out[i] = -1;
        MPI_Start(&kept[i]);
        while (!look(how, &kept[i]))
            ;
        MPI_Wait(&kept[i], MPI_STATUS_IGNORE);
        check(kept_out[i] == sum_of_ranks() + world_ranks * (double)how,
              "persistent %d, look %d, in MPI_Finalize: %g", i, how, kept_out[i]);
    }
}

static int at_the_end(MPI_Comm comm, int key, void *value, void *extra)
{
    double in = world_rank + 1, out = 0;

    (void)comm, (void)key, (void)value, (void)extra;
    at("reductions in MPI_Finalize");
    for (int how = 0; how < 12; how++)
        use_kept(how);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (int n = 0; n < 3; n++) {
            reduce(forms[f], &in, &out, 1, MPI_DOUBLE, n % 2 ? kept_op : MPI_SUM);
            check(out == sum_of_ranks(), "form %d in MPI_Finalize: %g", forms[f], out);
        }
    for (int i = 0; i < 2 && HAVE_INIT; i++)
        MPI_Request_free(&kept[i]);
    MPI_Op_free(&kept_op);
    MPI_Type_free(&kept_type);
    if (failures() > 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return MPI_SUCCESS;
}

static void prepare_end(void)
{
    int key;

    MPI_Op_create(add, 1, &kept_op);
    MPI_Type_create_resized(MPI_DOUBLE, 0, sizeof(double), &kept_type);
    MPI_Type_commit(&kept_type);
    for (int i = 0; i < 2; i++) {
        MPI_Request *request = &kept[i];

        CALL_INIT(Allreduce, allreduce, &kept_in[i], &kept_out[i], 1, i ? kept_type : MPI_DOUBLE,
                  i ? kept_op : MPI_SUM, MPI_COMM_WORLD);
    }
    use_kept(0);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv)
{
    const char *subject = argc > 1 ? argv[1] : "", *argument = argc > 2 ? argv[2] : "";

    begin_with(&argc, &argv, "legal",
               strcmp(subject, "beside") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    if (strcmp(subject, "handles") == 0)
        handles();
    else if (strcmp(subject, "layouts") == 0)
        layouts();
    else if (strcmp(subject, "outstanding") == 0)
        outstanding(atoi(argument), (size_t)atol(argv[3]));
    else if (strcmp(subject, "latest_first") == 0)
        latest_first(atoi(argument));
    else if (strcmp(subject, "ahead") == 0)
        ahead();
    else if (strcmp(subject, "polling") == 0)
        polling();
    else if (strcmp(subject, "nothing_owed") == 0)
        nothing_owed();
    else if (strcmp(subject, "pauses") == 0)
        pauses();
    else if (strcmp(subject, "beside") == 0)
        beside();
    else if (strcmp(subject, "past") == 0)
        past(argument);
    else if (strcmp(subject, "plugin") == 0)
        plugin(argument);
    else if (strcmp(subject, "at_end") == 0)
        prepare_end();
    else
        fail("no subject \"%s\"", subject);
    return end();
}

#endif
