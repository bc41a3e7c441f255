/* Memory that is not there, at any place of collopt's where it asks for some.
 *
 *     mpirun -n 3 env LD_PRELOAD=test/hostile/.libs/libcollopt.so test_memory [CASE [SECONDS]]
 *
 * goes from CASE on for so long.
 *
 * A case is a collective in one form on a new communicator, and an allocation of one rank that
 * fails: its first, its second, and so on until the case needs no more.  Right is the result, or an
 * error of that rank; other ranks may then have one, too.  If they wait instead, as in a host's own
 * collectives, the job ends, and its last line says with which case to go on.  Wrong is all else: a
 * wrong result, an error although memory was there, ranks that wait although none has an error, a
 * crash.
 *
 * Case -N: the N-th allocation of rank 1 fails in MPI_Init. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "hostile.h"

__attribute__((visibility("default"))) struct hostile_memory hostile_memory;

enum { COLLECTIVES = 6, SHAPES = 3, LENGTH = 40000, DEEPEST = 400 };

static const char *const names[COLLECTIVES] = { "Reduce", "Allreduce", "Reduce_scatter",
                                                "Reduce_scatter_block", "Scan", "Exscan" };
static const char *const form_words[FORMS] = { "blocking", "persistent", "nonblocking" };

/* ---- what all ranks see ---------------------------------------------------------------------- */

static struct shared {
    _Atomic int failed;         /* an allocation did */
    _Atomic int error;          /* some rank has one: 1 + its number ... */
    _Atomic int code;           /* ... and what it is */
    _Atomic int ended[64];      /* calls of each rank */
} *shared;

static void share(void)
{
    char name[] = "/tmp/test_memory-XXXXXX";
    int fd = -1;

    if (world_rank == 0 && ((fd = mkstemp(name)) < 0 || ftruncate(fd, sizeof *shared)))
        perror(name);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (world_rank != 0)
        fd = open(name, O_RDWR);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        unlink(name);
}

/* ---- a case ---------------------------------------------------------------------------------- */

struct place {                  /* in the order of their numbers */
    int collective;
    enum form form;
    int shape;
};

static struct place place_of(int number)
{
    return (struct place){ number % COLLECTIVES,
                           (enum form)(number / COLLECTIVES % FORMS),
                           number / COLLECTIVES / FORMS % SHAPES };
}

enum { PLACES = COLLECTIVES * FORMS * SHAPES };

static int in[LENGTH], out[LENGTH], counts[64];
static MPI_Datatype pair;       /* two ints apart from each other */
static MPI_Op op;

static void add(void *from, void *to, int *n, MPI_Datatype *type)
{
    const int *a = from;
    int *b = to, step = *type == pair ? 3 : 1;

    for (int i = 0; i < *n; i++) {
        b[step * i] += a[step * i];
        if (step == 3)
            b[3 * i + 2] += a[3 * i + 2];
    }
}

/* Elements of each rank: a short vector, a long one, and one that has to be packed. */
static int length_of(struct place p)
{
    return p.shape == 0 ? 3 : p.shape == 1 ? 12000 : 50;
}

static MPI_Datatype type_of(struct place p)
{
    return p.shape == 2 ? pair : MPI_INT;
}

static int call(struct place p, MPI_Comm comm, MPI_Request *request)
{
    MPI_Datatype type = type_of(p);
    MPI_Op with = p.shape == 2 ? op : MPI_SUM;
    int n = length_of(p);

#define CALL_AS(FORM) \
    switch (p.collective) { \
    case 0: return CALL_##FORM(Reduce, reduce, in, out, n, type, with, 0, comm); \
    case 1: return CALL_##FORM(Allreduce, allreduce, in, out, n, type, with, comm); \
    case 2: \
        return CALL_##FORM(Reduce_scatter, reduce_scatter, in, out, counts, type, with, comm); \
    case 3: \
        return CALL_##FORM(Reduce_scatter_block, reduce_scatter_block, in, out, n / world_ranks, \
                           type, with, comm); \
    case 4: return CALL_##FORM(Scan, scan, in, out, n, type, with, comm); \
    default: return CALL_##FORM(Exscan, exscan, in, out, n, type, with, comm); \
    }

    if (p.form == PERSISTENT)
        CALL_AS(INIT)
    if (p.form == NONBLOCKING)
        CALL_AS(NONBLOCKING)
    CALL_AS(BLOCKING)
}

static int value(int rank, int i)
{
    return (rank + 1) * (i % 1000 + 1);
}

static void fill(struct place p)
{
    int n = length_of(p), share = n / world_ranks;

    for (int r = 0; r < world_ranks; r++)
        counts[r] = share;
    for (int i = 0; i < LENGTH; i++) {
        in[i] = value(world_rank, i);
        out[i] = -1;
    }
}

/* Element 0 of what this rank gets has number FROM, and N there are of RANKS ranks. */
static void judge(struct place p, const char *words)
{
    int n = length_of(p), share = n / world_ranks, step = p.shape == 2 ? 3 : 1, from = 0,
        ranks = p.collective == 0 ? (world_rank == 0 ? world_ranks : 0)
        : p.collective == 4       ? world_rank + 1
        : p.collective == 5       ? world_rank
                                  : world_ranks;

    if (p.collective == 2 || p.collective == 3) {
        n = share;
        from = share * world_rank;
    }
    for (int i = 0; i < n && ranks > 0; i++) {
        int right = 0;

        for (int r = 0; r < ranks; r++)
            right += value(r, step * (from + i));
        if (out[step * i] != right) {
            fail("%s: element %d of %d is %d, not %d", words, i, n, out[step * i], right);
            return;
        }
    }
}

/* Persistent operations may be started again, and the memory of the first time may be missing the
 * second time. */
static int make_call(struct place p, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int err = call(p, comm, &request);

    if (err || p.form == BLOCKING)
        return err;
    if (p.form == PERSISTENT && (err = MPI_Start(&request)))
        return err;
    if ((err = MPI_Wait(&request, MPI_STATUS_IGNORE)))
        return err;
    return p.form == PERSISTENT ? MPI_Request_free(&request) : MPI_SUCCESS;
}

/* ---- watching -------------------------------------------------------------------------------- */

static char at_words[200];
static int at_case;
static bool ended;

static void go_on_behind(int number)
{
    printf("next %d\n", number + 1);
    fflush(stdout);
}

/* Ends the job where a rank has an error and the others wait for it. */
static void *watch(void *unused)
{
    enum { STUCK = 4000, SOON = 300 };          /* looks */

    for (int still = 0, before = -1;; nanosleep(&(struct timespec){ 0, 1000000 }, NULL)) {
        int now = shared->ended[world_rank];

        if (__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
            return unused;
        if (hostile_memory.failed > 0)
            shared->failed = 1;
        still = now == before ? still + 1 : 0;
        before = now;
        if (still > SOON && shared->error) {
            check(shared->failed, "an error without a reason: %s", at_words);
            go_on_behind(at_case);      /* the launcher may end others before they say so */
            nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
            _exit(failures() ? 1 : 0);
        }
        if (still > STUCK) {
            fail("stuck: %s", at_words);
            _exit(1);
        }
    }
}

/* Waits until all ranks have come here, without MPI. */
static void meet(void)
{
    int mine = ++shared->ended[world_rank];

    for (int r = 0; r < world_ranks; r++)
        while (shared->ended[r] < mine)
            nanosleep(&(struct timespec){ 0, 20000 }, NULL);
}

/* ---- all cases ------------------------------------------------------------------------------- */

/* False: some rank has an error, as all know. */
static bool call_and_judge(struct place p, MPI_Comm comm)
{
    int err = make_call(p, comm);
    bool right;

    if (hostile_memory.failed > 0)
        shared->failed = 1;
    if (err) {
        shared->code = err;
        shared->error = world_rank + 1;
    } else {
        judge(p, at_words);
    }
    meet();
    right = !shared->error;
    meet();
    return right;
}

/* True: there was such an allocation. */
static bool try(int number, int depth)
{
    struct place p = place_of(number);
    int victim = (number + depth) % world_ranks;
    bool failed, right = true;
    MPI_Comm comm;

    at_case = number * DEEPEST + depth;
    snprintf(at_words, sizeof at_words, "case %d: %s %s, shape %d, allocation %d of rank %d fails",
             at_case, form_words[p.form], names[p.collective], p.shape, depth, victim);
    if (world_rank == 0) {
        printf("at %d\n", at_case);             /* for one that crashes */
        fflush(stdout);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    hostile_memory.failed = 0;
    hostile_memory.left = victim == world_rank ? depth : 0;
    for (int round = 0; round < 2 && right; round++) {
        fill(p);
        right = call_and_judge(p, comm);
    }
    hostile_memory.left = 0;
    failed = shared->failed;
    check(failed || right, "%s, but none did: error %d of rank %d", at_words, shared->code,
          shared->error - 1);
    meet();
    shared->failed = shared->error = 0;
    hostile_memory.failed = 0;
    meet();
    MPI_Comm_free(&comm);
    return failed;
}

/* Rank 1, before MPI_Init. */
static bool will_be_victim(void)
{
    static const char *const variable[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK" };

    for (size_t i = 0; i < sizeof variable / sizeof *variable; i++)
        if (getenv(variable[i]))
            return strcmp(getenv(variable[i]), "1") == 0;
    return false;
}

static void try_places(int number, int depth, int seconds)
{
    time_t start = time(NULL);
    int go_on = 1;

    for (; number < PLACES && go_on && failures() == 0; number++, depth = 0) {
        while (depth++ < DEEPEST && try(number, depth) && failures() == 0)
            ;
        go_on = seconds == 0 || time(NULL) - start < seconds;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (world_rank == 0)
        printf("next %d\n", number < PLACES ? number * DEEPEST : -1);
}

/* With what MPI_Init has left. */
static void try_init(int failing, bool failed)
{
    snprintf(at_words, sizeof at_words, "case %d: allocation %d of rank 1 fails in MPI_Init",
             -failing, failing);
    for (int number = 0; number < PLACES; number++) {
        fill(place_of(number));
        check(make_call(place_of(number), MPI_COMM_WORLD) == MPI_SUCCESS, "%s: %s %s", at_words,
              form_words[place_of(number).form], names[place_of(number).collective]);
        judge(place_of(number), at_words);
        shared->ended[world_rank]++;
    }
    if (world_rank == 1)
        printf("next %d\n", failed ? -failing - 1 : 0);
}

int main(int argc, char **argv)
{
    int first = argc > 1 ? atoi(argv[1]) : 0, seconds = argc > 2 ? atoi(argv[2]) : 0;
    pthread_t thread;

    hostile_memory.left = first < 0 && will_be_victim() ? -first : 0;
    begin(&argc, &argv, "test_memory");
    hostile_memory.left = 0;
    share();
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add, 1, &op);
    at("cases");
    pthread_create(&thread, NULL, watch, NULL);
    if (first < 0)
        try_init(-first, hostile_memory.failed > 0);
    else
        try_places(first / DEEPEST, first % DEEPEST, seconds);
    __atomic_store_n(&ended, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    return end();
}
