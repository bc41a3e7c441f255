/* A host that is legal and unhelpful, between collopt and the real one.
 *
 * It is linked with the objects of the backend: the linker gives it the calls that these make
 * (--wrap), and host.c, compiled once more, gets the host's functions for the names that collopt
 * intercepts from here.  So the program's own calls, and those that the host makes itself, are as
 * they were.
 *
 *     HOSTILE=SEED        what is drawn at random follows from SEED, the rank, and what came before
 *
 * It does what MPI allows and most hosts never do:
 *
 *     a send waits for its receive    every send of collopt's is a synchronous one
 *     nothing happens by itself       MPI_Isend only notes the message, which leaves while the host
 *                                     makes progress: in a blocking call or a test of this rank, be
 *                                     it collopt's or the program's
 *     a test may see it later         MPI_Test may say once more that a message is not there
 *     calls take their time           so ranks come at other times
 *     there is not enough             descriptors and room for mappings, on some ranks only, with
 *                                     every third seed; memory, as hostile.h says
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hostile.h"
#include "front/backend.h"
#include "mpi/host/host.h"

/* ---- chance ---------------------------------------------------------------------------------- */

static bool hostile, scarce;
static _Atomic uint64_t drawn;
static atomic_int plenty;       /* so many files and pages are there before they become scarce */

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t draw(void)
{
    return mixed(atomic_fetch_add_explicit(&drawn, 0x9e3779b97f4a7c15u, memory_order_relaxed));
}

/* Once in N times. */
static bool chance(unsigned n)
{
    return hostile && draw() % n == 0;
}

static void read_seed(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK" };
    const char *seed = getenv("HOSTILE"), *rank = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !rank; i++)
        rank = getenv(names[i]);
    if (!seed)
        return;
    hostile = true;
    scarce = strtoull(seed, NULL, 10) % 3 == 0;
    plenty = (int)(mixed(strtoull(seed, NULL, 10)) % 30);
    drawn = mixed(strtoull(seed, NULL, 10) * 1000003 + (rank ? strtoull(rank, NULL, 10) : 0) + 1);
}

/* Mostly not at all, sometimes as long as others take for a step or two. */
static void dawdle(void)
{
    long most = chance(200) ? 2000000 : chance(8) ? 100000 : 0;

    if (most > 0)
        nanosleep(&(struct timespec){ 0, (long)(draw() % (uint64_t)most) }, NULL);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool memory_ends(void)
{
    if (!&hostile_memory || atomic_load_explicit(&hostile_memory.left, memory_order_relaxed) <= 0
        || atomic_fetch_sub(&hostile_memory.left, 1) != 1)
        return false;
    atomic_fetch_add(&hostile_memory.failed, 1);
    errno = ENOMEM;
    return true;
}

/* Descriptors and mappings: they are scarce, or fail as memory does. */
static bool resource_ends(int error, unsigned once_in)
{
    if (!memory_ends() && !(scarce && atomic_fetch_sub(&plenty, 1) < 0 && chance(once_in)))
        return false;
    errno = error;
    return true;
}

/* A function that the linker gives us in place of NAME, and NAME itself. */
#define WRAPPED(result, name, parameters) \
    result __real_##name parameters; \
    result __wrap_##name parameters; \
    result __wrap_##name parameters

WRAPPED(void *, malloc, (size_t bytes))
{
    return memory_ends() ? NULL : __real_malloc(bytes);
}

WRAPPED(void *, calloc, (size_t n, size_t bytes))
{
    return memory_ends() ? NULL : __real_calloc(n, bytes);
}

WRAPPED(void *, realloc, (void *old, size_t bytes))
{
    return memory_ends() ? NULL : __real_realloc(old, bytes);
}

WRAPPED(void *, aligned_alloc, (size_t alignment, size_t bytes))
{
    return memory_ends() ? NULL : __real_aligned_alloc(alignment, bytes);
}

WRAPPED(char *, strdup, (const char *text))
{
    return memory_ends() ? NULL : __real_strdup(text);
}

WRAPPED(void *, mmap, (void *at, size_t bytes, int protection, int flags, int fd, off_t offset))
{
    return resource_ends(ENOMEM, 20) ? (void *)-1
                                     : __real_mmap(at, bytes, protection, flags, fd, offset);
}

WRAPPED(int, memfd_create, (const char *name, unsigned flags))
{
    return resource_ends(EMFILE, 10) ? -1 : __real_memfd_create(name, flags);
}

WRAPPED(int, posix_fallocate, (int fd, off_t offset, off_t length))
{
    return memory_ends() ? ENOSPC : __real_posix_fallocate(fd, offset, length);
}

/* Of a peer's segment; that a file cannot be read is said, as it should. */
WRAPPED(int, open, (const char *name, int flags, ...))
{
    va_list list;
    int mode = 0;

    if (flags & O_CREAT) {
        va_start(list, flags);
        mode = va_arg(list, int);
        va_end(list);
    }
    if ((flags & O_ACCMODE) == O_RDWR && resource_ends(EMFILE, 10))
        return -1;
    return __real_open(name, flags, mode);
}

/* ---- the host's functions -------------------------------------------------------------------- */

static struct collopt_front_table table;        /* with ours */
static const struct collopt_front_table *real;

#define HOST(ID, parameters) ((int (*) parameters)real->host[COLLOPT_NAME_##ID])
#define TEST    HOST(TEST, (MPI_Request *, int *, MPI_Status *))
#define LOOK    HOST(REQUEST_GET_STATUS, (MPI_Request, int *, MPI_Status *))

static int free_type(MPI_Datatype *type)
{
    return HOST(TYPE_FREE, (MPI_Datatype *))(type);
}

/* ---- messages that have not left ------------------------------------------------------------- */

/* The caller's request is a generalized one.  */
struct letter {
    const void *at;
    int count, to, tag;
    MPI_Datatype type;
    bool own_type, left;
    MPI_Comm comm;
    MPI_Request caller, message;
    struct letter *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of the list; only tried ... */
static struct letter *letters;
static pthread_mutex_t new_lock = PTHREAD_MUTEX_INITIALIZER;    /* ... unlike this one, of this: */
static struct letter *new_letters, **new_end = &new_letters;

static int no_query(void *extra, MPI_Status *status)
{
    (void)extra, (void)status;
    return MPI_SUCCESS;
}

static int no_free(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int no_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void take_new(void)
{
    struct letter **end = &letters;

    while (*end)
        end = &(*end)->next;
    pthread_mutex_lock(&new_lock);
    *end = new_letters;
    new_letters = NULL;
    new_end = &new_letters;
    pthread_mutex_unlock(&new_lock);
}

static void leave(struct letter *l)
{
    if (!l->left)
        PMPI_Issend(l->at, l->count, l->type, l->to, l->tag, l->comm, &l->message);
    l->left = true;
}

/* True: its message has been received. */
static bool advance(struct letter *l)
{
    int flag = 0;

    if (!l->left) {
        leave(l);
        return false;
    }
    if (TEST(&l->message, &flag, MPI_STATUS_IGNORE) || !flag)
        return false;
    if (l->own_type)
        free_type(&l->type);
    PMPI_Grequest_complete(l->caller);
    return true;
}

/* Called by the host where it makes progress, which it does in here, too: then nothing is done.
 * Letters to one rank leave in their order. */
static int deliver(void)
{
    int done = 0;

    if (pthread_mutex_trylock(&lock))
        return 0;
    take_new();
    for (struct letter **l = &letters; *l;) {
        struct letter *this = *l;

        if (advance(this)) {
            *l = this->next;
            free(this);
            done++;
        } else {
            l = &this->next;
        }
    }
    pthread_mutex_unlock(&lock);
    return done;
}

/* What is to go to rank TO, or to any rank if that is MPI_ANY_SOURCE, leaves now. */
static void leave_now(MPI_Comm comm, int to)
{
    pthread_mutex_lock(&lock);
    take_new();
    for (struct letter *l = letters; l; l = l->next)
        if (l->comm == comm && (to == MPI_ANY_SOURCE || l->to == to))
            leave(l);
    pthread_mutex_unlock(&lock);
}

/* What is on its way on a communicator goes on after it was freed. */
static int comm_free(MPI_Comm *comm)
{
    leave_now(*comm, MPI_ANY_SOURCE);
    return HOST(COMM_FREE, (MPI_Comm *))(comm);
}

static int deliver_for_mpich(int *made_progress)
{
    *made_progress = deliver() > 0;
    return MPI_SUCCESS;
}

static void *found(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

/* False: this host cannot call us, so messages leave at once. */
static bool asks_to_be_called(void)
{
    typedef int openmpi_register(int (*)(void));
    typedef int mpich_register(int (*)(int *), int *);
    typedef void mpich_activate(int);
    static int id;

    if (found("opal_progress_register"))
        return ((openmpi_register *)(uintptr_t)found("opal_progress_register"))(deliver) == 0;
    if (!found("MPIR_Progress_hook_register") || !found("MPIR_Progress_hook_activate")
        || ((mpich_register *)(uintptr_t)found("MPIR_Progress_hook_register"))(deliver_for_mpich,
                                                                               &id))
        return false;
    ((mpich_activate *)(uintptr_t)found("MPIR_Progress_hook_activate"))(id);
    return true;
}

static bool calls_us;
static pthread_once_t asked = PTHREAD_ONCE_INIT;

static void ask(void)
{
    int level = MPI_THREAD_MULTIPLE;

    PMPI_Query_thread(&level);
    calls_us = level != MPI_THREAD_MULTIPLE && asks_to_be_called();
}

/* The caller may free TYPE before the message has left. */
static int keep_type(struct letter *l, MPI_Datatype type)
{
    int integers, addresses, types, combiner,
        err = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);

    l->type = type;
    l->own_type = combiner != MPI_COMBINER_NAMED;
    return err || !l->own_type ? err : PMPI_Type_dup(type, &l->type);
}

static int send_later(const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    struct letter *l = __real_malloc(sizeof *l);
    int err;

    *l = (struct letter){ .at = at, .count = count, .to = to, .tag = tag, .comm = comm };
    if ((err = keep_type(l, type))
        || (err = PMPI_Grequest_start(no_query, no_free, no_cancel, NULL, &l->caller)))
        return err;
    *request = l->caller;
    pthread_mutex_lock(&new_lock);
    *new_end = l;
    new_end = &l->next;
    pthread_mutex_unlock(&new_lock);
    return MPI_SUCCESS;
}

/* What nobody waits for has to leave in MPI_Finalize at the latest.  What nobody receives never
 * would: a call that failed may leave such. */
static int finalize(void)
{
    MPI_Status status;
    int flag;

    for (int looks = 0; calls_us && looks < 2000 && (letters || new_letters); looks++) {
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, &status);
        deliver();
        nanosleep(&(struct timespec){ 0, looks < 1000 ? 1000 : 1000000 }, NULL);
    }
    return HOST(FINALIZE, (void))();
}

/* ---- collopt's calls ------------------------------------------------------------------------- */

WRAPPED(int, PMPI_Send,
        (const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm))
{
    dawdle();
    leave_now(comm, to);                /* a message does not overtake another */
    return PMPI_Ssend(at, count, type, to, tag, comm);
}

WRAPPED(int, PMPI_Isend,
        (const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
         MPI_Request *request))
{
    dawdle();
    pthread_once(&asked, ask);
    return hostile && calls_us ? send_later(at, count, type, to, tag, comm, request)
                               : PMPI_Issend(at, count, type, to, tag, comm, request);
}

#define SLOW(name, parameters, arguments) \
    WRAPPED(int, PMPI_##name, parameters) \
    { \
        dawdle(); \
        return __real_PMPI_##name arguments; \
    }

SLOW(Irecv, (void *at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Request *request),
     (at, count, type, from, tag, comm, request))
SLOW(Recv, (void *at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
            MPI_Status *status),
     (at, count, type, from, tag, comm, status))
SLOW(Allgather, (const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype to,
                 MPI_Comm comm),
     (in, n, type, out, m, to, comm))
SLOW(Iallgather, (const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype to,
                  MPI_Comm comm, MPI_Request *request),
     (in, n, type, out, m, to, comm, request))
SLOW(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
SLOW(Pack, (const void *in, int n, MPI_Datatype type, void *out, int room, int *at, MPI_Comm comm),
     (in, n, type, out, room, at, comm))
SLOW(Unpack, (const void *in, int room, int *at, void *out, int n, MPI_Datatype type,
              MPI_Comm comm),
     (in, room, at, out, n, type, comm))

/* It makes progress in any case. */
static int test(MPI_Request *request, int *flag, MPI_Status *status)
{
    int err;

    if (*request == MPI_REQUEST_NULL || !chance(4))
        return TEST(request, flag, status);
    err = LOOK(*request, flag, MPI_STATUS_IGNORE);
    *flag = 0;
    return err;
}

static int allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    dawdle();
    return HOST(ALLREDUCE, (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))(
        in, out, n, type, op, comm);
}

/* ---- the backend ----------------------------------------------------------------------------- */

/* What host.c calls collopt_backend_open() elsewhere. */
collopt_backend_open_function hostile_backend_open, collopt_backend_open;

/* What the program calls goes on to the host's own functions, by front->next, but for
 * MPI_Finalize. */
__attribute__((visibility("default")))
const struct collopt_backend_table *collopt_backend_open(const struct collopt_front_table *front)
{
    read_seed();
    real = front;
    table = *front;
    if (hostile)
        table.host[COLLOPT_NAME_TEST] = (collopt_function)test;
    table.host[COLLOPT_NAME_COMM_FREE] = (collopt_function)comm_free;
    table.host[COLLOPT_NAME_ALLREDUCE] = (collopt_function)allreduce;
    if (table.next[COLLOPT_NAME_FINALIZE] == table.host[COLLOPT_NAME_FINALIZE])
        table.next[COLLOPT_NAME_FINALIZE] = (collopt_function)finalize;
    return hostile_backend_open(&table);
}
