/* Operations, types and kernels by name and number: everything here is read off combos.h. */
#include "config.h"

#include "kernels/kernels.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size, end;
    enum collopt_layout layout;
} types[] = {
#define END_INTEGER(ctype)  sizeof(ctype)
#define END_UNSIGNED(ctype) sizeof(ctype)
#define END_REAL(ctype)     sizeof(ctype)
#define END_COMPLEX(ctype)  sizeof(ctype)
#define END_LOGICAL(ctype)  sizeof(ctype)
#define END_BYTES(ctype)    sizeof(ctype)
#define END_PAIR(ctype)     offsetof(ctype, index) + sizeof ((ctype *) NULL)->index
#define ROW(type, ctype, name, layout) \
    [COLLOPT_##type] = { name, sizeof(ctype), END_##layout(ctype), COLLOPT_LAYOUT_##layout },
    COLLOPT_TYPES(ROW)
#undef ROW
    [COLLOPT_TYPE_NONE] = { "none", 0, 0, COLLOPT_LAYOUT_BYTES },
};

enum {
#define ROW(class) class = 1 << COLLOPT_CLASS_##class,
    COLLOPT_CLASSES(ROW)
#undef ROW
};

static const struct {
    const char *name;
    unsigned classes;
} ops[] = {
#define ROW(op, name, classes) [COLLOPT_##op] = { name, classes },
    COLLOPT_OPS(ROW)
#undef ROW
    [COLLOPT_OP_USER] = { "user", 0 },
};

bool collopt_valid(enum collopt_op op, enum collopt_type_class class)
{
    return (unsigned) op < COLLOPT_OP_USER && (unsigned) class < COLLOPT_CLASS_NONE
        && (ops[op].classes >> class & 1);
}

const char *collopt_op_name(enum collopt_op op)
{
    return ops[op].name;
}

const char *collopt_type_name(enum collopt_type type)
{
    return types[type].name;
}

enum collopt_op collopt_op_named(const char *name)
{
    int op = 0;

    while (op < COLLOPT_OP_USER && strcmp(ops[op].name, name) != 0)
        op++;
    return op;
}

enum collopt_type collopt_type_named(const char *name)
{
    int type = 0;

    while (type < COLLOPT_TYPE_NONE && strcmp(types[type].name, name) != 0)
        type++;
    return type;
}

size_t collopt_type_size(enum collopt_type type)
{
    return types[type].size;
}

size_t collopt_type_end(enum collopt_type type)
{
    return types[type].end;
}

enum collopt_layout collopt_type_layout(enum collopt_type type)
{
    return types[type].layout;
}
