/* Buffers in device memory: a call's input is copied to host memory, the schedule runs there as it
 * would on the user's buffers, the result is copied back.
 *
 * It concerns this rank alone: messages are the same, so the others need not know, and one rank may
 * have its input on a device, another its result, a third nothing.  What is handed to the host
 * keeps the user's addresses. */
#include "config.h"

#include <stdlib.h>

#include "mpi/stage.h"
#include "base/log.h"
#include "mpi/attributes.h"
#include "mpi/comm.h"
#include "mpi/dispatch.h"
#include "mpi/execute.h"
#include "mpi/gpu.h"
#include "mpi/plan.h"
#include "schedule/schedule.h"
#include "settings/settings.h"

bool collopt_gpu_allows(void)
{
    return collopt_settings()->gpu != COLLOPT_GPU_NATIVE;
}

/* the bytes from the first one of data to the last, gaps included */
struct span {
    ptrdiff_t from;             /* relative to the buffer's address */
    size_t size;
    bool gaps;                  /* some of them may be no data */
};

struct staged {                 /* one buffer */
    struct collopt_gpu_memory memory;
    char *user, *host;          /* the first byte of the span; HOST NULL: the user's own is used */
    struct span span;
};

static int measure(MPI_Datatype type, size_t n, bool dense, size_t size, struct span *s)
{
    MPI_Aint lb, extent, true_lb, true_extent, further;
    int err;

    *s = (struct span){ .from = 0, .size = n * size };
    if (dense || n == 0)
        return MPI_SUCCESS;
    if ((err = PMPI_Type_get_extent(type, &lb, &extent))
        || (err = PMPI_Type_get_true_extent(type, &true_lb, &true_extent)))
        return err;
    further = extent * (MPI_Aint)(n - 1);
    *s = (struct span){ .from = true_lb + (further < 0 ? further : 0), .gaps = true,
                        .size = (size_t)(true_extent + (further < 0 ? -further : further)) };
    return MPI_SUCCESS;
}

static bool same(const struct collopt_gpu_memory *a, const struct collopt_gpu_memory *b)
{
    return a->runtime == b->runtime && a->owner == b->owner && a->device == b->device;
}

static int complain(const char *what, const struct collopt_gpu_memory *m, size_t size)
{
    collopt_warn_here("%s %zu bytes of device memory (%s); COLLOPT_GPU=native leaves such buffers "
                      "to the MPI library",
                      what, size, m->runtime->name);
    return MPI_ERR_BUFFER;
}

/* Data in one piece lies in one allocation.  A derived datatype may reach anywhere, so both of its
 * ends are asked for. */
static int look_at(const void *buffer, const struct span *span, struct staged *s)
{
    struct collopt_gpu_memory last;

    *s = (struct staged){ .user = (char *)((uintptr_t)buffer + (uintptr_t)span->from),
                          .span = *span };
    if (span->size == 0)
        return MPI_SUCCESS;
    collopt_gpu_ask(s->user, &s->memory);
    if (!span->gaps)
        return MPI_SUCCESS;
    collopt_gpu_ask(s->user + span->size - 1, &last);
    if (same(&s->memory, &last))
        return MPI_SUCCESS;
    return complain("cannot copy a datatype that lies partly in",
                    s->memory.runtime ? &s->memory : &last, span->size);
}

/* FILL: with what is in the user's. */
static int lend(struct staged *s, bool fill)
{
    if (!s->memory.runtime)
        return MPI_SUCCESS;
    collopt_say_once(COLLOPT_LOG_DECIDE,
                     "buffers in device memory (%s) are copied to host memory, results back",
                     s->memory.runtime->name);
    s->host = collopt_gpu_borrow(&s->memory, s->span.size);
    if (!s->host)
        return MPI_ERR_NO_MEM;
    if (fill && !collopt_gpu_to_host(&s->memory, s->host, s->user, s->span.size))
        return complain("cannot read", &s->memory, s->span.size);
    return MPI_SUCCESS;
}

static int take_back(const struct staged *s, const struct span *result)
{
    ptrdiff_t at = result->from - s->span.from;

    if (!s->host || collopt_gpu_to_device(&s->memory, s->user + at, s->host + at, result->size))
        return MPI_SUCCESS;
    return complain("cannot write", &s->memory, result->size);
}

/* The address that stands for the user's: the span begins where it does there. */
static void *address(const struct staged *s, const void *users)
{
    return s->host ? (void *)((uintptr_t)s->host - (uintptr_t)s->span.from) : (void *)users;
}

/* ---- a call ---------------------------------------------------------------------------------- */

/* How many elements of result this rank gets. */
static size_t results(const struct collopt_comm *c, const struct collopt_plan *plan, size_t inputs)
{
    switch (plan->collective) {
    case COLLOPT_REDUCE:
        return c->rank == plan->root ? inputs : 0;
    case COLLOPT_EXSCAN:
        return c->rank == 0 ? 0 : inputs;
    case COLLOPT_REDUCE_SCATTER:
        return plan->counts[c->rank];
    case COLLOPT_REDUCE_SCATTER_BLOCK:
        return plan->count;
    default:
        return inputs;
    }
}

struct collopt_staging {
    struct staged in, out;      /* in place: all is OUT */
    struct span result;
};

static int look_at_both(const struct collopt_facts *f, size_t inputs, size_t results, bool in_place,
                        const void *in, void *out, struct collopt_staging *b)
{
    struct span all;
    int err;

    if ((err = measure(f->type, inputs, f->dense, f->size, &all))
        || (err = measure(f->type, results, f->dense, f->size, &b->result)))
        return err;
    if (in_place)
        return look_at(out, &all, &b->out);
    if ((err = look_at(in, &all, &b->in)))
        return err;
    return look_at(out, &b->result, &b->out);
}

/* In place OUT has the input; else it has nothing that is wanted but the gaps between the elements
 * of the result. */
static int lend_both(bool in_place, struct collopt_staging *b)
{
    int err = lend(&b->in, true);

    return err ? err : lend(&b->out, in_place || b->out.span.gaps);
}

static void return_both(const struct collopt_staging *b)
{
    collopt_gpu_return(b->in.host);
    collopt_gpu_return(b->out.host);
}

static int execute_lent(struct collopt_comm *c, struct collopt_plan *plan, const void *in,
                        void *out, struct collopt_staging *b)
{
    int err = lend_both(plan->in_place, b);

    if (err == MPI_SUCCESS) {
        err = collopt_execute(c, plan, address(&b->in, in), address(&b->out, out));
        if (err != MPI_SUCCESS)
            /* the host may still read and write there: the memory is left to it */
            return err;
        err = take_back(&b->out, &b->result);
    }
    return_both(b);
    return err;
}

static COLLOPT_OUT_OF_LINE int ask_and_execute(struct collopt_comm *c, struct collopt_plan *plan,
                                               const void *in, void *out)
{
    struct collopt_staging b = { .in = { .host = NULL } };
    size_t inputs = (size_t)(plan->bytes / plan->facts.size);
    int err = look_at_both(&plan->facts, inputs, results(c, plan, inputs), plan->in_place, in, out,
                           &b);

    if (err)
        return err;
    if (!b.in.memory.runtime && !b.out.memory.runtime)
        return collopt_execute(c, plan, in, out);
    return execute_lent(c, plan, in, out, &b);
}

int collopt_execute_anywhere(struct collopt_comm *c, struct collopt_plan *plan, const void *in,
                             void *out)
{
    if (!collopt_gpu_possible())
        return collopt_execute(c, plan, in, out);
    return ask_and_execute(c, plan, in, out);
}

/* ---- a reduction that goes on when its call has ended ---------------------------------------- */

static int lend_for_long(bool in_place, struct collopt_staging *b, struct collopt_staging **s)
{
    int err = lend_both(in_place, b);

    if (err == MPI_SUCCESS && !(*s = malloc(sizeof **s)))
        err = MPI_ERR_NO_MEM;
    if (err)
        return_both(b);
    else
        **s = *b;
    return err;
}

int collopt_stage_begin(const struct collopt_facts *f, size_t inputs, size_t results,
                        const void **in, void **out, struct collopt_staging **s)
{
    struct collopt_staging b = { .in = { .host = NULL } };
    bool in_place = *in == *out;
    int err = look_at_both(f, inputs, results, in_place, *in, *out, &b);

    *s = NULL;
    if (err || (!b.in.memory.runtime && !b.out.memory.runtime))
        return err;
    if ((err = lend_for_long(in_place, &b, s)))
        return err;
    *out = address(&b.out, *out);
    *in = in_place ? *out : address(&b.in, *in);
    return MPI_SUCCESS;
}

int collopt_stage_end(struct collopt_staging *s)
{
    int err = take_back(&s->out, &s->result);

    return_both(s);
    free(s);
    return err;
}

/* ---- MPI_Reduce_local ------------------------------------------------------------------------ */

typedef void combine(void *result, const void *left, const void *right, size_t n);

static COLLOPT_OUT_OF_LINE int combine_staged(combine *combine, const void *in, void *out, size_t n,
                                              MPI_Datatype type)
{
    struct staged from = { .host = NULL }, to = { .host = NULL };
    struct span span;
    int err;

    if ((err = measure(type, n, false, 0, &span)) || (err = look_at(in, &span, &from))
        || (err = look_at(out, &span, &to)))
        return err;
    if (!(err = lend(&from, true)) && !(err = lend(&to, true))) {
        void *result = address(&to, out);

        combine(result, address(&from, in), result, n);
        err = take_back(&to, &span);
    }
    collopt_gpu_return(from.host);
    collopt_gpu_return(to.host);
    return err;
}

int collopt_combine_anywhere(combine *combine, const void *in, void *out, size_t n,
                             MPI_Datatype type)
{
    if (collopt_gpu_possible())
        return combine_staged(combine, in, out, n, type);
    combine(out, in, out, n);
    return MPI_SUCCESS;
}
