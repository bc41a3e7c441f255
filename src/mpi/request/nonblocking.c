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
#include "mpi/request/request.h"
#include "report/timing.h"
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

struct collopt_nonblocking {    /* of a communicator */
    /* a thread advances operations and reads what other ranks have written */
    atomic_bool carried;
    atomic_bool locked;         /* never for long; protects the fields from here to LAST */
    int rank, ranks;
    uint64_t started, completed;
    struct collopt_journal journal;
    bool broken_off;            /* the journal */
    struct collopt_request *first, *last;     /* those that are under way, in order */
    bool context_lost;          /* the id is not to be given back */
    struct collopt_nonblocking *next;   /* of those that are closing or unused */
    struct collopt_nonblocking *other;  /* the next of all */
    struct from *from;          /* [ranks] */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of the lists below */
/* of communicators that are freed, until all ranks have closed them; the oldest first */
static struct collopt_nonblocking *closing, **closing_end = &closing;
static atomic_int closings;
/* never unmapped: a thread may try to lock one that was just freed */
static struct collopt_nonblocking *unused;
static _Atomic(struct collopt_nonblocking *) every;

/* Instead of journals: there was no memory for them.  As numbers count from the first call on, there
 * will be none. */
static char lost;

/* Those of C; NULL: it has none. */
static struct collopt_nonblocking *journals_of(const struct collopt_comm *c)
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

static void wait_for_lock(struct collopt_nonblocking *n)
{
    enum { PATIENCE = 1000 };

    for (unsigned polls = 1; !take_flag(&n->locked); polls++)
        if (polls % PATIENCE == 0)
            sched_yield();
        else
            collopt_pause();
}

static void unlock(struct collopt_nonblocking *n)
{
    leave_flag(&n->locked);
}

static const struct collopt_request_ops ops;

/* ---- journals of communicators that are freed ----------------------------------------------- */

static bool is_open(const struct collopt_nonblocking *n, struct from *f)
{
    return f->reader.page || collopt_reader_open(&f->reader, f->base, f->journal, n->rank);
}

/* Says to the owners of the other journals that nothing more is read; false: some of them is not
 * there yet, since its rank has not come so far. */
static bool close_readers(struct collopt_nonblocking *n)
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
static void discard(struct collopt_nonblocking *n)
{
    free(n->journal.pieces);
    free(n->from);
    n->next = unused;
    unused = n;
}

/* Under the lock. True: N was freed, as nobody reads or writes there any more. */
static bool end(struct collopt_nonblocking *n)
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
static void add_closing(struct collopt_nonblocking *n)
{
    n->next = NULL;
    *closing_end = n;
    closing_end = &n->next;
    atomic_fetch_add(&closings, 1);
}

static struct collopt_nonblocking *take_closing(void)
{
    struct collopt_nonblocking *n = closing;

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
        struct collopt_nonblocking *n = take_closing();

        if (!end(n))
            add_closing(n);
    }
    pthread_mutex_unlock(&lock);
}

/* C is freed: what is under way goes on, and the context id is given back when all ranks have read
 * what was written. */
static bool leave(struct collopt_comm *c)
{
    struct collopt_nonblocking *n = journals_of(c);

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
    struct collopt_nonblocking *n = journals_of(c);

    pthread_mutex_lock(&lock);
    if (n)
        discard(n);
    pthread_mutex_unlock(&lock);
    collopt_part_attach(c, COLLOPT_PART_JOURNALS, NULL, NULL);
}

static const struct collopt_part_ops part_ops = { .keeps_context = leave, .shut_down = drop };

void collopt_nonblocking_end(void)
{
    struct collopt_nonblocking *n;

    pthread_mutex_lock(&lock);
    while ((n = take_closing()))
        discard(n);
    pthread_mutex_unlock(&lock);
}

/* ---- describing ------------------------------------------------------------------------------ */

/* Rank 0's block has the counts of slices before its data, and the shared result behind them. */
static size_t data_at(const struct collopt_request *op, int rank)
{
    return op->slices > 0 && rank == 0 ? sizeof(struct collopt_work) : 0;
}

static size_t result_at(const struct collopt_request *op)
{
    return rounded_up(data_at(op, 0) + collopt_request_published(op), LINE);
}

static const char *data(const struct collopt_request *op, int rank)
{
    const struct collopt_reader *r;

    if (rank == op->rank)
        return op->own;
    r = &op->queue->from[rank].reader;
    return collopt_reader_payload(r, &r->page->record[r->at]) + data_at(op, rank);
}

/* Ranks that have called something else find another mark. */
static uint32_t mark_of(const struct collopt_request *op)
{
    uint64_t what = (op->bytes * COLLOPT_COLLECTIVES + op->collective) * COLLOPT_HASH_PRIME
        + (uint64_t)op->root;

    return (uint32_t)(what ^ what >> 32);
}

const char *collopt_nonblocking_describe(struct collopt_request *op, struct collopt_comm *c,
                                         struct collopt_call *call)
{
    bool sliceable = call->collective == COLLOPT_ALLREDUCE;
    const char *why = collopt_request_describe(op, c, call, sliceable);

    if (why)
        return why;
    if (c->ranks > 1 && collopt_request_published(op) > collopt_segments_room() / PART)
        return "it is too long for shared memory";
    op->nonblocking = true;
    op->data = data;
    op->mark = mark_of(op);
    return NULL;
}

/* ---- starting -------------------------------------------------------------------------------- */

static struct collopt_nonblocking *take(void)
{
    struct collopt_nonblocking *n;

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

static bool fill_in(struct collopt_nonblocking *n, const struct collopt_comm *c)
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

static struct collopt_nonblocking *try_to_make(const struct collopt_comm *c)
{
    struct collopt_nonblocking *n = take();

    if (n && fill_in(n, c))
        return n;
    pthread_mutex_lock(&lock);
    if (n)
        discard(n);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Those of C, which it has from now on; NULL: no memory, also not at a second try. */
static struct collopt_nonblocking *have(struct collopt_comm *c)
{
    struct collopt_nonblocking *n = journals_of(c);

    if (collopt_part(c, COLLOPT_PART_JOURNALS))
        return n;
    if (!(n = try_to_make(c)) && !(n = try_to_make(c)))
        collopt_give_up(c, COLLOPT_ALL_NONBLOCKING);
    collopt_part_attach(c, COLLOPT_PART_JOURNALS, n ? (void *)n : &lost, &part_ops);
    return n;
}

/* The record of number STARTED says that this rank has an error.  Without memory for it, none comes
 * any more. */
static void write_error(struct collopt_nonblocking *n, uint32_t mark)
{
    if (!n->broken_off && collopt_journal_payload(&n->journal, 0)) {
        collopt_journal_write(&n->journal, ~mark);
        return;
    }
    n->broken_off = true;
    collopt_journal_break_off(&n->journal);
}

static void write_record(struct collopt_nonblocking *n, struct collopt_request *op)
{
    bool works = op->slices > 0 && op->rank == 0;
    size_t bytes = collopt_request_published(op);
    char *payload = op->err || n->broken_off ? NULL
        : collopt_journal_payload(&n->journal, works ? result_at(op) + bytes : bytes);

    if (payload) {
        if (works)
            *(struct collopt_work *)payload = (struct collopt_work){ .claimed = 0 };
        op->own = payload + data_at(op, op->rank);
        collopt_request_copy_in(op, op->own);
        /* an error is everybody's */
        collopt_journal_write(&n->journal, op->err ? ~op->mark : op->mark);
        return;
    }
    if (!op->err)
        collopt_warn_once(
            "no memory for the input of a nonblocking reduction on this node: it ends with an "
            "error");
    op->err = op->err ? op->err : MPI_ERR_NO_MEM;
    op->differs = true;
    write_error(n, op->mark);
}

/* Other threads may find OP by its handle: it is started when it is complete. */
static void append(struct collopt_nonblocking *n, struct collopt_request *op)
{
    op->queue = n;
    atomic_store_explicit(&op->ops, &ops, memory_order_relaxed);
    op->number = ++n->started;
    op->next = NULL;
    atomic_store_explicit(&op->stage, COLLOPT_STARTED, memory_order_release);
    if (n->first)
        n->last->next = op;
    else
        n->first = op;
    n->last = op;
    write_record(n, op);
}

void collopt_nonblocking_miss(struct collopt_comm *c)
{
    struct collopt_nonblocking *n = c->ranks > 1 ? have(c) : NULL;

    if (!n)
        return;
    wait_for_lock(n);
    n->started++;
    write_error(n, 0);
    unlock(n);
}

/* Alone: there is nobody to publish it for. */
static void do_alone(struct collopt_request *op)
{
    if (op->in != op->out && op->operands > 0) {
        if (op->packed && !(op->own = malloc(op->bytes + 1)))
            op->err = MPI_ERR_NO_MEM;
        else if (op->packed)
            collopt_request_copy_in(op, op->own);
        collopt_request_combine(op);
        free(op->own);
    }
    collopt_request_end(op);
}

int collopt_nonblocking_start(struct collopt_request *op, struct collopt_comm *c)
{
    struct collopt_nonblocking *n = c->ranks > 1 ? have(c) : NULL;
    uint64_t start;

    if (c->ranks > 1 && !n)
        return MPI_ERR_NO_MEM;
    start = op->timed ? collopt_timing_begin() : 0;
    if (!op->by_host)           /* else its record has no input */
        collopt_request_begin(op);
    if (c->ranks == 1) {
        do_alone(op);
        if (op->timed)
            op->time = collopt_timing_end(start);
        return MPI_SUCCESS;
    }
    wait_for_lock(n);
    append(n, op);
    if (op->timed)
        op->time = collopt_timing_end(start);
    unlock(n);
    return MPI_SUCCESS;
}

/* ---- completing ------------------------------------------------------------------------------ */

/* Has the rank's record of OP come?  Those before it are done. */
static bool has_come(const struct collopt_nonblocking *n, struct collopt_request *op,
                     struct from *f)
{
    const struct collopt_record *record;

    if (!is_open(n, f))
        return op->differs = op->differs || collopt_failures_has(collopt_segment_failures(f->base),
                                                                 f->journal,
                                                                 COLLOPT_ALL_NONBLOCKING);
    while ((record = collopt_reader_look(&f->reader)) && f->reader.number + 1 < op->number)
        collopt_reader_pass(&f->reader);
    if (record)
        op->differs = op->differs || record->mark != op->mark;
    else if (collopt_reader_is_cut_off(&f->reader))
        return op->differs = true;
    return record != NULL;
}

/* A rank needs the inputs that it combines.  One that is far ahead of others also waits until they
 * have started OP, or it could fill the memory.  Under N's lock. */
static int ranks_needed(const struct collopt_nonblocking *n, const struct collopt_request *op)
{
    return collopt_journal_backlog(&n->journal) > AHEAD ? n->ranks : op->operands;
}

static bool all_have_come(const struct collopt_nonblocking *n, struct collopt_request *op)
{
    while (op->seen < op->needed
           && (op->seen == n->rank || has_come(n, op, &n->from[op->seen])))
        op->seen++;
    return op->seen >= op->needed;
}

static void find_work(struct collopt_request *op)
{
    char *block = (char *)op->data(op, 0) - data_at(op, 0);

    op->work = (struct collopt_work *)block;
    op->result = block + result_at(op);
}

static bool complete(const struct collopt_nonblocking *n, struct collopt_request *op)
{
    if (!collopt_request_is_compared(op))
        return false;
    if (op->comparison && (op->refused || op->by_host))
        return op->refused || collopt_host_request_done(op);
    if (!all_have_come(n, op))
        return false;
    if (op->differs) {
        op->err = op->err ? op->err : MPI_ERR_TRUNCATE;
        return true;
    }
    if (op->slices > 0)
        find_work(op);
    return collopt_request_combine(op);
}

/* Passes the records that this rank needs no more.  A call that failed leaves a gap in the numbers
 * (collopt_nonblocking_miss). */
static void pass(struct collopt_nonblocking *n)
{
    collopt_journal_pass(&n->journal, n->completed);
    for (int r = 0; r < n->ranks; r++) {
        struct from *f = &n->from[r];

        if (r != n->rank && is_open(n, f))
            while (f->reader.number < n->completed && collopt_reader_look(&f->reader))
                collopt_reader_pass(&f->reader);
    }
}

/* The next operation that this thread may complete; NULL: none. */
static struct collopt_request *next_to_complete(struct collopt_nonblocking *n, bool helps)
{
    struct collopt_request *op;

    wait_for_lock(n);
    op = n->first;
    if (op)
        op->needed = ranks_needed(n, op);
    unlock(n);
    return op && (!helps || collopt_request_is_plain(op)) ? op : NULL;
}

static void advance_all(struct collopt_nonblocking *n, bool helps)
{
    struct collopt_request *op;

    while ((op = next_to_complete(n, helps)) && complete(n, op)) {
        wait_for_lock(n);
        n->first = op->next;
        n->completed = op->number;
        pass(n);
        unlock(n);
        collopt_request_end(op);
    }
}

static bool advance(struct collopt_request *op)
{
    struct collopt_nonblocking *n;

    if (atomic_load_explicit(&op->stage, memory_order_acquire) != COLLOPT_STARTED)
        return true;
    n = op->queue;              /* NULL: OP serves another call already */
    if (!n || !take_flag(&n->carried))
        return false;
    if (atomic_load_explicit(&op->stage, memory_order_relaxed) == COLLOPT_STARTED)
        advance_all(n, false);
    leave_flag(&n->carried);
    return atomic_load_explicit(&op->stage, memory_order_acquire) != COLLOPT_STARTED;
}

static const struct collopt_request_ops ops = { .advance = advance,
                                                .release = collopt_host_request_release };

static bool is_under_way(struct collopt_nonblocking *n)
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

    for (struct collopt_nonblocking *n = atomic_load(&every); n; n = n->other) {
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
