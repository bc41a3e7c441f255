/* MPI_Reduce_local on every predefined operation and datatype on which it is to give the host's
 * bits: one line for each, with the results' sum.  local.sh runs this with collopt and without, and
 * compares.
 *
 * Everything but what the hosts do differently, or wrong: sums and products that overflow (Open MPI
 * 4.1 saturates small integers), MIN and MAX of numbers with the top bit set (it takes unsigned
 * long for signed), NaN and zeros of both signs, products of complex numbers that the compiler may
 * have fused. */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum { COUNT = 203, BYTES_MAX = 32 };

enum kind { SIGNED, UNSIGNED, BITS, LOGICAL, REAL, COMPLEX, PAIR };

struct type {
    const char *name;
    MPI_Datatype type;
    enum kind kind;
};

struct op {
    const char *name;
    MPI_Op op;
    unsigned kinds;
};

#define IN(kind) (1u << (kind))
#define INTEGERS (IN(SIGNED) | IN(UNSIGNED))

static uint64_t state;

static uint64_t draw(void)
{
    return state = mix(state + 1);
}

/* ---- values ---- */

static bool one_of(MPI_Op op, MPI_Op a, MPI_Op b)
{
    return op == a || op == b;
}

/* Of logical ones every other is false. */
static void put_integer(char *to, int size, enum kind kind, MPI_Op op)
{
    uint64_t bits = draw(), value = bits % 4 == 0 ? 0 : bits;

    if (one_of(op, MPI_SUM, MPI_PROD))
        value = bits % 11;
    else if (one_of(op, MPI_MIN, MPI_MAX) && kind == UNSIGNED)
        value &= (UINT64_C(1) << (8 * size - 1)) - 1;
    else if (kind == LOGICAL)
        value = bits & 1;
    memcpy(to, &value, (size_t)size);
}

#define PUT(ctype, v) do { ctype x_ = (ctype)(v); memcpy(to, &x_, sizeof x_); } while (0)

static void put_real(char *to, MPI_Datatype type)
{
    int value = (int)(draw() % 2001) - 1000;

    if (value == 0)
        value = 1;
    if (type == MPI_FLOAT || type == MPI_REAL)
        PUT(float, value / 8.0);
    else if (type == MPI_LONG_DOUBLE)
        PUT(long double, value / 8.0L);
    else
        PUT(double, value / 8.0);
}

static void put_complex(char *to, MPI_Datatype type)
{
    double re = (int)(draw() % 2001) - 1000, im = (int)(draw() % 2001) - 1000;

    if (type == MPI_C_FLOAT_COMPLEX || type == MPI_COMPLEX)
        PUT(float _Complex, re / 8 + im / 4 * I);
    else if (type == MPI_C_LONG_DOUBLE_COMPLEX)
        PUT(long double _Complex, re / 8 + im / 4 * I);
    else
        PUT(double _Complex, re / 8 + im / 4 * I);
}

#define PUT_PAIR(valuetype, indextype) do { \
        struct { valuetype value; indextype index; } p_; \
        memset(&p_, 0, sizeof p_); \
        p_.value = (valuetype)value; \
        p_.index = (indextype)index; \
        memcpy(to, &p_, sizeof p_); \
    } while (0)

/* Few values, so that there are ties. */
static void put_pair(char *to, MPI_Datatype type)
{
    int value = (int)(draw() % 7) - 3, index = (int)(draw() % 1000);

    if (type == MPI_FLOAT_INT)
        PUT_PAIR(float, int);
    else if (type == MPI_DOUBLE_INT)
        PUT_PAIR(double, int);
    else if (type == MPI_LONG_INT)
        PUT_PAIR(long, int);
    else if (type == MPI_SHORT_INT)
        PUT_PAIR(short, int);
    else if (type == MPI_LONG_DOUBLE_INT)
        PUT_PAIR(long double, int);
    else if (type == MPI_2REAL)
        PUT_PAIR(float, float);
    else if (type == MPI_2DOUBLE_PRECISION)
        PUT_PAIR(double, double);
    else
        PUT_PAIR(int, int);
}

static void put(char *to, const struct type *t, int size, MPI_Op op)
{
    if (t->kind == REAL)
        put_real(to, t->type);
    else if (t->kind == COMPLEX)
        put_complex(to, t->type);
    else if (t->kind == PAIR)
        put_pair(to, t->type);
    else
        put_integer(to, size, t->kind, op);
}

/* ---- one combination ---- */

static uint64_t hash(const char *bytes, size_t n)
{
    uint64_t h = n;

    for (size_t i = 0; i < n; i++)
        h = mix(h ^ (unsigned char)bytes[i]);
    return h;
}

static void compare(const struct op *o, const struct type *t)
{
    static char in[COUNT * BYTES_MAX], out[COUNT * BYTES_MAX];
    MPI_Aint lb, extent;
    int size;

    if (t->type == MPI_DATATYPE_NULL)
        return;
    MPI_Type_size(t->type, &size);
    MPI_Type_get_extent(t->type, &lb, &extent);
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    state = 0;
    for (int i = 0; i < COUNT; i++) {
        put(in + i * extent, t, size, o->op);
        put(out + i * extent, t, size, o->op);
    }

    uint64_t run = calls_run("reduce_local", NULL);

    at(t->name);
    check(MPI_Reduce_local(in, out, COUNT, t->type, o->op) == MPI_SUCCESS, "%s %s fails", o->name,
          t->name);
    check(!with_collopt() || calls_run("reduce_local", NULL) == run + 1,
          "%s %s was left to the host", o->name, t->name);
    /* long double has padding, which the hosts' loops may copy */
    if (t->type == MPI_LONG_DOUBLE || t->type == MPI_LONG_DOUBLE_INT
        || t->type == MPI_C_LONG_DOUBLE_COMPLEX)
        for (int i = 0; i < COUNT * (int)(extent / 16); i++)
            memset(out + i * 16 + (t->kind == PAIR && i % 2 ? 4 : 10), 0,
                   t->kind == PAIR && i % 2 ? 12 : 6);
    printf("%s %s %016llx\n", o->name, t->name,
           (unsigned long long)hash(out, COUNT * (size_t)extent));
}

/* ---- 16-bit reals, where the host has some; its own MPI_Reduce_local may not take them ---- */

#ifdef MPIX_C_FLOAT16
static void halves(void)
{
    uint16_t in[COUNT], out[COUNT], all[COUNT];

    if (!with_collopt())
        return;
    for (int i = 0; i < COUNT; i++) {
        in[i] = 0x3c00;             /* 1 */
        out[i] = 0x4100;            /* 2.5 */
    }
    check(MPI_Reduce_local(in, out, COUNT, MPIX_C_FLOAT16, MPI_SUM) == MPI_SUCCESS,
          "sum float16 fails");
    for (int i = 0; i < COUNT; i++)
        check(out[i] == 0x4300, "1 + 2.5 is %04x at %d", out[i], i);        /* 3.5 */
    check(MPI_Allreduce(in, all, COUNT, MPIX_C_FLOAT16, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS,
          "allreduce of float16 fails");

    static const uint16_t sums[] = { 0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500 };

    for (int i = 0; i < COUNT && world_ranks < 6; i++)
        check(all[i] == sums[world_ranks], "%d ones are %04x at %d", world_ranks, all[i], i);
    check(calls_run("allreduce", NULL) > 0 || world_ranks == 1,
          "allreduce of float16 was left to the host");
}
#else
static void halves(void) { }
#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv, "test_local");

    const struct type types[] = {
        { "int", MPI_INT, SIGNED },
        { "long", MPI_LONG, SIGNED },
        { "short", MPI_SHORT, SIGNED },
        { "long_long", MPI_LONG_LONG, SIGNED },
        { "signed_char", MPI_SIGNED_CHAR, SIGNED },
        { "int8", MPI_INT8_T, SIGNED },
        { "int16", MPI_INT16_T, SIGNED },
        { "int32", MPI_INT32_T, SIGNED },
        { "int64", MPI_INT64_T, SIGNED },
        { "unsigned_char", MPI_UNSIGNED_CHAR, UNSIGNED },
        { "unsigned_short", MPI_UNSIGNED_SHORT, UNSIGNED },
        { "unsigned", MPI_UNSIGNED, UNSIGNED },
        { "unsigned_long", MPI_UNSIGNED_LONG, UNSIGNED },
        { "unsigned_long_long", MPI_UNSIGNED_LONG_LONG, UNSIGNED },
        { "uint8", MPI_UINT8_T, UNSIGNED },
        { "uint16", MPI_UINT16_T, UNSIGNED },
        { "uint32", MPI_UINT32_T, UNSIGNED },
        { "uint64", MPI_UINT64_T, UNSIGNED },
        { "byte", MPI_BYTE, BITS },
        { "c_bool", MPI_C_BOOL, LOGICAL },
        { "logical", MPI_LOGICAL, LOGICAL },
        { "float", MPI_FLOAT, REAL },
        { "double", MPI_DOUBLE, REAL },
        { "real", MPI_REAL, REAL },
        { "double_precision", MPI_DOUBLE_PRECISION, REAL },
        { "long_double", MPI_LONG_DOUBLE, REAL },
        { "float_complex", MPI_C_FLOAT_COMPLEX, COMPLEX },
        { "double_complex", MPI_C_DOUBLE_COMPLEX, COMPLEX },
        { "complex", MPI_COMPLEX, COMPLEX },
        { "fortran_double_complex", MPI_DOUBLE_COMPLEX, COMPLEX },
        { "long_double_complex", MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX },
        { "float_int", MPI_FLOAT_INT, PAIR },
        { "double_int", MPI_DOUBLE_INT, PAIR },
        { "long_int", MPI_LONG_INT, PAIR },
        { "short_int", MPI_SHORT_INT, PAIR },
        { "2int", MPI_2INT, PAIR },
        { "long_double_int", MPI_LONG_DOUBLE_INT, PAIR },
        { "2real", MPI_2REAL, PAIR },
        { "2double_precision", MPI_2DOUBLE_PRECISION, PAIR },
        { "2integer", MPI_2INTEGER, PAIR },
    };
    const struct op ops[] = {
        { "sum", MPI_SUM, INTEGERS | IN(REAL) | IN(COMPLEX) },
        { "prod", MPI_PROD, INTEGERS | IN(REAL) },
        { "min", MPI_MIN, INTEGERS | IN(REAL) },
        { "max", MPI_MAX, INTEGERS | IN(REAL) },
        { "land", MPI_LAND, INTEGERS | IN(LOGICAL) },
        { "lor", MPI_LOR, INTEGERS | IN(LOGICAL) },
        { "lxor", MPI_LXOR, INTEGERS | IN(LOGICAL) },
        { "band", MPI_BAND, INTEGERS | IN(BITS) },
        { "bor", MPI_BOR, INTEGERS | IN(BITS) },
        { "bxor", MPI_BXOR, INTEGERS | IN(BITS) },
        { "minloc", MPI_MINLOC, IN(PAIR) },
        { "maxloc", MPI_MAXLOC, IN(PAIR) },
    };

    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (size_t t = 0; t < sizeof types / sizeof *types && world_rank == 0; t++)
            if (ops[o].kinds & IN(types[t].kind))
                compare(&ops[o], &types[t]);
    halves();
    return end();
}
