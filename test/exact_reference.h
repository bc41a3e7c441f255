/* Sums that are rounded once, bit by bit: what others are held against. */
#ifndef COLLOPT_TEST_EXACT_REFERENCE_H
#define COLLOPT_TEST_EXACT_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/* The sum of K doubles or floats, given and returned as their bits: rounded to nearest, ties to
 * even; the quiet NaN of NAN; +0, unless all are -0. */
uint64_t exact_reference_double(const uint64_t *bits, int k);
uint32_t exact_reference_float(const uint32_t *bits, int k);

/* The same for the products of two vectors, of doubles if SIZE is 8, of floats if it is 4; Y: NULL
 * for the sum of X. */
uint64_t exact_reference_products(size_t size, const void *x, const void *y, size_t k);

#endif
