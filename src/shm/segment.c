/* Makes, maps and hands out segments; see segment.h. */
#include "config.h"

#include "shm/segment.h"
#include "base/control_groups.h"
#include "base/launcher.h"
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
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE             /* Linux 5.14 */
# define MADV_POPULATE_WRITE 23
#endif

enum {
    SMALLEST = 1024,            /* pieces are powers of two */
    CLASSES = 32,
    STEP = 256 << 10,           /* pages are allocated in such steps */
    LONG = 1 << 20,             /* bytes; shorter pieces keep their pages */
    LEAF = 256,                 /* numbers of a part of the directory */
    /* Shared memory may be 1/OF_GROUP of a control group's memory.  Where address space is limited,
     * it may be 1/OF_SPACE of what is left. */
    OF_GROUP = 4, OF_SPACE = 8,
    KEPT = 4                    /* free pieces of the room keep at most so many times the segment's
                                 * size */
};
/* Bytes of address space for the segments of a node, of the 128 TiB that a process has. */
static const size_t SPACE = (size_t)1 << 44;
/* Bytes of a segment that journals reach: their offsets count lines, in 32 bits. */
static const size_t REACH = (size_t)UINT32_MAX * COLLOPT_SHM_LINE;

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

struct free_piece {             /* it keeps the page in which this lies */
    struct free_piece *next;
    bool hollow;                /* some of its other pages may not be there */
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
static struct collopt_segment_key own = { .descriptor = -1 };
static struct pool channels, room;
/* bytes of shared memory that the control group may have; SIZE_MAX: any */
static size_t allowance = SIZE_MAX;

static void explain(char *why, size_t size_of_why, const char *what)
{
    snprintf(why, size_of_why, "%s: %s", what, strerror(errno));
}

/* ---- pages -----------------------------------------------------------------------------------

 * By the mapping and not by a descriptor: one that stays open becomes a file of the program's as
 * soon as the program closes what is not its own and opens a file, and would lose data there. */

static char *page_before(const char *at)
{
    return (char *)((uintptr_t)at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1));
}

static char *page_behind(const char *at)
{
    return page_before(at + sysconf(_SC_PAGESIZE) - 1);
}

/* Where there is no MADV_POPULATE_WRITE.  If there is no free page, a system call that writes there
 * returns EFAULT, whereas the process itself would get SIGBUS.  It is one that filters of system
 * calls let through.  The pages are new, and stay zero. */
static bool let_kernel_write(char *at, const char *end)
{
    for (; at < end; at = page_before(at) + sysconf(_SC_PAGESIZE)) {
        if (syscall(SYS_clock_gettime, CLOCK_MONOTONIC, at))
            return false;
        memset(at, 0, sizeof(struct timespec));
    }
    return true;
}

/* Allocates pages from AT to END, which were not used before, so that touching them cannot fail.
 * An old kernel does not know the advice (EINVAL); a filter of system calls, which a program may
 * set at any time, refuses it with an error of its own choice. */
static bool populate(char *at, char *end)
{
    char *from = page_before(at);

    return madvise(from, (size_t)(end - from), MADV_POPULATE_WRITE) == 0
        || (errno != ENOMEM && errno != EFAULT && let_kernel_write(at, end));
}

/* Gives back the pages between AT and END; false: they stay, as where memory is locked. */
static bool discard(const char *at, const char *end)
{
    char *from = page_behind(at), *to = page_before(end);

    return from < to && madvise(from, (size_t)(to - from), MADV_REMOVE) == 0;
}

/* Allocates pages up to END. */
static bool allocate(struct pool *p, size_t end)
{
    size_t to = rounded_up(end, STEP);

    if (to > p->to)
        to = p->to;
    if (to <= p->allocated)
        return true;
    if (!populate(base + p->allocated, base + to))
        return false;
    p->allocated = to;
    return true;
}

/* ---- making ---------------------------------------------------------------------------------- */

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

/* RLIMIT_FSIZE: the kernel ends a process that makes a file longer than this. */
static size_t longest_file(void)
{
    struct rlimit file;

    return getrlimit(RLIMIT_FSIZE, &file) || file.rlim_cur > SIZE_MAX ? SIZE_MAX
                                                                      : (size_t)file.rlim_cur;
}

/* Bytes that may be mapped at a time: what RLIMIT_AS leaves is the program's first. */
static size_t longest_mapping(void)
{
    size_t pages = 0, used;
    struct rlimit space;
    FILE *file;

    if (getrlimit(RLIMIT_AS, &space) || space.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    if (!(file = fopen("/proc/self/statm", "re")))
        return 0;
    if (fscanf(file, "%zu", &pages) != 1)
        pages = 0;
    fclose(file);
    used = pages * (size_t)sysconf(_SC_PAGESIZE);
    return pages > 0 && space.rlim_cur > used ? (size_t)(space.rlim_cur - used) / OF_SPACE : 0;
}

static bool may_have_room(void)
{
    return sizeof(size_t) > 4 && longest_mapping() == SIZE_MAX && !locks_all_memory();
}

/* WANTED bytes, but with those of all PROCESSES at most half of the machine's memory: the program
 * needs as much for the vectors that it reduces.  What a control group allows is less; less than
 * the segment's own size would serve few. */
static size_t room_behind(size_t bytes, size_t wanted, size_t processes)
{
    size_t from = rounded_up(bytes, PAGE), most = allowance / processes;
    size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    size_t behind = least_size(wanted, memory / 2 / processes);

    behind = least_size(behind, SPACE / (size_t)sysconf(_SC_NPROCESSORS_ONLN));
    behind = least_size(behind, REACH - from);
    if (most / 2 < from || longest_file() < from + behind || !may_have_room())
        return 0;
    return least_size(behind, most - from) / PAGE * PAGE;
}

/* May each of PROCESSES have a segment of so many bytes? */
static bool is_allowed(size_t bytes, size_t processes, char *why, size_t size_of_why)
{
    const struct {
        size_t bytes;
        const char *what;
    } most[] = { { longest_file(), "the limit on files (ulimit -f)" },
                 { longest_mapping() / processes, "the address space left (ulimit -v)" },
                 { allowance / processes, "the control group's memory" } };

    for (size_t i = 0; i < sizeof most / sizeof *most; i++)
        if (bytes > most[i].bytes) {
            snprintf(why, size_of_why, "%s allows %zu bytes for a segment, not %zu", most[i].what,
                     most[i].bytes, bytes);
            return false;
        }
    return true;
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
static char *make(size_t bytes, size_t first, size_t processes, int *fd, char *why,
                  size_t size_of_why)
{
    char *at = NULL;

    *fd = -1;
    if (!is_allowed(bytes, processes, why, size_of_why))
        return NULL;
    *fd = memfd_create("collopt", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0) {
        explain(why, size_of_why, "memfd_create");
        return NULL;
    }
    if (fchmod(*fd, S_IRUSR | S_IWUSR) || ftruncate(*fd, (off_t)bytes)
        || fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) {
        explain(why, size_of_why, "a shared segment");
    } else if ((at = map(*fd, bytes)) == MAP_FAILED) {
        explain(why, size_of_why, "mmap");
    } else if (!populate(at, at + first)) {
        explain(why, size_of_why, "memory for a shared segment");
        munmap(at, bytes);
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

static void find_allowance(void)
{
    size_t limit = collopt_group_memory("/proc/self/cgroup", "/sys/fs/cgroup");

    allowance = limit == SIZE_MAX ? limit : limit / OF_GROUP;
}

/* Of this job on this node: they are likely to be in one control group. */
static size_t processes_here(void)
{
    int ranks = collopt_launched_local_ranks();

    return ranks > 0 ? (size_t)ranks : 1;
}

void collopt_segment_make(size_t bytes, size_t wanted, struct collopt_segment_key *key, char *why,
                          size_t size_of_why)
{
    size_t first = bytes < STEP ? bytes : STEP, from = rounded_up(bytes, PAGE), behind;
    size_t processes = processes_here();
    int fd;

    *key = (struct collopt_segment_key){ .process = getpid(), .descriptor = -1 };
    pthread_mutex_lock(&lock);
    find_allowance();
    behind = room_behind(bytes, wanted, processes);
    base = make(from + behind, first, processes, &fd, why, size_of_why);
    if (!base && behind > 0) {
        behind = 0;
        base = make(from, first, processes, &fd, why, size_of_why);
    }
    if (base) {
        size = from + behind;
        sign(base, size, fd, key);
        own = *key;
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
    char *at = make(bytes, to, 1, &fd, why, size_of_why);

    *key = (struct collopt_segment_key){ .process = getpid(), .descriptor = -1 };
    if (at)
        sign(at, bytes, fd, key);
    return at;
}

/* Has FD become another file since, or was it another process's from the beginning? */
static bool leads_to(int fd, const struct collopt_segment_key *key)
{
    struct header h;
    struct stat is;

    return !fstat(fd, &is) && S_ISREG(is.st_mode) && pread(fd, &h, sizeof h, 0) == sizeof h
        && h.magic == magic && h.size == (uint64_t)is.st_size && h.process == key->process
        && h.token == key->token;
}

void collopt_segment_close(const struct collopt_segment_key *key)
{
    if (key->descriptor >= 0 && leads_to(key->descriptor, key))
        close(key->descriptor);
}

void collopt_segment_close_own(void)
{
    pthread_mutex_lock(&lock);
    collopt_segment_close(&own);
    own.descriptor = -1;
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
    collopt_segment_close(&own);
    own.descriptor = -1;
    base = NULL;
    size = 0;
    channels = room = (struct pool){ .to = 0 };
    pthread_mutex_unlock(&lock);
}

/* ---- attaching ------------------------------------------------------------------------------- */

static void say_other(const struct collopt_segment_key *key, char *why, size_t size_of_why)
{
    snprintf(why, size_of_why, "process %d is another one here", key->process);
}

static void say_none(char *why, size_t size_of_why)
{
    snprintf(why, size_of_why, "a peer has no segment");
}

/* To open whatever another process has there may do harm: a terminal, a tape, a pipe. */
static int open_segment(const struct collopt_segment_key *key, char *why, size_t size_of_why)
{
    static const char expected[] = "/memfd:collopt (deleted)";
    char name[64], text[sizeof expected];
    ssize_t n;
    int fd;

    snprintf(name, sizeof name, "/proc/%d/fd/%d", key->process, key->descriptor);
    n = readlink(name, text, sizeof text);
    if (n >= 0 && (n != sizeof expected - 1 || memcmp(text, expected, (size_t)n) != 0)) {
        say_other(key, why, size_of_why);
        return -1;
    }
    fd = n < 0 ? -1 : open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        explain(why, size_of_why, name);
    return fd;
}

static char *map_peer(int fd, const struct collopt_segment_key *key, char *why, size_t size_of_why)
{
    struct stat is;
    char *at;

    if (!leads_to(fd, key)) {
        say_other(key, why, size_of_why);
        return NULL;
    }
    if (!fstat(fd, &is) && (size_t)is.st_size > longest_mapping()) {
        snprintf(why, size_of_why, "too little address space is left (ulimit -v)");
        return NULL;
    }
    if ((at = map(fd, (size_t)is.st_size)) == MAP_FAILED) {
        explain(why, size_of_why, "mmap of a peer's segment");
        return NULL;
    }
    return at;
}

static char *attach(const struct collopt_segment_key *key, size_t from, size_t to, char *why,
                    size_t size_of_why)
{
    char *at;
    int fd;

    if (key->descriptor < 0) {
        say_none(why, size_of_why);
        return NULL;
    }
    if ((fd = open_segment(key, why, size_of_why)) < 0)
        return NULL;
    at = map_peer(fd, key, why, size_of_why);
    close(fd);
    if (at && to > from && !populate(at + from, at + to)) {
        explain(why, size_of_why, "memory for a shared segment");
        collopt_segment_detach(at);
        at = NULL;
    }
    return at;
}

char *collopt_segment_attach(const struct collopt_segment_key *key, char *why, size_t size_of_why)
{
    return attach(key, 0, 0, why, size_of_why);
}

bool collopt_segment_reaches(const struct collopt_segment_key *key, char *why, size_t size_of_why)
{
    int fd = key->descriptor < 0 ? -1 : open_segment(key, why, size_of_why);
    bool reached = fd >= 0 && leads_to(fd, key);

    if (key->descriptor < 0)
        say_none(why, size_of_why);
    else if (fd >= 0 && !reached)
        say_other(key, why, size_of_why);
    if (fd >= 0)
        close(fd);
    return reached;
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
    add(p, piece, class, bytes_of(class) >= LONG && p->kept + bytes_of(class) > p->keeps
        && discard((char *)(piece + 1), (char *)piece + bytes_of(class)));
}

/* The first free piece of CLASS, with its pages unless it may be BARE; NULL: no memory. */
static struct free_piece *get(struct pool *p, int class, bool bare)
{
    struct free_piece *piece = p->unused[class];

    if (!bare && piece->hollow
        && !populate((char *)(piece + 1), (char *)piece + bytes_of(class)))
        return NULL;
    return remove_first(p, class);
}

/* A free piece of CLASS; a larger one is halved. */
static struct free_piece *find(struct pool *p, int class, bool bare)
{
    struct free_piece *piece;
    int from = class;

    while (from < CLASSES && !p->unused[from])
        from++;
    if (from == CLASSES || !(piece = get(p, from, bare && from == class)))
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

/* A piece that was never used before; NULL: no room, or no memory. */
static struct free_piece *cut_off(struct pool *p, size_t bytes, bool bare)
{
    struct free_piece *piece = (struct free_piece *)(base + p->used);

    if (bytes > p->to - p->used || !allocate(p, p->used + (bare ? sizeof *piece : bytes)))
        return NULL;
    p->used += bytes;
    if (p->allocated < p->used)
        p->allocated = p->used;
    return piece;
}

static void *take(struct pool *p, size_t bytes, size_t most, bool bare)
{
    struct free_piece *piece = NULL;
    int class = class_of(bytes);

    pthread_mutex_lock(&lock);
    if (base && bytes <= most) {
        piece = find(p, class, bare);
        if (!piece)
            piece = cut_off(p, bytes_of(class), bare);
        if (!piece && p->given) {
            join(p, class);
            piece = find(p, class, bare);
        }
    }
    pthread_mutex_unlock(&lock);
    return piece;
}

void *collopt_segment_take(size_t bytes)
{
    void *piece = take(&channels, bytes, channels.to / 2, false);

    return piece ? memset(piece, 0, bytes) : NULL;
}

void *collopt_segment_take_bare(size_t bytes)
{
    return take(&channels, bytes, channels.to / 2, true);
}

bool collopt_segment_fill(char *at, size_t bytes)
{
    return populate(at, at + bytes);
}

void *collopt_segment_take_room(size_t bytes)
{
    return take(&room, bytes, (room.to - room.from) / 4, false);
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

void collopt_segment_give_back_bare(void *at, size_t bytes)
{
    struct free_piece *piece = at;
    int class = class_of(bytes);

    pthread_mutex_lock(&lock);
    discard((char *)(piece + 1), (char *)piece + bytes_of(class));
    add(&channels, piece, class, true);
    channels.given = true;
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
    if (!atomic_compare_exchange_strong_explicit(&h->leaf[number / LEAF], &none,
                                                 (uint64_t)(leaf - base), memory_order_release,
                                                 memory_order_relaxed))
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
