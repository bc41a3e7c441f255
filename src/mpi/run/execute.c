/* Running a plan: the steps of each strand in turn, against the addresses of this call.
 *
 * An execution goes on as far as it can without waiting (collopt_execution_advance).  The blocking
 * form does that until all is done, and waits in between; a single strand is run by the host's own
 * waits where these will do. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/run/execute.h"
#include "base/hash.h"
#include "kernels/exact_words.h"
#include "kernels/isa.h"
#include "kernels/kernels.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/failure.h"
#include "mpi/comm/recorded.h"
#include "mpi/comm/wait.h"
#include "mpi/host/attributes.h"
#include "mpi/node/context.h"
#include "mpi/plan/plan.h"
#include "mpi/run/execution.h"
#include "mpi/run/fold.h"
#include "mpi/run/p2p.h"
#include "mpi/run/payloads.h"
#include "mpi/run/scratch.h"
#include "report/timing.h"
#include "schedule/block.h"
#include "schedule/bound.h"
#include "shm/channel.h"

static char *address(const struct collopt_execution *e, const struct collopt_run *r)
{
    return e->place[r->place] + (ptrdiff_t)r->at * e->plan->element.extent;
}

/* ---- combining and copying ------------------------------------------------------------------- */

/* An operation of the user's may leave by an exception or longjmp.  MPI promises nothing then, but
 * hosts go on, so the next call must be able to tell. */
static int fold_by_host(struct collopt_execution *e, const struct collopt_step *s)
{
    volatile uint64_t here = COLLOPT_HASH_START ^ (uintptr_t)&here ^ e->call;
    bool blocking = !e->apart;
    int err;

    if (blocking) {
        e->mark = here;
        e->thread = pthread_self();
        e->frame = &here;
        collopt_record_wait(e->comm, e->comm->rank);
    }
    err = collopt_combine_by_host(&e->plan->element, address(e, &s->run[1]), address(e, &s->run[2]),
                                  s->run[0].n);
    if (blocking) {
        e->frame = NULL;
        collopt_record_wait(e->comm, -1);
    }
    here = 0;
    return err;
}

/* Has a longjmp left the execution?  Then its frame is gone: the stack is unwound beyond it, or
 * something else lies there. */
static bool was_left(const struct collopt_execution *e)
{
    if (!e->frame || !pthread_equal(e->thread, pthread_self()))
        return false;
    return (uintptr_t)__builtin_frame_address(0) > (uintptr_t)e->frame || *e->frame != e->mark;
}

static COLLOPT_OUT_OF_LINE int fold_any(struct collopt_execution *e, const struct collopt_step *s)
{
    if (!e->plan->element.kernel)
        return fold_by_host(e, s);
    for (int i = 1; i < s->runs; i++)
        e->operand[i - 1] = address(e, &s->run[i]);
    collopt_fold_here(&e->plan->element, address(e, &s->run[0]), s->runs - 1,
                      (const void *const *)e->operand, s->run[0].n);
    return MPI_SUCCESS;
}

/* Predefined operations only: the two-operand pass makes folds of prefixes by a user's
 * operation. */
static COLLOPT_OUT_OF_LINE int prefixes(const struct collopt_execution *e,
                                        const struct collopt_step *s)
{
    const struct collopt_kernel *kernel = e->plan->element.kernel;
    void **vector = e->operand;

    for (int k = 0; k < s->runs; k++)
        vector[k] = address(e, &s->run[k]);
    if (e->plan->element.once)
        kernel->prefixes(vector, s->runs, s->run[0].n);
    else
        for (int k = 1; k < s->runs; k++)
            kernel->combine(vector[k], vector[k - 1], vector[k], s->run[0].n);
    return MPI_SUCCESS;
}

static inline int fold(struct collopt_execution *e, const struct collopt_step *s)
{
    const struct collopt_kernel *kernel = e->plan->element.kernel;

    if (!kernel || s->runs != 3)
        return fold_any(e, s);
    kernel->combine(address(e, &s->run[0]), address(e, &s->run[1]), address(e, &s->run[2]),
                    s->run[0].n);
    return MPI_SUCCESS;
}

static inline int copy(const struct collopt_execution *e, const struct collopt_step *s)
{
    const struct collopt_facts *f = &e->plan->element;
    char *to = address(e, &s->run[0]), *from = address(e, &s->run[1]);
    size_t n = s->run[0].n;

    if (!f->dense)
        return collopt_copy_between_gaps(f, collopt_comm_to_pack(e->comm), to, from, n);
    memcpy(to, from, n * f->size);
    return MPI_SUCCESS;
}

/* ---- strands --------------------------------------------------------------------------------- */

/* Waits for what S waits for.  Hosts complete whatever has come while they wait for one message.
 * The simulator does not.  For the same times, all that is waited for has to be complete there
 * before the strand does anything but combine. */
static int wait_here(struct collopt_execution *e, const struct collopt_step *s)
{
#ifdef COLLOPT_HOST_SMPI
    MPI_Request **request = (MPI_Request **)e->operand;
    int n = 0, err = MPI_SUCCESS;

    if (e->request[s->message] == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    for (; s->kind == COLLOPT_WAIT || s->kind == COLLOPT_FOLD || s->kind == COLLOPT_PREFIXES; s++)
        if (s->kind == COLLOPT_WAIT && (size_t)n < e->room)
            request[n++] = &e->request[s->message];
    while (*request[0] != MPI_REQUEST_NULL && !err)
        err = collopt_wait_any(n, request);
    return err;
#else
    return collopt_wait_message(e, s->message);
#endif
}

/* Does step S.  Where it WAITS, until S is done; else *done says whether it is. */
static inline __attribute__((always_inline)) int do_step(struct collopt_execution *e,
                                                         const struct collopt_step *s, bool waits,
                                                         bool *done)
{
    int err = MPI_SUCCESS;

    switch (s->kind) {
    case COLLOPT_POST_RECEIVE:
    case COLLOPT_POST_SEND:
        return collopt_post(e, s->message);
    case COLLOPT_WAIT:
        return waits ? wait_here(e, s) : collopt_test_message(e, s->message, done);
    case COLLOPT_RECEIVE:
        return waits ? collopt_receive_now(e, s->message) : collopt_try_now(e, s->message, done);
    case COLLOPT_SEND:
        return waits ? collopt_send_now(e, s->message) : collopt_try_now(e, s->message, done);
    case COLLOPT_FOLD:
        err = fold(e, s);
        break;
    case COLLOPT_COPY:
        err = copy(e, s);
        break;
    case COLLOPT_PREFIXES:
        return prefixes(e, s);
    case COLLOPT_AWAIT:
        *done = waits || e->step[s->strand] >= s->step;
        return MPI_SUCCESS;
    case COLLOPT_END:
        break;
    }
    if (s->last)
        collopt_payload_take(e, s);
    return err;
}

static int run_from(struct collopt_execution *e, const struct collopt_step *s)
{
    bool done;

    for (; s->kind != COLLOPT_END; s++) {
        int err = do_step(e, s, true, &done);

        if (err)
            return err;
    }
    return MPI_SUCCESS;
}

static int run_alone(struct collopt_execution *e)
{
    return run_from(e, e->plan->bound->strand[0]);
}

/* Does a call begin with a short message to another process of this node?  To look at the clock
 * takes 20 ns and more: behind the message it is hidden by the message's way. */
static bool sends_first(const struct collopt_plan *plan)
{
    const struct collopt_step *s = plan->bound->strand[0];

    return plan->bound->strands == 1 && s->kind == COLLOPT_POST_SEND && plan->wire[s->message].link
        && plan->bytes <= COLLOPT_INLINE && plan->rows.of.words == 0;
}

static COLLOPT_OUT_OF_LINE int send_and_run(struct collopt_execution *e, uint64_t *entered)
{
    const struct collopt_step *s = e->plan->bound->strand[0];
    int err = collopt_post(e, s->message);

    *entered = collopt_timing_begin();
    return err ? err : run_from(e, s + 1);
}

static const struct collopt_step *step_of(const struct collopt_execution *e, int strand)
{
    return &e->plan->bound->strand[strand][e->step[strand]];
}

/* Does what the strand can do without waiting; *moved says whether that was anything. */
static int run_on(struct collopt_execution *e, int strand, bool *moved)
{
    for (; step_of(e, strand)->kind != COLLOPT_END; e->step[strand]++, *moved = true) {
        bool done = true;
        int err = do_step(e, step_of(e, strand), false, &done);

        if (err || !done)
            return err;
    }
    return MPI_SUCCESS;
}

/* Each strand once. */
static int run_strands(struct collopt_execution *e, bool *moved, bool *done)
{
    *moved = false;
    *done = true;
    for (int t = 0; t < e->plan->bound->strands; t++) {
        int err = run_on(e, t, moved);

        if (err)
            return err;
        *done = *done && step_of(e, t)->kind == COLLOPT_END;
    }
    return MPI_SUCCESS;
}

int collopt_execution_advance(struct collopt_execution *e, bool *done)
{
    bool moved;
    int err;

    do
        err = run_strands(e, &moved, done);
    while (!err && moved && !*done);
    if (!err && !*done && e->posteds > 0)
        err = collopt_drain(e);
    return err;
}

#ifndef COLLOPT_HOST_SMPI
/* What the first strand waits for, for those who look on. */
static void record_wait(const struct collopt_execution *e)
{
    const struct collopt_step *s = step_of(e, 0);

    for (int t = 1; s->kind == COLLOPT_END || s->kind == COLLOPT_AWAIT; t++) {
        if (t == e->plan->bound->strands)
            return;
        s = step_of(e, t);
    }
    collopt_record_wait(e->comm, e->plan->bound->message[s->message].peer);
}
#endif

/* No strand can go on. */
static int idle(struct collopt_execution *e, unsigned *polls)
{
#ifdef COLLOPT_HOST_SMPI
    const struct collopt_bound *b = e->plan->bound;
    MPI_Request **request = (MPI_Request **)e->operand;
    int n = 0;

    (void)polls;
    for (int t = 0; t < b->strands; t++)
        if (step_of(e, t)->kind == COLLOPT_WAIT)
            request[n++] = &e->request[step_of(e, t)->message];
    return collopt_wait_any(n, request);
#else
    int err;

    if (*polls == 0)
        record_wait(e);
    err = collopt_idle(e->comm, polls);
    return !err && e->posteds > 0 ? collopt_drain(e) : err;
#endif
}

static COLLOPT_OUT_OF_LINE int run_together(struct collopt_execution *e)
{
    unsigned polls = 0;

    memset(e->step, 0, (size_t)e->plan->bound->strands * sizeof *e->step);
    for (;;) {
        bool moved, done;
        int err = run_strands(e, &moved, &done);

        if (err || done)
            return err;
        if (moved)
            polls = 0;
        else if ((err = idle(e, &polls)))
            return err;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static COLLOPT_OUT_OF_LINE bool make_scratch(struct collopt_execution *e, size_t size)
{
    collopt_execution_clear(e, MPI_SUCCESS);
    e->scratch = collopt_scratch_make(size);
    if (!e->scratch)
        return false;
    e->scratch_size = size;
    e->passing = !collopt_scratch_keep(size);
    return true;
}

/* All arrays lie in one piece of memory, those of larger elements first. */
static COLLOPT_OUT_OF_LINE bool make_room(struct collopt_execution *e, size_t room)
{
    free(e->place);
    e->place = calloc(room, sizeof *e->place + sizeof *e->operand + sizeof *e->request
                                + 2 * sizeof(int) + 2 * sizeof(bool));
    e->room = e->place ? room : 0;
    if (!e->place)
        return false;
    e->operand = (void **)(e->place + room);
    e->request = (MPI_Request *)(void *)(e->operand + room);
    e->step = (int *)(void *)(e->request + room);
    e->next = e->step + room;
    e->arrived = (bool *)(e->next + room);
    e->diverts = e->arrived + room;
    for (size_t i = 0; i < room; i++)
        e->request[i] = MPI_REQUEST_NULL;
    return true;
}

static COLLOPT_OUT_OF_LINE bool suffice(struct collopt_execution *e,
                                        const struct collopt_plan *plan)
{
    return (plan->room <= e->room || make_room(e, plan->room))
        && (plan->scratch <= e->scratch_size || make_scratch(e, plan->scratch));
}

/* A datatype that is not committed is an error, which the host finds when it sends.  Where no
 * message goes by the host, a send to MPI_PROC_NULL makes it look.  The count is 1, since MPICH
 * does not look if it is 0; no data are read. */
static COLLOPT_OUT_OF_LINE int check_type(const struct collopt_comm *c, struct collopt_plan *plan)
{
    int err = PMPI_Send(c, 1, plan->facts.type, MPI_PROC_NULL, 0, c->hidden);

    plan->unchecked = err != MPI_SUCCESS;
    return err;
}

/* Rows stand for the program's buffers until the end. */
static COLLOPT_OUT_OF_LINE void load(struct collopt_execution *e)
{
    const struct collopt_plan_rows *rows = &e->plan->rows;
    int64_t *in = (int64_t *)(void *)(e->scratch + rows->in);

    collopt_exact_load(&rows->of, in, e->place[COLLOPT_IN], rows->inputs);
    e->result = e->place[COLLOPT_OUT];
    e->place[COLLOPT_IN] = (char *)in;
    e->place[COLLOPT_OUT] = e->scratch + rows->out;
}

void collopt_execution_end(struct collopt_execution *e)
{
    const struct collopt_plan_rows *rows = &e->plan->rows;

    if (rows->results > 0)
        collopt_exact_round(&rows->of, e->result,
                            (const int64_t *)(void *)(e->scratch + rows->out), rows->results,
                            rows->operands);
}

static inline void set_slots(struct collopt_execution *e)
{
    const struct collopt_bound *b = e->plan->bound;
    char **slot = &e->place[COLLOPT_FIRST_SLOT];
    int first_view = b->slots - b->views;

    for (int i = 0; i < first_view; i++)
        slot[i] = e->scratch + e->plan->slot[i];
    for (int i = first_view; i < b->slots; i++)
        slot[i] = e->place[b->view[i - first_view].place] + e->plan->slot[i];
}

int collopt_execution_begin(struct collopt_execution *e, struct collopt_comm *c,
                            struct collopt_plan *plan, const void *in, void *out)
{
    if ((plan->room > e->room || plan->scratch > e->scratch_size) && !suffice(e, plan))
        return MPI_ERR_NO_MEM;
    e->comm = c;
    e->plan = plan;
    e->diverted = 0;
    e->begun = false;
    e->place[COLLOPT_IN] = plan->in_place ? out : (char *)in;
    e->place[COLLOPT_OUT] = out;
    if (plan->rows.of.words > 0)
        load(e);
    set_slots(e);
    return __builtin_expect(plan->unchecked, 0) ? check_type(c, plan) : MPI_SUCCESS;
}

/* After an error the host may still read or write our scratch, which then is left to it. */
COLLOPT_OUT_OF_LINE void collopt_execution_clear(struct collopt_execution *e, int err)
{
    if (!e->passing)
        collopt_scratch_release(e->scratch_size);
    if (!err || !collopt_abandon(e))
        collopt_scratch_free(e->scratch);
    e->scratch = NULL;
    e->scratch_size = 0;
    e->frame = NULL;
    e->passing = false;
}

/* ---- the execution of a communicator's blocking calls, one at a time ---- */

static struct collopt_execution *execution_of(const struct collopt_comm *c)
{
    return collopt_part(c, COLLOPT_PART_EXECUTION);
}

static void free_execution(struct collopt_comm *c)
{
    struct collopt_execution *e = execution_of(c);

    collopt_execution_clear(e, MPI_SUCCESS);
    free(e->place);
    free(e);
    collopt_part_attach(c, COLLOPT_PART_EXECUTION, NULL, NULL);
}

static bool recover(struct collopt_comm *c)
{
    if (!was_left(execution_of(c)))
        return false;
    collopt_execution_clear(execution_of(c), MPI_ERR_OTHER);
    return true;
}

static COLLOPT_OUT_OF_LINE struct collopt_execution *make_execution(struct collopt_comm *c)
{
    static const struct collopt_part_ops ops = { .end = free_execution,
                                                 .shut_down = free_execution,
                                                 .recover = recover };
    struct collopt_execution *e = calloc(1, sizeof *e);

    if (e)
        collopt_part_attach(c, COLLOPT_PART_EXECUTION, e, &ops);
    return e;
}

uint64_t collopt_execution_diverted(const struct collopt_comm *c)
{
    const struct collopt_execution *e = execution_of(c);

    return e ? e->diverted : 0;
}

/* ENTERED, unless NULL: where the time goes at which the rank has sent its first message. */
static int run(struct collopt_execution *e, uint64_t *entered)
{
    if (entered)
        return send_and_run(e, entered);
    return e->plan->bound->strands == 1 ? run_alone(e) : run_together(e);
}

int collopt_execute(struct collopt_comm *c, struct collopt_plan *plan, const void *in, void *out,
                    uint64_t *entered)
{
    struct collopt_execution *e = execution_of(c);
    int err = MPI_ERR_NO_MEM;

    if (entered && !(e && sends_first(plan))) {
        *entered = collopt_timing_begin();
        entered = NULL;
    }
    if (__builtin_expect(e != NULL, 1) || (e = make_execution(c)))
        err = collopt_execution_begin(e, c, plan, in, out);
    if (err) {
        if (entered)
            *entered = collopt_timing_begin();
        collopt_give_up(c, c->call);
        return err;
    }
    e->call = c->call;
    e->tags = (int)(c->call % COLLOPT_BLOCKING_ROWS) * COLLOPT_STRAND_TAGS;
    err = run(e, entered);
    if (!err)
        collopt_execution_end(e);
    if (err || e->passing)
        collopt_execution_clear(e, err);
    if (err)
        collopt_give_up(c, c->call);
    return err;
}
