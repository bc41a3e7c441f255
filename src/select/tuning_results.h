/* Tuning results: the results of trials, for the report and as rules. No MPI here. */
#ifndef COLLOPT_SELECT_TUNING_RESULTS_H
#define COLLOPT_SELECT_TUNING_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "catalogue/expression.h"

/* One candidate for one kind of problem, summed over the ranks of all communicators of one
 * shape. */
struct collopt_tuning_result {
    /* the problem */
    int32_t collective, ranks, nodes, ppn, size_class;
    uint32_t kind;              /* COLLOPT_KIND_EXACT and its like */
    int32_t uneven;             /* Reduce_scatter: some rank gets several times the average, which
                                 * no rule can express */
    char algorithm[COLLOPT_CHOICE_TEXT];        /* as in a rule */
    /* the result */
    uint64_t samples;           /* ranks that report it, over all communicators */
    uint64_t chosen;            /* those of them that chose it */
    uint64_t time;              /* nanoseconds, sum over these ranks */
};

struct collopt_tuning_results {
    struct collopt_tuning_result *list;
    size_t n;
};

/* Makes room for MORE results; false: no memory. */
bool collopt_tuning_results_room(struct collopt_tuning_results *results, size_t more);
void collopt_tuning_results_free(struct collopt_tuning_results *results);
/* Adds L to the result of the same problem and algorithm.  There is room. */
void collopt_tuning_results_add(struct collopt_tuning_results *results,
                                const struct collopt_tuning_result *l);
/* Sorts by problem, then by how often a candidate was chosen, so the first result of each
 * problem is the one to follow. */
void collopt_tuning_results_sort(struct collopt_tuning_results *results);
bool collopt_same_problem(const struct collopt_tuning_result *a,
                          const struct collopt_tuning_result *b);
/* Writes RESULTS, which are sorted, as a file of rules. */
void collopt_tuning_results_write(const struct collopt_tuning_results *results, FILE *to);

/* The results of this process; thread-safe. COPY adds them to RESULTS; false: no memory. */
void collopt_tuning_result_add(const struct collopt_tuning_result *l);
bool collopt_tuning_results_copy(struct collopt_tuning_results *results);

const char *collopt_kind_name(unsigned kind);   /* the name of one kind, as in a rule */

#endif
