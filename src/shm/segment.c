/* Makes, maps and hands out segments; see segment.h. */
#if HAVE_CONFIG_H
# include "config.h"
#endif

#include "shm/segment.h"
#include "base/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SMALLEST = 1024,            /* pieces are powers of two */
    CLASSES = 32,
    STEP = 256 << 10,           /* pages are allocated in such steps */
    LONG = 1 << 20,             /* bytes; shorter pieces keep their pages */
    LEAF = 256,                 /* numbers of a part of the directory */
    KEPT = 4                    /* sizes of a segment that free pieces of its room may hold */
};
/* Bytes of address space for the segments of a node, of the 128 TiB that a process has. */
static const size_t SPACE = (size_t)1 << 44;

struct header {                 /* at the start of a segment */
    uint64_t magic;
    uint64_t size, room;        /* bytes; ROOM: of SIZE, behind the pieces for channels */
    int32_t process, token;
};

struct directory {              /* behind the header in the segment of a process */
    _Alignas(COLLOPT_SHM_LINE) struct header header;
    /* offsets; 0: none of its numbers is published */
    _Alignas(COLLOPT_SHM_LINE) _Atomic uint64_t leaf[COLLOPT_SHM_NUMBERS / LEAF];
    _Alignas(COLLOPT_SHM_LINE) struct collopt_failures failures;
};

enum { PAGE = 4096 };
_Static_assert(sizeof(struct header) <= COLLOPT_SHM_LINE && sizeof(struct directory) <= PAGE,
               "they lie before the first piece");

static const uint64_t magic = UINT64_C(0x3174706f6c6c6f63);

struct free_piece {             /* in its first page, which it keeps */
    struct free_piece *next;
    bool hollow;                /* its other pages were given back */
};

struct pool {                   /* a part of the segment from which pieces are taken */
    size_t from, to, allocated, used;   /* bytes from the start of the segment */
    /* bytes of free pieces of at least LONG that are not hollow; at most */
    size_t kept, keeps;
    struct free_piece *unused[CLASSES];
    bool given;                 /* a piece was freed since the last join() */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of all below */
static char *base;
static size_t size;
static int descriptor = -1;
static struct pool channels, room;

static void explain(char *why, size_t size_of_why, const char *what)
{
    snprintf(why, size_of_why, "%s: %s", what, strerror(errno));
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Allocates pages up to END, so that touching them cannot fail. */
static bool allocate(struct pool *p, size_t end)
{
    size_t to = rounded_up(end, STEP);

    if (to > p->to)
        to = p->to;
    if (to <= p->allocated)
        return true;
    if (posix_fallocate(descriptor, (off_t)p->allocated, (off_t)(to - p->allocated)))
        return false;
    p->allocated = to;
    return true;
}

/* After mlockall(MCL_FUTURE) each new mapping is in memory at once, and room would be too. */
static bool locks_all_memory(void)
{
    unsigned char resident = 0;
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return true;
    if (mincore(page, PAGE, &resident))
        resident = 1;
    munmap(page, PAGE);
    return resident & 1;
}

/* A file that is longer than RLIMIT_FSIZE allows ends the process. */
static bool may_have_room(size_t bytes, size_t behind)
{
    struct rlimit file, space;

    return sizeof bytes > 4 && !getrlimit(RLIMIT_FSIZE, &file) && !getrlimit(RLIMIT_AS, &space)
        && (file.rlim_cur == RLIM_INFINITY || file.rlim_cur >= bytes + behind)
            && space.rlim_cur == RLIM_INFINITY && !locks_all_memory();
}

/* As much as there is memory: addresses are not to end before it does. */
static size_t room_behind(size_t bytes)
{
    size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    size_t most = SPACE / (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    size_t behind = (memory < most ? memory : most) / PAGE * PAGE;

    return may_have_room(bytes, behind) ? behind : 0;
}

/* Children do not inherit it, and dumps of the process leave it out: they would read what was never
 * allocated. */
static char *map(int fd, size_t bytes)
{
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at != MAP_FAILED) {
        madvise(at, bytes, MADV_DONTFORK);
        madvise(at, bytes, MADV_DONTDUMP);
    }
    return at;
}

/* Of sealed size.  Only what was allocated may be touched. */
static char *make(size_t bytes, size_t first, int *fd, char *why, size_t size_of_why)
{
    char *at;

    *fd = memfd_create("collopt", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0) {
        explain(why, size_of_why, "memfd_create");
        return NULL;
    }
    if (fchmod(*fd, S_IRUSR | S_IWUSR) || ftruncate(*fd, (off_t)bytes)
        || fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)
            || (errno = posix_fallocate(*fd, 0, (off_t)first))) {
        explain(why, size_of_why, "memory for a shared segment");
    } else if ((at = map(*fd, bytes)) == MAP_FAILED) {
        explain(why, size_of_why, "mmap");
    } else {
        return at;
    }
    close(*fd);
    *fd = -1;
    return NULL;
}

static int random_token(const char *at)
{
    int token;

    if (getrandom(&token, sizeof token, GRND_NONBLOCK) != sizeof token)
        token = (int)((uintptr_t)at >> 12) ^ getpid();
    return token;
}

static void sign(char *at, size_t bytes, int fd, struct collopt_segment_key *key)
{
    *key = (struct collopt_segment_key){ .process = getpid(), .descriptor = fd,
        .token = random_token(at) };
    *(struct header *)at = (struct header){ .magic = magic, .size = bytes, .process = key->process,
                                            .token = key->token };
}

void collopt_segment_make(size_t bytes, struct collopt_segment_key *key, char *why,
                          size_t size_of_why)
{
    size_t first = bytes < STEP ? bytes : STEP, behind = room_behind(bytes);
    size_t from = rounded_up(bytes, PAGE);

    *key = (struct collopt_segment_key){ .process = getpid(), .descriptor = -1 };
    pthread_mutex_lock(&lock);
    base = make(from + behind, first, &descriptor, why, size_of_why);
    if (!base && behind > 0) {
        behind = 0;
        base = make(from, first, &descriptor, why, size_of_why);
    }
    if (base) {
        size = from + behind;
        sign(base, size, descriptor, key);
        ((struct header *)base)->room = behind;
        channels = (struct pool){ .to = bytes, .allocated = first, .used = PAGE, .keeps = bytes };
        room = (struct pool){ .from = from,
                              .to = size,
                              .allocated = from,
                              .used = from,
                              .keeps = bytes * KEPT };
    }
    pthread_mutex_unlock(&lock);
}

char *collopt_segment_make_apart(size_t bytes, size_t to, struct collopt_segment_key *key,
                                 char *why, size_t size_of_why)
{
    int fd;
    char *at = make(bytes, to, &fd, why, size_of_why);

    *key = (struct collopt_segment_key){ .process = getpid(), .descriptor = -1 };
    if (at)
        sign(at, bytes, fd, key);
    return at;
}

void collopt_segment_close(const struct collopt_segment_key *key)
{
    if (key->descriptor >= 0)
        close(key->descriptor);
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
    size = 0;
    channels = room = (struct pool){ .to = 0 };
    pthread_mutex_unlock(&lock);
}

/* ---- attaching ------------------------------------------------------------------------------- */

static char *map_peer(int fd, const struct collopt_segment_key *key, char *why, size_t size_of_why)
{
    const struct header *h;
    struct stat is;
    char *at;

    if (fstat(fd, &is) || (size_t)is.st_size < sizeof *h
        || (at = map(fd, (size_t)is.st_size)) == MAP_FAILED) {
        explain(why, size_of_why, "mmap of a peer's segment");
        return NULL;
    }
    h = (const struct header *)at;
    if (h->magic != magic || h->size != (uint64_t)is.st_size || h->process != key->process
        || h->token != key->token) {
        snprintf(why, size_of_why, "process %d is another one here", key->process);
        munmap(at, (size_t)is.st_size);
        return NULL;
    }
    return at;
}

static char *attach(const struct collopt_segment_key *key, size_t from, size_t to, char *why,
                    size_t size_of_why)
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
    at = map_peer(fd, key, why, size_of_why);
    if (at && to > from && (errno = posix_fallocate(fd, (off_t)from, (off_t)(to - from)))) {
        explain(why, size_of_why, "memory for a shared segment");
        collopt_segment_detach(at);
        at = NULL;
    }
    close(fd);
    return at;
}

char *collopt_segment_attach(const struct collopt_segment_key *key, char *why, size_t size_of_why)
{
    return attach(key, 0, 0, why, size_of_why);
}

char *collopt_segment_attach_part(const struct collopt_segment_key *key, size_t from, size_t to,
                                  char *why, size_t size_of_why)
{
    return attach(key, from, to, why, size_of_why);
}

void collopt_segment_detach(char *at)
{
    munmap(at, ((const struct header *)at)->size);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static int class_of(size_t bytes)
{
    int class = 0;

    while (((size_t)SMALLEST << class) < bytes)
        class++;
    return class;
}

static size_t bytes_of(int class)
{
    return (size_t)SMALLEST << class;
}

static void add(struct pool *p, struct free_piece *piece, int class, bool hollow)
{
    piece->hollow = hollow;
    if (bytes_of(class) >= LONG && !hollow)
        p->kept += bytes_of(class);
    piece->next = p->unused[class];
    p->unused[class] = piece;
}

static struct free_piece *remove_first(struct pool *p, int class)
{
    struct free_piece *piece = p->unused[class];

    if (bytes_of(class) >= LONG && !piece->hollow)
        p->kept -= bytes_of(class);
    p->unused[class] = piece->next;
    return piece;
}

static void put(struct pool *p, struct free_piece *piece, int class)
{
    off_t at = (char *)piece - base;

    add(p, piece, class, bytes_of(class) >= LONG && p->kept + bytes_of(class) > p->keeps
        && !fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at + PAGE,
                      (off_t)bytes_of(class) - PAGE));
}

/* The first free piece of CLASS, with its pages; NULL: no memory. */
static struct free_piece *get(struct pool *p, int class)
{
    struct free_piece *piece = p->unused[class];

    if (piece->hollow && posix_fallocate(descriptor, (char *)piece - base, (off_t)bytes_of(class)))
        return NULL;
    return remove_first(p, class);
}

/* A free piece of CLASS; a larger one is halved. */
static struct free_piece *find(struct pool *p, int class)
{
    struct free_piece *piece;
    int from = class;

    while (from < CLASSES && !p->unused[from])
        from++;
    if (from == CLASSES || !(piece = get(p, from)))
        return NULL;
    while (from-- > class)
        put(p, (struct free_piece *)((char *)piece + bytes_of(from)), from);
    return piece;
}

static int by_address(const void *a, const void *b)
{
    const struct free_piece *const *x = a, *const *y = b;

    return (*x > *y) - (*x < *y);
}

/* Removes the free pieces of CLASS from P and sorts them by address.  NULL: there are fewer than
 * two, or no memory for the array. */
static struct free_piece **in_order(struct pool *p, int class, size_t *n)
{
    struct free_piece **pieces;

    *n = 0;
    for (const struct free_piece *piece = p->unused[class]; piece; piece = piece->next)
        ++*n;
    if (*n < 2 || !(pieces = malloc(*n * sizeof *pieces)))
        return NULL;
    for (size_t i = 0; i < *n; i++)
        pieces[i] = remove_first(p, class);
    qsort(pieces, *n, sizeof *pieces, by_address);
    return pieces;
}

/* Joins neighbouring free pieces, up to the size of CLASS.  Otherwise a pool that was divided into
 * short pieces could never serve a long one again. */
static void join(struct pool *p, int class)
{
    p->given = false;
    for (int k = 0; k < class; k++) {
        size_t n;
        struct free_piece **pieces = in_order(p, k, &n);

        for (size_t i = 0; pieces && i < n; i++) {
            struct free_piece *piece = pieces[i], *next = i + 1 < n ? pieces[i + 1] : NULL;
            bool joins = (char *)next == (char *)piece + bytes_of(k);

            add(p, piece, joins ? k + 1 : k, piece->hollow || (joins && next->hollow));
            i += joins;
        }
        free(pieces);
    }
}

static void *take(struct pool *p, size_t bytes, size_t most)
{
    struct free_piece *piece = NULL;
    int class = class_of(bytes);
    size_t whole = bytes_of(class);

    pthread_mutex_lock(&lock);
    if (base && bytes <= most) {
        piece = find(p, class);
        if (!piece && whole <= p->to - p->used && allocate(p, p->used + whole)) {
            piece = (struct free_piece *)(base + p->used);
            p->used += whole;
        }
        if (!piece && p->given) {
            join(p, class);
            piece = find(p, class);
        }
    }
    pthread_mutex_unlock(&lock);
    return piece;
}

void *collopt_segment_take(size_t bytes)
{
    void *piece = take(&channels, bytes, channels.to / 2);

    return piece ? memset(piece, 0, bytes) : NULL;
}

void *collopt_segment_take_room(size_t bytes)
{
    return take(&room, bytes, (room.to - room.from) / 4);
}

void collopt_segment_give_back(void *at, size_t bytes)
{
    struct pool *p;

    pthread_mutex_lock(&lock);
    p = (char *)at < base + channels.to ? &channels : &room;
    put(p, at, class_of(bytes));
    p->given = true;
    pthread_mutex_unlock(&lock);
}

/* ---- the directory --------------------------------------------------------------------------- */

size_t collopt_segment_room(const char *at)
{
    return ((const struct header *)at)->room;
}

struct collopt_failures *collopt_segment_failures(char *at)
{
    return &((struct directory *)at)->failures;
}

static _Atomic uint64_t *entry(const char *at, unsigned number)
{
    const struct directory *h = (const struct directory *)at;
    uint64_t leaf = atomic_load_explicit(&h->leaf[number / LEAF], memory_order_acquire);

    return leaf ? (_Atomic uint64_t *)(at + leaf) + number % LEAF : NULL;
}

static bool make_leaf(unsigned number)
{
    struct directory *h = (struct directory *)base;
    char *leaf = collopt_segment_take_room(LEAF * sizeof(uint64_t));
    uint64_t none = 0;

    if (!leaf)
        return false;
    memset(leaf, 0, LEAF * sizeof(uint64_t));
    if (!atomic_compare_exchange_strong(&h->leaf[number / LEAF], &none, (uint64_t)(leaf - base)))
        /* another thread was faster */
        collopt_segment_give_back(leaf, LEAF * sizeof(uint64_t));
    return true;
}

bool collopt_segment_publish(unsigned number, uint64_t offset)
{
    if (!entry(base, number) && !make_leaf(number))
        return false;
    atomic_store_explicit(entry(base, number), offset, memory_order_release);
    return true;
}

uint64_t collopt_segment_find(const char *at, unsigned number)
{
    _Atomic uint64_t *e = entry(at, number);

    return e ? atomic_load_explicit(e, memory_order_acquire) : 0;
}
