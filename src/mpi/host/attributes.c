/* From the host's handles to facts: which kernel, which size and extent, commutative or not.
 *
 * Predefined handles are recognised by comparison with the table below; their facts never change.
 * Handles of the user's own datatypes and operations are reused by the host, so facts learnt of
 * them hold until one is freed (handles.c). */
#include "config.h"

#include <pthread.h>

#include "mpi/host/attributes.h"
#include "kernels/isa.h"
#include "kernels/kernels.h"
#include "mpi/host/errhandler.h"
#include "mpi/host/host.h"
#include "settings/settings.h"

struct known_type {
    MPI_Datatype type;
    enum collopt_type id;
    enum collopt_type_class class;
};

/* The integer type or the real type of SIZE bytes. */
#define BY_SIZE(size, one, two, four, eight) \
    ((size) == 1 ? COLLOPT_##one : (size) == 2 ? COLLOPT_##two \
     : (size) == 4 ? COLLOPT_##four : COLLOPT_##eight)
#define INTEGER(size)   BY_SIZE(size, INT8, INT16, INT32, INT64)
#define UNSIGNED(size)  BY_SIZE(size, UINT8, UINT16, UINT32, UINT64)
#define LOGICAL(size)   BY_SIZE(size, LOGICAL1, LOGICAL2, LOGICAL4, LOGICAL8)

#define C_INTEGERS(T) \
    T(MPI_INT, INTEGER(sizeof(int))) T(MPI_LONG, INTEGER(sizeof(long))) \
    T(MPI_SHORT, INTEGER(sizeof(short))) T(MPI_LONG_LONG, INTEGER(sizeof(long long))) \
    T(MPI_SIGNED_CHAR, COLLOPT_INT8) T(MPI_UNSIGNED_CHAR, COLLOPT_UINT8) \
    T(MPI_UNSIGNED_SHORT, UNSIGNED(sizeof(short))) \
    T(MPI_UNSIGNED, UNSIGNED(sizeof(int))) T(MPI_UNSIGNED_LONG, UNSIGNED(sizeof(long))) \
    T(MPI_UNSIGNED_LONG_LONG, UNSIGNED(sizeof(long long))) \
    T(MPI_INT8_T, COLLOPT_INT8) T(MPI_INT16_T, COLLOPT_INT16) \
    T(MPI_INT32_T, COLLOPT_INT32) T(MPI_INT64_T, COLLOPT_INT64) \
    T(MPI_UINT8_T, COLLOPT_UINT8) T(MPI_UINT16_T, COLLOPT_UINT16) \
    T(MPI_UINT32_T, COLLOPT_UINT32) T(MPI_UINT64_T, COLLOPT_UINT64)

/* Fortran types whose kind does not follow from the handle: their size decides at the first use. */
struct sized_type {
    MPI_Datatype type;
    enum collopt_type_class class;
};

static struct sized_type sized[32];
static int sized_length;
static pthread_once_t sized_once = PTHREAD_ONCE_INIT;

#define SIZED(name, class_name) \
    (sized[sized_length++] = (struct sized_type){ name, COLLOPT_CLASS_##class_name })

static void list_sized_types(void)
{
    SIZED(MPI_INTEGER, FORTRAN_INTEGER);
#ifdef MPI_INTEGER1
    SIZED(MPI_INTEGER1, FORTRAN_INTEGER);
#endif
#ifdef MPI_INTEGER2
    SIZED(MPI_INTEGER2, FORTRAN_INTEGER);
#endif
#ifdef MPI_INTEGER4
    SIZED(MPI_INTEGER4, FORTRAN_INTEGER);
#endif
#ifdef MPI_INTEGER8
    SIZED(MPI_INTEGER8, FORTRAN_INTEGER);
#endif
    SIZED(MPI_REAL, FLOATING);
    SIZED(MPI_DOUBLE_PRECISION, FLOATING);
#ifdef MPI_REAL4
    SIZED(MPI_REAL4, FLOATING);
#endif
#ifdef MPI_REAL8
    SIZED(MPI_REAL8, FLOATING);
#endif
    SIZED(MPI_COMPLEX, COMPLEX);
#ifdef MPI_DOUBLE_COMPLEX
    SIZED(MPI_DOUBLE_COMPLEX, COMPLEX);
#endif
#ifdef MPI_COMPLEX8
    SIZED(MPI_COMPLEX8, COMPLEX);
#endif
#ifdef MPI_COMPLEX16
    SIZED(MPI_COMPLEX16, COMPLEX);
#endif
    SIZED(MPI_LOGICAL, LOGICAL);
#ifdef MPI_LOGICAL1
    SIZED(MPI_LOGICAL1, LOGICAL);
#endif
#ifdef MPI_LOGICAL2
    SIZED(MPI_LOGICAL2, LOGICAL);
#endif
#ifdef MPI_LOGICAL4
    SIZED(MPI_LOGICAL4, LOGICAL);
#endif
#ifdef MPI_LOGICAL8
    SIZED(MPI_LOGICAL8, LOGICAL);
#endif
}

#undef SIZED

static enum collopt_type by_size(enum collopt_type_class class, int size)
{
    switch (class) {
    case COLLOPT_CLASS_FORTRAN_INTEGER:
        return size <= 8 ? INTEGER(size) : COLLOPT_TYPE_NONE;
    case COLLOPT_CLASS_FLOATING:
        return size == 4 ? COLLOPT_FLOAT : size == 8 ? COLLOPT_DOUBLE : COLLOPT_TYPE_NONE;
    case COLLOPT_CLASS_COMPLEX:
        return size == 8 ? COLLOPT_COMPLEX_FLOAT
            : size == 16 ? COLLOPT_COMPLEX_DOUBLE
                         : COLLOPT_TYPE_NONE;
    case COLLOPT_CLASS_LOGICAL:
        return size <= 8 ? LOGICAL(size) : COLLOPT_TYPE_NONE;
    default:
        return COLLOPT_TYPE_NONE;
    }
}

#define TYPE(name, type_id, class_name) \
    if (type == name) \
        return (struct known_type){ type, type_id, COLLOPT_CLASS_##class_name };
#define C_TYPE(name, type_id)   TYPE(name, type_id, C_INTEGER)

/* Some handles of Open MPI are addresses that no constant initialiser may hold, hence comparisons
 * and no table. */
static struct known_type know_type(MPI_Datatype type)
{
    TYPE(MPI_DOUBLE, COLLOPT_DOUBLE, FLOATING)
    C_INTEGERS(C_TYPE)
    TYPE(MPI_FLOAT, COLLOPT_FLOAT, FLOATING)
    TYPE(MPI_LONG_DOUBLE, COLLOPT_LONG_DOUBLE, FLOATING)
    TYPE(MPI_C_BOOL, COLLOPT_BOOL, LOGICAL)
#ifdef MPI_CXX_BOOL
    TYPE(MPI_CXX_BOOL, COLLOPT_BOOL, LOGICAL)
#endif
    TYPE(MPI_C_FLOAT_COMPLEX, COLLOPT_COMPLEX_FLOAT, COMPLEX)
    TYPE(MPI_C_DOUBLE_COMPLEX, COLLOPT_COMPLEX_DOUBLE, COMPLEX)
    TYPE(MPI_C_LONG_DOUBLE_COMPLEX, COLLOPT_COMPLEX_LONG_DOUBLE, COMPLEX)
#ifdef MPI_CXX_FLOAT_COMPLEX
    TYPE(MPI_CXX_FLOAT_COMPLEX, COLLOPT_COMPLEX_FLOAT, COMPLEX)
    TYPE(MPI_CXX_DOUBLE_COMPLEX, COLLOPT_COMPLEX_DOUBLE, COMPLEX)
    TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, COLLOPT_COMPLEX_LONG_DOUBLE, COMPLEX)
#endif
    TYPE(MPI_BYTE, COLLOPT_BYTE, BYTE)
    TYPE(MPI_AINT, INTEGER(sizeof(MPI_Aint)), MULTI_LANGUAGE)
    TYPE(MPI_OFFSET, INTEGER(sizeof(MPI_Offset)), MULTI_LANGUAGE)
    TYPE(MPI_COUNT, INTEGER(sizeof(MPI_Count)), MULTI_LANGUAGE)
    TYPE(MPI_FLOAT_INT, COLLOPT_FLOAT_INT, PAIR)
    TYPE(MPI_DOUBLE_INT, COLLOPT_DOUBLE_INT, PAIR)
    TYPE(MPI_LONG_INT, COLLOPT_LONG_INT, PAIR)
    TYPE(MPI_SHORT_INT, COLLOPT_SHORT_INT, PAIR)
    TYPE(MPI_2INT, COLLOPT_2INT, PAIR)
    TYPE(MPI_LONG_DOUBLE_INT, COLLOPT_LONG_DOUBLE_INT, PAIR)
    TYPE(MPI_2REAL, COLLOPT_2REAL, PAIR)
    TYPE(MPI_2DOUBLE_PRECISION, COLLOPT_2DOUBLE, PAIR)
    TYPE(MPI_2INTEGER, COLLOPT_2INT, PAIR)
#ifdef MPIX_C_FLOAT16
    TYPE(MPIX_C_FLOAT16, COLLOPT_FLOAT16, FLOATING)
#endif
    return (struct known_type){ type, COLLOPT_TYPE_NONE, COLLOPT_CLASS_NONE };
}

static struct known_type know_sized_type(MPI_Datatype type)
{
    int size;

    pthread_once(&sized_once, list_sized_types);
    for (int i = 0; i < sized_length; i++)
        if (sized[i].type == type && type != MPI_DATATYPE_NULL
            && PMPI_Type_size(type, &size) == MPI_SUCCESS)
            return (struct known_type){ type, by_size(sized[i].class, size), sized[i].class };
    return (struct known_type){ type, COLLOPT_TYPE_NONE, COLLOPT_CLASS_NONE };
}

/* Rounding is what makes an order matter: it happens in sums and products of reals. */
static bool exact(enum collopt_op op, enum collopt_type_class class)
{
    bool rounds = class == COLLOPT_CLASS_FLOATING || class == COLLOPT_CLASS_COMPLEX;

    return !rounds || (op != COLLOPT_SUM && op != COLLOPT_PROD);
}

/* ---- datatypes that the host combines -------------------------------------------------------- */

/* Predefined ones that few compilers or hosts have, and hosts not in one way: the MPI_REAL16 of one
 * is a long double, of another a quadruple one.  So they have no kernels, and MPI_Reduce_local
 * combines them, as it does for operations of the user's. */
static const struct by_host {
    enum collopt_type_class class;
    const char *name;
} by_host[] = {
#define BY_HOST(type, class_name, text) { COLLOPT_CLASS_##class_name, text },
#include "mpi/host/rare_types.h"
#undef BY_HOST
    { COLLOPT_CLASS_NONE, NULL }
};

enum { BY_HOST_TYPES = sizeof by_host / sizeof *by_host };
static bool allowed[BY_HOST_TYPES][COLLOPT_OP_USER];

/* The handles, that of no type last. */
static void list_by_host(MPI_Datatype type[BY_HOST_TYPES])
{
    int n = 0;

#define BY_HOST(handle, class_name, text) type[n++] = handle;
#include "mpi/host/rare_types.h"
#undef BY_HOST
    type[n] = MPI_DATATYPE_NULL;
}

static bool allows(MPI_Datatype type, MPI_Op op)
{
    char nothing[64];
    int size;

    return type != MPI_DATATYPE_NULL && PMPI_Type_size(type, &size) == MPI_SUCCESS && size > 0
        && collopt_host.Reduce_local(nothing, nothing + 32, 0, type, op) == MPI_SUCCESS;
}

/* Called in MPI_Init, not when such a datatype is first used: other threads would miss the error
 * handlers meanwhile. */
void collopt_attributes_begin(void)
{
    static const enum collopt_op ids[] = { COLLOPT_SUM, COLLOPT_PROD, COLLOPT_MIN, COLLOPT_MAX };
    MPI_Op op[] = { MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX };
    MPI_Errhandler world = collopt_save_errhandler(MPI_COMM_WORLD),
                   self = collopt_save_errhandler(MPI_COMM_SELF);
    MPI_Datatype type[BY_HOST_TYPES];

    list_by_host(type);
    for (int t = 0; t < BY_HOST_TYPES; t++)
        for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
            allowed[t][ids[i]] = collopt_valid(ids[i], by_host[t].class) && allows(type[t], op[i]);
    collopt_restore_errhandler(MPI_COMM_SELF, self);
    collopt_restore_errhandler(MPI_COMM_WORLD, world);
}

/* Fills in the rest of F for a type of rare_types.h; false: it is another type, or the host did not
 * allow the operation in collopt_attributes_begin(). */
static bool host_combines(struct collopt_facts *f)
{
    MPI_Datatype type[BY_HOST_TYPES];
    int t = 0;

    list_by_host(type);
    while (t < BY_HOST_TYPES - 1 && type[t] != f->type)
        t++;
    if (!allowed[t][f->op_id])
        return false;
    f->type_name = by_host[t].name;
    f->commutative = f->predefined = true;
    f->exact = exact(f->op_id, by_host[t].class);
    return true;
}

/* ---------------------------------------------------------------------------------------------- */

#define OP(name, op_id) \
    if (op == name) \
        return COLLOPT_##op_id;

static enum collopt_op know_op(MPI_Op op)
{
    OP(MPI_SUM, SUM) OP(MPI_MAX, MAX) OP(MPI_MIN, MIN) OP(MPI_PROD, PROD)
    OP(MPI_LAND, LAND) OP(MPI_LOR, LOR) OP(MPI_LXOR, LXOR)
    OP(MPI_BAND, BAND) OP(MPI_BOR, BOR) OP(MPI_BXOR, BXOR)
    OP(MPI_MINLOC, MINLOC) OP(MPI_MAXLOC, MAXLOC)
    OP(MPI_REPLACE, REPLACE) OP(MPI_NO_OP, NO_OP)
    return COLLOPT_OP_USER;
}

bool collopt_op_predefined(MPI_Op op)
{
    return know_op(op) != COLLOPT_OP_USER;
}

static bool plausible(MPI_Op op, MPI_Datatype type)
{
    return op != MPI_OP_NULL && type != MPI_DATATYPE_NULL && collopt_plausible_op(op)
        && collopt_plausible_type(type);
}

static bool measure(MPI_Datatype type, struct collopt_facts *f)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    int size;

    if (PMPI_Type_size(type, &size) || PMPI_Type_get_extent(type, &lb, &extent)
        || PMPI_Type_get_true_extent(type, &true_lb, &true_extent) || size == MPI_UNDEFINED)
        return false;
    f->size = (size_t)size;
    f->extent = extent;
    f->low = lb < true_lb ? lb : true_lb;
    f->high = lb + extent > true_lb + true_extent ? lb + extent : true_lb + true_extent;
    f->dense = lb == 0 && true_lb == 0 && size == extent && true_extent == extent;
    return true;
}

/* Parametrised Fortran types (MPI_Type_create_f90_*) may be used with predefined operations, though
 * their handles are not predefined ones; MPI_Type_dup of a predefined type may not. */
static struct known_type know_f90_type(MPI_Datatype type)
{
    int integers, addresses, types, combiner, size;
    enum collopt_type_class class = COLLOPT_CLASS_NONE;

    if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS) {
        if (combiner == MPI_COMBINER_F90_REAL)
            class = COLLOPT_CLASS_FLOATING;
        else if (combiner == MPI_COMBINER_F90_COMPLEX)
            class = COLLOPT_CLASS_COMPLEX;
        else if (combiner == MPI_COMBINER_F90_INTEGER)
            class = COLLOPT_CLASS_FORTRAN_INTEGER;
    }
    if (class == COLLOPT_CLASS_NONE || PMPI_Type_size(type, &size))
        return (struct known_type){ type, COLLOPT_TYPE_NONE, COLLOPT_CLASS_NONE };
    return (struct known_type){ type, by_size(class, size), class };
}

static bool user_facts(struct collopt_facts *f)
{
    int commutes;

    if (PMPI_Op_commutative(f->op, &commutes))
        return false;
    f->commutative = commutes;
    return true;
}

static bool measures_last(const struct collopt_facts *f)
{
    struct collopt_facts now;

    return measure(f->type, &now) && now.size == f->size && now.extent == f->extent
        && now.low == f->low && now.high == f->high && now.dense == f->dense;
}

bool collopt_facts_last(const struct collopt_facts *f)
{
    int commutes;

    return f->predefined
        || (f->op_id == COLLOPT_OP_USER && plausible(f->op, f->type)
            && PMPI_Op_commutative(f->op, &commutes) == MPI_SUCCESS
            && f->commutative == (commutes != 0) && (f->predefined_type || measures_last(f)));
}

bool collopt_facts(MPI_Op op, MPI_Datatype type, struct collopt_facts *f)
{
    if (!plausible(op, type))
        return false;

    enum collopt_op op_id = know_op(op);
    struct known_type known = know_type(type);
    bool predefined = true;

    if (known.id == COLLOPT_TYPE_NONE)
        known = know_sized_type(type);
    if (known.id == COLLOPT_TYPE_NONE && op_id != COLLOPT_OP_USER) {
        known = know_f90_type(type);
        predefined = false;
    }
    *f = (struct collopt_facts){ .type = type, .op = op, .op_id = op_id,
                                 .type_id = known.id, .type_name = "derived",
                                 .op_name = collopt_op_name(op_id) };
    if (!measure(type, f))
        return false;
    if (known.id != COLLOPT_TYPE_NONE)
        f->type_name = collopt_type_name(known.id);
    if (op_id == COLLOPT_OP_USER) {
        f->predefined_type = known.id != COLLOPT_TYPE_NONE;
        return user_facts(f);
    }
    if (known.id == COLLOPT_TYPE_NONE)
        return host_combines(f);
    if (!collopt_valid(op_id, known.class))
        return false;
    f->commutative = true;
    f->exact = exact(op_id, known.class);
    f->predefined = predefined;
    if (collopt_type_size(known.id) != (size_t)f->extent)
        return true;
    f->kernel = collopt_kernel(op_id, known.id);
    if (collopt_settings()->reproducible == COLLOPT_EXACTLY && op_id == COLLOPT_SUM
        && collopt_exact_kernel(known.id)) {
        f->kernel = collopt_exact_kernel(known.id);
        f->once = true;
    }
    return true;
}
