/* Datatypes and operations for the soak: all predefined ones, and a few of the user's that are freed and made anew,
 * with another layout or another meaning, so that their handles come to mean something else. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "soak.h"

enum { TYPES = 4, OPS = 3 };

static struct own_type {
    struct element element[2];  /* on even ranks, and on odd ones: one signature */
    size_t most;
} types[TYPES];

static struct own_op {
    MPI_Op op;
    int id;
    bool commutative;           /* as MPI was told */
} ops[OPS];

/* ---- operations, as MPI calls them ------------------------------------------------------------------------------- */

static const struct kind *expected_kind;
static const struct element *expected_element;

void soak_kind_expect(const struct kind *k, const struct element *e)
{
    expected_kind = k;
    expected_element = e;
}

static void apply(int id, char *in, char *inout, int n, MPI_Datatype type)
{
    if (!expected_kind || expected_kind->op_id != id || expected_element->type != type)
        fail("an operation of the user's was called that was not meant, or with another datatype");
    else
        apply_kind(expected_kind, expected_element, in, inout, n);
}

static void affine(void *in, void *inout, int *n, MPI_Datatype *type)
{
    apply(AFFINE, in, inout, *n, *type);
}

static void mingle(void *in, void *inout, int *n, MPI_Datatype *type)
{
    apply(MINGLE, in, inout, *n, *type);
}

static void make_op(struct own_op *o, struct soak_random *r)
{
    o->id = soak_chance(r, 3) ? MINGLE : AFFINE;
    o->commutative = o->id == MINGLE && !soak_chance(r, 3);
    MPI_Op_create(o->id == AFFINE ? affine : mingle, o->commutative, &o->op);
}

/* ---- datatypes --------------------------------------------------------------------------------------------------- */

/* The parts of an element are unsigned integers of 32 bits. */
static void lay(struct element *e, int parts, ptrdiff_t a, ptrdiff_t b, ptrdiff_t low, ptrdiff_t extent, ptrdiff_t high)
{
    MPI_Aint displacement[2] = { a, b };
    MPI_Datatype whole;
    int length[2] = { 1, 1 };

    *e = (struct element){ .parts = parts, .part = { U32, U32 }, .at = { a, b }, .extent = extent, .low = low, .high = high };
    MPI_Type_create_hindexed(parts, length, displacement, MPI_UINT32_T, &whole);
    MPI_Type_create_resized(whole, low, extent, &e->type);
    MPI_Type_free(&whole);
    MPI_Type_commit(&e->type);
}

static void lay_dense(struct element *e, int parts)
{
    *e = (struct element){ .parts = parts, .part = { U32, U32 }, .at = { 0, 4 }, .extent = 4 * parts, .high = 4 * parts };
    MPI_Type_contiguous(parts, MPI_UINT32_T, &e->type);
    MPI_Type_commit(&e->type);
}

/* A row of a vector, without anything behind it. */
static void lay_vector(struct element *e, int parts, int stride)
{
    ptrdiff_t extent = parts == 1 ? 4 : 4 * stride + 4;

    *e = (struct element){ .parts = parts, .part = { U32, U32 }, .at = { 0, 4 * stride }, .extent = extent, .high = extent };
    MPI_Type_vector(parts, 1, stride, MPI_UINT32_T, &e->type);
    MPI_Type_commit(&e->type);
}

#ifndef TEST_SIMULATED
/* Columns of a matrix with two rows; returns how many there are. */
static size_t lay_columns(struct element *e, struct soak_random *r, int parts)
{
    ptrdiff_t columns = soak_chance(r, 2) ? 700 : 5 + (ptrdiff_t)soak_below(r, 60);

    lay(e, parts, 0, 4 * columns, 0, 4, 4 * columns + 4);
    return (size_t)columns;
}
#endif

/* Returns how many elements may lie behind one another. */
static size_t make_element(struct element *e, struct soak_random *r, int parts)
{
    ptrdiff_t gap = 4 * (1 + (ptrdiff_t)soak_below(r, 5));
    size_t any = (size_t)1 << 30;

    switch (soak_below(r, 8)) {
    case 0:
        lay_dense(e, parts);
        return any;
    case 1:                     /* the second part comes first */
        lay(e, parts, 4, 0, 0, 8, 8);
        return any;
    case 2:
        lay_vector(e, parts, 2 + (int)soak_below(r, 3));
        return any;
    case 3:
        lay(e, parts, gap, gap + 4, 0, gap + 8, gap + 8);
        return any;
    case 4:
        lay(e, parts, 0, 4, 0, gap + 8, gap + 8);
        return any;
#ifndef TEST_SIMULATED          /* SimGrid 3.32 takes the extent of such a type for its true one */
    case 5:
        return lay_columns(e, r, parts);
#endif
    default:
#ifdef TEST_SIMULATED           /* SimGrid 3.32 sends elements with a lower bound below 0 from wrong addresses */
        lay(e, parts, 0, gap, 0, gap + 12, gap + 12);
#else
        lay(e, parts, -4, gap, -8, gap + 16, gap + 8);
#endif
        return any;
    }
}

static void make_type(struct own_type *t, struct soak_random *r)
{
    int parts = soak_chance(r, 4) ? 1 : 2;
    size_t even = make_element(&t->element[0], r, parts), odd = make_element(&t->element[1], r, parts);

    t->most = even < odd ? even : odd;
}

static void free_type(struct own_type *t)
{
    MPI_Type_free(&t->element[0].type);
    MPI_Type_free(&t->element[1].type);
}

void soak_kinds_begin(void)
{
    struct soak_random r = soak_draw(0, 1);

    for (int i = 0; i < TYPES; i++)
        make_type(&types[i], &r);
    for (int i = 0; i < OPS; i++)
        make_op(&ops[i], &r);
}

void soak_kinds_end(void)
{
    for (int i = 0; i < TYPES; i++)
        free_type(&types[i]);
    for (int i = 0; i < OPS; i++)
        MPI_Op_free(&ops[i].op);
    kinds_free();
}

void soak_kinds_renew(struct soak_random *r)
{
    size_t i = soak_below(r, TYPES + OPS);

    if (i < TYPES) {
        free_type(&types[i]);
        make_type(&types[i], r);
    } else {
        MPI_Op_free(&ops[i - TYPES].op);
        make_op(&ops[i - TYPES], r);
    }
}

/* ---- kinds: an operation with a datatype ------------------------------------------------------------------------- */

static bool is_usual(const struct kind *k)
{
    return k->class == COLLOPT_CLASS_PAIR || (k->op_id == COLLOPT_SUM && (strcmp(k->type_name, "MPI_DOUBLE") == 0
                                                                          || strcmp(k->type_name, "MPI_INT") == 0));
}

static const struct kind *predefined(struct soak_random *r)
{
    int n, own;
    const struct kind *list = kinds(&n, &own), *k;

    do
        k = &list[soak_below(r, (size_t)n)];
    while (k->user || k->rounds || !(is_usual(k) || soak_chance(r, 12)));
    return k;
}

/* With a datatype of MPI's: all there are, but those whose parts the operation cannot do with. */
static struct kind own_with_predefined(struct soak_random *r, const struct own_op *o)
{
    struct kind k;

    do
        k = *predefined(r);
    while (part_is_real(k.element[0].part[0]) || part_size(k.element[0].part[0]) < (o->id == AFFINE ? 4u : 1u)
           || k.class == COLLOPT_CLASS_LOGICAL || (o->id == AFFINE && k.element[0].parts < 2));
    return k;
}

struct soak_kind soak_kind(struct soak_random *r)
{
    size_t what = soak_below(r, 10), i = soak_below(r, OPS), j = soak_below(r, TYPES);
    struct soak_kind s = { .most = (size_t)1 << 30 };

    if (what < 6) {
        s.kind = *predefined(r);
        return s;
    }
    if (types[j].element[0].parts == 1)         /* what is left of an affine map is no operation */
        for (size_t k = 0; k < OPS && ops[i].id == AFFINE; k++)
            i = (i + 1) % OPS;
    if (what == 6 || (types[j].element[0].parts == 1 && ops[i].id == AFFINE))
        s.kind = own_with_predefined(r, &ops[i]);
    else {
        s.kind = (struct kind){ .type_name = "own", .element = { types[j].element[0], types[j].element[1] } };
        s.most = types[j].most;
    }
    s.kind.op_name = ops[i].id == AFFINE ? "affine" : ops[i].commutative ? "mingle" : "mingle_in_order";
    s.kind.op = ops[i].op;
    s.kind.op_id = ops[i].id;
    s.kind.class = COLLOPT_CLASS_NONE;
    s.kind.commutative = ops[i].commutative;
    s.kind.user = true;
    return s;
}

static bool is_dense(const struct element *e)
{
    return e->low == 0 && e->high == e->extent && e->extent == (ptrdiff_t)part_size(e->part[0]) * e->parts;
}

bool soak_kind_trusted(const struct kind *k)
{
    if (k->user)
        return k->commutative && is_dense(&k->element[0]) && is_dense(&k->element[1]);
    return part_size(k->element[0].part[0]) >= 4 && k->class != COLLOPT_CLASS_PAIR && k->op_id != COLLOPT_MIN
        && k->op_id != COLLOPT_MAX;
}
