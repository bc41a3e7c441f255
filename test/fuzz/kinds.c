/* Datatypes and operations: all predefined ones, and a few of the user's that are freed and made
 * anew, with another layout or another meaning, so that their handles come to mean something
 * else. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { TYPES = 4, OPS = 3 };

OWN struct own_type {
    struct element element[2];  /* on even ranks, and on odd ones: one signature */
    size_t most;
} types[TYPES];

OWN struct own_op {
    MPI_Op op;
    int id;
    bool commutative;           /* as MPI was told */
} ops[OPS];

/* ---- operations, as MPI calls them ----------------------------------------------------------- */

OWN const struct kind *expected_kind;
OWN const struct element *expected_element;

void kinds_expect(const struct kind *k, const struct element *e)
{
    expected_kind = k;
    expected_element = e;
}

/* Those of reductions that are under way, of all threads: whoever makes progress calls them. */
enum { AWAITED = 64 * FUZZ_THREADS };

static struct awaited {
    const struct kind *kind;    /* NULL: free */
    const struct element *element;
} awaited[AWAITED];
static pthread_mutex_t awaited_lock = PTHREAD_MUTEX_INITIALIZER;

static void replace_awaited(const struct kind *old, struct awaited new)
{
    pthread_mutex_lock(&awaited_lock);
    for (int i = 0; i < AWAITED; i++)
        if (awaited[i].kind == old) {
            awaited[i] = new;
            break;
        }
    pthread_mutex_unlock(&awaited_lock);
}

void kinds_await(const struct kind *k, const struct element *e)
{
    replace_awaited(NULL, (struct awaited){ k, e });
}

void kinds_forget(const struct kind *k)
{
    replace_awaited(k, (struct awaited){ NULL, NULL });
}

static struct awaited find_awaited(int id, MPI_Datatype type)
{
    struct awaited found = { NULL, NULL };

    pthread_mutex_lock(&awaited_lock);
    for (int i = 0; i < AWAITED && !found.kind; i++)
        if (awaited[i].kind && awaited[i].kind->op_id == id && awaited[i].element->type == type)
            found = awaited[i];
    pthread_mutex_unlock(&awaited_lock);
    return found;
}

static void apply(int id, char *in, char *inout, int n, MPI_Datatype type)
{
    struct awaited later = find_awaited(id, type);

    if (later.kind)
        apply_kind(later.kind, later.element, in, inout, n);
    else if (!expected_kind || expected_kind->op_id != id || expected_element->type != type)
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

static void make_op(struct own_op *o, struct fuzz_random *r)
{
    o->id = fuzz_chance(r, 3) ? MINGLE : AFFINE;
    o->commutative = o->id == MINGLE && !fuzz_chance(r, 3);
    MPI_Op_create(o->id == AFFINE ? affine : mingle, o->commutative, &o->op);
}

/* ---- datatypes ------------------------------------------------------------------------------- */

/* An element has up to two parts, numbers of the same type, that lie at AT bytes from its
 * address. */
struct layout {
    int parts;
    enum part part;
    MPI_Datatype type;          /* of a part */
    ptrdiff_t size;             /* of a part */
};

static struct element laid(const struct layout *l, ptrdiff_t a, ptrdiff_t b, ptrdiff_t low,
                           ptrdiff_t extent)
{
    return (struct element){ .parts = l->parts,
                             .part = { l->part, l->part },
                             .at = { a, b },
                             .extent = extent,
                             .low = low,
                             .high = low + extent,
                             .derived = true };
}

/* The type that MADE is resized to, and MADE no more. */
static void resize(struct element *e, MPI_Datatype made)
{
    MPI_Type_create_resized(made, e->low, e->extent, &e->type);
    MPI_Type_free(&made);
    MPI_Type_commit(&e->type);
}

/* Parts at A and B, an element from LOW on, EXTENT long. */
static void lay(struct element *e, const struct layout *l, ptrdiff_t a, ptrdiff_t b, ptrdiff_t low,
                ptrdiff_t extent)
{
    MPI_Aint displacement[2] = { a, b };
    int length[2] = { 1, 1 };
    MPI_Datatype made;

    *e = laid(l, a, b, low, extent);
    MPI_Type_create_hindexed(l->parts, length, displacement, l->type, &made);
    resize(e, made);
}

static void lay_dense(struct element *e, const struct layout *l)
{
    *e = laid(l, 0, l->size, 0, l->size * l->parts);
    MPI_Type_contiguous(l->parts, l->type, &e->type);
    MPI_Type_commit(&e->type);
}

/* A column of a matrix: nothing behind its last element. */
static void lay_vector(struct element *e, const struct layout *l, int stride)
{
    *e = laid(l, 0, l->size * stride, 0, l->parts == 1 ? l->size : l->size * (stride + 1));
    MPI_Type_vector(l->parts, 1, stride, l->type, &e->type);
    MPI_Type_commit(&e->type);
}

#ifndef TEST_SIMULATED
/* From its last part on backwards. */
static void lay_backwards(struct element *e, const struct layout *l, int stride)
{
    ptrdiff_t behind = l->parts == 1 ? 0 : l->size * stride;

    *e = laid(l, 0, -behind, -behind, l->size + behind);
    MPI_Type_create_hvector(l->parts, 1, -l->size * stride, l->type, &e->type);
    MPI_Type_commit(&e->type);
}

/* With a block of nothing between. */
static void lay_struct(struct element *e, const struct layout *l, ptrdiff_t gap)
{
    MPI_Aint displacement[3] = { gap, 0, 2 * gap + l->size };
    int length[3] = { 1, 0, l->parts - 1 };
    MPI_Datatype type[3] = { l->type, MPI_DOUBLE, l->type }, made;

    *e = laid(l, gap, 2 * gap + l->size, 0, 3 * gap + 2 * l->size);
    MPI_Type_create_struct(3, length, displacement, type, &made);
    resize(e, made);
}

/* Some columns of a row of more. */
static void lay_subarray(struct element *e, const struct layout *l, int before, int behind)
{
    int all = before + l->parts + behind, some = l->parts;

    *e = laid(l, before * l->size, (before + 1) * l->size, 0, all * l->size);
    MPI_Type_create_subarray(1, &all, &some, &before, MPI_ORDER_C, l->type, &e->type);
    MPI_Type_commit(&e->type);
}

/* A type made of types made of types. */
static void lay_nested(struct element *e, const struct layout *l, ptrdiff_t gap)
{
    MPI_Datatype wide, row, copy;

    *e = laid(l, 0, l->size + gap, 0, (l->size + gap) * l->parts);
    MPI_Type_create_resized(l->type, 0, l->size + gap, &wide);
    MPI_Type_contiguous(1, wide, &row);
    MPI_Type_dup(row, &copy);
    MPI_Type_contiguous(l->parts, copy, &e->type);
    MPI_Type_commit(&e->type);
    MPI_Type_free(&wide);
    MPI_Type_free(&row);
    MPI_Type_free(&copy);
}

static void lay_block(struct element *e, const struct layout *l, int at)
{
    *e = laid(l, at * l->size, (at + 1) * l->size, at * l->size, l->parts * l->size);
    MPI_Type_create_indexed_block(1, l->parts, &at, l->type, &e->type);
    MPI_Type_commit(&e->type);
}

/* Columns of a matrix with two rows; returns how many there are. */
static size_t lay_columns(struct element *e, const struct layout *l, struct fuzz_random *r)
{
    ptrdiff_t columns = fuzz_chance(r, 2) ? 700 : 5 + (ptrdiff_t)fuzz_below(r, 60);

    lay(e, l, 0, l->size * columns, 0, l->size);
    e->high = l->size * (columns + 1);
    return (size_t)columns;
}
#endif

/* Returns how many elements may lie behind one another. */
static size_t make_element(struct element *e, const struct layout *l, struct fuzz_random *r)
{
    ptrdiff_t z = l->size, gap = z * (1 + (ptrdiff_t)fuzz_below(r, 5));
    int few = (int)fuzz_below(r, 4);
    size_t any = (size_t)1 << 30;

    switch (fuzz_below(r, 16)) {
    case 0: case 1:
        lay_dense(e, l);
        return any;
    case 2:                     /* the second part comes first */
        lay(e, l, z, 0, 0, 2 * z);
        return any;
    case 3:
        lay_vector(e, l, 2 + few);
        return any;
    case 4:
        lay(e, l, gap, gap + z, 0, gap + 2 * z);
        return any;
    case 5:
        lay(e, l, 0, z, 0, gap + 2 * z);
        return any;
/* SimGrid 3.32 sends elements with a lower bound below 0 from wrong addresses, and takes the extent
 * of interleaved ones for their true one. */
#ifdef TEST_SIMULATED
    default:
        lay(e, l, 0, gap, 0, gap + 3 * z);
        return any;
#else
    case 6: case 7:
        return lay_columns(e, l, r);
    /* Open MPI 4.1 stores bytes that lie backwards without a gap forwards */
    case 8:
        lay_backwards(e, l, 2 + few);
        return any;
    case 9:
        lay_struct(e, l, gap);
        return any;
    case 10:
        lay_subarray(e, l, few, (int)fuzz_below(r, 3));
        return any;
    case 11:
        lay_nested(e, l, gap);
        return any;
    case 12:
        lay_block(e, l, few - 2);
        return any;
    case 13:                    /* the lower bound is behind the data, the upper one before it */
        lay(e, l, -2 * z, -z, 4 * z, 2 * z);
        e->low = -2 * z;
        e->high = 6 * z;
        return any;
    default:
        lay(e, l, -z, gap, -2 * z, gap + 4 * z);
        return any;
#endif
    }
}

static struct layout draw_layout(struct fuzz_random *r)
{
    static const struct {
        enum part part;
        MPI_Datatype type;
    } of[] = { { U8, MPI_UINT8_T },
               { U16, MPI_UINT16_T },
               { U32, MPI_UINT32_T },
               { S32, MPI_INT },
               { U64, MPI_UINT64_T } };
    size_t i = fuzz_chance(r, 2) ? 2 : fuzz_below(r, sizeof of / sizeof *of);

    return (struct layout){ fuzz_chance(r, 4) ? 1 : 2, of[i].part, of[i].type,
                            (ptrdiff_t)part_size(of[i].part) };
}

static void make_type(struct own_type *t, struct fuzz_random *r)
{
    struct layout l = draw_layout(r);
    size_t even = make_element(&t->element[0], &l, r), odd = make_element(&t->element[1], &l, r);

    t->most = even < odd ? even : odd;
}

static void free_type(struct own_type *t)
{
    MPI_Type_free(&t->element[0].type);
    MPI_Type_free(&t->element[1].type);
}

OWN MPI_Datatype empty;         /* elements without data */

void kinds_begin(void)
{
    struct fuzz_random r = fuzz_draw(0, 1);

    for (int i = 0; i < TYPES; i++)
        make_type(&types[i], &r);
    for (int i = 0; i < OPS; i++)
        make_op(&ops[i], &r);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
}

void kinds_end(void)
{
    MPI_Type_free(&empty);
    for (int i = 0; i < TYPES; i++)
        free_type(&types[i]);
    for (int i = 0; i < OPS; i++)
        MPI_Op_free(&ops[i].op);
}

void kinds_renew(uint64_t number)
{
    struct fuzz_random random = fuzz_draw(number, 11), *r = &random;
    struct fuzz_random mine = fuzz_draw(number, 6000 + (uint64_t)world_rank);
    size_t i = fuzz_below(r, TYPES + OPS);
    bool new_first = job.tricks && fuzz_chance(&mine, 2);       /* then its handle is another */

    if (i < TYPES) {
        struct own_type old = types[i];

        if (!new_first)
            free_type(&old);
        make_type(&types[i], r);
        if (new_first)
            free_type(&old);
    } else {
        MPI_Op old = ops[i - TYPES].op;

        if (!new_first)
            MPI_Op_free(&old);
        make_op(&ops[i - TYPES], r);
        if (new_first)
            MPI_Op_free(&old);
    }
}

/* ---- kinds: an operation with a datatype ----------------------------------------------------- */

static bool is_usual(const struct kind *k)
{
    return k->class == COLLOPT_CLASS_PAIR
        || (k->op_id == COLLOPT_SUM
            && (strcmp(k->type_name, "MPI_DOUBLE") == 0 || strcmp(k->type_name, "MPI_INT") == 0));
}

static const struct kind *predefined(struct fuzz_random *r)
{
    int n, own;
    const struct kind *list = kinds(&n, &own), *k;

    do
        k = &list[fuzz_below(r, (size_t)n)];
    while (k->user || !(is_usual(k) || fuzz_chance(r, 12)));
    return k;
}

/* With a datatype of MPI's: all there are, but those whose parts the operation cannot do with. */
static struct kind own_with_predefined(struct fuzz_random *r, const struct own_op *o)
{
    struct kind k;

    do
        k = *predefined(r);
    while (part_is_real(k.element[0].part[0])
           || part_size(k.element[0].part[0]) < (o->id == AFFINE ? 4u : 1u)
           || k.class == COLLOPT_CLASS_LOGICAL || (o->id == AFFINE && k.element[0].parts < 2));
    return k;
}

static void take_empty(struct fuzz_kind *s)
{
    struct element e = { .type = empty, .derived = true };

    s->kind = (struct kind){ .type_name = "empty", .element = { e, e } };
}

struct fuzz_kind kinds_any(struct fuzz_random *r)
{
    size_t what = fuzz_below(r, 10), i = fuzz_below(r, OPS), j = fuzz_below(r, TYPES);
    struct fuzz_kind s = { .most = (size_t)1 << 30 };

    if (what < 6) {
        s.kind = *predefined(r);
        return s;
    }
    if (types[j].element[0].parts == 1)         /* what is left of an affine map is no operation */
        for (size_t k = 0; k < OPS && ops[i].id == AFFINE; k++)
            i = (i + 1) % OPS;
    if (what == 6 || (types[j].element[0].parts == 1 && ops[i].id == AFFINE))
        s.kind = own_with_predefined(r, &ops[i]);
    else if (fuzz_chance(r, 20))
        take_empty(&s);
    else {
        s.kind = (struct kind){ .type_name = "own",
                                .element = { types[j].element[0], types[j].element[1] } };
        s.most = types[j].most;
    }
    s.kind.op_name = ops[i].id == AFFINE ? "affine"
        : ops[i].commutative             ? "mingle"
                                         : "mingle_in_order";
    s.kind.op = ops[i].op;
    s.kind.op_id = ops[i].id;
    s.kind.class = COLLOPT_CLASS_NONE;
    s.kind.commutative = ops[i].commutative;
    s.kind.user = true;
    return s;
}

static bool is_dense(const struct element *e)
{
    return e->parts > 0 && e->low == 0 && e->high == e->extent
        && e->extent == (ptrdiff_t)part_size(e->part[0]) * e->parts;
}

bool kinds_trusted(const struct kind *k)
{
    if (k->user)
        return k->commutative && is_dense(&k->element[0]) && is_dense(&k->element[1]);
    return part_size(k->element[0].part[0]) >= 4 && k->class != COLLOPT_CLASS_PAIR
        && k->op_id != COLLOPT_MIN && k->op_id != COLLOPT_MAX;
}
