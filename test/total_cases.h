/* Exact sums of vectors and of products, collopt_add_terms(), against sums bit by bit. */
#ifndef COLLOPT_TEST_TOTAL_CASES_H
#define COLLOPT_TEST_TOTAL_CASES_H

#include <stddef.h>

/* By the instruction set that is chosen.  Returns how many were wrong; MESSAGE has the first. */
long total_cases_run(char *message, size_t room);

#endif
