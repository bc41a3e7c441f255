/* Makes, starts and carries on reductions by the host's messages; see by_messages.h. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/request/messages.h"
#include "mpi/comm/comm.h"
#include "mpi/node/context.h"
#include "mpi/call/dispatch.h"
#include "mpi/comm/greatest.h"
#include "mpi/run/execute.h"
#include "mpi/request/request.h"
#include "mpi/plan/plan.h"
#include "mpi/host/progress.h"
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
 * collopt_by_messages_go_on() returns at once if the host calls it while we make the host
 * progress. */
static pthread_mutex_t carrying = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of the queue and of rows */
static struct collopt_operation *first, **end = &first;         /* those that are under way */
static atomic_int under_way;

bool collopt_by_messages(const struct collopt_comm *c)
{
    return c->ranks > 1 && !c->own && collopt_progress_lent();
}

/* ---- the queue ------------------------------------------------------------------------------- */

static void append(struct collopt_operation *op)
{
    op->queued = NULL;
    pthread_mutex_lock(&lock);
    *end = op;
    end = &op->queued;
    pthread_mutex_unlock(&lock);
}

/* Takes OP out of it, or the first one where OP is NULL. */
static struct collopt_operation *take_out(struct collopt_operation *op)
{
    struct collopt_operation **at = &first;

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

static bool may_begin(const struct collopt_operation *op)
{
    return !op->nonblocking || op->rows->completed[op->row] == op->number;
}

/* Its number among all rows of the communicator. */
static unsigned row_of(const struct collopt_operation *op)
{
    return op->nonblocking ? op->row : NONBLOCKING + op->row;
}

static int first_tag(const struct collopt_operation *op)
{
    return (int)(COLLOPT_BLOCKING_ROWS + row_of(op)) * COLLOPT_STRAND_TAGS;
}

static int begin(struct collopt_operation *op)
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

static void complete(struct collopt_operation *op, int err)
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
    collopt_operation_end(op);
}

/* True: OP is complete.  Its memory may already serve another operation. */
static bool carry_on(struct collopt_operation *op)
{
    uint64_t start;
    bool done = false;
    int err;

    if (!op->begun && !(may_begin(op) && collopt_operation_is_compared(op)))
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
        struct collopt_operation *op = take_out(NULL);

        if (!op)
            break;
        if (carry_on(op))
            completed++;
        else
            append(op);
    }
    return completed;
}

int collopt_by_messages_go_on(void)
{
    int completed;

    if (atomic_load_explicit(&under_way, memory_order_relaxed) == 0
        || pthread_mutex_trylock(&carrying))
        return 0;
    completed = carry_some_on();
    pthread_mutex_unlock(&carrying);
    return completed;
}

bool collopt_by_messages_under_way(void)
{
    return atomic_load_explicit(&under_way, memory_order_relaxed) > 0;
}

static bool is_done(const struct collopt_operation *op)
{
    return atomic_load_explicit(&op->stage, memory_order_acquire) != COLLOPT_STARTED;
}

bool collopt_by_messages_advance(struct collopt_operation *op)
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

static bool have_rows(struct collopt_comm *c)
{
    return c->rows || (c->rows = calloc(1, sizeof *c->rows));
}

const char *collopt_by_messages_describe(struct collopt_operation *op, struct collopt_comm *c,
                                         struct collopt_call *call, struct collopt_plan *plan)
{
    const char *why;

    op->facts = plan->facts;
    if ((why = collopt_operation_fill(op, c, call)))
        return why;
    op->plan = plan;
    collopt_plan_hold(plan);
    collopt_comm_hold(c);
    return NULL;
}

/* The first row that no rank uses; PERSISTENT: there is none, or some rank has no memory. */
static int agree_on_row(struct collopt_comm *c, bool mine, unsigned *row)
{
    long long used[PERSISTENT] = { 0 }, any[PERSISTENT];
    int err;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < PERSISTENT; i++)
        used[i] = !mine || c->rows->used[i];
    pthread_mutex_unlock(&lock);
    err = collopt_greatest(c, used, any, PERSISTENT);
    for (*row = 0; !err && *row < PERSISTENT && any[*row]; ++*row)
        ;
    return err;
}

int collopt_by_messages_make(struct collopt_operation *op, struct collopt_comm *c, const char **why)
{
    unsigned row;
    int err = agree_on_row(c, op && have_rows(c), &row);

    if (err)
        return err;
    if (row == PERSISTENT) {
        *why = "there are too many on this communicator, or some rank has no memory";
        return MPI_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    c->rows->used[row] = true;
    pthread_mutex_unlock(&lock);
    op->rows = c->rows;
    op->row = row;
    return MPI_SUCCESS;
}

void collopt_by_messages_miss(struct collopt_comm *c)
{
    c->spoilt = true;
    if (have_rows(c))
        c->rows->broken[c->later % NONBLOCKING] = true;
    else
        c->journal_lost = true;
}

int collopt_by_messages_number(struct collopt_operation *op, struct collopt_comm *c)
{
    if (c->journal_lost || !have_rows(c)) {
        collopt_by_messages_miss(c);
        return MPI_ERR_NO_MEM;
    }
    op->nonblocking = true;
    op->rows = c->rows;
    op->row = c->later % NONBLOCKING;
    op->number = c->rows->started[op->row]++;
    return MPI_SUCCESS;
}

void collopt_by_messages_start(struct collopt_operation *op)
{
    collopt_operation_begin(op);
    op->begun = false;
    atomic_store_explicit(&op->stage, COLLOPT_STARTED, memory_order_release);
    atomic_fetch_add_explicit(&under_way, 1, memory_order_relaxed);
    append(op);
    collopt_by_messages_advance(op);
}

void collopt_by_messages_free(struct collopt_operation *op)
{
    struct collopt_comm *c = op->owner;

    if (!op->nonblocking && op->rows && !op->rows->broken[row_of(op)]) {
        pthread_mutex_lock(&lock);
        op->rows->used[op->row] = false;
        pthread_mutex_unlock(&lock);
    }
    if (op->execution.scratch_size > COLLOPT_KEPT_SCRATCH)
        collopt_execution_clear(&op->execution, MPI_SUCCESS);
    collopt_plan_let_go(op->plan);
    op->plan = NULL;
    collopt_comm_let_go(c);
}
