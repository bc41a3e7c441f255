/* Makes, maps and hands out segments; see segment.h. */
#if HAVE_CONFIG_H
# include "config.h"
#endif

#include "shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct header {                 /* at the start of a segment */
    uint64_t magic;
    uint64_t size;
    int32_t process, token;
};

static const uint64_t magic = UINT64_C(0x3174706f6c6c6f63);

enum {
    SMALLEST = 1024,            /* pieces are powers of two */
    CLASSES = 32,
    STEP = 256 << 10            /* pages are allocated in such steps */
};

struct free_piece {
    struct free_piece *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of all below */
static char *base;
static size_t size, allocated, used;
static int descriptor = -1;
static struct free_piece *unused[CLASSES];

static void explain(char *why, size_t size_of_why, const char *what)
{
    snprintf(why, size_of_why, "%s: %s", what, strerror(errno));
}

/* ---- making ----------------------------------------------------------------------------------------------------- */

/* Allocates pages up to END, so that touching them cannot fail. */
static bool allocate(size_t end)
{
    size_t to = (end + STEP - 1) / STEP * STEP;

    if (to > size)
        to = size;
    if (to <= allocated)
        return true;
    if (posix_fallocate(descriptor, (off_t)allocated, (off_t)(to - allocated)))
        return false;
    allocated = to;
    return true;
}

static bool open_segment(size_t bytes, char *why, size_t size_of_why)
{
    descriptor = memfd_create("collopt", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) {
        explain(why, size_of_why, "memfd_create");
        return false;
    }
    size = bytes;
    allocated = 0;
    if (fchmod(descriptor, S_IRUSR | S_IWUSR) || ftruncate(descriptor, (off_t)bytes)
        || fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) || !allocate(1)) {
        explain(why, size_of_why, "memory for a shared segment");
        return false;
    }
    base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (base == MAP_FAILED) {
        base = NULL;
        explain(why, size_of_why, "mmap");
        return false;
    }
    madvise(base, bytes, MADV_DONTFORK);
    return true;
}

static int random_token(void)
{
    int token;

    if (getrandom(&token, sizeof token, GRND_NONBLOCK) != sizeof token)
        token = (int)((uintptr_t)base >> 12) ^ getpid();
    return token;
}

void collopt_segment_make(size_t bytes, struct collopt_segment_key *key, char *why, size_t size_of_why)
{
    *key = (struct collopt_segment_key){ .process = getpid(), .descriptor = -1 };
    pthread_mutex_lock(&lock);
    if (open_segment(bytes, why, size_of_why)) {
        key->descriptor = descriptor;
        key->token = random_token();
        *(struct header *)base = (struct header){ magic, bytes, key->process, key->token };
        used = SMALLEST;
        memset(unused, 0, sizeof unused);
    } else if (descriptor >= 0) {
        close(descriptor);
        descriptor = -1;
    }
    pthread_mutex_unlock(&lock);
}

char *collopt_segment_base(void)
{
    return base;
}

void collopt_segment_drop(void)
{
    pthread_mutex_lock(&lock);
    if (base)
        munmap(base, size);
    if (descriptor >= 0)
        close(descriptor);
    base = NULL;
    descriptor = -1;
    size = allocated = used = 0;
    pthread_mutex_unlock(&lock);
}

/* ---- attaching -------------------------------------------------------------------------------------------------- */

static char *map(int fd, const struct collopt_segment_key *key, char *why, size_t size_of_why)
{
    const struct header *h;
    struct stat is;
    char *at;

    if (fstat(fd, &is) || (size_t)is.st_size < sizeof *h
        || (at = mmap(NULL, (size_t)is.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED) {
        explain(why, size_of_why, "mmap of a peer's segment");
        return NULL;
    }
    h = (const struct header *)at;
    if (h->magic != magic || h->size != (uint64_t)is.st_size || h->process != key->process || h->token != key->token) {
        snprintf(why, size_of_why, "process %d is another one here", key->process);
        munmap(at, (size_t)is.st_size);
        return NULL;
    }
    madvise(at, (size_t)is.st_size, MADV_DONTFORK);
    return at;
}

char *collopt_segment_attach(const struct collopt_segment_key *key, char *why, size_t size_of_why)
{
    char name[64], *at;
    int fd;

    if (key->descriptor < 0) {
        snprintf(why, size_of_why, "a peer has no segment");
        return NULL;
    }
    snprintf(name, sizeof name, "/proc/%d/fd/%d", key->process, key->descriptor);
    fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        explain(why, size_of_why, name);
        return NULL;
    }
    at = map(fd, key, why, size_of_why);
    close(fd);
    return at;
}

void collopt_segment_detach(char *at)
{
    munmap(at, ((const struct header *)at)->size);
}

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

static int class_of(size_t bytes)
{
    int class = 0;

    while (((size_t)SMALLEST << class) < bytes)
        class++;
    return class;
}

/* A free piece of CLASS; a larger one is halved. */
static struct free_piece *find(int class)
{
    struct free_piece *piece = NULL;
    int from = class;

    while (from < CLASSES && !unused[from])
        from++;
    if (from == CLASSES)
        return NULL;
    piece = unused[from];
    unused[from] = piece->next;
    while (from-- > class) {
        struct free_piece *half = (struct free_piece *)((char *)piece + ((size_t)SMALLEST << from));

        half->next = unused[from];
        unused[from] = half;
    }
    return piece;
}

void *collopt_segment_take(size_t bytes)
{
    struct free_piece *piece = NULL;
    int class = class_of(bytes);
    size_t room = (size_t)SMALLEST << class;

    pthread_mutex_lock(&lock);
    if (base && bytes <= size / 2) {
        piece = find(class);
        if (!piece && room <= size - used && allocate(used + room)) {
            piece = (struct free_piece *)(base + used);
            used += room;
        }
    }
    pthread_mutex_unlock(&lock);
    return piece ? memset(piece, 0, bytes) : NULL;
}

void collopt_segment_give_back(void *at, size_t bytes)
{
    struct free_piece *piece = at;
    int class = class_of(bytes);

    pthread_mutex_lock(&lock);
    piece->next = unused[class];
    unused[class] = piece;
    pthread_mutex_unlock(&lock);
}
