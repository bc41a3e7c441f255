/* The list of algorithms for people and programs, from the descriptors: for collopt-info and for
 * doc/algorithms.md. */
#ifndef COLLOPT_TOOLS_INFO_CATALOGUE_H
#define COLLOPT_TOOLS_INFO_CATALOGUE_H

#include "base/json.h"
#include "schedule/descriptor.h"
#include "schedule/parameters.h"

enum { CATALOGUE_TEXT = 80 };   /* bytes for any of these texts */

/* "any" or "comm.": operations that it serves. */
const char *catalogue_order(const struct collopt_algorithm *a);
/* Rounds of the shortest vector and bytes of a long one, in vectors: "6, 8" on so many ranks, on
 * nodes of CATALOGUE_NODE for algorithms that go by them. */
enum { CATALOGUE_RANKS = 64, CATALOGUE_OTHER_RANKS = 60, CATALOGUE_NODE = 4 };
void catalogue_rounds(const struct collopt_algorithm *a, char text[CATALOGUE_TEXT]);
void catalogue_vectors(const struct collopt_algorithm *a, char text[CATALOGUE_TEXT]);
/* The form of the value behind "segment=": BYTES, N, NxN... or (ALGORITHM). */
const char *catalogue_values(const struct collopt_parameter *p);
/* "1 to 1T", "reduce" of a parameter that takes an algorithm of that collective. */
void catalogue_range(const struct collopt_parameter *p, char text[CATALOGUE_TEXT]);

/* For every collective all algorithms with all that descriptors say. */
void catalogue_print(FILE *to);
/* One object of an array. */
void catalogue_json(struct collopt_json *j, const struct collopt_algorithm *a);

#endif
