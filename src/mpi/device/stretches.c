/* Where the data of a datatype lie, as stretches of bytes.
 *
 * Parts that may be far apart, as those of MPI_Type_create_struct, are taken one by one.  The rest
 * are arrays; of one element of theirs, bytes of 1 are unpacked into zeros.  So there is nothing to
 * know of how arrays are described, and the memory needed is one array's, not the distance between
 * two. */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/device/stretches.h"

static int add(struct collopt_stretches *s, ptrdiff_t at, size_t size)
{
    struct collopt_stretch *last = s->n > 0 ? &s->stretch[s->n - 1] : NULL;

    if (size == 0)
        return MPI_SUCCESS;
    if (last && last->at + (ptrdiff_t)last->size == at) {
        last->size += size;
        return MPI_SUCCESS;
    }
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        struct collopt_stretch *stretch = realloc(s->stretch, room * sizeof *stretch);

        if (!stretch)
            return MPI_ERR_NO_MEM;
        s->stretch = stretch;
        s->room = room;
    }
    s->stretch[s->n++] = (struct collopt_stretch){ at, size };
    return MPI_SUCCESS;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

struct extents {
    MPI_Aint lb, extent, true_lb, true_extent;
    int size;
};

static int add_marked(struct collopt_stretches *s, const char *mask, size_t n, ptrdiff_t at)
{
    const char *end = mask + n, *from = memchr(mask, 1, n), *to;
    int err = MPI_SUCCESS;

    for (; from && !err; from = memchr(to, 1, (size_t)(end - to))) {
        to = memchr(from, 0, (size_t)(end - from));
        to = to ? to : end;
        err = add(s, at + (from - mask), (size_t)(to - from));
    }
    return err;
}

/* A part of a datatype need not be committed. */
static int unpack(const char *from, char *to, MPI_Datatype type, int size, MPI_Comm comm)
{
    MPI_Datatype committed;
    int position = 0, err = PMPI_Type_contiguous(1, type, &committed);

    if (err)
        return err;
    if (!(err = PMPI_Type_commit(&committed)))
        err = PMPI_Unpack(from, size, &position, to, 1, committed, comm);
    collopt_host.Type_free(&committed);
    return err;
}

static int add_array(struct collopt_stretches *s, MPI_Datatype type, const struct extents *e,
                     MPI_Comm comm)
{
    size_t size = (size_t)e->size, n = (size_t)e->true_extent;
    char *ones = malloc(size + 1), *mask = calloc(n + 1, 1);
    int err = MPI_ERR_NO_MEM;

    if (ones && mask) {
        memset(ones, 1, size);
        err = unpack(ones, (char *)((uintptr_t)mask - (uintptr_t)e->true_lb), type, e->size, comm);
        if (!err)
            err = add_marked(s, mask, n, e->true_lb);
    }
    free(ones);
    free(mask);
    return err;
}

/* ---- what may be far apart ------------------------------------------------------------------- */

struct contents {
    int combiner;
    int integers, addresses, types;
    int *integer;
    MPI_Aint *address;
    MPI_Datatype *type;
};

/* Their blocks: those of lengths of their own, those of one length, and the same type again. */
static bool has_parts(int combiner)
{
    return combiner == MPI_COMBINER_STRUCT || combiner == MPI_COMBINER_HINDEXED
        || combiner == MPI_COMBINER_HINDEXED_BLOCK || combiner == MPI_COMBINER_DUP
        || combiner == MPI_COMBINER_RESIZED;
}

static int add_parts(struct collopt_stretches *s, const struct contents *c, MPI_Comm comm)
{
    bool one_length = c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    int err = MPI_SUCCESS;

    if (c->combiner == MPI_COMBINER_DUP || c->combiner == MPI_COMBINER_RESIZED)
        return collopt_stretches_add(s, c->type[0], 1, 0, comm);
    for (int i = 0; i < c->integer[0] && !err; i++)
        err = collopt_stretches_add(s, c->type[c->types > 1 ? i : 0],
                                 (size_t)c->integer[one_length ? 1 : 1 + i], c->address[i], comm);
    return err;
}

static bool is_predefined(MPI_Datatype type)
{
    int integers, addresses, types, combiner;

    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner)
        || combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL
        || combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

static int open_contents(MPI_Datatype type, struct contents *c)
{
    c->integer = malloc(((size_t)c->integers + 1) * sizeof *c->integer);
    c->address = malloc(((size_t)c->addresses + 1) * sizeof *c->address);
    c->type = malloc(((size_t)c->types + 1) * sizeof *c->type);
    if (!c->integer || !c->address || !c->type) {
        c->types = 0;
        return MPI_ERR_NO_MEM;
    }
    return PMPI_Type_get_contents(type, c->integers, c->addresses, c->types, c->integer, c->address,
                                  c->type);
}

static void close_contents(struct contents *c, bool opened)
{
    for (int i = 0; i < c->types && opened; i++)
        if (!is_predefined(c->type[i]))
            collopt_host.Type_free(&c->type[i]);
    free(c->integer);
    free(c->address);
    free(c->type);
}

/* At address 0. */
static int add_element(struct collopt_stretches *s, MPI_Datatype type, const struct extents *e,
                       MPI_Comm comm)
{
    struct contents c;
    int err = PMPI_Type_get_envelope(type, &c.integers, &c.addresses, &c.types, &c.combiner);

    if (err)
        return err;
    if (!has_parts(c.combiner))
        return add_array(s, type, e, comm);
    err = open_contents(type, &c);

    bool opened = err == MPI_SUCCESS;

    if (opened)
        err = add_parts(s, &c, comm);
    close_contents(&c, opened);
    return err;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int measure(MPI_Datatype type, struct extents *e)
{
    int err = PMPI_Type_size(type, &e->size);

    if (!err)
        err = PMPI_Type_get_extent(type, &e->lb, &e->extent);
    if (!err)
        err = PMPI_Type_get_true_extent(type, &e->true_lb, &e->true_extent);
    return err;
}

int collopt_stretches_add(struct collopt_stretches *s, MPI_Datatype type, size_t n, ptrdiff_t at,
                          MPI_Comm comm)
{
    struct collopt_stretches one = { .n = 0 };
    struct extents e;
    int err = measure(type, &e);

    if (err || n == 0 || e.size == 0)
        return err;
    if (e.size == e.true_extent && e.size == e.extent)
        return add(s, at + e.true_lb, n * (size_t)e.size);
    err = e.size == e.true_extent ? add(&one, e.true_lb, (size_t)e.size)
                                  : add_element(&one, type, &e, comm);
    for (size_t i = 0; i < n && !err; i++, at += e.extent)
        for (size_t r = 0; r < one.n && !err; r++)
            err = add(s, at + one.stretch[r].at, one.stretch[r].size);
    free(one.stretch);
    return err;
}
