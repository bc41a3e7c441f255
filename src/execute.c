/* Running a plan: the steps of each strand in turn, against the addresses of this call. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "shm/transport.h"

static char *address(const struct collopt_plan *plan, const struct collopt_run *r)
{
    return plan->place[r->place] + (ptrdiff_t)r->at * plan->facts.extent;
}

/* ---- combining and copying -------------------------------------------------------------------------------------- */

/* right = left op right by the host, for operations and datatypes that we have no loop for. */
static int combine_by_host(const struct collopt_plan *plan, char *left, char *right, size_t n)
{
    const struct collopt_facts *f = &plan->facts;

    while (n > 0) {
        int part = n > INT_MAX ? INT_MAX : (int)n;
        int err = collopt_host.Reduce_local(left, right, part, f->type, f->op);

        if (err)
            return err;
        left += part * f->extent;
        right += part * f->extent;
        n -= (size_t)part;
    }
    return MPI_SUCCESS;
}

/* More operands than a kernel takes, in strips that stay in the nearest cache: the result may be one of them, so it is written
 * when all have been read. */
static void fold_many(const struct collopt_facts *f, char *to, int operands, const void *const *operand, size_t n)
{
    _Alignas(64) char strip[4096];
    size_t extent = (size_t)f->extent, most = sizeof strip / extent;

    for (size_t at = 0; at < n; at += most) {
        size_t some = n - at < most ? n - at : most;
        const void *from[COLLOPT_FOLD_OPERANDS] = { (const char *)operand[0] + at * extent };
        int done = 1;

        while (done < operands) {
            int k = 1;

            for (; k < COLLOPT_FOLD_OPERANDS && done < operands; k++, done++)
                from[k] = (const char *)operand[done] + at * extent;
            f->kernel->fold(done < operands ? strip : to + at * extent, from, k, some);
            from[0] = strip;
        }
    }
}

static COLLOPT_OUT_OF_LINE int fold_any(const struct collopt_plan *plan, const struct collopt_step *s)
{
    const struct collopt_kernel *kernel = plan->facts.kernel;
    const void *operand[s->runs - 1];

    if (!kernel)
        return combine_by_host(plan, address(plan, &s->run[1]), address(plan, &s->run[2]), s->run[0].n);
    for (int i = 1; i < s->runs; i++)
        operand[i - 1] = address(plan, &s->run[i]);
    if (s->runs - 1 <= COLLOPT_FOLD_OPERANDS || plan->facts.once)
        kernel->fold(address(plan, &s->run[0]), operand, s->runs - 1, s->run[0].n);
    else
        fold_many(&plan->facts, address(plan, &s->run[0]), s->runs - 1, operand, s->run[0].n);
    return MPI_SUCCESS;
}

/* User-defined operations never come here: the pass for two operands has made folds of it. */
static COLLOPT_OUT_OF_LINE int prefixes(const struct collopt_plan *plan, const struct collopt_step *s)
{
    const struct collopt_kernel *kernel = plan->facts.kernel;
    void *vector[s->runs];

    for (int k = 0; k < s->runs; k++)
        vector[k] = address(plan, &s->run[k]);
    if (plan->facts.once)
        kernel->prefixes(vector, s->runs, s->run[0].n);
    else
        for (int k = 1; k < s->runs; k++)
            kernel->combine(vector[k], vector[k - 1], vector[k], s->run[0].n);
    return MPI_SUCCESS;
}

static inline int fold(const struct collopt_plan *plan, const struct collopt_step *s)
{
    const struct collopt_kernel *kernel = plan->facts.kernel;

    if (!kernel || s->runs != 3)
        return fold_any(plan, s);
    kernel->combine(address(plan, &s->run[0]), address(plan, &s->run[1]), address(plan, &s->run[2]), s->run[0].n);
    return MPI_SUCCESS;
}

/* Gaps between the data of elements are not ours to write.  So what is neither dense nor a pair that a kernel copies
 * goes by way of packing: short vectors on the stack, long ones in parts that stay in the caches and in the heap (a
 * buffer of 1 MiB would be mapped anew each time). */
static int copy_packed(const struct collopt_facts *f, MPI_Datatype type, MPI_Comm comm, char *to, char *from, size_t n)
{
    size_t at_once = ((size_t)64 << 10) / (f->size ? f->size : 1) + 1;
    int err = MPI_SUCCESS, room;
    char here[2048], *buffer;

    if (at_once > n)
        at_once = n;
    if ((err = PMPI_Pack_size((int)at_once, type, comm, &room)))
        return err;
    buffer = (size_t)room <= sizeof here ? here : malloc((size_t)room);
    if (!buffer)
        return MPI_ERR_NO_MEM;
    while (n > 0 && !err) {
        int part = (int)(n < at_once ? n : at_once), packed = 0, unpacked = 0;

        if (!(err = PMPI_Pack(from, part, type, buffer, room, &packed, comm)))
            err = PMPI_Unpack(buffer, packed, &unpacked, to, part, type, comm);
        from += part * f->extent;
        to += part * f->extent;
        n -= (size_t)part;
    }
    if (buffer != here)
        free(buffer);
    return err;
}

/* Address 0 is MPI_BOTTOM, but MPICH's MPI_Unpack takes it for a mistake: both addresses are moved to where they are none. */
static int copy_from_bottom(const struct collopt_facts *f, MPI_Comm comm, char *to, char *from, size_t n)
{
    static char elsewhere;
    MPI_Aint away, back;
    MPI_Datatype moved;
    int err, one = 1;

    if ((err = PMPI_Get_address(&elsewhere, &away)))
        return err;
    back = -away;
    if ((err = PMPI_Type_create_hindexed(1, &one, &back, f->type, &moved)))
        return err;
    if (!(err = PMPI_Type_commit(&moved)))
        err = copy_packed(f, moved, comm, (char *)((uintptr_t)to + (uintptr_t)away),
                          (char *)((uintptr_t)from + (uintptr_t)away), n);
    collopt_host.Type_free(&moved);
    return err;
}

/* Copies elements and leaves their gaps alone, or NULL. */
static const struct collopt_kernel *copier(const struct collopt_facts *f)
{
    return collopt_type_size(f->type_id) == (size_t)f->extent ? collopt_kernel(COLLOPT_REPLACE, f->type_id) : NULL;
}

static COLLOPT_OUT_OF_LINE int copy_between_gaps(const struct collopt_comm *c, const struct collopt_facts *f, char *to,
                                                 char *from, size_t n)
{
    MPI_Comm comm = collopt_comm_of(c);
    const struct collopt_kernel *kernel = copier(f);

    if (kernel) {
        kernel->combine(to, from, from, n);
        return MPI_SUCCESS;
    }
    if (!to || !from)
        return copy_from_bottom(f, comm, to, from, n);
    return copy_packed(f, f->type, comm, to, from, n);
}

static inline int copy(const struct collopt_comm *c, const struct collopt_plan *plan, const struct collopt_step *s)
{
    const struct collopt_facts *f = &plan->facts;
    char *to = address(plan, &s->run[0]), *from = address(plan, &s->run[1]);
    size_t n = s->run[0].n;

    if (!f->dense)
        return copy_between_gaps(c, f, to, from, n);
    memcpy(to, from, n * f->size);
    return MPI_SUCCESS;
}

/* ---- strands ------------------------------------------------------------------------------------------------------ */

/* Waits for what S waits for.  Hosts complete whatever has come while they wait for one message.  The simulator does not, and for
 * its time to be theirs it is asked for all that is waited for before the strand does anything but combine. */
static int wait_here(struct collopt_comm *c, struct collopt_plan *plan, const struct collopt_step *s)
{
#ifdef COLLOPT_HOST_SMPI
    int n = 0, err = MPI_SUCCESS;
    const struct collopt_step *end = s;

    if (plan->request[s->message] == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    while (end->kind == COLLOPT_WAIT || end->kind == COLLOPT_FOLD || end->kind == COLLOPT_PREFIXES)
        end++;

    MPI_Request *request[end - s];

    for (const struct collopt_step *next = s; next < end; next++)
        if (next->kind == COLLOPT_WAIT)
            request[n++] = &plan->request[next->message];
    while (*request[0] != MPI_REQUEST_NULL && !err)
        err = collopt_wait_any(n, request);
    (void)c;
    return err;
#else
    return collopt_wait_message(c, plan, s->message);
#endif
}

static int run_alone(struct collopt_comm *c, struct collopt_plan *plan)
{
    for (const struct collopt_step *s = plan->bound->strand[0];; s++) {
        int err = MPI_SUCCESS;

        switch (s->kind) {
        case COLLOPT_POST_RECEIVE:
        case COLLOPT_POST_SEND:
            err = collopt_post(c, plan, s->message);
            break;
        case COLLOPT_WAIT:
            err = wait_here(c, plan, s);
            break;
        case COLLOPT_RECEIVE:
            err = collopt_receive_now(c, plan, s->message);
            break;
        case COLLOPT_SEND:
            err = collopt_send_now(c, plan, s->message);
            break;
        case COLLOPT_FOLD:
            err = fold(plan, s);
            if (s->last)
                collopt_shm_take(plan, s);
            break;
        case COLLOPT_COPY:
            err = copy(c, plan, s);
            if (s->last)
                collopt_shm_take(plan, s);
            break;
        case COLLOPT_PREFIXES:
            err = prefixes(plan, s);
            break;
        case COLLOPT_AWAIT:
            break;
        case COLLOPT_END:
            return MPI_SUCCESS;
        }
        if (err)
            return err;
    }
}

/* Does what the strand can do without waiting; *moved says whether that was anything. */
static int run_on(struct collopt_comm *c, struct collopt_plan *plan, int strand, bool *moved)
{
    for (;; plan->step[strand]++, *moved = true) {
        const struct collopt_step *s = &plan->bound->strand[strand][plan->step[strand]];
        bool done = true;
        int err = MPI_SUCCESS;

        switch (s->kind) {
        case COLLOPT_POST_RECEIVE:
        case COLLOPT_POST_SEND:
            err = collopt_post(c, plan, s->message);
            break;
        case COLLOPT_WAIT:
            err = collopt_test_message(c, plan, s->message, &done);
            break;
        case COLLOPT_FOLD:
            err = fold(plan, s);
            break;
        case COLLOPT_COPY:
            err = copy(c, plan, s);
            break;
        case COLLOPT_PREFIXES:
            err = prefixes(plan, s);
            break;
        case COLLOPT_AWAIT:
            done = plan->step[s->strand] >= s->step;
            break;
        case COLLOPT_RECEIVE:
        case COLLOPT_SEND:      /* these wait, so they are only where a strand is alone */
        case COLLOPT_END:
            return MPI_SUCCESS;
        }
        if (err || !done)
            return err;
    }
}

/* No strand can go on. */
static int idle(struct collopt_comm *c, struct collopt_plan *plan, unsigned *polls)
{
#ifdef COLLOPT_HOST_SMPI
    const struct collopt_bound *b = plan->bound;
    MPI_Request *request[b->strands];
    int n = 0;

    (void)c;
    (void)polls;
    for (int t = 0; t < b->strands; t++) {
        const struct collopt_step *s = &b->strand[t][plan->step[t]];

        if (s->kind == COLLOPT_WAIT)
            request[n++] = &plan->request[s->message];
    }
    return collopt_wait_any(n, request);
#else
    collopt_idle(c, polls);
    return plan->posteds > 0 ? collopt_shm_drain(c, plan) : MPI_SUCCESS;
#endif
}

static COLLOPT_OUT_OF_LINE int run_together(struct collopt_comm *c, struct collopt_plan *plan)
{
    const struct collopt_bound *b = plan->bound;
    unsigned polls = 0;
    int ended, err;

    memset(plan->step, 0, (size_t)b->strands * sizeof *plan->step);
    do {
        bool moved = false;

        ended = 0;
        for (int t = 0; t < b->strands; t++) {
            if ((err = run_on(c, plan, t, &moved)))
                return err;
            ended += b->strand[t][plan->step[t]].kind == COLLOPT_END;
        }
        if (moved)
            polls = 0;
        else if ((err = idle(c, plan, &polls)))
            return err;
    } while (ended < b->strands);
    return MPI_SUCCESS;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------ */

static COLLOPT_OUT_OF_LINE bool make_scratch(struct collopt_comm *c, size_t size)
{
    enum { ALIGNMENT = 64 };

    free(c->scratch);
    c->scratch = aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    c->scratch_size = c->scratch ? size : 0;
    return c->scratch != NULL;
}

static COLLOPT_OUT_OF_LINE void tidy_up(struct collopt_comm *c, struct collopt_plan *plan, int err)
{
    c->spoilt |= err != MPI_SUCCESS;
    if (!err || !collopt_abandon(plan))         /* else the host may still read or write our scratch: leave it to it */
        free(c->scratch);
    c->scratch = NULL;
    c->scratch_size = 0;
}

/* A datatype that is not committed is an error, which the host finds in each message.  Where none is its own, it is asked.  MPICH
 * looks at nothing if the count is 0; nobody reads what goes nowhere. */
static COLLOPT_OUT_OF_LINE int check_type(const struct collopt_comm *c, const struct collopt_plan *plan)
{
    return PMPI_Send(c, 1, plan->facts.type, MPI_PROC_NULL, 0, c->hidden);
}

int collopt_execute(struct collopt_comm *c, struct collopt_plan *plan, const void *in, void *out)
{
    const struct collopt_bound *b = plan->bound;
    int err;

    if (plan->scratch > c->scratch_size && !make_scratch(c, plan->scratch))
        return MPI_ERR_NO_MEM;
    plan->place[COLLOPT_IN] = plan->in_place ? out : (char *)in;
    plan->place[COLLOPT_OUT] = out;
    for (int i = 0; i < b->slots; i++)
        plan->place[COLLOPT_FIRST_SLOT + i] = c->scratch + plan->slot[i];
    if (plan->converts && (err = check_type(c, plan)))
        return err;
    err = b->strands == 1 ? run_alone(c, plan) : run_together(c, plan);
    if (err || c->scratch_size > c->scratch_kept)
        tidy_up(c, plan, err);
    return err;
}
