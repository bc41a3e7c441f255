/* Explores the executions of a model; see explore.h.
 *
 * Memory.  Each atomic has a list of the stores to it, in the order in which they were made.  A
 * load may read any of them that is not older than one that its thread knows of.  What a thread
 * knows is its view: the oldest store of each atomic that it may still read, and how far it has
 * seen each thread.  A store with release takes the view along, a load with acquire that reads it
 * adds it to its own; fences do so for the relaxed accesses beside them.  Read-modify-writes read
 * the latest store and hand on its view.  Loads with seq_cst read no store older than the latest
 * with seq_cst.  This is RC11, C11 without values out of thin air ("Repairing Sequential
 * Consistency in C/C++11", 2017), except that stores of several threads to one atomic are ordered
 * as they are made; where each word has one writer that leaves out nothing.
 *
 * Accesses that are not atomic race if neither is in the other's view.  Those on stacks are
 * private.
 *
 * Threads change places only before accesses to atomics.  What an execution is from a state on
 * depends on what each thread has read, and on the order of the stores of each atomic, so a state
 * that was seen is not explored again: there are as many states as such pasts, not as orders of
 * the threads. Each execution begins anew and repeats the choices of the last one but for the last
 * one that has an alternative. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "explore.h"

enum {
    THREADS = EXPLORE_THREADS + 1,      /* thread 0 begins and ends the model */
    PLACES = 256,               /* atomics of an execution */
    STACK = 1 << 17, HEAP = 1 << 20,
    STEPS = 20000,              /* of an execution that ends */
    GRANULES = 1 << 14,         /* of 8 bytes, powers of two */
    SITES = 256, VISITED = 1 << 20
};

enum { RELAXED = 0, ACQUIRE = 2, RELEASE = 3, ACQ_REL = 4, SEQ_CST = 5 };
enum operation { LOAD, STORE, UPDATE, FENCE };
enum access { READS, WRITES, LOADS, STORES, ACCESSES };

struct view {
    uint16_t of[THREADS + PLACES];      /* accesses of threads; the oldest store of a place */
};

struct store {
    uint64_t value, identity;   /* IDENTITY: thread and number of the access */
    struct view view;
};

struct place {                  /* an atomic */
    uint64_t address;
    unsigned size;
    bool overwritten;           /* by what is not atomic */
    int stores, room, base;     /* no store before BASE is read any more */
    int sequential;             /* the latest store with seq_cst, or 0 */
    struct store *store;
};

struct granule {
    uint64_t address;
    unsigned execution;
    uint16_t at[8][ACCESSES][THREADS];  /* when each thread last did so with each byte */
    struct place *atomic[8];    /* that begins at each byte */
};

struct thread {
    ucontext_t context;
    char *stack;
    void (*runs)(void);
    bool started, ended;
    uint16_t accesses;
    uint64_t past;              /* a hash of what it has read, and where its stores are */
    struct view view, released, acquirable;
    const void *waits_for;      /* a mutex */
    int polled[PLACES], polls;  /* what it has read since the last explore_poll() */
    bool waits;
    uint64_t polled_value[PLACES];
};

struct mutex {
    const void *at;
    int owner;                  /* 0: free; thread 0 does not contend */
    uint64_t identity;
    struct view view;
};

struct site {                   /* an atomic access of the program */
    uintptr_t at;
    enum operation operation;
    int order;
};

static struct thread thread[THREADS];
static int running;
static struct place place[PLACES];
static int places;
static struct mutex mutex[8];
static int mutexes;
static struct granule granule[GRANULES];
static unsigned execution;
static char *heap;
static size_t heap_used;
static uintptr_t outside;       /* the stack of thread 0 ends here */
static struct { uintptr_t from; size_t size; } private[8];
static int privates;

static struct { unsigned chosen, of; } choice[2 * STEPS];
static int choices, depth;
static uint64_t *visited;
static size_t states;
static unsigned long executions;
static int steps;

static struct site site[SITES];
static int sites;
static uintptr_t weakened;
static int weakened_to;

static ucontext_t explorer;     /* goes on with OUTCOME */
static enum { BEGINS, RUNS, ENDED, KNOWN, FAILED } outcome;
static char failure[256];

/* The trace of an execution, for people. */
static struct {
    int thread;
    const char *what;
    uintptr_t site;
    uint64_t address, value;
} said[STEPS];

static void leave(int how)
{
    outcome = how;
    running = 0;
    setcontext(&explorer);
}

static void fails(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(failure, sizeof failure, format, list);
    va_end(list);
    leave(FAILED);
}

void explore_check(bool holds, const char *what)
{
    if (!holds)
        fails("%s", what);
}

/* ---- choices --------------------------------------------------------------------------------- */

static unsigned choose(unsigned of)
{
    if (of == 1)
        return 0;
    if (depth == choices) {
        choice[choices].chosen = 0;
        choice[choices++].of = of;
    }
    return choice[depth++].chosen;
}

/* The next execution; false: there is none. */
static bool next_choices(void)
{
    while (choices > 0 && choice[choices - 1].chosen + 1 == choice[choices - 1].of)
        choices--;
    if (choices == 0)
        return false;
    choice[choices - 1].chosen++;
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Was this state explored before?  Only beyond the choices that are repeated. */
static bool is_known(void)
{
    uint64_t hash = 1;

    if (depth < choices)
        return false;
    for (int t = 1; t < THREADS; t++)
        hash = mix(hash, thread[t].past);
    for (size_t i = hash;; i++) {
        uint64_t *slot = &visited[i % VISITED];

        if (*slot == hash)
            return true;
        if (*slot == 0) {
            *slot = hash;
            if (++states > VISITED / 2) {
                printf("too many states\n");
                exit(1);
            }
            return false;
        }
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

static bool can_go_on(const struct thread *t)
{
    if (!t->runs || t->ended)
        return false;
    for (int i = 0; t->waits_for && i < mutexes; i++)
        if (mutex[i].at == t->waits_for)
            return mutex[i].owner == 0;
    for (int i = 0; t->waits && i < t->polls; i++) {
        const struct place *p = &place[t->polled[i]];

        if (p->store[p->stores - 1].value != t->polled_value[i])
            return true;
    }
    return !t->waits;
}

/* To the next access of some thread. */
static void schedule(void)
{
    int able[THREADS], n = 0, from = running;
    bool all_ended = true;

    if (++steps == STEPS)
        fails("an execution does not end");
    said[steps].what = NULL;
    for (int t = 1; t < THREADS; t++) {
        all_ended = all_ended && (!thread[t].runs || thread[t].ended);
        if (can_go_on(&thread[t]))
            able[n++] = t;
    }
    if (all_ended)
        leave(ENDED);
    if (n == 0)
        fails("threads wait for good");
    if (is_known())
        leave(KNOWN);
    running = able[choose((unsigned)n)];
    if (running != from)
        swapcontext(&thread[from].context, &thread[running].context);
}

static void run(void)
{
    thread[running].past = mix(thread[running].past, (uint64_t)running);
    thread[running].runs();
    thread[running].ended = true;
    schedule();
}

static void make_thread(int t, void (*runs)(void))
{
    struct thread *new = &thread[t];

    new->runs = runs;
    if (!runs)
        return;
    new->view = thread[0].view;
    new->view.of[0] = UINT16_MAX;
    getcontext(&new->context);
    new->context.uc_stack.ss_sp = new->stack;
    new->context.uc_stack.ss_size = STACK;
    new->context.uc_link = NULL;
    makecontext(&new->context, run, 0);
}

static bool is_on_stack(uintptr_t address)
{
    char here;
    uintptr_t low = (uintptr_t)&here;
    uintptr_t high = running == 0 ? outside : (uintptr_t)thread[running].stack + STACK;

    return address >= low - 256 && address < high;
}

static bool is_private(uintptr_t address)
{
    for (int i = 0; i < privates; i++)
        if (address - private[i].from < private[i].size)
            return true;
    return is_on_stack(address);
}

void explore_private(const void *at, size_t size)
{
    if (privates == sizeof private / sizeof private[0])
        abort();
    private[privates].from = (uintptr_t)at;
    private[privates++].size = size;
}

/* ---- views ----------------------------------------------------------------------------------- */

static void join(struct view *to, const struct view *from)
{
    for (int i = 0; i < THREADS + places; i++)
        if (from->of[i] > to->of[i])
            to->of[i] = from->of[i];
}

static bool acquires(int order)
{
    return order == ACQUIRE || order == ACQ_REL || order == SEQ_CST;
}

static bool releases(int order)
{
    return order >= RELEASE;
}

/* ---- accesses that are not atomic, and races ------------------------------------------------- */

static struct granule *granule_at(uint64_t address)
{
    for (size_t i = address * UINT64_C(0x9e3779b97f4a7c15) >> 40;; i++) {
        struct granule *g = &granule[i % GRANULES];

        if (g->execution == execution && g->address == address)
            return g;
        if (g->execution != execution) {
            memset(g, 0, sizeof *g);
            g->execution = execution;
            g->address = address;
            return g;
        }
    }
}

static const bool conflicts[ACCESSES][ACCESSES] = {
    [READS] = { [WRITES] = true, [STORES] = true },
    [WRITES] = { true, true, true, true },
    [LOADS] = { [WRITES] = true },
    [STORES] = { [READS] = true, [WRITES] = true }
};

/* What is not atomic is known to those who know of the thread's next atomic access. */
static void note(uintptr_t address, size_t size, enum access access, uintptr_t site_of_it)
{
    static const char *const name[] = { "read", "written", "loaded", "stored" };
    struct thread *t = &thread[running];
    uint16_t now = (uint16_t)(t->accesses + (access == READS || access == WRITES));

    for (uintptr_t a = address; a < address + size; a++) {
        struct granule *g = granule_at(a / 8);

        for (int other = 0; other < THREADS; other++)
            for (int kind = 0; kind < ACCESSES; kind++)
                if (other != running && conflicts[access][kind]
                    && g->at[a % 8][kind][other] > t->view.of[other])
                    fails("a race: %s by thread %d at %#lx, and %s by thread %d", name[access],
                          running, (unsigned long)site_of_it, name[kind], other);
        g->at[a % 8][access][running] = now;
    }
}

/* The value of an atomic that is written so is read from memory the next time. */
static void plain(uintptr_t address, size_t size, enum access access, uintptr_t site_of_it)
{
    if (execution == 0 || is_private(address))
        return;
    note(address, size, access, site_of_it);
    for (uintptr_t a = address; access == WRITES && a < address + size; a++) {
        struct place *p = granule_at(a / 8)->atomic[a % 8];

        if (p)
            p->overwritten = true;
    }
}

/* ---- atomics --------------------------------------------------------------------------------- */

static uint64_t memory_at(uint64_t address, unsigned size)
{
    switch (size) {
    case 1: return *(uint8_t *)address;
    case 2: return *(uint16_t *)address;
    case 4: return *(uint32_t *)address;
    default: return *(uint64_t *)address;
    }
}

static void set_memory(uint64_t address, unsigned size, uint64_t value)
{
    switch (size) {
    case 1: *(uint8_t *)address = (uint8_t)value; break;
    case 2: *(uint16_t *)address = (uint16_t)value; break;
    case 4: *(uint32_t *)address = (uint32_t)value; break;
    default: *(uint64_t *)address = value;
    }
}

static struct store *new_store(struct place *p, uint64_t value)
{
    struct store *s;

    if (p->stores == p->room) {
        p->room = p->room ? 2 * p->room : 4;
        p->store = realloc(p->store, (size_t)p->room * sizeof *p->store);
        if (!p->store)
            abort();
    }
    s = &p->store[p->stores++];
    memset(s, 0, sizeof *s);
    s->value = value;
    return s;
}

static struct place *place_at(uint64_t address, unsigned size)
{
    struct place **known = &granule_at(address / 8)->atomic[address % 8], *p = *known;

    if (!p && places == PLACES)
        fails("too many atomics");
    if (!p) {
        *known = p = &place[places++];
        p->address = address;
        p->size = size;
        p->stores = p->sequential = 0;
        p->overwritten = true;
    }
    if (p->size != size)
        fails("accesses of %u and %u bytes to one atomic", p->size, size);
    if (p->overwritten) {
        new_store(p, memory_at(address, size));
        p->base = p->stores - 1;
        p->overwritten = false;
    }
    return p;
}

static uint16_t *known_of(struct view *v, const struct place *p)
{
    return &v->of[THREADS + (p - place)];
}

/* The order that is in force at a site, which is noted. */
static int order_at(uintptr_t at, enum operation operation, int order)
{
    int i = 0;

    if (running == 0)
        return order;
    while (i < sites && site[i].at != at)
        i++;
    if (i == sites) {
        if (sites == SITES)
            abort();
        site[sites++] = (struct site){ at, operation, order };
    }
    return at == weakened ? weakened_to : order;
}

/* Before an access: other threads' may be first. */
static void turn(void)
{
    if (running != 0)
        schedule();
    thread[running].accesses++;
    thread[running].view.of[running] = thread[running].accesses;
    thread[running].past = mix(thread[running].past, thread[running].accesses);
}

static void say(const char *what, uintptr_t at, uint64_t address, uint64_t value)
{
    said[steps].thread = running;
    said[steps].what = what;
    said[steps].site = at;
    said[steps].address = address;
    said[steps].value = value;
}

static const struct store *read_store(struct place *p, int n, int order)
{
    struct thread *t = &thread[running];
    const struct store *s = &p->store[n];

    *known_of(&t->view, p) = (uint16_t)n;
    join(acquires(order) ? &t->view : &t->acquirable, &s->view);
    t->past = mix(t->past, s->identity);
    if (t->polls < PLACES) {
        t->polled_value[t->polls] = s->value;
        t->polled[t->polls++] = (int)(p - place);
    }
    return s;
}

static int oldest(const struct place *p, int order)
{
    int n = *known_of(&thread[running].view, p);

    n = n > p->base ? n : p->base;
    return order == SEQ_CST && p->sequential > n ? p->sequential : n;
}

static uint64_t load(uint64_t address, unsigned size, int order, uintptr_t at)
{
    struct place *p;
    const struct store *s;
    int from;

    turn();
    order = order_at(at, LOAD, order);
    note(address, size, LOADS, at);
    p = place_at(address, size);
    from = oldest(p, order);
    /* the latest first */
    s = read_store(p, p->stores - 1 - (int)choose((unsigned)(p->stores - from)), order);
    say(s == &p->store[p->stores - 1] ? "loads" : "loads what is old,", at, address, s->value);
    return s->value;
}

static uint64_t identity_of_access(const struct thread *t)
{
    return mix(mix(0, (uint64_t)(t - thread)), t->accesses);
}

static void add_store(struct place *p, uint64_t value, int order, const struct view *more)
{
    struct thread *t = &thread[running];
    uint64_t before = p->store[p->stores - 1].identity;
    struct store *s;

    set_memory(p->address, p->size, value);
    s = new_store(p, value);
    s->identity = identity_of_access(t);
    *known_of(&t->view, p) = (uint16_t)(p->stores - 1);
    s->view = releases(order) ? t->view : t->released;
    *known_of(&s->view, p) = (uint16_t)(p->stores - 1);
    if (more)
        join(&s->view, more);
    if (order == SEQ_CST)
        p->sequential = p->stores - 1;
    t->past = mix(t->past, before);
}

static void store(uint64_t address, unsigned size, uint64_t value, int order, uintptr_t at)
{
    turn();
    order = order_at(at, STORE, order);
    note(address, size, STORES, at);
    add_store(place_at(address, size), value, order, NULL);
    say("stores", at, address, value);
}

enum change { EXCHANGE, ADD, SUB, AND, OR, XOR };

static uint64_t changed(enum change change, uint64_t from, uint64_t by)
{
    switch (change) {
    case ADD: return from + by;
    case SUB: return from - by;
    case AND: return from & by;
    case OR: return from | by;
    case XOR: return from ^ by;
    default: return by;
    }
}

static uint64_t update(uint64_t address, unsigned size, enum change change, uint64_t by, int order,
                       uintptr_t at)
{
    struct place *p;
    struct view handed_on;
    uint64_t value;

    turn();
    order = order_at(at, UPDATE, order);
    note(address, size, STORES, at);
    p = place_at(address, size);
    value = read_store(p, p->stores - 1, order)->value;
    handed_on = p->store[p->stores - 1].view;
    add_store(p, changed(change, value, by), order, &handed_on);
    say("updates from", at, address, value);
    return value;
}

/* Where it fails it is a load, of any store that may be read and has another value. */
static bool compare_and_set(uint64_t address, unsigned size, uint64_t *expected, uint64_t value,
                            int order, uintptr_t at)
{
    struct place *p;
    struct view handed_on;
    int able[STEPS / 10], n = 0;

    turn();
    order = order_at(at, UPDATE, order);
    p = place_at(address, size);
    for (int i = p->stores - 1; i >= oldest(p, order); i--)
        if (i == p->stores - 1 || p->store[i].value != *expected)
            able[n++] = i;
    n = able[choose((unsigned)n)];
    if (p->store[n].value != *expected) {
        note(address, size, LOADS, at);
        *expected = read_store(p, n, order)->value;
        say("fails to set, finds", at, address, *expected);
        return false;
    }
    note(address, size, STORES, at);
    read_store(p, n, order);
    handed_on = p->store[n].view;
    add_store(p, value, order, &handed_on);
    say("sets", at, address, value);
    return true;
}

static void fence(int order, uintptr_t at)
{
    struct thread *t = &thread[running];

    order = order_at(at, FENCE, order);
    if (order == SEQ_CST)
        fails("fences with seq_cst are not known here");
    if (acquires(order))
        join(&t->view, &t->acquirable);
    if (releases(order))
        t->released = t->view;
}

/* ---- polls, locks and memory ----------------------------------------------------------------- */

void explore_poll(void)
{
    thread[running].polls = 0;
}

/* From here on the thread reads what is stored now: in the end each store is seen.  If it has read
 * another value, it goes on at once. */
void explore_wait(void)
{
    struct thread *t = &thread[running];

    for (int i = 0; i < t->polls; i++) {
        struct place *p = &place[t->polled[i]];
        const struct store *latest = &p->store[p->stores - 1];

        t->past = mix(t->past, latest->identity);
        *known_of(&t->view, p) = (uint16_t)(p->stores - 1);
    }
    t->waits = true;
    if (running == 0)
        fails("thread 0 waits");
    schedule();
    t->waits = false;
    t->polls = 0;
    t->past = mix(t->past, 0);
}

static struct mutex *mutex_at(const void *at)
{
    int i = 0;

    while (i < mutexes && mutex[i].at != at)
        i++;
    if (i == mutexes) {
        if (mutexes == sizeof mutex / sizeof mutex[0])
            abort();
        mutex[mutexes++] = (struct mutex){ .at = at };
    }
    return &mutex[i];
}

int explore_lock(void *at)
{
    struct mutex *m = mutex_at(at);
    struct thread *t = &thread[running];

    t->waits_for = at;
    turn();
    t->waits_for = NULL;
    m->owner = running;
    join(&t->view, &m->view);
    t->past = mix(t->past, m->identity);
    m->identity = identity_of_access(t);
    say("locks", 0, (uintptr_t)at, 0);
    return 0;
}

int explore_unlock(void *at)
{
    struct mutex *m = mutex_at(at);

    turn();
    m->owner = 0;
    m->view = thread[running].view;
    say("unlocks", 0, (uintptr_t)at, 0);
    return 0;
}

void *explore_memory(size_t size)
{
    char *piece = heap + heap_used;

    heap_used += (size + 127) / 128 * 128;
    if (heap_used > HEAP)
        fails("too much memory");
    memset(piece, 0, size);
    return piece;
}

/* The thread itself writes the zeros. */
void *explore_calloc(size_t n, size_t size)
{
    void *piece = explore_memory(n * size);

    plain((uintptr_t)piece, n * size, WRITES, 0);
    return piece;
}

/* Whoever frees it has the last access to it.  It is not used again. */
void explore_free(void *piece)
{
    if (piece)
        plain((uintptr_t)piece, 1, WRITES, 0);
}

#define CALLER ((uintptr_t)__builtin_return_address(0))

void *explore_copy(void *to, const void *from, size_t n)
{
    plain((uintptr_t)from, n, READS, CALLER);
    plain((uintptr_t)to, n, WRITES, CALLER);
    return memcpy(to, from, n);
}

void *explore_set(void *to, int byte, size_t n)
{
    plain((uintptr_t)to, n, WRITES, CALLER);
    return memset(to, byte, n);
}

int explore_compare(const void *a, const void *b, size_t n)
{
    plain((uintptr_t)a, n, READS, CALLER);
    plain((uintptr_t)b, n, READS, CALLER);
    return memcmp(a, b, n);
}

/* ---- what the compiler calls ----------------------------------------------------------------- */

void __tsan_init(void);
void __tsan_init(void) { }
void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void);
void __tsan_func_exit(void) { }

#define PLAIN(name, bytes, access) \
    void __tsan_##name(void *at); \
    void __tsan_##name(void *at) { plain((uintptr_t)at, bytes, access, CALLER); }
PLAIN(read1, 1, READS)
PLAIN(read2, 2, READS)
PLAIN(read4, 4, READS)
PLAIN(read8, 8, READS)
PLAIN(read16, 16, READS)
PLAIN(write1, 1, WRITES)
PLAIN(write2, 2, WRITES)
PLAIN(write4, 4, WRITES)
PLAIN(write8, 8, WRITES)
PLAIN(write16, 16, WRITES)
PLAIN(unaligned_read2, 2, READS)
PLAIN(unaligned_read4, 4, READS)
PLAIN(unaligned_read8, 8, READS)
PLAIN(unaligned_read16, 16, READS)
PLAIN(unaligned_write2, 2, WRITES)
PLAIN(unaligned_write4, 4, WRITES)
PLAIN(unaligned_write8, 8, WRITES)
PLAIN(unaligned_write16, 16, WRITES)

void __tsan_read_range(void *at, size_t size);
void __tsan_read_range(void *at, size_t size) { plain((uintptr_t)at, size, READS, CALLER); }
void __tsan_write_range(void *at, size_t size);
void __tsan_write_range(void *at, size_t size) { plain((uintptr_t)at, size, WRITES, CALLER); }

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) { fence(order, CALLER); }

#define UPDATES(bits, name, change) \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *, uint##bits##_t, int); \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t by, \
                                                int order) \
    { \
        return (uint##bits##_t)update((uintptr_t)at, bits / 8, change, by, order, CALLER); \
    }

#define SETS(bits, name) \
    int __tsan_atomic##bits##_##name(volatile uint##bits##_t *, uint##bits##_t *, uint##bits##_t, \
                                     int, int); \
    int __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t *expected, \
                                     uint##bits##_t value, int order, int order_of_failure) \
    { \
        uint64_t found = *expected; \
        bool is_set = compare_and_set((uintptr_t)at, bits / 8, &found, value, order, CALLER); \
\
        (void)order_of_failure; \
        *expected = (uint##bits##_t)found; \
        return is_set; \
    }

/* clang's */
#define SETS_BY_VALUE(bits) \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val( \
        volatile uint##bits##_t *, uint##bits##_t, uint##bits##_t, int, int); \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val( \
        volatile uint##bits##_t *at, uint##bits##_t expected, uint##bits##_t value, int order, \
        int order_of_failure) \
    { \
        uint64_t found = expected; \
\
        (void)order_of_failure; \
        compare_and_set((uintptr_t)at, bits / 8, &found, value, order, CALLER); \
        return (uint##bits##_t)found; \
    }

#define ATOMICS(bits) \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *, int); \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order) \
    { \
        return (uint##bits##_t)load((uintptr_t)at, bits / 8, order, CALLER); \
    } \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *, uint##bits##_t, int); \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order) \
    { \
        store((uintptr_t)at, bits / 8, value, order, CALLER); \
    } \
    UPDATES(bits, exchange, EXCHANGE) \
    UPDATES(bits, fetch_add, ADD) \
    UPDATES(bits, fetch_sub, SUB) \
    UPDATES(bits, fetch_and, AND) \
    UPDATES(bits, fetch_or, OR) \
    UPDATES(bits, fetch_xor, XOR) \
    SETS(bits, compare_exchange_strong) \
    SETS(bits, compare_exchange_weak) \
    SETS_BY_VALUE(bits)
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

/* ---- executions ------------------------------------------------------------------------------ */

static void reset(void)
{
    execution++;
    places = mutexes = steps = depth = privates = 0;
    heap_used = 0;
    for (int t = 0; t < THREADS; t++) {
        char *stack = thread[t].stack;

        memset(&thread[t], 0, offsetof(struct thread, polled));
        thread[t].stack = stack;
        thread[t].polls = 0;
        thread[t].waits = false;
    }
}

static void end(const struct explore_model *model)
{
    for (int t = 1; t < THREADS; t++)
        join(&thread[0].view, &thread[t].view);
    for (int i = 0; i < places; i++)
        *known_of(&thread[0].view, &place[i]) = (uint16_t)(place[i].stores - 1);
    for (int t = 1; t < THREADS; t++)
        thread[0].view.of[t] = UINT16_MAX;
    if (model->end)
        model->end();
}

static void execute(const struct explore_model *model)
{
    reset();
    outcome = BEGINS;
    executions++;
    getcontext(&explorer);
    if (outcome == BEGINS) {
        outcome = RUNS;
        model->begin();
        for (int t = 1; t < THREADS; t++)
            make_thread(t, model->thread[t - 1]);
        running = 1;
        setcontext(&thread[1].context);
    } else if (outcome == ENDED) {
        end(model);
    }
}

/* False: an execution fails. */
static bool holds(const struct explore_model *model)
{
    memset(visited, 0, VISITED * sizeof *visited);
    states = choices = 0;
    executions = 0;
    do
        execute(model);
    while (outcome != FAILED && next_choices());
    return outcome != FAILED;
}

static void show_failure(const struct explore_model *model)
{
    printf("FAIL: %s: %s\n", model->name, failure);
    for (int i = 0; i <= steps && i < STEPS; i++)
        if (said[i].what && said[i].thread > 0)
            printf("    thread %d %s %#lx in %#lx at %#lx\n", said[i].thread, said[i].what,
                   (unsigned long)said[i].value, (unsigned long)said[i].address,
                   (unsigned long)said[i].site);
}

/* ---- memory orders --------------------------------------------------------------------------- */

static const char *const name_of_order[] = { "relaxed", "consume", "acquire", "release", "acq_rel",
                                             "seq_cst" };

/* The orders next below ORDER, at most two; how many. */
static int weaker(enum operation operation, int order, int to[2])
{
    if (order == SEQ_CST) {
        to[0] = operation == LOAD ? ACQUIRE : operation == STORE ? RELEASE : ACQ_REL;
        return 1;
    }
    to[0] = order == ACQ_REL ? ACQUIRE : RELAXED;
    to[1] = RELEASE;
    return order == RELAXED ? 0 : order == ACQ_REL ? 2 : 1;
}

static const struct explore_model *missed_by(const struct explore_model *models, uintptr_t at,
                                             int order)
{
    weakened = at;
    weakened_to = order;
    for (const struct explore_model *m = models; m->name; m++)
        if (!holds(m))
            return m;
    return NULL;
}

/* Says the weakest order with which all models hold, and why a weaker one is not enough. */
static void weaken(const struct explore_model *models, const struct site *s)
{
    int order = s->order, to[2];
    const struct explore_model *by = NULL;

    for (int n = weaker(s->operation, order, to), i = 0; i < n; i++) {
        by = missed_by(models, s->at, to[i]);
        if (!by) {
            order = to[i];
            n = weaker(s->operation, order, to);
            i = -1;
        }
    }
    weakened = 0;
    printf("order %#lx asks %s, needs %s%s%s%s%s\n", (unsigned long)(s->at - 1),
           name_of_order[s->order], name_of_order[order], by ? ": " : "", by ? by->name : "",
           by ? ": " : "", by ? failure : "");
}

static void allocate(void)
{
    if (heap)
        return;
    visited = malloc(VISITED * sizeof *visited);
    heap = malloc(HEAP);
    for (int t = 1; t < THREADS; t++)
        thread[t].stack = malloc(STACK);
}

bool explore_holds(const struct explore_model *model)
{
    outside = (uintptr_t)__builtin_frame_address(0);
    allocate();
    return holds(model);
}

int explore(const struct explore_model *models)
{
    outside = (uintptr_t)__builtin_frame_address(0);
    allocate();
    for (const struct explore_model *m = models; m->name; m++) {
        bool held = holds(m);

        printf("model %s: %lu executions, %zu states\n", m->name, executions, states);
        if (!held) {
            show_failure(m);
            return 1;
        }
    }
    for (int i = 0, n = sites; i < n; i++)
        if (site[i].order != RELAXED)
            weaken(models, &site[i]);
    return 0;
}
