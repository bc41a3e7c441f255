/* Copies between the program's buffers and host memory; see staging.h.
 *
 * It concerns this rank alone: messages are the same, so the others need not know, and one rank may
 * have its input on a device, another its result, a third nothing.  Calls that fall back keep
 * the user's addresses. */
#include "config.h"

#include <stdlib.h>

#include "mpi/device/staging.h"
#include "base/log.h"
#include "mpi/device/gpu.h"
#include "mpi/device/stretches.h"
#include "mpi/host/attributes.h"

struct data {
    const struct collopt_facts *facts;
    MPI_Comm comm;              /* to pack and unpack the program's own datatypes with */
};

/* the bytes from the first one of data to the last, gaps included */
struct span {
    ptrdiff_t from;             /* relative to the buffer's address */
    size_t size, elements;
    bool apart;                 /* of the program's own datatype: not in one piece */
};

struct staged {                 /* one buffer */
    struct collopt_gpu_memory memory;
    char *user, *host;          /* the first byte of the span; HOST NULL: the user's own is used */
    char *lent;                 /* what HOST is in */
    struct span span;
    bool scattered;             /* the runtime can tell that it is not one allocation */
};

/* Pairs with gaps are in one piece, too: nobody has data in the gaps. */
static int measure(const struct collopt_facts *f, size_t n, struct span *s)
{
    MPI_Aint lb, extent, true_lb, true_extent, further;
    int err;

    *s = (struct span){ .from = 0, .size = n * f->size, .elements = n };
    if (f->dense || n == 0)
        return MPI_SUCCESS;
    if ((err = PMPI_Type_get_extent(f->type, &lb, &extent))
        || (err = PMPI_Type_get_true_extent(f->type, &true_lb, &true_extent)))
        return err;
    further = extent * (MPI_Aint)(n - 1);
    s->from = true_lb + (further < 0 ? further : 0);
    s->size = (size_t)(true_extent + (further < 0 ? -further : further));
    s->apart = !f->predefined && !f->predefined_type;
    return MPI_SUCCESS;
}

static int complain(const char *what, const struct collopt_gpu_memory *m, size_t size)
{
    collopt_warn_here("%s %zu bytes of device memory (%s); COLLOPT_GPU=native leaves such buffers "
                      "to the MPI library",
                      what, size, m->runtime->name);
    return MPI_ERR_BUFFER;
}

static bool on_one_page(const char *first, const char *last)
{
    return ((uintptr_t)first ^ (uintptr_t)last) >> 12 == 0;
}

/* Looks up both ends of the buffer: a derived datatype may reach anywhere, and CUDA can map host
 * and device memory side by side. */
static int look_at(const void *buffer, const struct span *span, struct staged *s)
{
    struct collopt_gpu_memory last;
    bool apart;

    *s = (struct staged){ .user = (char *)((uintptr_t)buffer + (uintptr_t)span->from),
                          .span = *span };
    if (span->size == 0)
        return MPI_SUCCESS;
    collopt_gpu_ask(s->user, &s->memory);
    if (on_one_page(s->user, s->user + span->size - 1))
        return MPI_SUCCESS;
    collopt_gpu_ask(s->user + span->size - 1, &last);
    s->scattered = span->apart && s->memory.base != last.base;
    apart = span->apart ? !collopt_gpu_same(&s->memory, &last)
                        : !s->memory.runtime != !last.runtime;
    if (!apart)
        return MPI_SUCCESS;
    return complain("cannot copy a datatype that lies partly in",
                    s->memory.runtime ? &s->memory : &last, span->size);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static bool copy(const struct staged *s, ptrdiff_t at, size_t n, bool to_device)
{
    return to_device ? collopt_gpu_to_device(&s->memory, s->user + at, s->host + at, n)
                     : collopt_gpu_to_host(&s->memory, s->host + at, s->user + at, n);
}

/* Copies the data without gaps; their addresses are relative to the buffer's. */
static bool copy_data(const struct staged *s, const struct collopt_stretches *data, bool to_device)
{
    for (size_t i = 0; i < data->n; i++)
        if (!copy(s, data->stretch[i].at - s->span.from, data->stretch[i].size, to_device))
            return false;
    return true;
}

/* Copies the gaps too, if they belong to the same allocation. */
static int fetch(const struct data *d, const struct staged *s)
{
    struct collopt_stretches data = { .n = 0 };
    bool copied = !s->scattered && copy(s, 0, s->span.size, false);
    int err = MPI_SUCCESS;

    if (!copied && s->span.apart
        && !(err = collopt_stretches_add(&data, d->facts->type, s->span.elements, 0, d->comm)))
        copied = copy_data(s, &data, false);
    free(data.stretch);
    if (err)
        return err;
    return copied ? MPI_SUCCESS : complain("cannot read", &s->memory, s->span.size);
}

/* Makes the copy, whose elements are aligned as the user's are. FILL: with the buffer's data. */
static int lend(const struct data *d, struct staged *s, bool fill)
{
    size_t shift = (uintptr_t)s->user % COLLOPT_GPU_ALIGNMENT;

    if (!s->memory.runtime)
        return MPI_SUCCESS;
    collopt_explain_once("buffers in device memory (%s) are copied to host memory, results back",
                         s->memory.runtime->name);
    if (s->span.size > SIZE_MAX / 2
        || !(s->lent = collopt_gpu_borrow(&s->memory, s->span.size + shift)))
        return MPI_ERR_NO_MEM;
    s->host = s->lent + shift;
    return fill ? fetch(d, s) : MPI_SUCCESS;
}

/* Gaps of the program's own datatypes may be data of other reductions, or of kernels. */
static int take_back(const struct staged *s, const struct span *result,
                     const struct collopt_stretches *data)
{
    if (!s->host || (result->apart ? copy_data(s, data, true)
                                   : copy(s, result->from - s->span.from, result->size, true)))
        return MPI_SUCCESS;
    return complain("cannot write", &s->memory, result->size);
}

/* The address that stands for the user's: the span begins where it does there. */
static void *address(const struct staged *s, const void *users)
{
    return s->host ? (void *)((uintptr_t)s->host - (uintptr_t)s->span.from) : (void *)users;
}

struct collopt_staging {
    struct staged in, out;      /* in place: all is OUT */
    struct span result;
    struct collopt_stretches data;      /* of RESULT, if they are apart */
};

static int look_at_both(const struct collopt_facts *f, size_t inputs, size_t results, bool in_place,
                        const void *in, void *out, struct collopt_staging *b)
{
    struct span all;
    int err;

    if ((err = measure(f, inputs, &all)) || (err = measure(f, results, &b->result)))
        return err;
    if (in_place)
        return look_at(out, &all, &b->out);
    if ((err = look_at(in, &all, &b->in)))
        return err;
    return look_at(out, &b->result, &b->out);
}

/* In place OUT has the input; else it has nothing that is wanted but the gaps of pairs. */
static int lend_both(const struct data *d, bool in_place, struct collopt_staging *b)
{
    int err = lend(d, &b->in, true);

    if (!err)
        err = lend(d, &b->out, in_place || !(d->facts->dense || b->result.apart));
    if (!err && b->out.host && b->result.apart)
        err = collopt_stretches_add(&b->data, d->facts->type, b->result.elements, 0, d->comm);
    return err;
}

static void return_both(const struct collopt_staging *b)
{
    collopt_gpu_return(b->in.lent);
    collopt_gpu_return(b->out.lent);
    free(b->data.stretch);
}

static int lend_all(const struct data *d, bool in_place, struct collopt_staging *b,
                    struct collopt_staging **s)
{
    int err = lend_both(d, in_place, b);

    if (err == MPI_SUCCESS && !(*s = malloc(sizeof **s)))
        err = MPI_ERR_NO_MEM;
    if (err)
        return_both(b);
    else
        **s = *b;
    return err;
}

int collopt_stage_begin(const struct collopt_facts *f, MPI_Comm comm, size_t inputs, size_t results,
                        const void **in, void **out, struct collopt_staging **s)
{
    struct collopt_staging b = { .in = { .host = NULL } };
    bool in_place = *in == *out;
    int err = look_at_both(f, inputs, results, in_place, *in, *out, &b);

    *s = NULL;
    if (err || (!b.in.memory.runtime && !b.out.memory.runtime))
        return err;
    if ((err = lend_all(&(struct data){ f, comm }, in_place, &b, s)))
        return err;
    *out = address(&b.out, *out);
    *in = in_place ? *out : address(&b.in, *in);
    return MPI_SUCCESS;
}

int collopt_stage_end(struct collopt_staging *s, bool done)
{
    int err = done ? take_back(&s->out, &s->result, &s->data) : MPI_SUCCESS;

    return_both(s);
    free(s);
    return err;
}

/* ---- MPI_Reduce_local ------------------------------------------------------------------------ */

typedef void combine(void *result, const void *left, const void *right, size_t n);

/* Combines operands of a predefined datatype: each is one contiguous piece. */
static COLLOPT_OUT_OF_LINE int combine_staged(combine *combine, const void *in, void *out, size_t n,
                                              MPI_Datatype type)
{
    const struct collopt_facts f = { .type = type, .predefined = true };
    const struct data d = { &f, MPI_COMM_NULL };
    struct staged from = { .host = NULL }, to = { .host = NULL };
    struct span span;
    int err;

    if ((err = measure(&f, n, &span)) || (err = look_at(in, &span, &from))
        || (err = look_at(out, &span, &to)))
        return err;
    if (!(err = lend(&d, &from, true)) && !(err = lend(&d, &to, true))) {
        void *result = address(&to, out);

        combine(result, address(&from, in), result, n);
        err = take_back(&to, &span, NULL);
    }
    collopt_gpu_return(from.lent);
    collopt_gpu_return(to.lent);
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
