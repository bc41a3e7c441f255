/* Exact sums on their way: a real as a row of 8-byte integers that is added to others word by word,
 * by any schedule in any order.
 *
 * The first word counts operands: positive and negative infinities, where a NaN is both, and those
 * that are not -0.  The others are digits of the value in units of the least subnormal number.  On
 * p ranks a digit has 63 - log2(p) bits, rounded down, so that the sum of p of them fits a word:
 * nothing is carried before the end, and rows are added by the kernel that adds integers.  The
 * digits of a negative number are negative.
 *
 * On 2, 64 and 1024 ranks a row has 280, 304 and 328 bytes for a double, and 48, 48 and 56 for a
 * float. */
#ifndef COLLOPT_KERNELS_EXACT_WORDS_H
#define COLLOPT_KERNELS_EXACT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* The rows of a type on some number of ranks. */
struct collopt_exact_words {
    int reals;                  /* in an element: 2 of a complex number */
    size_t real;                /* bytes of one */
    int bits, digits;           /* of a digit; in a row */
    size_t words;               /* in the rows of an element */
};

/* False: sums of TYPE are not rounded once, or there are too many ranks to count them. */
bool collopt_exact_words_of(enum collopt_type type, int ranks, struct collopt_exact_words *w);
/* Bytes of the rows of one element; 0: as if that were false. */
size_t collopt_exact_row(enum collopt_type type, int ranks);
/* TO = the rows of N elements. */
void collopt_exact_load(const struct collopt_exact_words *w, int64_t *to, const void *from,
                        size_t n);
/* TO = N elements, each the sum in its rows, rounded once; the bits are those of
 * collopt_exact_kernel.  OPERANDS went into each: a single one comes back as it was. */
void collopt_exact_round(const struct collopt_exact_words *w, void *to, const int64_t *from,
                         size_t n, int operands);

#endif
