/* Makes, starts and completes persistent reductions; see persistent.h. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/request/persistent.h"
#include "base/numbers.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/greatest.h"
#include "mpi/host/call.h"
#include "mpi/request/request.h"
#include "mpi/request/shared.h"
#include "shm/segment.h"

enum {
    LINE = COLLOPT_SHM_LINE, PAGE = 4096,
    INLINE_AT = 16,             /* a short input lies in the line of its number */
    SLOTS = 8, SHORT = 4096,    /* one way: the number of slots of at most SHORT bytes */
    ACK_INTERVAL = 4            /* starts for each acknowledgement of a reader */
};
_Static_assert(SLOTS > ACK_INTERVAL && (SLOTS & (SLOTS - 1)) == 0, "see persistent.h");
static const size_t MOST_BYTES = (size_t)1 << 28;       /* of one rank */

/* beside a number: its rank has no input, an error of its own */
static const uint64_t FAILED = (uint64_t)1 << 63;

struct slot {
    _Alignas(LINE) _Atomic uint64_t number;
};

struct part {                   /* of a rank; its slots follow */
    _Alignas(LINE) _Atomic uint64_t passed;     /* as reader: its acknowledgement */
};

struct head {                   /* at the start of the memory */
    _Alignas(LINE) char segment[LINE];
    struct collopt_work work;
};

struct persistent {
    struct collopt_shared s;
    char *memory;               /* shared by the ranks, or this rank's own where it is alone */
    size_t size, part, slot;    /* bytes in all, of a rank, of a slot */
    unsigned slots;             /* of a rank, a power of two */
    size_t at;                  /* of this start's slot, in bytes from a rank's first one */
    bool one_way;               /* persistent.h */
    uint64_t passed;            /* all readers of this rank have acknowledged at least this */
    int reader;                 /* the next reader to look at; those before it have ... */
    uint64_t least;             /* ... acknowledged at least this */
};
_Static_assert(sizeof(struct persistent) <= COLLOPT_REQUEST_SIZE, "requests have one size");

static struct persistent *persistent_of(struct collopt_request *r)
{
    return (struct persistent *)r;
}

/* ---- where things lie ------------------------------------------------------------------------ */

static struct part *part_of(const struct persistent *p, int rank)
{
    return (struct part *)(p->memory + sizeof(struct head) + (size_t)rank * p->part);
}

static struct slot *slot_of(const struct persistent *p, int rank)
{
    return (struct slot *)((char *)(part_of(p, rank) + 1) + p->at);
}

static char *payload(const struct persistent *p, int rank)
{
    return (char *)slot_of(p, rank) + (p->slot > LINE ? LINE : INLINE_AT);
}

static const char *data(const struct collopt_shared *s, int rank)
{
    return payload((const struct persistent *)s, rank);
}

/* Begins with the first reader.  Readers are the ranks that combine this rank's input. */
static void look_at_readers(struct persistent *p)
{
    p->reader = p->s.r.collective == COLLOPT_REDUCE ? p->s.root : p->s.rank + 1;
    p->least = UINT64_MAX;
}

/* The rank after the last reader. */
static int end_of_readers(const struct persistent *p)
{
    return p->s.r.collective != COLLOPT_REDUCE ? p->s.ranks
        : p->s.root == p->s.rank                 ? p->s.root
                                                 : p->s.root + 1;
}

/* Alike on all ranks. */
static void lay_out(struct persistent *p)
{
    size_t bytes = collopt_shared_published(&p->s);

    p->one_way = p->s.slices == 0
        && (p->s.r.collective == COLLOPT_REDUCE || p->s.r.collective == COLLOPT_SCAN
            || p->s.r.collective == COLLOPT_EXSCAN);
    look_at_readers(p);
    p->slot = bytes <= LINE - INLINE_AT ? LINE : LINE + rounded_up(bytes, LINE);
    p->slots = p->one_way && p->slot <= SHORT ? SLOTS : 2;
    p->part = rounded_up(sizeof(struct part) + p->slots * p->slot,
                         p->slot >= PAGE ? PAGE : LINE);
    p->size = sizeof(struct head) + (size_t)p->s.ranks * p->part;
    if (p->s.slices > 0)
        p->size += rounded_up(bytes, LINE);
}

static void find_places(struct persistent *p)
{
    p->s.data = data;
    p->s.work = &((struct head *)p->memory)->work;
    p->s.result = p->memory + sizeof(struct head) + (size_t)p->s.ranks * p->part;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void release(struct collopt_request *r)
{
    struct persistent *p = persistent_of(r);

    if (p->memory && p->s.ranks > 1)
        collopt_segment_detach(p->memory);
    else
        free(p->memory);
}

static const char *describe(struct persistent *p, struct collopt_comm *c, struct collopt_call *call)
{
    bool sliceable = call->collective == COLLOPT_ALLREDUCE || call->collective == COLLOPT_REDUCE;
    const char *why = collopt_shared_describe(&p->s, c, call, sliceable);

    if (why)
        return why;
    if (p->s.lacks_memory)      /* the ranks agree on who cannot */
        return "no memory";
    lay_out(p);
    return p->part > MOST_BYTES ? "it is too long for shared memory" : NULL;
}

enum { PROCESS, DESCRIPTOR, TOKEN, SIZE, SMALL, SLOT, THIN, CANNOT, WORDS };

/* ALL has the maxima over the ranks.  Do all ranks lay the memory out alike? */
static bool alike(const long long *all)
{
    return all[SIZE] == -all[SMALL] && all[SLOT] == -all[THIN];
}

/* One rank makes the memory, and those of the others attach to it that agree on its size. */
static bool attach(struct persistent *p, const struct collopt_segment_key *key)
{
    size_t from = sizeof(struct head) + (size_t)p->s.rank * p->part;
    size_t to = p->s.rank == p->s.ranks - 1 ? p->size : from + p->part;
    char why[160];

    if (p->s.rank > 0)
        p->memory = collopt_segment_attach_part(key, from, to, why, sizeof why);
    return p->memory != NULL;
}

static int share(struct persistent *p, struct collopt_comm *c, const char **why)
{
    struct collopt_segment_key key = { .descriptor = -1 };
    long long all[WORDS];
    char text[160];
    int err;

    if (c->rank == 0 && !*why
        && !(p->memory = collopt_segment_make_apart(p->size, sizeof(struct head) + p->part, &key,
                                                    text, sizeof text)))
        *why = "no shared memory";

    long long mine[WORDS] = { c->rank == 0 ? key.process : 0, c->rank == 0 ? key.descriptor : -1,
                              c->rank == 0 ? key.token : LLONG_MIN,
                              (long long)p->size, -(long long)p->size,
                              (long long)p->slot, -(long long)p->slot, *why != NULL };

    err = collopt_greatest(c, mine, all, WORDS);
    if (!err && !*why && (all[CANNOT] || !alike(all)))
        *why = "another rank cannot serve it";
    if (!err && !all[CANNOT] && alike(all)) {
        const struct collopt_segment_key found = { .process = (int)all[PROCESS],
                                                   .descriptor = (int)all[DESCRIPTOR],
                                                   .token = (int)all[TOKEN] };
        bool attached = attach(p, &found);

        mine[0] = !attached;
        err = collopt_greatest(c, mine, all, 1);
        if (!err && all[0])
            *why = attached ? "another rank cannot serve it" : "no shared memory";
    }
    collopt_segment_close(&key);
    return err;
}

static const char *have_alone(struct persistent *p)
{
    p->memory = aligned_alloc(LINE, rounded_up(p->size, LINE));
    if (!p->memory)
        return "no memory";
    memset(p->memory, 0, p->size);
    return NULL;
}

/* ---- from start to end ----------------------------------------------------------------------- */

static void start(struct collopt_request *r)
{
    struct persistent *p = persistent_of(r);

    p->s.number++;
    p->at = (p->s.number & (p->slots - 1)) * p->slot;
    p->s.slices_before = (p->s.number - 1) * p->s.slices;
    collopt_shared_begin(&p->s);
    collopt_shared_copy_in(&p->s, payload(p, p->s.rank));
    atomic_store_explicit(&slot_of(p, p->s.rank)->number, p->s.number | (p->s.r.err ? FAILED : 0),
                          memory_order_release);
    collopt_request_is_started(r);
}

static bool has_started(struct persistent *p, int rank)
{
    uint64_t number = atomic_load_explicit(&slot_of(p, rank)->number, memory_order_acquire);

    if (number == (p->s.number | FAILED) && !p->s.r.err)
        p->s.r.err = MPI_ERR_OTHER;
    return (number & ~FAILED) == p->s.number;
}

/* Have all ranks started whose inputs this rank needs? */
static bool all_started(struct persistent *p)
{
    int needed = p->one_way ? p->s.operands : p->s.ranks;

    while (p->s.seen < needed && has_started(p, p->s.seen))
        p->s.seen++;
    return p->s.seen == needed;
}

/* Is there a slot for the next start?  Reads the acknowledgement of one reader until it suffices,
 * then that of the next one. */
static bool has_room(struct persistent *p)
{
    uint64_t needs = p->s.number < p->slots ? 0 : p->s.number + 1 - p->slots;
    int end = end_of_readers(p);

    if (p->passed >= needs)
        return true;
    for (; p->reader < end; p->reader++) {
        uint64_t passed = atomic_load_explicit(&part_of(p, p->reader)->passed,
                                               memory_order_acquire);

        if (passed < needs)
            return false;
        p->least = passed < p->least ? passed : p->least;
    }
    p->passed = p->least;
    look_at_readers(p);
    return true;
}

static void acknowledge(const struct persistent *p)
{
    if (p->slots == 2 || p->s.number % ACK_INTERVAL == 0)
        atomic_store_explicit(&part_of(p, p->s.rank)->passed, p->s.number, memory_order_release);
}

static void go_on(struct collopt_request *r)
{
    struct persistent *p = persistent_of(r);

    if (!all_started(p) || (p->one_way && !has_room(p)) || !collopt_shared_combine(&p->s))
        return;
    if (p->one_way)
        acknowledge(p);
    collopt_shared_end(&p->s);
}

static void help(struct collopt_request *r)
{
    if (collopt_shared_is_plain(collopt_shared_of(r)))
        go_on(r);
}

static bool advance(struct collopt_request *r)
{
    const struct collopt_request_ops *ops;

    if (!collopt_request_claim(r))
        return false;
    ops = collopt_ops_of(r);
    if (collopt_request_under_way(r) && ops && ops->advance == advance)
        go_on(r);
    collopt_request_unclaim(r);
    return !collopt_request_under_way(r);
}

struct collopt_request *collopt_persistent_make(struct collopt_comm *c, struct collopt_call *call,
                                                const char **why, int *err)
{
    static const struct collopt_request_ops ops = { .start = start,
                                                    .advance = advance,
                                                    .release = release,
                                                    .help = help };
    struct collopt_request *r = collopt_request_take();
    struct persistent *p = persistent_of(r), none = { .memory = NULL };

    *err = MPI_SUCCESS;
    *why = r ? describe(p, c, call) : "no memory";
    if (c->ranks > 1)
        *err = share(r ? p : &none, c, why);
    else if (r && !*why)
        *why = have_alone(p);
    if (r && (*err || *why)) {
        release(r);
        collopt_request_give_back(r);
        return NULL;
    }
    if (r) {
        find_places(p);
        collopt_set_ops(r, &ops);
    }
    return r;
}
