/* Types, operations and their combinations, once.
 *
 * Enumerators, names, sizes, kernels, tests and benches are all made from the lists below, so a
 * datatype or an operation is added here and nowhere else (and, if no loop fits it yet, in
 * reduce_tmpl.c).
 *
 * The lists are data: X is called once per row, in order. */
#ifndef COLLOPT_KERNELS_COMBOS_H
#define COLLOPT_KERNELS_COMBOS_H

/* The element types: enumerator, C type in memory, name, and what a test or bench must know of the
 * layout.
 *
 * MPI's C and Fortran integers are the integer of their size; MPI_2INTEGER is 2INT, MPI_CXX_BOOL is
 * BOOL, MPI_COMPLEX and MPI_DOUBLE_COMPLEX are the complex of their parts. */
#define COLLOPT_TYPES(X) \
    /* enumerator           C type                    name                   layout */ \
    X(INT8,                 int8_t,                   "int8",                INTEGER) \
    X(INT16,                int16_t,                  "int16",               INTEGER) \
    X(INT32,                int32_t,                  "int32",               INTEGER) \
    X(INT64,                int64_t,                  "int64",               INTEGER) \
    X(UINT8,                uint8_t,                  "uint8",               UNSIGNED) \
    X(UINT16,               uint16_t,                 "uint16",              UNSIGNED) \
    X(UINT32,               uint32_t,                 "uint32",              UNSIGNED) \
    X(UINT64,               uint64_t,                 "uint64",              UNSIGNED) \
    X(FLOAT16,              uint16_t,                 "float16",             REAL) \
    X(BFLOAT16,             uint16_t,                 "bfloat16",            REAL) \
    X(FLOAT,                float,                    "float",               REAL) \
    X(DOUBLE,               double,                   "double",              REAL) \
    X(LONG_DOUBLE,          long double,              "long_double",         REAL) \
    X(COMPLEX_FLOAT,        float _Complex,           "complex_float",       COMPLEX) \
    X(COMPLEX_DOUBLE,       double _Complex,          "complex_double",      COMPLEX) \
    X(COMPLEX_LONG_DOUBLE,  long double _Complex,     "complex_long_double", COMPLEX) \
    X(BOOL,                 uint8_t,                  "bool",                LOGICAL) \
    X(LOGICAL1,             uint8_t,                  "logical1",            LOGICAL) \
    X(LOGICAL2,             uint16_t,                 "logical2",            LOGICAL) \
    X(LOGICAL4,             uint32_t,                 "logical4",            LOGICAL) \
    X(LOGICAL8,             uint64_t,                 "logical8",            LOGICAL) \
    X(BYTE,                 uint8_t,                  "byte",                BYTES) \
    X(FLOAT_INT,            struct collopt_float_int, "float_int",           PAIR) \
    X(DOUBLE_INT,           struct collopt_double_int, "double_int",         PAIR) \
    X(LONG_INT,             struct collopt_long_int,  "long_int",            PAIR) \
    X(SHORT_INT,            struct collopt_short_int, "short_int",           PAIR) \
    X(2INT,                 struct collopt_2int,      "2int",                PAIR) \
    X(LONG_DOUBLE_INT,      struct collopt_long_double_int, "long_double_int", PAIR) \
    X(2REAL,                struct collopt_2real,     "2real",               PAIR) \
    X(2DOUBLE,              struct collopt_2double,   "2double_precision",   PAIR)

struct collopt_float_int       { float value;       int index; };
struct collopt_double_int      { double value;      int index; };
struct collopt_long_int        { long value;        int index; };
struct collopt_short_int       { short value;       int index; };
struct collopt_2int            { int value;         int index; };
struct collopt_long_double_int { long double value; int index; };
struct collopt_2real           { float value;       float index; };
struct collopt_2double         { double value;      double index; };

/* The operations, and the classes of datatypes on which MPI allows them (MPI-4.0, section 6.9.2 and
 * 6.9.4). REPLACE and NO_OP belong to one-sided communication: no reduction takes them, but REPLACE
 * has kernels, to copy by. */
#define COLLOPT_OPS(X) \
    X(SUM,     "sum",     C_INTEGER | FORTRAN_INTEGER | FLOATING | COMPLEX | MULTI_LANGUAGE) \
    X(PROD,    "prod",    C_INTEGER | FORTRAN_INTEGER | FLOATING | COMPLEX | MULTI_LANGUAGE) \
    X(MIN,     "min",     C_INTEGER | FORTRAN_INTEGER | FLOATING | MULTI_LANGUAGE) \
    X(MAX,     "max",     C_INTEGER | FORTRAN_INTEGER | FLOATING | MULTI_LANGUAGE) \
    X(LAND,    "land",    C_INTEGER | LOGICAL) \
    X(LOR,     "lor",     C_INTEGER | LOGICAL) \
    X(LXOR,    "lxor",    C_INTEGER | LOGICAL) \
    X(BAND,    "band",    C_INTEGER | FORTRAN_INTEGER | BYTE | MULTI_LANGUAGE) \
    X(BOR,     "bor",     C_INTEGER | FORTRAN_INTEGER | BYTE | MULTI_LANGUAGE) \
    X(BXOR,    "bxor",    C_INTEGER | FORTRAN_INTEGER | BYTE | MULTI_LANGUAGE) \
    X(MINLOC,  "minloc",  PAIR) \
    X(MAXLOC,  "maxloc",  PAIR) \
    X(REPLACE, "replace", 0) \
    X(NO_OP,   "no_op",   0)

/* MPI's classes of datatypes. MULTI_LANGUAGE is MPI_AINT, MPI_OFFSET, MPI_COUNT. */
#define COLLOPT_CLASSES(X) \
    X(C_INTEGER) \
    X(FORTRAN_INTEGER) X(FLOATING) X(LOGICAL) X(COMPLEX) X(BYTE) X(MULTI_LANGUAGE) X(PAIR)

/* The kernels: operation, type, the lane its loop runs on, lanes per element.
 *
 * A lane is a C type with a loop of its own in reduce_tmpl.c. Where the sign does not change the
 * bits of the result, integers run on the unsigned lane of their size, and the sum of complex
 * numbers is that of twice as many reals. */
#define COLLOPT_KERNELS(X) \
    COLLOPT_ON_BITS(X, SUM)     COLLOPT_ON_REALS(X, SUM)   COLLOPT_ON_PARTS(X, SUM) \
    COLLOPT_ON_BITS(X, PROD)    COLLOPT_ON_REALS(X, PROD)  COLLOPT_ON_COMPLEX(X, PROD) \
    COLLOPT_ON_SIGNED(X, MIN)   COLLOPT_ON_UNSIGNED(X, MIN) COLLOPT_ON_REALS(X, MIN) \
    COLLOPT_ON_SIGNED(X, MAX)   COLLOPT_ON_UNSIGNED(X, MAX) COLLOPT_ON_REALS(X, MAX) \
    COLLOPT_ON_BITS(X, LAND)    COLLOPT_ON_LOGICALS(X, LAND) \
    COLLOPT_ON_BITS(X, LOR)     COLLOPT_ON_LOGICALS(X, LOR) \
    COLLOPT_ON_BITS(X, LXOR)    COLLOPT_ON_LOGICALS(X, LXOR) \
    COLLOPT_ON_BITS(X, BAND)    X(BAND, BYTE, u8, 1) \
    COLLOPT_ON_BITS(X, BOR)     X(BOR,  BYTE, u8, 1) \
    COLLOPT_ON_BITS(X, BXOR)    X(BXOR, BYTE, u8, 1) \
    COLLOPT_ON_PAIRS(X, MINLOC) \
    COLLOPT_ON_PAIRS(X, MAXLOC) \
    COLLOPT_ON_GAPS(X, REPLACE)

/* Sums that are rounded once: type, lane, lanes per element. */
#define COLLOPT_EXACT_SUMS(X) \
    X(FLOAT, f32, 1)  X(DOUBLE, f64, 1)  X(COMPLEX_FLOAT, f32, 2)  X(COMPLEX_DOUBLE, f64, 2)

#define COLLOPT_ON_SIGNED(X, op) \
    X(op, INT8, i8, 1)   X(op, INT16, i16, 1)   X(op, INT32, i32, 1)   X(op, INT64, i64, 1)
#define COLLOPT_ON_UNSIGNED(X, op) \
    X(op, UINT8, u8, 1)  X(op, UINT16, u16, 1)  X(op, UINT32, u32, 1)  X(op, UINT64, u64, 1)
#define COLLOPT_ON_BITS(X, op) \
    X(op, INT8, u8, 1)   X(op, INT16, u16, 1)   X(op, INT32, u32, 1)   X(op, INT64, u64, 1) \
    COLLOPT_ON_UNSIGNED(X, op)
#define COLLOPT_ON_LOGICALS(X, op) \
    X(op, BOOL, u8, 1)   X(op, LOGICAL1, u8, 1) X(op, LOGICAL2, u16, 1) \
    X(op, LOGICAL4, u32, 1)                     X(op, LOGICAL8, u64, 1)
#define COLLOPT_ON_REALS(X, op) \
    X(op, FLOAT16, f16, 1)  X(op, BFLOAT16, bf16, 1) \
    X(op, FLOAT, f32, 1)    X(op, DOUBLE, f64, 1)    X(op, LONG_DOUBLE, fl, 1)
#define COLLOPT_ON_PARTS(X, op) \
    X(op, COMPLEX_FLOAT, f32, 2)  X(op, COMPLEX_DOUBLE, f64, 2)  X(op, COMPLEX_LONG_DOUBLE, fl, 2)
#define COLLOPT_ON_COMPLEX(X, op) \
    X(op, COMPLEX_FLOAT, c32, 1)  X(op, COMPLEX_DOUBLE, c64, 1)  X(op, COMPLEX_LONG_DOUBLE, cl, 1)
#define COLLOPT_ON_PAIRS(X, op) \
    X(op, FLOAT_INT, float_int, 1)   X(op, DOUBLE_INT, double_int, 1) \
    X(op, LONG_INT, long_int, 1)     X(op, SHORT_INT, short_int, 1) \
    X(op, 2INT, 2int, 1)             X(op, LONG_DOUBLE_INT, long_double_int, 1) \
    X(op, 2REAL, 2real, 1)           X(op, 2DOUBLE, 2double, 1)
/* The pairs that have gaps: REPLACE copies them, and leaves the gaps alone. */
#define COLLOPT_ON_GAPS(X, op) \
    X(op, DOUBLE_INT, double_int, 1) X(op, LONG_INT, long_int, 1) \
    X(op, SHORT_INT, short_int, 1)   X(op, LONG_DOUBLE_INT, long_double_int, 1)

#endif
