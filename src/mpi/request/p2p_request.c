/* Makes, starts and carries on reductions by the host's messages; see by_messages.h. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/request/p2p_request.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/greatest.h"
#include "mpi/host/progress.h"
#include "mpi/node/context.h"
#include "mpi/plan/plan.h"
#include "mpi/request/request.h"
#include "mpi/run/execute.h"
#include "report/timing.h"

enum {
    NONBLOCKING = COLLOPT_NONBLOCKING_ROWS,
    PERSISTENT = COLLOPT_PERSISTENT_ROWS,
    AT_ONCE = 8                 /* operations in a pass; each may make the host progress once */
};

/* The rows of a communicator.  A failed operation may leave messages in its row: it is BROKEN. */
struct collopt_rows {
    uint64_t started[NONBLOCKING], completed[NONBLOCKING];      /* in each row */
    bool used[PERSISTENT];
    bool broken[NONBLOCKING + PERSISTENT];
};

/* Held by the thread that advances operations.  Other threads only try it.  So
 * collopt_p2p_request_go_on() returns at once if the host calls it while we make the host
 * progress. */
static pthread_mutex_t carrying = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of the queue and of rows */
static struct collopt_request *first, **end = &first;         /* those that are under way */
static atomic_int under_way;

bool collopt_p2p_request_possible(const struct collopt_comm *c)
{
    return c->ranks > 1 && !c->own && collopt_progress_lent();
}

static const struct collopt_request_ops ops;

/* ---- the queue ------------------------------------------------------------------------------- */

static void append(struct collopt_request *op)
{
    op->queued = NULL;
    pthread_mutex_lock(&lock);
    *end = op;
    end = &op->queued;
    pthread_mutex_unlock(&lock);
}

/* Takes OP out of it, or the first one where OP is NULL. */
static struct collopt_request *take_out(struct collopt_request *op)
{
    struct collopt_request **at = &first;

    pthread_mutex_lock(&lock);
    while (op && *at && *at != op)
        at = &(*at)->queued;
    op = *at;
    if (op && !(*at = op->queued))
        end = at;
    pthread_mutex_unlock(&lock);
    return op;
}

/* ---- going on -------------------------------------------------------------------------------- */

static bool may_begin(const struct collopt_request *op)
{
    return !op->nonblocking || op->rows->completed[op->row] == op->number;
}

/* Its number among all rows of the communicator. */
static unsigned row_of(const struct collopt_request *op)
{
    return op->nonblocking ? op->row : NONBLOCKING + op->row;
}

static int first_tag(const struct collopt_request *op)
{
    return (int)(COLLOPT_BLOCKING_ROWS + row_of(op)) * COLLOPT_STRAND_TAGS;
}

static int begin(struct collopt_request *op)
{
    struct collopt_execution *e = &op->execution;
    int err = collopt_execution_begin(e, op->owner, op->plan, op->in, op->out);

    if (err)
        return err;
    op->begun = e->apart = true;
    e->tags = first_tag(op);
    memset(e->step, 0, (size_t)op->plan->bound->strands * sizeof *e->step);
    return MPI_SUCCESS;
}

static void complete(struct collopt_request *op, int err)
{
    op->err = err;
    if (err && !op->refused)
        op->owner->spoilt = op->rows->broken[row_of(op)] = true;
    if (err && op->begun) {             /* the host may still write where it was to receive */
        collopt_execution_clear(&op->execution, err);
        op->staging = NULL;
    } else if (op->execution.passing) {
        collopt_execution_clear(&op->execution, MPI_SUCCESS);
    }
    if (op->nonblocking)
        op->rows->completed[op->row]++;
    atomic_fetch_sub_explicit(&under_way, 1, memory_order_relaxed);
    collopt_request_end(op);
}

/* True: OP is complete.  Its memory may already serve another operation. */
static bool carry_on(struct collopt_request *op)
{
    uint64_t start;
    bool done = false;
    int err;

    if (!op->begun && !(may_begin(op) && collopt_request_is_compared(op)))
        return false;
    start = op->timed ? collopt_timing_begin() : 0;
    err = op->err;
    if (!err && !op->begun)
        err = op->rows->broken[row_of(op)] ? MPI_ERR_OTHER : begin(op);
    if (!err)
        err = collopt_execution_advance(&op->execution, &done);
    if (op->timed)
        op->time += collopt_timing_end(start);
    if (err || done)
        complete(op, err);
    return err || done;
}

/* Advances some operations, in turn.  Returns how many became complete. */
static int carry_some_on(void)
{
    int completed = 0;

    for (int i = atomic_load_explicit(&under_way, memory_order_relaxed), n = 0;
         n < i && n < AT_ONCE; n++) {
        struct collopt_request *op = take_out(NULL);

        if (!op)
            break;
        if (carry_on(op))
            completed++;
        else
            append(op);
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

static bool is_done(const struct collopt_request *op)
{
    return atomic_load_explicit(&op->stage, memory_order_acquire) != COLLOPT_STARTED;
}

static bool advance(struct collopt_request *op)
{
    if (is_done(op))
        return true;
    if (pthread_mutex_trylock(&carrying))
        return false;
    if (!is_done(op) && take_out(op) && !carry_on(op)) {
        append(op);
        carry_some_on();
    }
    pthread_mutex_unlock(&carrying);
    return is_done(op);
}

/* ---- making and starting --------------------------------------------------------------------- */

/* Instead of rows: there was no memory for them when a nonblocking call had to be counted, so none
 * can be served any more. */
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

const char *collopt_p2p_request_describe(struct collopt_request *op, struct collopt_comm *c,
                                         struct collopt_call *call, struct collopt_plan *plan)
{
    const char *why;

    op->facts = plan->facts;
    if ((why = collopt_request_fill(op, c, call)))
        return why;
    op->plan = plan;
    atomic_store_explicit(&op->ops, &ops, memory_order_relaxed);
    collopt_plan_retain(plan);
    collopt_comm_retain(c);
    return NULL;
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

int collopt_p2p_request_make(struct collopt_request *op, struct collopt_comm *c, const char **why)
{
    struct collopt_rows *rows = op ? rows_of(c) : NULL;
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
    op->rows = rows;
    op->row = row;
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

int collopt_p2p_request_number(struct collopt_request *op, struct collopt_comm *c)
{
    struct collopt_rows *rows = rows_of(c);

    if (!rows) {
        collopt_p2p_request_miss(c);
        return MPI_ERR_NO_MEM;
    }
    op->nonblocking = true;
    op->rows = rows;
    op->row = c->nonblocking % NONBLOCKING;
    op->number = rows->started[op->row]++;
    return MPI_SUCCESS;
}

void collopt_p2p_request_start(struct collopt_request *op)
{
    collopt_request_begin(op);
    op->begun = false;
    atomic_store_explicit(&op->stage, COLLOPT_STARTED, memory_order_release);
    atomic_fetch_add_explicit(&under_way, 1, memory_order_relaxed);
    append(op);
    advance(op);
}

static void release(struct collopt_request *op)
{
    struct collopt_comm *c = op->owner;

    if (!op->nonblocking && op->rows && !op->rows->broken[row_of(op)]) {
        pthread_mutex_lock(&lock);
        op->rows->used[op->row] = false;
        pthread_mutex_unlock(&lock);
    }
    if (op->execution.scratch_size > COLLOPT_KEPT_SCRATCH)
        collopt_execution_clear(&op->execution, MPI_SUCCESS);
    collopt_plan_release(op->plan);
    op->plan = NULL;
    collopt_comm_release(c);
}

static const struct collopt_request_ops ops = { .start = collopt_p2p_request_start, .advance = advance,
                                                .release = release, .in_progress = true };
