/* Sums that are rounded once, against a sum bit by bit. */
#ifndef COLLOPT_TEST_EXACT_CASES_H
#define COLLOPT_TEST_EXACT_CASES_H

#include <stddef.h>

#include "kernels/kernels.h"

/* Runs the chosen instruction set's kernel for TYPE, folds and prefixes, on vectors of several
 * lengths and offsets, of one operand to MOST, numbers that hurt.  Returns how many results were
 * wrong; the first of them is in MESSAGE. */
long exact_cases_run(enum collopt_type type, int most, char *message, size_t size);

/* The same for sums that travel in rows, which are added in any order. */
long exact_rows_run(enum collopt_type type, char *message, size_t room);

#endif
