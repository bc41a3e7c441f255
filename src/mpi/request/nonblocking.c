/* Starts and completes nonblocking reductions; see nonblocking.h. */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "mpi/request/nonblocking.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/numbers.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/failure.h"
#include "mpi/host/call.h"
#include "mpi/node/context.h"
#include "mpi/node/segments.h"
#include "mpi/request/host_request.h"
#include "mpi/request/shared.h"
#include "shm/channel.h"
#include "shm/journal.h"

enum {
    LINE = COLLOPT_SHM_LINE,
    /* one rank's input is at most 1 / PART of the room behind its segment: the block of rank 0 may
     * be twice as long, and a block at most a quarter */
    PART = 8,
    /* bytes that a rank may have written for others that have not come so far */
    AHEAD = 32 << 20
};

struct from {                   /* what a rank has written */
    struct collopt_reader reader;
    char *base;                 /* of its segment */
    unsigned journal;           /* its number there */
    bool closed;
};

struct nonblocking {            /* a request */
    struct collopt_shared s;
    struct journals *queue;     /* NULL: this rank is alone */
    struct nonblocking *later;  /* the next one in the queue */
    uint32_t mark;              /* of what is called */
    bool differs;               /* some rank has called something else, or has an error */
    int needed;                 /* ranks that have to have started it, as it is now */
    char *own;                  /* what this rank has published */
    struct collopt_host_part host;      /* if the host runs it */
};
_Static_assert(sizeof(struct nonblocking) <= COLLOPT_REQUEST_SIZE, "requests have one size");

static struct nonblocking *nonblocking_of(struct collopt_request *r)
{
    return (struct nonblocking *)r;
}

struct journals {    /* of a communicator */
    /* a thread advances requests and reads what other ranks have written */
    atomic_bool carried;
    atomic_bool locked;         /* never for long; protects the fields from here to LAST */
    int rank, ranks;
    uint64_t started, completed;
    struct collopt_journal journal;
    bool broken_off;            /* the journal */
    struct nonblocking *first, *last;   /* those that are under way, in order */
    bool context_lost;          /* the id is not to be given back */
    struct journals *next;   /* of those that are closing or unused */
    struct journals *other;  /* the next of all */
    struct from *from;          /* [ranks] */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of the lists below */
/* of communicators that are freed, until all ranks have closed them; the oldest first */
static struct journals *closing, **closing_end = &closing;
static atomic_int closings;
/* never unmapped: a thread may try to lock one that was just freed */
static struct journals *unused;
static _Atomic(struct journals *) every;

/* Instead of journals: there was no memory for them.  As numbers count from the first call on,
 * there will be none. */
static char lost;

/* Those of C; NULL: it has none. */
static struct journals *journals_of(const struct collopt_comm *c)
{
    void *n = collopt_part(c, COLLOPT_PART_JOURNALS);

    return n == &lost ? NULL : n;
}

static bool take_flag(atomic_bool *flag)
{
    return !atomic_exchange_explicit(flag, true, memory_order_acquire);
}

static void leave_flag(atomic_bool *flag)
{
    atomic_store_explicit(flag, false, memory_order_release);
}

static void wait_for_lock(struct journals *n)
{
    enum { PATIENCE = 1000 };

    for (unsigned polls = 1; !take_flag(&n->locked); polls++)
        if (polls % PATIENCE == 0)
            sched_yield();
        else
            collopt_pause();
}

static void unlock(struct journals *n)
{
    leave_flag(&n->locked);
}

/* ---- journals of communicators that are freed ------------------------------------------------ */

static bool is_open(const struct journals *n, struct from *f)
{
    return f->reader.page || collopt_reader_open(&f->reader, f->base, f->journal, n->rank);
}

/* Says to the owners of the other journals that nothing more is read; false: some of them is not
 * there yet, since its rank has not come so far. */
static bool close_readers(struct journals *n)
{
    bool all = true;

    for (int r = 0; r < n->ranks; r++) {
        struct from *f = &n->from[r];

        if (r == n->rank || f->closed)
            continue;
        f->closed = is_open(n, f);
        if (f->closed)
            collopt_reader_close(&f->reader);
        all = all && f->closed;
    }
    return all;
}

/* Under the lock. */
static void discard(struct journals *n)
{
    free(n->journal.pieces);
    free(n->from);
    n->next = unused;
    unused = n;
}

/* Under the lock. True: N was freed, as nobody reads or writes there any more. */
static bool end(struct journals *n)
{
    int context = (int)n->journal.number;
    bool ended = false;

    if (!take_flag(&n->carried))
        return false;
    wait_for_lock(n);
    if (!n->first)
        ended = close_readers(n) && collopt_journal_close(&n->journal);
    unlock(n);
    leave_flag(&n->carried);
    if (!ended)
        return false;
    if (!n->context_lost)
        collopt_context_give_back(context);
    discard(n);
    return true;
}

/* Under the lock, as those below. */
static void add_closing(struct journals *n)
{
    n->next = NULL;
    *closing_end = n;
    closing_end = &n->next;
    atomic_fetch_add(&closings, 1);
}

static struct journals *take_closing(void)
{
    struct journals *n = closing;

    if (!n)
        return NULL;
    closing = n->next;
    if (!closing)
        closing_end = &closing;
    atomic_fetch_sub(&closings, 1);
    return n;
}

/* Some of them: there may be thousands whose peers are late. */
static void end_closing(void)
{
    enum { AT_ONCE = 16 };

    if (atomic_load_explicit(&closings, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&lock);
    for (int i = least(AT_ONCE, atomic_load(&closings)); i > 0; i--) {
        struct journals *n = take_closing();

        if (!end(n))
            add_closing(n);
    }
    pthread_mutex_unlock(&lock);
}

/* C is being freed.  Its requests that are under way go on, and its context id is returned when all
 * ranks have read what was written. */
static bool leave(struct collopt_comm *c)
{
    struct journals *n = journals_of(c);

    collopt_part_attach(c, COLLOPT_PART_JOURNALS, NULL, NULL);
    if (!n)
        return false;
    n->context_lost = c->spoilt;
    pthread_mutex_lock(&lock);
    add_closing(n);
    pthread_mutex_unlock(&lock);
    end_closing();
    return true;
}

/* At the end, before segments are unmapped. */
static void drop(struct collopt_comm *c)
{
    struct journals *n = journals_of(c);

    pthread_mutex_lock(&lock);
    if (n)
        discard(n);
    pthread_mutex_unlock(&lock);
    collopt_part_attach(c, COLLOPT_PART_JOURNALS, NULL, NULL);
}

static const struct collopt_part_ops part_ops = { .keeps_context = leave, .shut_down = drop };

void collopt_nonblocking_end(void)
{
    struct journals *n;

    pthread_mutex_lock(&lock);
    while ((n = take_closing()))
        discard(n);
    pthread_mutex_unlock(&lock);
}

/* ---- describing ------------------------------------------------------------------------------ */

/* Rank 0's block has the counts of slices before its data, and the shared result behind them. */
static size_t data_at(const struct nonblocking *q, int rank)
{
    return q->s.slices > 0 && rank == 0 ? sizeof(struct collopt_work) : 0;
}

static size_t result_at(const struct nonblocking *q)
{
    return rounded_up(data_at(q, 0) + collopt_shared_published(&q->s), LINE);
}

static const char *data(const struct collopt_shared *s, int rank)
{
    const struct nonblocking *q = (const struct nonblocking *)s;
    const struct collopt_reader *r;

    if (rank == q->s.rank)
        return q->own;
    r = &q->queue->from[rank].reader;
    return collopt_reader_payload(r, &r->page->record[r->at]) + data_at(q, rank);
}

/* Ranks that have called something else find another mark. */
static uint32_t mark_of(const struct nonblocking *q)
{
    uint64_t what = (q->s.r.bytes * COLLOPT_COLLECTIVES + q->s.r.collective) * COLLOPT_HASH_PRIME
        + (uint64_t)q->s.root;

    return (uint32_t)(what ^ what >> 32);
}

const char *collopt_nonblocking_describe(struct collopt_request *r, struct collopt_comm *c,
                                         struct collopt_call *call)
{
    struct nonblocking *q = nonblocking_of(r);
    bool sliceable = call->collective == COLLOPT_ALLREDUCE;
    const char *why = collopt_shared_describe(&q->s, c, call, sliceable);

    if (why)
        return why;
    if (c->ranks > 1 && collopt_shared_published(&q->s) > collopt_segments_room() / PART)
        return "it is too long for shared memory";
    r->nonblocking = true;
    q->s.data = data;
    q->mark = mark_of(q);
    return NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

static struct journals *take(void)
{
    struct journals *n;

    end_closing();
    pthread_mutex_lock(&lock);
    n = unused;
    if (n)
        unused = n->next;
    else if ((n = calloc(1, sizeof *n))) {
        n->other = atomic_load(&every);
        atomic_store(&every, n);
    }
    pthread_mutex_unlock(&lock);
    return n;
}

static bool fill_in(struct journals *n, const struct collopt_comm *c)
{
    wait_for_lock(n);
    n->rank = c->rank;
    n->ranks = c->ranks;
    n->started = n->completed = 0;
    n->first = n->last = NULL;
    n->broken_off = false;
    unlock(n);
    n->from = calloc((size_t)c->ranks, sizeof *n->from);
    if (!n->from)
        return false;
    for (int r = 0; r < c->ranks; r++) {
        n->from[r].base = collopt_segment_of(collopt_peer(c, r).rank);
        n->from[r].journal = (unsigned)(collopt_peer(c, r).tags / COLLOPT_CONTEXT_TAGS);
    }
    return collopt_journal_make(&n->journal, n->from[n->rank].journal, n->ranks, n->rank);
}

static struct journals *try_to_make(const struct collopt_comm *c)
{
    struct journals *n = take();

    if (n && fill_in(n, c))
        return n;
    pthread_mutex_lock(&lock);
    if (n)
        discard(n);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* The journals of C, which are made at the first call; NULL: no memory, even at a second try. */
static struct journals *have(struct collopt_comm *c)
{
    struct journals *n = journals_of(c);

    if (collopt_part(c, COLLOPT_PART_JOURNALS))
        return n;
    if (!(n = try_to_make(c)) && !(n = try_to_make(c)))
        collopt_give_up(c, COLLOPT_ALL_NONBLOCKING);
    collopt_part_attach(c, COLLOPT_PART_JOURNALS, n ? (void *)n : &lost, &part_ops);
    return n;
}

/* The record of number STARTED says that this rank has an error.  Without memory for it, none comes
 * any more. */
static void write_error(struct journals *n, uint32_t mark)
{
    if (!n->broken_off && collopt_journal_payload(&n->journal, 0)) {
        collopt_journal_write(&n->journal, ~mark);
        return;
    }
    n->broken_off = true;
    collopt_journal_break_off(&n->journal);
}

static void write_record(struct journals *n, struct nonblocking *q)
{
    bool works = q->s.slices > 0 && q->s.rank == 0;
    size_t bytes = collopt_shared_published(&q->s);
    char *payload = q->s.r.err || n->broken_off ? NULL
        : collopt_journal_payload(&n->journal, works ? result_at(q) + bytes : bytes);

    if (payload) {
        if (works)
            *(struct collopt_work *)payload = (struct collopt_work){ .claimed = 0 };
        q->own = payload + data_at(q, q->s.rank);
        collopt_shared_copy_in(&q->s, q->own);
        /* an error is everybody's */
        collopt_journal_write(&n->journal, q->s.r.err ? ~q->mark : q->mark);
        return;
    }
    if (!q->s.r.err)
        collopt_warn_once(
            "no memory for the input of a nonblocking reduction on this node: it ends with an "
            "error");
    q->s.r.err = q->s.r.err ? q->s.r.err : MPI_ERR_NO_MEM;
    q->differs = true;
    write_error(n, q->mark);
}

/* Other threads may find Q by its handle: it is started when it is complete. */
static void append(struct journals *n, struct nonblocking *q)
{
    q->queue = n;
    q->s.number = ++n->started;
    q->later = NULL;
    collopt_request_is_started(&q->s.r);
    if (n->first)
        n->last->later = q;
    else
        n->first = q;
    n->last = q;
    write_record(n, q);
}

void collopt_nonblocking_miss(struct collopt_comm *c)
{
    struct journals *n = c->ranks > 1 ? have(c) : NULL;

    if (!n)
        return;
    wait_for_lock(n);
    n->started++;
    write_error(n, 0);
    unlock(n);
}

/* ---- completing ------------------------------------------------------------------------------ */

/* Has the record of Q come from the rank of F?  The records before it are done. */
static bool has_come(const struct journals *n, struct nonblocking *q,
                     struct from *f)
{
    const struct collopt_record *record;

    if (!is_open(n, f))
        return q->differs = q->differs || collopt_failures_has(collopt_segment_failures(f->base),
                                                                 f->journal,
                                                                 COLLOPT_ALL_NONBLOCKING);
    while ((record = collopt_reader_look(&f->reader)) && f->reader.number + 1 < q->s.number)
        collopt_reader_pass(&f->reader);
    if (record)
        q->differs = q->differs || record->mark != q->mark;
    else if (collopt_reader_is_cut_off(&f->reader))
        return q->differs = true;
    return record != NULL;
}

/* A rank needs the inputs that it combines.  One that is far ahead of others also waits until they
 * have started OP, or it could fill the memory.  Under N's lock. */
static int ranks_needed(const struct journals *n, const struct nonblocking *q)
{
    return collopt_journal_backlog(&n->journal) > AHEAD ? n->ranks : q->s.operands;
}

static bool all_have_come(const struct journals *n, struct nonblocking *q)
{
    while (q->s.seen < q->needed
           && (q->s.seen == n->rank || has_come(n, q, &n->from[q->s.seen])))
        q->s.seen++;
    return q->s.seen >= q->needed;
}

static void find_work(struct nonblocking *q)
{
    char *block = (char *)q->s.data(&q->s, 0) - data_at(q, 0);

    q->s.work = (struct collopt_work *)block;
    q->s.result = block + result_at(q);
}

static bool complete(const struct journals *n, struct nonblocking *q)
{
    if (!collopt_request_is_compared(&q->s.r))
        return false;
    if (q->s.r.comparison && (q->s.r.refused || q->s.r.by_host))
        return q->s.r.refused || collopt_host_part_done(&q->host, &q->s.r);
    if (!all_have_come(n, q))
        return false;
    if (q->differs) {
        q->s.r.err = q->s.r.err ? q->s.r.err : MPI_ERR_TRUNCATE;
        return true;
    }
    if (q->s.slices > 0)
        find_work(q);
    return collopt_shared_combine(&q->s);
}

/* Passes the records that this rank needs no more.  A call that failed leaves a gap in the numbers
 * (collopt_nonblocking_miss). */
static void pass(struct journals *n)
{
    collopt_journal_pass(&n->journal, n->completed);
    for (int r = 0; r < n->ranks; r++) {
        struct from *f = &n->from[r];

        if (r != n->rank && is_open(n, f))
            while (f->reader.number < n->completed && collopt_reader_look(&f->reader))
                collopt_reader_pass(&f->reader);
    }
}

/* The next request that this thread may complete; NULL: none. */
static struct nonblocking *next_to_complete(struct journals *n, bool helps)
{
    struct nonblocking *q;

    wait_for_lock(n);
    q = n->first;
    if (q)
        q->needed = ranks_needed(n, q);
    unlock(n);
    return q && (!helps || collopt_shared_is_plain(&q->s)) ? q : NULL;
}

static void advance_all(struct journals *n, bool helps)
{
    struct nonblocking *q;

    while ((q = next_to_complete(n, helps)) && complete(n, q)) {
        wait_for_lock(n);
        n->first = q->later;
        n->completed = q->s.number;
        pass(n);
        unlock(n);
        collopt_shared_end(&q->s);
    }
}

static bool advance(struct collopt_request *r);

/* The queue of R; NULL: another thread completes R, which may serve another call by now. */
static struct journals *queue_of(struct collopt_request *r)
{
    const struct collopt_request_ops *ops;
    struct journals *n = NULL;

    if (!collopt_request_claim(r))
        return NULL;
    ops = collopt_ops_of(r);
    if (collopt_request_under_way(r) && ops && ops->advance == advance)
        n = nonblocking_of(r)->queue;
    collopt_request_unclaim(r);
    return n;
}

static bool advance(struct collopt_request *r)
{
    struct journals *n;

    if (!collopt_request_under_way(r))
        return true;
    n = queue_of(r);
    if (!n || !take_flag(&n->carried))
        return false;
    if (collopt_request_under_way(r))
        advance_all(n, false);
    leave_flag(&n->carried);
    return !collopt_request_under_way(r);
}

/* ---- starting -------------------------------------------------------------------------------- */

/* On one rank: nothing is published. */
static void do_alone(struct nonblocking *q)
{
    if (q->s.buffers.in != q->s.buffers.out && q->s.operands > 0) {
        if (q->s.packed && !(q->own = malloc(q->s.r.bytes + 1)))
            q->s.r.err = MPI_ERR_NO_MEM;
        else if (q->s.packed)
            collopt_shared_copy_in(&q->s, q->own);
        collopt_shared_combine(&q->s);
        free(q->own);
    }
    collopt_shared_end(&q->s);
}

static void release(struct collopt_request *r)
{
    collopt_host_part_release(&nonblocking_of(r)->host);
}

static const struct collopt_request_ops ops = { .advance = advance,
                                                .release = release };

int collopt_nonblocking_start(struct collopt_request *r, struct collopt_comm *c)
{
    struct journals *n = c->ranks > 1 ? have(c) : NULL;
    struct nonblocking *q = nonblocking_of(r);

    if (c->ranks > 1 && !n)
        return MPI_ERR_NO_MEM;
    collopt_set_ops(r, &ops);
    if (!r->by_host)            /* else its record has no input */
        collopt_shared_begin(&q->s);
    if (c->ranks == 1) {
        do_alone(q);
        return MPI_SUCCESS;
    }
    wait_for_lock(n);
    append(n, q);
    unlock(n);
    return MPI_SUCCESS;
}

int collopt_nonblocking_start_by_host(struct collopt_request *r, struct collopt_comm *c,
                                      struct collopt_call *call, int err)
{
    struct nonblocking *q = nonblocking_of(r);

    q->s.rank = c->rank;
    q->s.ranks = c->ranks;
    collopt_host_part_begin(&q->host, r, c, call, err);
    return collopt_nonblocking_start(r, c);
}

/* ---- by the thread of COLLOPT_ASYNC ---------------------------------------------------------- */

static bool is_under_way(struct journals *n)
{
    bool is;

    wait_for_lock(n);
    is = n->first != NULL;
    unlock(n);
    return is;
}

bool collopt_nonblocking_help(void)
{
    bool any = false;

    for (struct journals *n = atomic_load(&every); n; n = n->other) {
        if (!take_flag(&n->carried)) {
            any = true;
            continue;
        }
        if (is_under_way(n)) {
            any = true;
            advance_all(n, true);
        }
        leave_flag(&n->carried);
    }
    return any;
}
