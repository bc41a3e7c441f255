/* Reductions in a process that has little: resource limits that are set before MPI_Init, a short
 * stack, and somebody who closes the descriptors of others.
 *
 *     mpirun -n 3 env LD_PRELOAD=libcollopt.so test_limits SUBJECT [LIMIT=VALUE]...
 *
 * SUBJECT: sums, all forms and lengths; long, longer ones too; thread, the same by a thread with
 * 64 KiB of stack; descriptors, somebody has closed what leads to a memfd of collopt's, and writes
 * files of his own; pages, every other time there are none for shared memory; scratch, the memory
 * that many communicators keep; alone, the limits hold on rank 1 only (a launcher's variable says
 * which that is). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

#ifndef MADV_POPULATE_WRITE             /* Linux 5.14 */
# define MADV_POPULATE_WRITE 23
#endif

enum { SHORT = 1, LONG = 200000, LONGEST = 1 << 20, FILES = 3, BYTES = 32 << 20 };
enum collective { REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN,
                  COLLECTIVES };
static const char *const names[] = { "Reduce", "Allreduce", "Reduce_scatter",
                                     "Reduce_scatter_block", "Scan", "Exscan" };

/* ---- limits ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int resource;
} limits[] = {
    { "as", RLIMIT_AS },           { "data", RLIMIT_DATA },     { "fsize", RLIMIT_FSIZE },
    { "memlock", RLIMIT_MEMLOCK }, { "nofile", RLIMIT_NOFILE }, { "nproc", RLIMIT_NPROC },
    { "stack", RLIMIT_STACK },
};

static void set_limit(const char *words)
{
    size_t n = strcspn(words, "=");

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (strlen(limits[i].name) == n && strncmp(limits[i].name, words, n) == 0) {
            rlim_t value = (rlim_t)strtoull(words + n + 1, NULL, 10);

            if (setrlimit(limits[i].resource, &(struct rlimit){ value, value }) == 0)
                return;
        }
    fail("no limit %s", words);
}

static bool is_rank_1(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");

    rank = rank ? rank : getenv("PMI_RANK");
    return rank && strcmp(rank, "1") == 0;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static double *in, *out;
static int *counts;

static void call_by(enum collective collective, enum form form, int n, MPI_Request *request)
{
#define CALL(NAME, LOWER, ...) \
    do { \
        if (form == BLOCKING) \
            CALL_BLOCKING(NAME, LOWER, __VA_ARGS__); \
        else if (form == NONBLOCKING) \
            CALL_NONBLOCKING(NAME, LOWER, __VA_ARGS__); \
        else \
            CALL_INIT(NAME, LOWER, __VA_ARGS__); \
    } while (0)
    switch (collective) {
    case REDUCE:
        CALL(Reduce, reduce, in, out, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        break;
    case ALLREDUCE:
        CALL(Allreduce, allreduce, in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER:
        CALL(Reduce_scatter, reduce_scatter, in, out, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER_BLOCK:
        CALL(Reduce_scatter_block, reduce_scatter_block, in, out, n, MPI_DOUBLE, MPI_SUM,
             MPI_COMM_WORLD);
        break;
    case SCAN:
        CALL(Scan, scan, in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    default:
        CALL(Exscan, exscan, in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* How many ranks are summed for this one. */
static int summed(enum collective collective)
{
    return collective == REDUCE   ? (world_rank == 0 ? world_ranks : 0)
        : collective == SCAN      ? world_rank + 1
        : collective == EXSCAN    ? world_rank
                                  : world_ranks;
}

static void sum(enum collective collective, enum form form, int n)
{
    bool scatters = collective == REDUCE_SCATTER || collective == REDUCE_SCATTER_BLOCK;
    int ranks = summed(collective), first = scatters ? world_rank * n : 0;
    MPI_Request request = MPI_REQUEST_NULL;

    for (int i = 0; i < (scatters ? n * world_ranks : n); i++)
        in[i] = world_rank + i % 1000;
    for (int i = 0; i < world_ranks; i++)
        counts[i] = n;
    memset(out, -1, (size_t)n * sizeof *out);
    call_by(collective, form, n, &request);
    if (form == PERSISTENT && HAVE_INIT)
        MPI_Start(&request);
    if (request != MPI_REQUEST_NULL)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
    for (int i = 0; ranks > 0 && i < n; i++) {
        double right = ranks * ((first + i) % 1000) + ranks * (ranks - 1) / 2;

        if (out[i] != right) {
            fail("%s, form %d, element %d of %d: %g, not %g", names[collective], form, i, n, out[i],
                 right);
            return;
        }
    }
}

static void sums_up_to(int longest)
{
    static const int length[] = { SHORT, 3, 100, 3000, LONG, LONGEST };

    in = malloc((size_t)longest * (size_t)world_ranks * sizeof *in);
    out = malloc((size_t)longest * sizeof *out);
    counts = malloc((size_t)world_ranks * sizeof *counts);
    for (size_t i = 0; i < sizeof length / sizeof *length && length[i] <= longest; i++)
        for (enum form form = BLOCKING; form < FORMS; form++)
            for (enum collective c = REDUCE; c < COLLECTIVES; c++)
                sum(c, form, length[i]);
    free(in);
    free(out);
    free(counts);
}

static void *in_thread(void *unused)
{
    sums_up_to(LONG);
    return unused;
}

static void by_thread(void)
{
    pthread_attr_t attr;
    pthread_t thread;

    pthread_attr_init(&attr);
    check(pthread_attr_setstacksize(&attr, 64 << 10) == 0, "no stack of 64 KiB");
    check(pthread_create(&thread, &attr, in_thread, NULL) == 0, "no thread");
    pthread_join(thread, NULL);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

/* Closes what leads to a memfd of collopt's. */
static void close_memfds(void)
{
    DIR *d = opendir("/proc/self/fd");
    struct dirent *e;
    char name[300], text[64];

    while (d && (e = readdir(d))) {
        ssize_t n;

        snprintf(name, sizeof name, "/proc/self/fd/%s", e->d_name);
        n = readlink(name, text, sizeof text - 1);
        text[n < 0 ? 0 : n] = '\0';
        if (strstr(text, "memfd:collopt"))
            close(atoi(e->d_name));
    }
    closedir(d);
}

static int open_file(char *bytes)
{
    char name[] = "/tmp/test-limits-XXXXXX";
    int fd = mkstemp(name);

    unlink(name);
    memset(bytes, 'x', BYTES);
    check(fd >= 0 && pwrite(fd, bytes, BYTES, 0) == BYTES, "no file of %d bytes", BYTES);
    return fd;
}

static void look_at_file(int fd, char *bytes)
{
    size_t wrong = 0;

    check(pread(fd, bytes, BYTES, 0) == BYTES, "a file is shorter than it was");
    for (int i = 0; i < BYTES; i++)
        wrong += bytes[i] != 'x';
    check(wrong == 0, "%zu bytes of a file of %d are others", wrong, BYTES);
    check(fcntl(fd, F_GETFD) >= 0, "a file was closed");
    close(fd);
}

/* Several long ones at a time: their memory is taken, and given back (COLLOPT_SHM_SIZE=1M). */
static void nonblocking_ones(void)
{
    enum { SEVERAL = 6, MUCH = 1 << 19 };
    MPI_Request request[SEVERAL];
    MPI_Status status[SEVERAL];
    double *from = calloc(MUCH, sizeof *from), *to = malloc(SEVERAL * MUCH * sizeof *to);

    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < SEVERAL; i++)
            MPI_Iallreduce(from, to + (size_t)i * MUCH, MUCH, MPI_DOUBLE, MPI_SUM,
                           MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(SEVERAL, request, status);
    }
    free(from);
    free(to);
}

static void descriptors(void)
{
    char *bytes = malloc(BYTES);
    int file[FILES];

    sums_up_to(100);
    close_memfds();
    for (int i = 0; i < FILES; i++)
        file[i] = open_file(bytes);
    sums_up_to(LONG);
    nonblocking_ones();
    for (int i = 0; i < FILES; i++)
        look_at_file(file[i], bytes);
    free(bytes);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* times that collopt has asked for pages, of which the first is refused, the third, and so on; -1:
 * none is */
static int asked = -1;

__attribute__((visibility("default"))) int madvise(void *at, size_t size, int advice)
{
    if (advice == MADV_POPULATE_WRITE && asked >= 0 && ++asked % 2 == 1) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_madvise, at, size, advice);
}

/* Where one message finds no pages, the next one may: data that several ranks are sent come to all
 * of them by shared memory, or to none. */
static void pages(void)
{
    enum { LEAST = 100, MOST = 100000 };

    in = malloc(MOST * sizeof *in);
    out = malloc(MOST * sizeof *out);
    counts = malloc((size_t)world_ranks * sizeof *counts);
    asked = 0;
    for (int n = LEAST; n <= MOST; n *= 2)
        for (int again = 0; again < 4; again++)
            sum(ALLREDUCE, BLOCKING, n);
    check(!with_collopt() || asked > 0, "collopt has not asked for pages");
    asked = -1;
    free(in);
    free(out);
    free(counts);
}

/* ---- scratch --------------------------------------------------------------------------------- */

/* KiB of this process that no other has. */
static long anonymous(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    while (file && fgets(line, sizeof line, file) && sscanf(line, "RssAnon: %ld", &kib) != 1)
        ;
    if (file)
        fclose(file);
    return kib;
}

/* What communicators keep between calls is bounded for the process (COLLOPT_SCRATCH=8M). */
static void scratch(void)
{
    enum { COMMUNICATORS = 40, COUNT = 1 << 20, MOST = 48 << 10 };
    double *from = calloc(COUNT, sizeof *from), *to = calloc(COUNT, sizeof *to);
    MPI_Comm comm[COMMUNICATORS];
    long before = 0, grown;

    memset(from, 0, COUNT * sizeof *from);
    memset(to, 0, COUNT * sizeof *to);
    for (int i = 0; i < COMMUNICATORS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        for (int again = 0; again < 3; again++)
            MPI_Allreduce(from, to, COUNT, MPI_DOUBLE, MPI_SUM, comm[i]);
        if (i == 0)
            before = anonymous();
    }
    grown = anonymous() - before;
    check(grown < MOST, "%d communicators: %ld KiB more, at most %d", COMMUNICATORS, grown, MOST);
    for (int i = 0; i < COMMUNICATORS; i++)
        MPI_Comm_free(&comm[i]);
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    const char *subject = argc > 1 ? argv[1] : "sums";
    bool alone = strcmp(subject, "alone") == 0;

    if (argc > 2 && (!alone || is_rank_1())) {          /* threads take the stack's from exec */
        for (int i = 2; i < argc; i++)
            set_limit(argv[i]);
        execl("/proc/self/exe", argv[0], subject, (char *)NULL);
    }
    begin_with(&argc, &argv, "test_limits", MPI_THREAD_SERIALIZED);
    at("limits");
    if (strcmp(subject, "descriptors") == 0)
        descriptors();
    else if (strcmp(subject, "thread") == 0)
        by_thread();
    else if (strcmp(subject, "pages") == 0)
        pages();
    else if (strcmp(subject, "scratch") == 0)
        scratch();
    else
        sums_up_to(strcmp(subject, "long") == 0 ? LONGEST : LONG);
    return end();
}
