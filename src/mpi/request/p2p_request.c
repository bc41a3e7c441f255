/* Makes, starts and carries on reductions by the host's messages; see p2p_request.h. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/request/p2p_request.h"
#include "base/numbers.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/greatest.h"
#include "mpi/host/progress.h"
#include "mpi/node/context.h"
#include "mpi/plan/plan.h"
#include "mpi/request/buffers.h"
#include "mpi/request/request.h"
#include "mpi/run/execute.h"

enum {
    NONBLOCKING = COLLOPT_NONBLOCKING_ROWS,
    PERSISTENT = COLLOPT_PERSISTENT_ROWS,
    AT_ONCE = 8                 /* requests in a pass; each may make the host progress once */
};

struct queue {                  /* of requests that are under way */
    struct p2p_request *first, *last;
    int length;
};

/* The rows of a communicator.  A failed request may leave messages in its row: it is BROKEN.  Of
 * the nonblocking requests of a row, one is carried on at a time, while the others wait here:
 * thousands may be under way, and each look at one of them costs time. */
struct collopt_rows {
    bool busy[NONBLOCKING];
    struct queue waiting[NONBLOCKING];
    bool used[PERSISTENT];
    bool broken[NONBLOCKING + PERSISTENT];
};

struct p2p_request {
    struct collopt_request r;
    struct collopt_buffers buffers;
    struct collopt_plan *plan;
    struct collopt_rows *rows;  /* of its communicator */
    unsigned row;
    bool begun;                 /* the execution */
    struct p2p_request *queued; /* the next one in its queue */
};
_Static_assert(sizeof(struct p2p_request) <= COLLOPT_REQUEST_SIZE, "requests have one size");

static struct p2p_request *p2p_of(struct collopt_request *r)
{
    return (struct p2p_request *)r;
}

/* Held by the thread that advances requests.  Other threads only try it.  So
 * collopt_p2p_request_go_on() returns at once if the host calls it while we make the host
 * progress.  An operation of the user's that leaves by longjmp or an exception leaves it held, and
 * later requests hang, as those of Open MPI and MPICH do then; blocking calls go on (execute.c). */
static pthread_mutex_t carrying = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of the queue and of rows */
static struct queue carried;    /* those that are carried on, in turn */
static atomic_int under_way;    /* requests, including those that wait for their rows */

bool collopt_p2p_request_possible(const struct collopt_comm *c)
{
    return c->ranks > 1 && !c->own && collopt_progress_lent();
}

/* ---- queues ---------------------------------------------------------------------------------- */

/* Under the lock, as those below. */
static void push(struct queue *u, struct p2p_request *q)
{
    q->queued = NULL;
    if (u->first)
        u->last->queued = q;
    else
        u->first = q;
    u->last = q;
    u->length++;
}

/* Takes Q out of it, or the first one where Q is NULL.  NULL: it is not there. */
static struct p2p_request *take(struct queue *u, struct p2p_request *q)
{
    struct p2p_request **at = &u->first, *before = NULL;

    while (q && *at && *at != q) {
        before = *at;
        at = &before->queued;
    }
    if (!(q = *at))
        return NULL;
    *at = q->queued;
    if (u->last == q)
        u->last = before;
    u->length--;
    return q;
}

static void append(struct p2p_request *q)
{
    pthread_mutex_lock(&lock);
    push(&carried, q);
    pthread_mutex_unlock(&lock);
}

static struct p2p_request *take_out(struct p2p_request *q)
{
    pthread_mutex_lock(&lock);
    q = take(&carried, q);
    pthread_mutex_unlock(&lock);
    return q;
}

static int how_many(void)
{
    int n;

    pthread_mutex_lock(&lock);
    n = carried.length;
    pthread_mutex_unlock(&lock);
    return n;
}

/* Q is carried on from now on, or when its row is free. */
static void enqueue(struct p2p_request *q)
{
    bool waits;

    pthread_mutex_lock(&lock);
    waits = q->r.nonblocking && q->rows->busy[q->row];
    push(waits ? &q->rows->waiting[q->row] : &carried, q);
    if (q->r.nonblocking)
        q->rows->busy[q->row] = true;
    pthread_mutex_unlock(&lock);
}

/* A nonblocking request of ROW is complete. */
static void leave_row(struct collopt_rows *rows, unsigned row)
{
    struct p2p_request *next;

    pthread_mutex_lock(&lock);
    next = take(&rows->waiting[row], NULL);
    rows->busy[row] = next != NULL;
    if (next)
        push(&carried, next);
    pthread_mutex_unlock(&lock);
}

/* ---- going on -------------------------------------------------------------------------------- */

/* Its number among all rows of the communicator. */
static unsigned row_of(const struct p2p_request *q)
{
    return q->r.nonblocking ? q->row : NONBLOCKING + q->row;
}

static int first_tag(const struct p2p_request *q)
{
    return (int)(COLLOPT_BLOCKING_ROWS + row_of(q)) * COLLOPT_STRAND_TAGS;
}

static int begin(struct p2p_request *q)
{
    struct collopt_execution *e = &q->r.kept.execution;
    int err = collopt_execution_begin(e, q->r.owner, q->plan, q->buffers.in, q->buffers.out);

    if (err)
        return err;
    q->begun = e->apart = true;
    e->tags = first_tag(q);
    memset(e->step, 0, (size_t)q->plan->bound->strands * sizeof *e->step);
    return MPI_SUCCESS;
}

static void complete(struct p2p_request *q, int err)
{
    int own;

    if (err && !q->r.refused)
        q->r.owner->spoilt = q->rows->broken[row_of(q)] = true;
    if (err && q->begun) {      /* the host may still write where it was to receive */
        collopt_execution_clear(&q->r.kept.execution, err);
        q->buffers.staging = NULL;
    } else if (q->r.kept.execution.passing) {
        collopt_execution_clear(&q->r.kept.execution, MPI_SUCCESS);
    }
    if (q->r.nonblocking)
        leave_row(q->rows, q->row);
    atomic_fetch_sub_explicit(&under_way, 1, memory_order_relaxed);
    own = collopt_buffers_end(&q->buffers, !err);
    q->r.err = err ? err : own;
    collopt_request_end(&q->r);
}

/* Advances Q.  True: Q is complete, and its memory may already serve another request. */
static bool carry_on(struct p2p_request *q)
{
    bool done = false;
    int err;

    if (!q->begun && !collopt_request_is_compared(&q->r))
        return false;
    err = q->r.err;
    if (!err && !q->begun)
        err = q->rows->broken[row_of(q)] ? MPI_ERR_OTHER : begin(q);
    if (!err)
        err = collopt_execution_advance(&q->r.kept.execution, &done);
    if (!err && done)
        collopt_execution_end(&q->r.kept.execution);
    if (err || done)
        complete(q, err);
    return err || done;
}

/* Advances some requests, in turn.  Returns how many became complete. */
static int carry_some_on(void)
{
    int completed = 0;

    for (int i = least(how_many(), AT_ONCE); i > 0; i--) {
        struct p2p_request *q = take_out(NULL);

        if (!q)
            break;
        if (carry_on(q))
            completed++;
        else
            append(q);
    }
    return completed;
}

int collopt_p2p_request_go_on(void)
{
    int completed;

    if (atomic_load_explicit(&under_way, memory_order_relaxed) == 0
        || pthread_mutex_trylock(&carrying))
        return 0;
    completed = carry_some_on();
    pthread_mutex_unlock(&carrying);
    return completed;
}

bool collopt_p2p_request_under_way(void)
{
    return atomic_load_explicit(&under_way, memory_order_relaxed) > 0;
}

static bool advance(struct collopt_request *r)
{
    struct p2p_request *q;      /* NULL: it waits for its row */

    if (!collopt_request_under_way(r))
        return true;
    if (pthread_mutex_trylock(&carrying))
        return false;
    if (collopt_request_under_way(r)) {
        q = take_out(p2p_of(r));
        if (!q || !carry_on(q)) {
            if (q)
                append(q);
            carry_some_on();
        }
    }
    pthread_mutex_unlock(&carrying);
    return !collopt_request_under_way(r);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Its address stands in place of rows that could not be allocated when a nonblocking call had to be
 * counted.  No such call can be served any more. */
static char lost;

static void free_rows(struct collopt_comm *c)
{
    void *rows = collopt_part(c, COLLOPT_PART_ROWS);

    if (rows != &lost)
        free(rows);
    collopt_part_attach(c, COLLOPT_PART_ROWS, NULL, NULL);
}

static const struct collopt_part_ops part_ops = { .end = free_rows };

/* NULL: no memory. */
static struct collopt_rows *rows_of(struct collopt_comm *c)
{
    void *rows = collopt_part(c, COLLOPT_PART_ROWS);

    if (rows == &lost)
        return NULL;
    if (!rows && (rows = calloc(1, sizeof(struct collopt_rows))))
        collopt_part_attach(c, COLLOPT_PART_ROWS, rows, &part_ops);
    return rows;
}

/* The first row that no rank uses; PERSISTENT: there is none, or some rank has no memory.  ROWS may
 * be NULL. */
static int agree_on_row(struct collopt_comm *c, const struct collopt_rows *rows, unsigned *row)
{
    long long used[PERSISTENT] = { 0 }, any[PERSISTENT];
    int err;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < PERSISTENT; i++)
        used[i] = !rows || rows->used[i];
    pthread_mutex_unlock(&lock);
    err = collopt_greatest(c, used, any, PERSISTENT);
    for (*row = 0; !err && *row < PERSISTENT && any[*row]; ++*row)
        ;
    return err;
}

int collopt_p2p_request_make(struct collopt_request *r, struct collopt_comm *c, const char **why)
{
    struct collopt_rows *rows = r ? rows_of(c) : NULL;
    unsigned row;
    int err = agree_on_row(c, rows, &row);

    if (err)
        return err;
    if (row == PERSISTENT) {
        *why = "there are too many on this communicator, or some rank has no memory";
        return MPI_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    rows->used[row] = true;
    pthread_mutex_unlock(&lock);
    p2p_of(r)->rows = rows;
    p2p_of(r)->row = row;
    return MPI_SUCCESS;
}

void collopt_p2p_request_miss(struct collopt_comm *c)
{
    struct collopt_rows *rows = rows_of(c);

    c->spoilt = true;
    if (rows)
        rows->broken[c->nonblocking % NONBLOCKING] = true;
    else
        collopt_part_attach(c, COLLOPT_PART_ROWS, &lost, &part_ops);
}

int collopt_p2p_request_number(struct collopt_request *r, struct collopt_comm *c)
{
    struct collopt_rows *rows = rows_of(c);
    struct p2p_request *q = p2p_of(r);

    if (!rows) {
        collopt_p2p_request_miss(c);
        return MPI_ERR_NO_MEM;
    }
    r->nonblocking = true;
    q->rows = rows;
    q->row = c->nonblocking % NONBLOCKING;
    return MPI_SUCCESS;
}

/* ---- from start to end ----------------------------------------------------------------------- */

void collopt_p2p_request_start(struct collopt_request *r)
{
    struct p2p_request *q = p2p_of(r);

    r->err = collopt_buffers_begin(&q->buffers, &r->facts);
    q->begun = false;
    collopt_request_is_started(r);
    atomic_fetch_add_explicit(&under_way, 1, memory_order_relaxed);
    enqueue(q);
    advance(r);
}

static void release(struct collopt_request *r)
{
    struct p2p_request *q = p2p_of(r);
    struct collopt_comm *c = r->owner;

    if (!r->nonblocking && q->rows && !q->rows->broken[row_of(q)]) {
        pthread_mutex_lock(&lock);
        q->rows->used[q->row] = false;
        pthread_mutex_unlock(&lock);
    }
    if (r->kept.execution.scratch_size > COLLOPT_KEPT_SCRATCH)
        collopt_execution_clear(&r->kept.execution, MPI_SUCCESS);
    collopt_plan_release(q->plan);
    collopt_comm_release(c);
}

const char *collopt_p2p_request_describe(struct collopt_request *r, struct collopt_comm *c,
                                         struct collopt_call *call, struct collopt_plan *plan)
{
    static const struct collopt_request_ops ops = { .start = collopt_p2p_request_start,
                                                    .advance = advance,
                                                    .release = release,
                                                    .in_progress = true };
    struct p2p_request *q = p2p_of(r);
    const char *why;

    r->facts = plan->facts;
    if ((why = collopt_request_fill(r, c, call)))
        return why;
    collopt_buffers_set(&q->buffers, c, call);
    r->measured.sent[COLLOPT_SENT_BY_HOST] = plan->sent[COLLOPT_SENT_BY_HOST];
    r->transport = plan->algorithm->name;
    q->plan = plan;
    collopt_set_ops(r, &ops);
    collopt_plan_retain(plan);
    collopt_comm_retain(c);
    return NULL;
}
