/* What was decided, and why. */
#ifndef COLLOPT_SELECT_DECISION_H
#define COLLOPT_SELECT_DECISION_H

#include <stdbool.h>

#include "catalogue/choice.h"

struct collopt_decision {
    struct collopt_choice choice;       /* algorithm NULL: host */
    char why[160];                      /* "forced by COLLOPT_ALLREDUCE", "predicted 1.20 us; ring
                                         * 4.31 us", ... */
    bool offloaded;             /* to the host, which has the network reduce */
    bool rows;                          /* the choice is for collopt_problem_in_rows() */
    bool open;                          /* predicted, not stated: trials may replace it */
};


#endif
