/* The combine kernels: every predefined operation on every predefined datatype, without MPI.
 * doc/kernels.md says what each promises about bits; combos.h lists them. */
#ifndef COLLOPT_KERNELS_KERNELS_H
#define COLLOPT_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "combos.h"

#define COLLOPT_ENUMERATOR(name, ...) COLLOPT_##name,

enum collopt_type { COLLOPT_TYPES(COLLOPT_ENUMERATOR) COLLOPT_TYPE_NONE };
enum collopt_op   { COLLOPT_OPS(COLLOPT_ENUMERATOR) COLLOPT_OP_USER };

#undef COLLOPT_ENUMERATOR

#define COLLOPT_ENUMERATOR(name) COLLOPT_CLASS_##name,

enum collopt_type_class { COLLOPT_CLASSES(COLLOPT_ENUMERATOR) COLLOPT_CLASS_NONE };

#undef COLLOPT_ENUMERATOR

/* The kind of a type: the values that a test can put in it without its C definition. */
enum collopt_layout {
    COLLOPT_LAYOUT_INTEGER, COLLOPT_LAYOUT_UNSIGNED, COLLOPT_LAYOUT_REAL, COLLOPT_LAYOUT_COMPLEX,
    COLLOPT_LAYOUT_LOGICAL, COLLOPT_LAYOUT_BYTES, COLLOPT_LAYOUT_PAIR
};

#define COLLOPT_FOLD_MAX 8

/* One operation on one type, n counted in elements (their extent apart), no alignment needed.
 *
 * combine  dst = left op right; dst is apart from both operands or exactly one of them (or both).
 * fold     dst = operands[0] op operands[1] ... op operands[k-1], from left to right, in one pass;
 *          2 <= k <= COLLOPT_FOLD_MAX; dst is apart from each operand or exactly that operand.
 *          The bits are those of k-1 calls of combine.
 *
 * prefixes vectors[i] = vectors[0] op ... op vectors[i], 1 <= i < k, from left to right, k >= 1;
 * vectors are apart.  Only of
 *          collopt_exact_kernel: where operations round at each step, it is k-1 calls of combine.
 *
 * None writes anything but the elements of dst, or vectors[1] and up.  Gaps inside pairs are not
 * written, not even with what they hold, and what is behind the last element's data is neither read
 * nor written. */
struct collopt_kernel {
    void (*combine)(void *dst, const void *left, const void *right, size_t n);
    void (*fold)(void *dst, const void *const *operands, int k, size_t n);
    void (*prefixes)(void *const *vectors, int k, size_t n);
};

/* The kernels of one instruction set, indexed [operation][type]; no entry where there is no
 * kernel. */
typedef struct collopt_kernel collopt_kernel_table[COLLOPT_OP_USER][COLLOPT_TYPE_NONE];
typedef struct collopt_kernel collopt_exact_table[COLLOPT_TYPE_NONE];

/* May op be used on datatypes of this class? As the MPI standard says. */
bool collopt_valid(enum collopt_op op, enum collopt_type_class class);

const char *collopt_op_name(enum collopt_op op);          /* "sum"; "user" for COLLOPT_OP_USER */
/* "double"; "none" for COLLOPT_TYPE_NONE */
const char *collopt_type_name(enum collopt_type type);
enum collopt_op collopt_op_named(const char *name);       /* COLLOPT_OP_USER if there is none */
enum collopt_type collopt_type_named(const char *name);   /* COLLOPT_TYPE_NONE if there is none */
/* extent of an element in bytes; 0 for none */
size_t collopt_type_size(enum collopt_type type);
/* bytes up to the end of its data: less where a pair ends in a gap */
size_t collopt_type_end(enum collopt_type type);
enum collopt_layout collopt_type_layout(enum collopt_type type);

#endif
