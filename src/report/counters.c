/* Sums of calls per algorithm and size class, and of calls that fell back to the host.
 *
 * Counting happens in every call, so it must cost no more than a few ns: each thread has a shard of
 * its own, a small hash table that only this thread writes, and needs no lock to add to a sum that
 * is there. New sums, and looking at other threads' shards, take the lock. A thread that ends
 * leaves its sums to one last shard. Resetting raises a number; each thread zeroes its own sums
 * when it next uses them, so no thread writes what another one owns. */
#include "config.h"

#include "report/counters.h"
#include "base/log.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"

#include <pthread.h>
#include <stdlib.h>

const char *const collopt_reason_names[COLLOPT_REASONS] = {
    [COLLOPT_PASS_OFF] = "switched off",
    [COLLOPT_PASS_EARLY] = "among the first calls",
    [COLLOPT_PASS_ARGUMENTS] = "arguments left to the MPI library",
    [COLLOPT_PASS_INTERCOMM] = "intercommunicator",
    [COLLOPT_PASS_REFUSED] = "communicator not taken over",
    [COLLOPT_PASS_NATIVE] = "COLLOPT_GPU=native",
    [COLLOPT_PASS_CHOSEN] = "MPI library chosen",
    [COLLOPT_PASS_OFFLOADED] = "left to the network",
    [COLLOPT_PASS_NESTED] = "called from inside a collective",
    [COLLOPT_PASS_UNSUPPORTED] = "not in shared memory",
    [COLLOPT_PASS_TOOL] = "taken past collopt by a tool",
};

/* A sum's key is (an algorithm's descriptor, its size class) or (an MPI name, a reason and a size
 * class): two disjoint sets of pointers. */
struct entry {
    const void *what;           /* NULL: free */
    int which;
    bool passed;
    unsigned generation;        /* older than the present one: the sum is zero */
    struct collopt_counter counter;
};

struct shard {
    struct shard *next;
    struct entry *entry;        /* [size], open addressing, at most half full */
    /* what the owner added to last: most often it is the next as well */
    struct entry *last;
    unsigned size, used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shard *shards;            /* of living threads */
static struct shard departed;           /* what ended threads have left */
static unsigned generation;             /* written under the lock, read without */
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* If all ranks are simulated in one thread, globals are per rank and thread-local variables are
 * shared. */
#ifdef COLLOPT_ONE_THREAD
static struct shard *mine;
#else
/* The library is loaded at the start or soon after and this is only a pointer, so the static TLS
 * block, where access costs least, has room for it. */
static _Thread_local struct shard *mine __attribute__((tls_model("initial-exec")));
#endif

/* Values that another thread may be reading are read and written whole. */
static uint64_t count_of(const uint64_t *n)
{
    return __atomic_load_n(n, __ATOMIC_RELAXED);
}

static void set_count(uint64_t *n, uint64_t value)
{
    __atomic_store_n(n, value, __ATOMIC_RELAXED);
}

static void copy(struct collopt_counter *to, const struct collopt_counter *from)
{
    uint64_t *word = (uint64_t *)to;

    _Static_assert(sizeof *to % sizeof *word == 0, "counters have nothing but uint64_t");
    for (size_t i = 0; i < sizeof *to / sizeof *word; i++)
        set_count(&word[i], count_of((const uint64_t *)from + i));
}

/* Reason and size class of a call that fell back, in one number; class -1: not known. */
static int passed_key(enum collopt_reason why, int size_class)
{
    return (int)why + COLLOPT_REASONS * (size_class + 1);
}

/* ---- a shard --------------------------------------------------------------------------------- */

static unsigned slot(const void *what, int which, unsigned size)
{
    uint64_t h = ((uintptr_t)what >> 3) * 0x9e3779b97f4a7c15u
        + (uint64_t)which * 0xff51afd7ed558ccdu;

    return (unsigned)(h >> 32) & (size - 1);
}

/* The entry of a key, or the free one where it belongs; NULL: the shard has no entries yet. */
static struct entry *find(const struct shard *s, const void *what, int which)
{
    if (s->size == 0)
        return NULL;
    for (unsigned i = slot(what, which, s->size);; i = (i + 1) & (s->size - 1)) {
        struct entry *e = &s->entry[i];

        if (!e->what || (e->what == what && e->which == which))
            return e;
    }
}

static bool grow(struct shard *s)
{
    unsigned size = s->size ? 2 * s->size : 64;
    struct shard larger = { .entry = calloc(size, sizeof *larger.entry), .size = size };

    if (!larger.entry)
        return false;
    for (unsigned i = 0; i < s->size; i++)
        if (s->entry[i].what)
            *find(&larger, s->entry[i].what, s->entry[i].which) = s->entry[i];
    free(s->entry);
    s->entry = larger.entry;
    s->size = size;
    return true;
}

/* Under the lock. NULL: no memory. */
static struct entry *insert(struct shard *s, const void *what, int which, bool passed)
{
    struct entry *e = find(s, what, which);

    if (e && e->what)
        return e;
    if (2 * s->used >= s->size && !grow(s))
        return NULL;
    s->used++;
    e = find(s, what, which);
    *e = (struct entry){ .what = what, .which = which, .passed = passed, .generation = generation };
    return e;
}

/* After a reset, an entry is put to zero before something is added to it. */
static inline void refresh(struct entry *e)
{
    unsigned now = __atomic_load_n(&generation, __ATOMIC_RELAXED);

    if (e->generation == now)
        return;
    copy(&e->counter, &(struct collopt_counter){ 0 });
    __atomic_store_n(&e->generation, now, __ATOMIC_RELEASE);
}

/* Only the entry's own thread adds to it, or the holder of the lock to one in `departed`. */
static inline void add_times(struct collopt_counter *sum, uint64_t time, uint64_t least,
                             uint64_t most)
{
    if (sum->calls == 0 || least < sum->least)
        set_count(&sum->least, least);
    if (sum->calls == 0 || most > sum->most)
        set_count(&sum->most, most);
    set_count(&sum->time, sum->time + time);
}

static inline void add_groups(struct collopt_counter *sum, uint64_t least, uint64_t most)
{
    if (sum->calls == 0 || least < sum->group_least)
        set_count(&sum->group_least, least);
    if (sum->calls == 0 || most > sum->group_most)
        set_count(&sum->group_most, most);
}

static inline void add_sent(struct collopt_counter *sum, const uint64_t sent[COLLOPT_SENT])
{
    for (int i = 0; i < COLLOPT_SENT; i++)
        set_count(&sum->sent[i], sum->sent[i] + sent[i]);
}

/* The last one: the others ask whether there were calls before. */
static inline void add_calls(struct collopt_counter *sum, uint64_t calls, uint64_t bytes)
{
    set_count(&sum->bytes, sum->bytes + bytes);
    set_count(&sum->calls, sum->calls + calls);
}

static void add(struct entry *e, const struct collopt_counter *c)
{
    struct collopt_counter *sum = &e->counter;

    refresh(e);
    if (c->waited.calls > 0)
        collopt_waited_add(&sum->waited, &c->waited);
    if (c->calls == 0)
        return;
    add_times(sum, c->time, c->least, c->most);
    add_groups(sum, c->group_least, c->group_most);
    add_sent(sum, c->sent);
    add_calls(sum, c->calls, c->bytes);
}

/* Under the lock. */
static bool current(const struct entry *e)
{
    return e->what && __atomic_load_n(&e->generation, __ATOMIC_ACQUIRE) == generation
        && (count_of(&e->counter.calls) != 0 || e->counter.waited.calls != 0);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void leave(void *data)
{
    struct shard *s = data;
    struct shard **link = &shards;

    pthread_mutex_lock(&lock);
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
    for (unsigned i = 0; i < s->size; i++) {
        struct entry *e = current(&s->entry[i])
            ? insert(&departed, s->entry[i].what, s->entry[i].which, s->entry[i].passed) : NULL;

        if (e)
            add(e, &s->entry[i].counter);
    }
    pthread_mutex_unlock(&lock);
    free(s->entry);
    free(s);
    mine = NULL;
}

static void make_key(void)
{
    pthread_key_create(&at_thread_end, leave);
}

/* Makes this thread's first entry of a kind; called rarely. */
static struct entry *new_entry(const void *what, int which, bool passed)
{
    struct entry *e;

    pthread_once(&once, make_key);
    if (!mine) {
        struct shard *s = calloc(1, sizeof *s);

        if (!s)
            return NULL;
        pthread_setspecific(at_thread_end, s);
        pthread_mutex_lock(&lock);
        s->next = shards;
        shards = s;
        pthread_mutex_unlock(&lock);
        mine = s;
    }
    pthread_mutex_lock(&lock);
    e = insert(mine, what, which, passed);
    pthread_mutex_unlock(&lock);
    return e;
}

static inline struct entry *entry(const void *what, int which, bool passed)
{
    struct shard *s = mine;
    struct entry *e = s ? s->last : NULL;

    if (e && e->what == what && e->which == which)
        return e;
    e = s ? find(s, what, which) : NULL;
    if (!e || !e->what)
        e = new_entry(what, which, passed);
    if (e)
        mine->last = e;
    return e;
}

const char *collopt_counted_as(const struct collopt_algorithm *a)
{
    return a->collective < COLLOPT_COLLECTIVES ? collopt_collective_names[a->collective]
                                               : "reduce_local";
}

void collopt_waited_add(struct collopt_waited *sum, const struct collopt_waited *w)
{
    sum->calls += w->calls;
    sum->time += w->time;
    sum->waiting += w->waiting;
    sum->made_wait += w->made_wait;
    sum->last += w->last;
    sum->following += w->following;
    sum->following_time += w->following_time;
    sum->at_once += w->at_once;
    sum->at_once_time += w->at_once_time;
}

/* ---- outside --------------------------------------------------------------------------------- */

void collopt_count_timed(const struct collopt_algorithm *a, int size_class,
                         const struct collopt_timed_call *call)
{
    struct entry *e = entry(a, size_class, false);

    if (!e)
        return;
    refresh(e);
    add_times(&e->counter, call->time, call->time, call->time);
    add_sent(&e->counter, call->sent);
    add_calls(&e->counter, 1, call->bytes);
}

void collopt_count_call(const struct collopt_algorithm *a, int size_class, uint64_t bytes)
{
    struct entry *e = entry(a, size_class, false);

    if (!e)
        return;
    refresh(e);
    add_calls(&e->counter, 1, bytes);
}

void collopt_count_passed(const char *name, enum collopt_reason why, uint64_t calls)
{
    struct entry *e = calls ? entry(name, passed_key(why, -1), true) : NULL;

    if (!e)
        return;
    refresh(e);
    set_count(&e->counter.calls, e->counter.calls + calls);
}

void collopt_count_passed_call(const char *name, enum collopt_reason why, uint64_t time, int ranks,
                               uint64_t bytes)
{
    struct entry *e = entry(name, passed_key(why, ranks > 0 ? collopt_size_class(bytes) : -1),
                            true);

    if (!e)
        return;
    refresh(e);
    add_times(&e->counter, time, time, time);
    add_groups(&e->counter, (uint64_t)ranks, (uint64_t)ranks);
    add_calls(&e->counter, 1, ranks > 0 ? bytes : 0);
}

struct collopt_counted collopt_counted_passed(const char *name, enum collopt_reason why,
                                              int size_class)
{
    return (struct collopt_counted){ .what = name, .which = passed_key(why, size_class),
                                     .passed = true };
}

int collopt_counted_size_class(const struct collopt_counted *as)
{
    return as->passed ? as->which / COLLOPT_REASONS - 1 : as->which;
}

void collopt_count_waited(const struct collopt_counted *as, const struct collopt_waited *w)
{
    struct entry *e = entry(as->what, as->which, as->passed);

    if (!e)
        return;
    refresh(e);
    collopt_waited_add(&e->counter.waited, w);
}

/* Under the lock: all of FROM that counts, into TO; false: no memory. */
static bool add_shard(struct shard *to, const struct shard *from)
{
    for (unsigned i = 0; i < from->size; i++) {
        const struct entry *e = &from->entry[i];
        struct collopt_counter c;
        struct entry *sum;

        if (!current(e))
            continue;
        copy(&c, &e->counter);
        sum = insert(to, e->what, e->which, e->passed);
        if (!sum)
            return false;
        add(sum, &c);
    }
    return true;
}

void collopt_visit_sums(void (*visit)(const struct collopt_sum *sum, void *data), void *data)
{
    struct shard all = { 0 };
    bool complete;

    pthread_mutex_lock(&lock);
    complete = add_shard(&all, &departed);
    for (const struct shard *s = shards; s; s = s->next)
        complete = complete && add_shard(&all, s);
    pthread_mutex_unlock(&lock);
    if (!complete)
        collopt_warn("no memory to add up the counters; they are incomplete");
    for (unsigned i = 0; i < all.size; i++) {
        const struct entry *e = &all.entry[i];
        struct collopt_sum sum = { .counter = e->counter };

        if (!e->what)
            continue;
        if (e->passed) {
            sum.name = e->what;
            sum.reason = (enum collopt_reason)(e->which % COLLOPT_REASONS);
            sum.size_class = collopt_counted_size_class(
                &(struct collopt_counted){ e->what, e->which, e->passed });
        } else {
            sum.algorithm = e->what;
            sum.size_class = e->which;
        }
        visit(&sum, data);
    }
    free(all.entry);
}

void collopt_reset_sums(void)
{
    pthread_mutex_lock(&lock);
    __atomic_store_n(&generation, generation + 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}
