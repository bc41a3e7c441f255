/* The instruction set whose kernels are used. */
#ifndef COLLOPT_KERNELS_ISA_H
#define COLLOPT_KERNELS_ISA_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/kernels.h"

struct collopt_superaccumulator;

/* The kernel for op on type in the chosen instruction set, or NULL if there is none. */
const struct collopt_kernel *collopt_kernel(enum collopt_op op, enum collopt_type type);

/* The kernel that rounds the sum of all its operands once, or NULL where there is none: fold takes
 * any k >= 2, and its bits do not depend on the order of the operands; prefixes leaves vectors[0]
 * as it is, NaN included. doc/kernels.md says what infinities, NaN and -0 give. */
const struct collopt_kernel *collopt_exact_kernel(enum collopt_type type);

/* The numbers of a vector.  Complex terms are added to two superaccumulators: real parts to the
 * first, imaginary parts to the second. */
enum collopt_numbers { COLLOPT_REALS, COLLOPT_COMPLEX, COLLOPT_CONJUGATED /* those of x */ };

/* Terms: x[0], x[x_step], x[2 * x_step] ..., or their products with those of y. */
struct collopt_terms {
    const void *x, *y;          /* y: NULL for a sum */
    ptrdiff_t x_step, y_step;   /* in numbers */
    size_t count;
    bool single;                /* float, else double */
    bool negative;              /* subtract them; of reals only */
    enum collopt_numbers numbers;
};

/* Adds exactly.  A: one superaccumulator, or two. */
void collopt_add_terms(struct collopt_superaccumulator *a, const struct collopt_terms *t);

/* The capabilities of a processor that the operating system enables. */
struct collopt_processor {
    bool avx2, f16c, fma, avx512;       /* avx512: F, BW and VL */
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
    void (*add_terms)(struct collopt_superaccumulator *a, const struct collopt_terms *t);
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
