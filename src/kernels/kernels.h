/* The combine kernels: every predefined operation on every predefined datatype, without MPI.
 * doc/kernels.md says what each promises about bits; combos.h lists them. */
#ifndef COLLOPT_KERNELS_H
#define COLLOPT_KERNELS_H

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
 *          collopt_exact_sum: where operations round at each step, it is k-1 calls of combine.
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

/* kernels.c */

/* The kernel for op on type in the chosen instruction set, or NULL if there is none. */
const struct collopt_kernel *collopt_kernel(enum collopt_op op, enum collopt_type type);

/* The kernel that rounds the sum of all its operands once, or NULL where there is none: fold takes
 * any k >= 2, and its bits do not depend on the order of the operands; prefixes leaves vectors[0]
 * as it is, NaN included. doc/kernels.md says what infinities, NaN and -0 give. */
const struct collopt_kernel *collopt_exact_sum(enum collopt_type type);

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

/* isa.c */

/* The capabilities of a processor that the operating system enables. */
struct collopt_processor {
    bool avx2, f16c, avx512;    /* avx512: F, BW and VL */
    bool sve;
    size_t near_cache;          /* the second level, in bytes; 0 if unknown */
    size_t share;               /* one processor's share of the last level */
};

/* An instruction set for which kernels were built. */
struct collopt_isa {
    const char *name;
    bool (*usable)(const struct collopt_processor *processor);
    const collopt_kernel_table *kernels;
    const collopt_exact_table *exact_sums;
};

/* Best first; the last, "generic", runs everywhere; ends with a NULL name. */
extern const struct collopt_isa collopt_isas[];

/* Chooses the instruction set, once, before other threads use kernels: the one forced (COLLOPT_ISA)
 * or, for NULL, "" and "auto", the best that this processor has. Returns 0; or -1 when `forced` is
 * unknown or unusable here: `message` then says so, with the names that would do, and the best one
 * is used. */
int collopt_kernels_init(const char *forced, char *message, size_t size);

/* The name of the chosen instruction set; "generic" before collopt_kernels_init. */
const char *collopt_kernels_isa(void);

void collopt_processor_detect(struct collopt_processor *processor);

/* CPUID of an x86 processor; 0 if not available. */
struct collopt_cpuid {
    unsigned one, seven;        /* ECX of leaf 1, EBX of leaf 7 */
    unsigned saved;             /* XCR0: the register states that the operating system saves */
};

/* The usable ones of avx2, f16c and avx512. */
void collopt_processor_by_cpuid(struct collopt_processor *processor,
                                const struct collopt_cpuid *words);

/* The first row of collopt_isas that the processor can use. */
const struct collopt_isa *collopt_isa_best(const struct collopt_processor *processor);

/* Operands that together have more bytes than far_from count as lying beyond the near caches. Where
 * operands and result together have stream_from or more, a result apart from all operands is
 * written past the caches; 0 stands for never. Where the operands alone have more, they are taken
 * to lie in memory. collopt_kernels_init sets both. The bits do not depend on them. */
extern size_t collopt_far_from, collopt_stream_from;

/* The chosen row of collopt_isas. */
const struct collopt_isa *collopt_isa_chosen(void);

#endif
