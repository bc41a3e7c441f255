/* Comparisons of nonblocking calls; see comparison.h. */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/check/comparison.h"
#include "base/clock.h"
#include "mpi/check/signature.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/peers.h"
#include "mpi/host/host.h"
#include "mpi/host/progress.h"
#include "mpi/node/world.h"

enum state {
    UNDER_WAY,
    CLAIMED,                    /* one thread advances it, and alone uses the other fields */
    ENDED
};

struct collopt_comparison {
    _Atomic enum state state;
    const struct collopt_comm *c;       /* valid until GATHERED */
    struct collopt_comparison *next;    /* that is not GATHERED */
    bool gathered;
    MPI_Request request;        /* of the MPI_Iallgather, then of rank 0's message */
    enum collopt_signature_field field;    /* in which the ranks differ */
    uint64_t since;             /* when this rank found the difference */
    int rank, ranks;
    int err;
    bool raised;
    struct collopt_signature signature[];       /* [ranks] */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct collopt_comparison *gathering;

/* A communicator that reaches beyond MPI_COMM_WORLD may have ranks without collopt.  One whose
 * hidden communicator is its own may be used after MPI_Finalize (sessions), when collopt can make
 * no requests. */
bool collopt_checks_later(struct collopt_comm *c)
{
    return c->checked && !c->busy && collopt_world() && collopt_comm_inside(c)
        && (c->status == COLLOPT_NEW || (c->status == COLLOPT_TAKEN_OVER && !c->own));
}

/* ---- those that are under way ---------------------------------------------------------------- */

static void enter(struct collopt_comparison *x)
{
    pthread_mutex_lock(&lock);
    x->next = gathering;
    gathering = x;
    pthread_mutex_unlock(&lock);
}

static void leave(struct collopt_comparison *x)
{
    struct collopt_comparison **at = &gathering;

    pthread_mutex_lock(&lock);
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    pthread_mutex_unlock(&lock);
}

int collopt_comparison_result(const struct collopt_comparison *x, bool *raised)
{
    *raised = x->raised;
    return x->err;
}

void collopt_comparison_free(struct collopt_comparison *x)
{
    free(x);
}

/* ---- telling --------------------------------------------------------------------------------- */

static void tell(const struct collopt_comparison *x)
{
    struct collopt_difference d;

    if (!collopt_find_odd(x->signature, x->ranks, x->field, &d))
        collopt_tell_odd(x->signature, x->ranks, x->field, &d);
}

static void send_word(const struct collopt_comparison *x)
{
    const struct collopt_world *world = collopt_world();

    for (int r = 1; r < x->ranks; r++) {
        MPI_Request request;

        if (!PMPI_Isend(NULL, 0, MPI_BYTE, (int)x->signature[r].world, COLLOPT_TAG_TOLD,
                        world->hidden, &request))
            collopt_host.Request_free(&request);
    }
}

/* True: nothing is left to do. */
static bool begin_telling(struct collopt_comparison *x)
{
    const struct collopt_world *world = collopt_world();

    x->err = collopt_signature_error(x->field);
    x->since = collopt_now();
    if (x->rank > 0)
        return PMPI_Irecv(NULL, 0, MPI_BYTE, (int)x->signature[0].world, COLLOPT_TAG_TOLD,
                          world->hidden, &x->request) != MPI_SUCCESS;
    tell(x);
    send_word(x);
    return true;
}

/* If rank 0 does not write the message in time, another rank does. */
static bool is_overdue(struct collopt_comparison *x)
{
    const uint64_t timeout = 5000000000, between_ranks = 20000000;     /* ns */

    if (collopt_now() - x->since < timeout + between_ranks * (uint64_t)x->rank)
        return false;
    tell(x);
    collopt_host.Request_free(&x->request);     /* the message is empty and may come later */
    return true;
}

/* ---- going on -------------------------------------------------------------------------------- */

static int test(MPI_Request *request, bool within, bool *done)
{
    int flag = 0, err;

    if (within)
        return collopt_progress_test(request, done);
    err = collopt_host.Test(request, &flag, MPI_STATUS_IGNORE);
    *done = flag;
    return err;
}

/* All descriptions are gathered.  True: the comparison has ended. */
static bool judge(struct collopt_comparison *x, int err)
{
    leave(x);
    x->gathered = true;
    x->err = err;
    x->raised = err != MPI_SUCCESS;
    if (err)
        return true;
    x->field = collopt_signatures_differ(x->signature, x->ranks);
    return x->field == COLLOPT_FIELDS || begin_telling(x);
}

static bool go_on(struct collopt_comparison *x, bool within)
{
    bool done = false;
    int err = test(&x->request, within, &done);

    if (x->gathered)
        return err || done || is_overdue(x);
    return (err || done) && judge(x, err);
}

static bool claim(struct collopt_comparison *x)
{
    enum state expected = UNDER_WAY;

    return atomic_compare_exchange_strong_explicit(&x->state, &expected, CLAIMED,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* This thread has claimed X.  Another thread may free X once it has ended. */
static bool advance(struct collopt_comparison *x, bool within)
{
    bool ended = go_on(x, within);

    atomic_store_explicit(&x->state, ended ? ENDED : UNDER_WAY, memory_order_release);
    return ended;
}

bool collopt_comparison_advance(struct collopt_comparison *x, bool within)
{
    if (atomic_load_explicit(&x->state, memory_order_acquire) == ENDED)
        return true;
    return claim(x) && advance(x, within);
}

/* *X is a comparison on C that this thread has claimed, or NULL.  False: none is left on C. */
static bool claim_one(const struct collopt_comm *c, struct collopt_comparison **x)
{
    bool any = false;

    *x = NULL;
    pthread_mutex_lock(&lock);
    for (struct collopt_comparison *i = gathering; i && !*x; i = i->next)
        if (i->c == c) {
            any = true;
            *x = claim(i) ? i : NULL;
        }
    pthread_mutex_unlock(&lock);
    return any;
}

/* Open MPI 4.1 fails where a communicator is freed while a nonblocking collective is under way on
 * it.  MPI allows MPI_Comm_free to wait for all ranks. */
static void settle(struct collopt_comm *c)
{
    struct collopt_comparison *x;

    while (claim_one(c, &x)) {
        if (x)
            advance(x, false);
        sched_yield();
    }
}

/* ---- starting -------------------------------------------------------------------------------- */

int collopt_comparison_begin(struct collopt_comm *c, const struct collopt_signature *mine,
                             struct collopt_comparison **made, bool *raised)
{
    static const struct collopt_part_ops ops = { .settle = settle };
    struct collopt_comparison *x = malloc(sizeof *x + (size_t)c->ranks * sizeof *x->signature);
    int err;

    *raised = x != NULL;
    if (!x)
        return MPI_ERR_NO_MEM;
    *x = (struct collopt_comparison){ .c = c, .rank = c->rank, .ranks = c->ranks };
    x->signature[c->rank] = *mine;
    err = PMPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x->signature, sizeof *mine, MPI_BYTE,
                          collopt_comm_of(c), &x->request);
    if (err) {
        free(x);
        return err;
    }
    enter(x);
    collopt_part_attach(c, COLLOPT_PART_COMPARISONS, c, &ops);
    *made = x;
    return MPI_SUCCESS;
}
