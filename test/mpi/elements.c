#include "elements.h"

#include <float.h>
#include <string.h>

#include "common.h"

/* ---- parts ----------------------------------------------------------------------------------- */

bool part_is_real(enum part part)
{
    return part >= F32;
}

size_t part_size(enum part part)
{
    static const size_t size[] = {
        [S8] = 1, [S16] = 2, [S32] = 4, [S64] = 8, [U8] = 1, [U16] = 2, [U32] = 4, [U64] = 8,
        [F32] = sizeof(float), [F64] = sizeof(double), [FL] = sizeof(long double)
    };

    return size[part];
}

static bool is_signed(enum part part)
{
    return part <= S64;
}

#define LOAD(type) \
    { \
        type x; \
        memcpy(&x, from, sizeof x); \
        return (struct number){ .i = (uint64_t)x }; \
    }
#define LOAD_REAL(type) { type x; memcpy(&x, from, sizeof x); return (struct number){ .r = x }; }

static struct number load(enum part part, const char *from)
{
    switch (part) {
    case S8: LOAD(int8_t)
    case S16: LOAD(int16_t)
    case S32: LOAD(int32_t)
    case S64: LOAD(int64_t)
    case U8: LOAD(uint8_t)
    case U16: LOAD(uint16_t)
    case U32: LOAD(uint32_t)
    case U64: LOAD(uint64_t)
    case F32: LOAD_REAL(float)
    case F64: LOAD_REAL(double)
    case FL: LOAD_REAL(long double)
    }
    return (struct number){ 0 };
}

#define STORE(type, what) { type x = (type)(what); memcpy(to, &x, sizeof x); return; }

/* What lies beside its value in a long double of x86 is zero, so that the same values are the same
 * bytes. */
static void store_long(char *to, long double x)
{
    memset(to, 0, sizeof x);
    memcpy(to, &x, LDBL_MANT_DIG == 64 ? 10 : sizeof x);
}

static void store(enum part part, char *to, struct number n)
{
    switch (part) {
    case S8: case U8: STORE(uint8_t, n.i)
    case S16: case U16: STORE(uint16_t, n.i)
    case S32: case U32: STORE(uint32_t, n.i)
    case S64: case U64: STORE(uint64_t, n.i)
    case F32: STORE(float, n.r)
    case F64: STORE(double, n.r)
    case FL: store_long(to, n.r); return;
    }
}

/* As it would come back from memory. */
static struct number fit(enum part part, struct number n)
{
    if (part_is_real(part))
        /* reals are chosen such that all results are exact, or are held against a bound */
        return n;

    int unused = 64 - 8 * (int)part_size(part);

    n.i <<= unused;
    n.i = is_signed(part) ? (uint64_t)((int64_t)n.i >> unused) : n.i >> unused;
    return n;
}

struct value value_load(const struct element *e, const char *address)
{
    struct value v = { { { 0 } } };

    for (int i = 0; i < e->parts; i++)
        v.part[i] = load(e->part[i], address + e->at[i]);
    return v;
}

void value_store(const struct element *e, char *address, struct value v)
{
    for (int i = 0; i < e->parts; i++)
        store(e->part[i], address + e->at[i], v.part[i]);
}

/* ---- operations ------------------------------------------------------------------------------ */

static bool less(enum part part, struct number a, struct number b)
{
    if (part_is_real(part))
        return a.r < b.r;
    return is_signed(part) ? (int64_t)a.i < (int64_t)b.i : a.i < b.i;
}

static struct number combine_part(int op, enum part part, struct number a, struct number b)
{
    switch (op) {
    case COLLOPT_SUM:
        return (struct number){ a.i + b.i, a.r + b.r };
    case COLLOPT_PROD:
        return (struct number){ a.i * b.i, a.r * b.r };
    case COLLOPT_MIN:
        return less(part, b, a) ? b : a;
    case COLLOPT_MAX:
        return less(part, a, b) ? b : a;
    case COLLOPT_LAND:
        return (struct number){ .i = a.i && b.i };
    case COLLOPT_LOR:
        return (struct number){ .i = a.i || b.i };
    case COLLOPT_LXOR:
        return (struct number){ .i = !a.i != !b.i };
    case COLLOPT_BAND:
        return (struct number){ .i = a.i & b.i };
    case COLLOPT_BOR:
        return (struct number){ .i = a.i | b.i };
    case COLLOPT_BXOR:
        return (struct number){ .i = a.i ^ b.i };
    case MINGLE:                /* (1 + a)(1 + b) - 1: commutes */
        return (struct number){ .i = a.i + b.i + a.i * b.i };
    default:
        return a;
    }
}

static struct value located(int op, const struct element *e, struct value a, struct value b)
{
    struct value first = op == COLLOPT_MINLOC ? a : b, second = op == COLLOPT_MINLOC ? b : a;

    if (less(e->part[0], first.part[0], second.part[0]))
        return a;
    if (less(e->part[0], second.part[0], first.part[0]))
        return b;
    return less(e->part[1], b.part[1], a.part[1]) ? b : a;
}

struct value value_combine(const struct kind *k, struct value a, struct value b)
{
    const struct element *e = &k->element[0];
    struct value v = a;

    if (k->op_id == COLLOPT_MINLOC || k->op_id == COLLOPT_MAXLOC)
        return located(k->op_id, e, a, b);
    if (k->op_id == AFFINE) {   /* x -> a1 x + b1 of x -> a2 x + b2: does not commute */
        v.part[0].i = a.part[0].i * b.part[0].i;
        v.part[1].i = a.part[0].i * b.part[1].i + a.part[1].i;
    } else if (k->class == COLLOPT_CLASS_COMPLEX && k->op_id == COLLOPT_PROD) {
        v.part[0].r = a.part[0].r * b.part[0].r - a.part[1].r * b.part[1].r;
        v.part[1].r = a.part[0].r * b.part[1].r + a.part[1].r * b.part[0].r;
    } else {
        for (int i = 0; i < e->parts; i++)
            v.part[i] = combine_part(k->op_id, e->part[i], a.part[i], b.part[i]);
    }
    for (int i = 0; i < e->parts; i++)
        v.part[i] = fit(e->part[i], v.part[i]);
    return v;
}

/* The sum of p numbers in any bracketing is off by no more than (p-1) units of rounding of the sum
 * of their magnitudes, to first order; DBL_EPSILON is two such units. */
bool value_right(const struct kind *k, struct value found, struct value right, long double weight,
                 int ranks)
{
    for (int i = 0; i < k->element[0].parts; i++) {
        long double off = found.part[i].r - right.part[i].r;

        if (!part_is_real(k->element[0].part[i]) ? found.part[i].i != right.part[i].i
                : k->rounds                      ? !(off <= weight * ranks * (DBL_EPSILON / 2)
                                && -off <= weight * ranks * (DBL_EPSILON / 2))
                                                 : found.part[i].r != right.part[i].r)
            return false;
    }
    return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Small, so that reals stay exact in any order. */
static struct number real_value(const struct kind *k, uint64_t h)
{
    static const long double factor[] = { 1, -1, 2, 0.5L };

    if (k->rounds)
        return (struct number){ .r = (double)((int64_t)(h >> 12) - (1ll << 51))
                                    * (double)(1 << h % 20) };
    if (k->op_id == COLLOPT_PROD)
        return (struct number){ .r = factor[h % 4] };
    return (struct number){ .r = (long double)(h % 65) - 32 };
}

static struct number integer_value(const struct kind *k, enum part part, uint64_t h)
{
    bool logical = k->op_id == COLLOPT_LAND || k->op_id == COLLOPT_LOR || k->op_id == COLLOPT_LXOR;

    if (k->class == COLLOPT_CLASS_LOGICAL)
        return (struct number){ .i = h % 4 != 0 };
    if (logical)
        return (struct number){ .i = h % 4 ? (h >> 8) % 100 : 0 };
    return fit(part, (struct number){ .i = h });
}

static struct value pair_value(const struct kind *k, int rank, uint64_t h)
{
    struct value v = { { { .i = h % 5, .r = (long double)(h % 5) },
                         { .i = (uint64_t)rank, .r = rank } } };

    if (h % 11 == 0)            /* the lower index need not be that of the lower rank */
        v.part[1] = (struct number){ .i = 1000 - (uint64_t)rank, .r = 1000 - rank };
    if (!part_is_real(k->element[0].part[0]))
        v.part[0].i -= 2;
    return v;
}

static struct value complex_factor(uint64_t h)
{
    static const long double re[] = { 1, 0, -1, 0, 1 }, im[] = { 0, 1, 0, -1, 1 };

    return (struct value){ { { .r = re[h % 5] }, { .r = im[h % 5] } } };
}

struct value value_of(const struct kind *k, int rank, size_t index)
{
    const struct element *e = &k->element[0];
    uint64_t h = mix(((uint64_t)rank + 1) * 0x9e3779b97f4a7c15u
                     + (uint64_t)index * 0xd6e8feb86659fd93u);
    struct value v = { { { 0 } } };

    if (k->class == COLLOPT_CLASS_PAIR)
        return pair_value(k, rank, h);
    if (k->class == COLLOPT_CLASS_COMPLEX && k->op_id == COLLOPT_PROD)
        return complex_factor(h);
    for (int i = 0; i < e->parts; i++, h = h >> 32 | h << 32)
        v.part[i] = part_is_real(e->part[i]) ? real_value(k, h) : integer_value(k, e->part[i], h);
    if (k->op_id == AFFINE)
        v.part[0].i |= 1;       /* a factor that loses nothing */
    return v;
}

/* ---- operations of our own, as MPI calls them ------------------------------------------------ */

static const struct kind *list(int *n);

static unsigned overlapped;     /* counted by threads at the same time */

unsigned operands_overlapped(void)
{
    return __atomic_exchange_n(&overlapped, 0, __ATOMIC_RELAXED);
}

/* Also what an operation may rely on: operands apart from each other, at least as aligned as their
 * parts. */
void apply_kind(const struct kind *k, const struct element *e, char *in, char *inout, int n)
{
    if (n > 0 && in < inout + (n - 1) * e->extent + e->high - e->low
        && inout < in + (n - 1) * e->extent + e->high - e->low)
        __atomic_add_fetch(&overlapped, 1, __ATOMIC_RELAXED);
    if (((uintptr_t)(in + e->at[0]) | (uintptr_t)(inout + e->at[0])) % part_size(e->part[0]) != 0)
        fail("an operation of the user's was called with unaligned operands");
    for (int i = 0; i < n; i++, in += e->extent, inout += e->extent) {
        struct value v = value_combine(k, value_load(e, in), value_load(e, inout));

        if (k->whole)
            memset(inout + e->low, 0x5a, (size_t)(e->high - e->low));
        value_store(e, inout, v);
    }
}

static void apply(int op, char *in, char *inout, int n, MPI_Datatype type)
{
    const struct element *e = NULL;
    const struct kind *k = NULL;
    int kinds_known;
    const struct kind *all = list(&kinds_known);

    for (int i = 0; i < kinds_known && !e; i++)
        for (int j = 0; j < 2 && !e; j++)
            if (all[i].op_id == op && all[i].element[j].type == type) {
                k = &all[i];
                e = &k->element[j];
            }
    if (!e) {
        fail("an operation of the user's was called with a datatype that it was not called for");
        return;
    }
    apply_kind(k, e, in, inout, n);
}

static void affine(void *in, void *inout, int *n, MPI_Datatype *type)
{
    apply(AFFINE, in, inout, *n, *type);
}

static void mingle(void *in, void *inout, int *n, MPI_Datatype *type)
{
    apply(MINGLE, in, inout, *n, *type);
}

/* ---- the kinds ------------------------------------------------------------------------------- */

enum { MOST = 600 };

static struct kind every[MOST];
static int every_n, with_all_counts_n;
static MPI_Datatype made[8];
static int made_n;
static MPI_Op affine_op, mingle_op;

static const struct kind *list(int *n)
{
    *n = every_n;
    return every;
}

static MPI_Datatype own(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return made[made_n++] = type;
}

/* Two unsigned integers of 32 bits at A and B, in an element from LOW, EXTENT long. */
static struct element spread(ptrdiff_t a, ptrdiff_t b, ptrdiff_t low, ptrdiff_t extent)
{
    struct element e = { .parts = 2,
                         .part = { U32, U32 },
                         .at = { a, b },
                         .extent = extent,
                         .low = low,
                         .high = low + extent };
    MPI_Aint displacement[2] = { a, b };
    MPI_Datatype whole, sized;
    int length[2] = { 1, 1 };

    MPI_Type_create_hindexed(2, length, displacement, MPI_UINT32_T, &whole);
    MPI_Type_create_resized(whole, low, extent, &sized);
    MPI_Type_free(&whole);
    e.type = own(sized);
    return e;
}

static void add(struct kind k)
{
    if (every_n < MOST)
        every[every_n++] = k;
}

static void add_own(const char *type_name, struct element even, struct element odd)
{
    struct kind k = { .op_name = "affine", .type_name = type_name, .op = affine_op, .op_id = AFFINE,
                      .class = COLLOPT_CLASS_NONE, .element = { even, odd }, .user = true };

    add(k);
}

static void add_own_kinds(void)
{
    struct element dense, gaps = spread(0, 12, 0, 20), before = spread(-8, 4, -16, 32),
                          leading = spread(16, 20, 0, 24);
    struct element wide = spread(0, 12, 0, 100), turned = spread(4, 0, 0, 8);
    struct element one = { .type = MPI_UINT32_T,
                           .parts = 1,
                           .part = { U32 },
                           .extent = 4,
                           .high = 4 };
    MPI_Datatype pair;

    MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
    dense = (struct element){ .type = own(pair),
                              .parts = 2,
                              .part = { U32, U32 },
                              .at = { 0, 4 },
                              .extent = 8,
                              .high = 8 };
    MPI_Op_create(affine, 0, &affine_op);
    MPI_Op_create(mingle, 1, &mingle_op);
    add_own("dense", dense, dense);
/* SimGrid 3.32 sends elements of such a type from wrong addresses, all but the first */
#ifndef TEST_SIMULATED
    add_own("before", before, before);          /* a negative lower bound, and gaps on all sides */
#else
    (void)before;
#endif
    add((struct kind){ .op_name = "mingle",
                       .type_name = "uint32",
                       .op = mingle_op,
                       .op_id = MINGLE,
                       .class = COLLOPT_CLASS_NONE,
                       .element = { one, one },
                       .user = true,
                       .commutative = true });
    add_own("gaps", gaps, gaps);
    add_own("leading", leading, leading);
    /* one signature, another layout on every other rank */
    add_own("differing", dense, gaps);
    /* no gaps, but in memory its data are the other way round */
    add_own("turned", dense, turned);
#ifndef TEST_SIMULATED          /* nobody looks at what lies behind scratch there */
    /* a gap that no rounding up of a slot makes room for */
    add_own("wide", wide, wide);
    every[every_n - 1].whole = true;
#else
    (void)wide;
#endif
}

struct predefined {
    const char *name;
    MPI_Datatype type;
    enum collopt_type_class class;
    int parts;
    enum part part[2];
    ptrdiff_t second;
};

static void add_operation(const struct predefined *p, const struct element *e, const char *op_name,
                          MPI_Op op, enum collopt_op id)
{
    bool real = p->class == COLLOPT_CLASS_FLOATING || p->class == COLLOPT_CLASS_COMPLEX;

    if (collopt_valid(id, p->class))
        add((struct kind){ .op_name = op_name,
                           .type_name = p->name,
                           .op = op,
                           .op_id = id,
                           .class = p->class,
                           .element = { *e, *e },
                           .commutative = true,
                           .exact = !real || (id != COLLOPT_SUM && id != COLLOPT_PROD) });
}

static void add_predefined(struct predefined p)
{
    MPI_Aint low = 0, extent = 0;

    if (p.type == MPI_DATATYPE_NULL || MPI_Type_get_extent(p.type, &low, &extent) || extent == 0)
        return;

    struct element e = { .type = p.type,
                         .parts = p.parts,
                         .part = { p.part[0], p.part[1] },
                         .at = { 0, p.second },
                         .extent = extent,
                         .low = low,
                         .high = low + extent };

#define OP(ID, text, classes)    add_operation(&p, &e, text, MPI_##ID, COLLOPT_##ID);
    COLLOPT_OPS(OP)
#undef OP
}

static enum part integer_part(bool with_sign, size_t size)
{
    return size == 1 ? with_sign ? S8 : U8 : size == 2 ? with_sign ? S16 : U16
        : size == 4 ? with_sign ? S32 : U32 : with_sign ? S64 : U64;
}

#define INTEGER(NAME, CLASS, with_sign, c_type) \
    add_predefined((struct predefined){ #NAME, NAME, COLLOPT_CLASS_##CLASS, 1, \
                                        { integer_part(with_sign, sizeof(c_type)) }, 0 })
#define REAL(NAME, part) \
    add_predefined((struct predefined){ #NAME, NAME, COLLOPT_CLASS_FLOATING, 1, { part }, 0 })
#define COMPLEX(NAME, part) \
    add_predefined((struct predefined){ #NAME, \
                                        NAME, \
                                        COLLOPT_CLASS_COMPLEX, \
                                        2, \
                                        { part, part }, \
                                        (ptrdiff_t)part_size(part) })
#define PAIR(NAME, c_type, part, index_part) \
    add_predefined((struct predefined){ #NAME, NAME, COLLOPT_CLASS_PAIR, 2, { part, index_part }, \
                                        offsetof(struct c_type, index) })

#ifndef TEST_SIMULATED          /* the simulator's Fortran types are not worth the name */
/* Fortran's, by the size that this host's compiler gives them. */
static void add_fortran(const char *name, MPI_Datatype type, enum collopt_type_class class)
{
    static const enum part integer[] = { [1] = S8, [2] = S16, [4] = S32, [8] = S64 };
    int size = 0;

    if (type == MPI_DATATYPE_NULL || MPI_Type_size(type, &size) || size < 1)
        return;
    switch (class) {
    case COLLOPT_CLASS_FLOATING:
        if (size == 4 || size == 8)
            add_predefined(
                (struct predefined){ name, type, class, 1, { size == 4 ? F32 : F64 }, 0 });
        return;
    case COLLOPT_CLASS_COMPLEX:
        if (size == 8 || size == 16)
            add_predefined((struct predefined){ name,
                                                type,
                                                class,
                                                2,
                                                { size == 8 ? F32 : F64, size == 8 ? F32 : F64 },
                                                size / 2 });
        return;
    default:
        if (size <= 8)
            add_predefined((struct predefined){ name, type, class, 1, { integer[size] }, 0 });
    }
}
# define FORTRAN(NAME, CLASS)   add_fortran(#NAME, NAME, COLLOPT_CLASS_##CLASS)
#endif

static void add_predefined_kinds(void)
{
    INTEGER(MPI_INT, C_INTEGER, true, int);
    INTEGER(MPI_LONG, C_INTEGER, true, long);
    INTEGER(MPI_SHORT, C_INTEGER, true, short);
    INTEGER(MPI_LONG_LONG, C_INTEGER, true, long long);
    INTEGER(MPI_SIGNED_CHAR, C_INTEGER, true, signed char);
    INTEGER(MPI_UNSIGNED_CHAR, C_INTEGER, false, unsigned char);
    INTEGER(MPI_UNSIGNED_SHORT, C_INTEGER, false, unsigned short);
    INTEGER(MPI_UNSIGNED, C_INTEGER, false, unsigned);
    INTEGER(MPI_UNSIGNED_LONG, C_INTEGER, false, unsigned long);
    INTEGER(MPI_UNSIGNED_LONG_LONG, C_INTEGER, false, unsigned long long);
    INTEGER(MPI_INT8_T, C_INTEGER, true, int8_t);
    INTEGER(MPI_INT16_T, C_INTEGER, true, int16_t);
    INTEGER(MPI_INT32_T, C_INTEGER, true, int32_t);
    INTEGER(MPI_INT64_T, C_INTEGER, true, int64_t);
    INTEGER(MPI_UINT8_T, C_INTEGER, false, uint8_t);
    INTEGER(MPI_UINT16_T, C_INTEGER, false, uint16_t);
    INTEGER(MPI_UINT32_T, C_INTEGER, false, uint32_t);
    INTEGER(MPI_UINT64_T, C_INTEGER, false, uint64_t);
    INTEGER(MPI_AINT, MULTI_LANGUAGE, true, MPI_Aint);
    INTEGER(MPI_OFFSET, MULTI_LANGUAGE, true, MPI_Offset);
    INTEGER(MPI_COUNT, MULTI_LANGUAGE, true, MPI_Count);
    INTEGER(MPI_BYTE, BYTE, false, unsigned char);
    INTEGER(MPI_C_BOOL, LOGICAL, false, unsigned char);
    REAL(MPI_FLOAT, F32);
    REAL(MPI_DOUBLE, F64);
    REAL(MPI_LONG_DOUBLE, FL);
    COMPLEX(MPI_C_FLOAT_COMPLEX, F32);
    COMPLEX(MPI_C_DOUBLE_COMPLEX, F64);
    COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, FL);
    PAIR(MPI_FLOAT_INT, collopt_float_int, F32, S32);
    PAIR(MPI_DOUBLE_INT, collopt_double_int, F64, S32);
    PAIR(MPI_LONG_INT, collopt_long_int, sizeof(long) == 8 ? S64 : S32, S32);
    PAIR(MPI_SHORT_INT, collopt_short_int, S16, S32);
    PAIR(MPI_2INT, collopt_2int, S32, S32);
    PAIR(MPI_LONG_DOUBLE_INT, collopt_long_double_int, FL, S32);
#ifdef MPI_CXX_BOOL
    INTEGER(MPI_CXX_BOOL, LOGICAL, false, unsigned char);
    COMPLEX(MPI_CXX_FLOAT_COMPLEX, F32);
    COMPLEX(MPI_CXX_DOUBLE_COMPLEX, F64);
    COMPLEX(MPI_CXX_LONG_DOUBLE_COMPLEX, FL);
#endif
#ifndef TEST_SIMULATED
    PAIR(MPI_2REAL, collopt_2real, F32, F32);
    PAIR(MPI_2DOUBLE_PRECISION, collopt_2double, F64, F64);
    PAIR(MPI_2INTEGER, collopt_2int, S32, S32);
    FORTRAN(MPI_INTEGER, FORTRAN_INTEGER);
    FORTRAN(MPI_INTEGER1, FORTRAN_INTEGER);
    FORTRAN(MPI_INTEGER2, FORTRAN_INTEGER);
    FORTRAN(MPI_INTEGER4, FORTRAN_INTEGER);
    FORTRAN(MPI_INTEGER8, FORTRAN_INTEGER);
    FORTRAN(MPI_REAL, FLOATING);
    FORTRAN(MPI_REAL4, FLOATING);
    FORTRAN(MPI_REAL8, FLOATING);
    FORTRAN(MPI_DOUBLE_PRECISION, FLOATING);
    FORTRAN(MPI_COMPLEX, COMPLEX);
    FORTRAN(MPI_COMPLEX8, COMPLEX);
    FORTRAN(MPI_COMPLEX16, COMPLEX);
    FORTRAN(MPI_DOUBLE_COMPLEX, COMPLEX);
    FORTRAN(MPI_LOGICAL, LOGICAL);
#endif
}

static void add_thorough_kinds(void)
{
    struct element real = { .type = MPI_DOUBLE,
                            .parts = 1,
                            .part = { F64 },
                            .extent = 8,
                            .high = 8 };
    struct element integer = { .type = MPI_INT32_T,
                               .parts = 1,
                               .part = { S32 },
                               .extent = 4,
                               .high = 4 };

    add((struct kind){ .op_name = "sum",
                       .type_name = "rounding",
                       .op = MPI_SUM,
                       .op_id = COLLOPT_SUM,
                       .class = COLLOPT_CLASS_FLOATING,
                       .element = { real, real },
                       .commutative = true,
                       .rounds = true });
    add((struct kind){ .op_name = "sum",
                       .type_name = "int32",
                       .op = MPI_SUM,
                       .op_id = COLLOPT_SUM,
                       .exact = true,
                       .class = COLLOPT_CLASS_C_INTEGER,
                       .element = { integer, integer },
                       .commutative = true });
    add_own_kinds();
    with_all_counts_n = every_n;
}

const struct kind *kinds(int *n, int *with_all_counts)
{
    if (every_n == 0) {
        add_thorough_kinds();
        add_predefined_kinds();
    }
    *n = every_n;
    *with_all_counts = with_all_counts_n;
    return every;
}

void kinds_free(void)
{
    for (int i = 0; i < made_n; i++)
        MPI_Type_free(&made[i]);
    MPI_Op_free(&affine_op);
    MPI_Op_free(&mingle_op);
    every_n = made_n = 0;
}
