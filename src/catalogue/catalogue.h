/* The catalogue: algorithms by name, their parameters, and the problems each can serve. */
#ifndef COLLOPT_CATALOGUE_CATALOGUE_H
#define COLLOPT_CATALOGUE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/descriptor.h"
#include "schedule/problem.h"

struct collopt_algorithm;
struct collopt_choice;
struct collopt_problem;

/* NULL at the end; made from algorithms.mk */
extern const struct collopt_algorithm *const collopt_algorithms[];
const struct collopt_algorithm *collopt_algorithm_named(enum collopt_collective c, const char *name,
                                                        size_t length);
/* The index of parameter NAME; -1: there is none. */
int collopt_parameter_named(const struct collopt_algorithm *a, const char *name);
/* True if A can serve P, whose parameters are set. Otherwise *why (if not NULL) is the reason,
 * as the end of a sentence. */
bool collopt_usable(const struct collopt_algorithm *a, const struct collopt_problem *p,
                    const char **why);

/* Sets P->value and P->segments for a choice, and P->topology to the groups named by its
 * parameter "by". */
void collopt_set_parameters(struct collopt_problem *p, const struct collopt_choice *choice);
/* True if CHOICE can serve P, whatever P's own parameters are. The host can, unless P must be
 * reproducible. */
bool collopt_choice_usable(const struct collopt_choice *choice, const struct collopt_problem *p,
                           const char **why);

#endif
