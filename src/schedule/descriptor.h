/* What an algorithm says of itself. */
#ifndef COLLOPT_SCHEDULE_DESCRIPTOR_H
#define COLLOPT_SCHEDULE_DESCRIPTOR_H

#include <stdbool.h>

#include "schedule/parameters.h"
#include "schedule/problem.h"

struct collopt_schedule;
struct collopt_traffic;         /* model/traffic.h */

enum collopt_order {
    COLLOPT_IN_ORDER,           /* operands are combined in rank order: any operation */
    COLLOPT_COMMUTATIVE         /* for commutative operations only */
};

struct collopt_algorithm {
    bool grouped;               /* looks at the nodes of the topology; combines by other
                                 * algorithms */
    const char *name;           /* as in COLLOPT_ALLREDUCE=name */
    const char *summary;        /* one line: the idea; what it is good for */
    const char *source;         /* who published it ("folklore"; what is our own: "collopt") */
    enum collopt_collective collective;
    enum collopt_order order;
    bool once;                  /* folds have nothing but input as operands: nothing is combined
                                 * twice */
    struct collopt_parameter parameter[COLLOPT_PARAMETERS];
    /* False only for a reason in doc/algorithms.md; NULL: always usable (the caller checks the
     * order). */
    bool (*usable)(const struct collopt_problem *p);
    const char *unfit;          /* the reason for false, as the end of a sentence */
    int (*segments)(const struct collopt_problem *p);       /* NULL: 1 */
    /* Tells the model where messages go, by collopt_messages() and its like. */
    void (*traffic)(const struct collopt_problem *p, struct collopt_traffic *t);
    /* Of two ranks or more; collopt_build() asks for it. */
    void (*build)(struct collopt_schedule *s, const struct collopt_problem *p, int rank);
};

#endif
