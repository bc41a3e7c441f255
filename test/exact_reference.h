/* Sums that are rounded once, bit by bit: what others are held against. */
#ifndef COLLOPT_TEST_EXACT_REFERENCE_H
#define COLLOPT_TEST_EXACT_REFERENCE_H

#include <stdint.h>

/* The sum of K doubles or floats, given and returned as their bits: rounded to nearest, ties to
 * even; the quiet NaN of NAN; +0, unless all are -0. */
uint64_t exact_reference_double(const uint64_t *bits, int k);
uint32_t exact_reference_float(const uint32_t *bits, int k);

#endif
