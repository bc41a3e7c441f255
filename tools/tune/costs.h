/* Costs of messages and of combining where collopt-tune measures. */
#ifndef COLLOPT_TOOLS_TUNE_COSTS_H
#define COLLOPT_TOOLS_TUNE_COSTS_H

#include <stdbool.h>

#include "model/machine.h"

/* A cost whose measurements differ by more times than this is known by its order of magnitude at
 * most, which no rule and no number of a machine is made of. */
enum { TUNE_FAR = 10 };

struct collopt_topology;

struct tune_costs {                             /* of messages and combining */
    struct collopt_machine machine;
    unsigned given;                             /* bit i: key i was measured */
    unsigned unsure;                            /* it was, but differed too much to be used */
    bool complete;                              /* all was measured that can be */
    char remark[COLLOPT_MACHINE_KEYS][80];
};

/* Takes an answer "machine ...". */
bool tune_take_cost(struct tune_costs *c, const char *answer);
/* Fills in what was not measured. */
void tune_complete_costs(struct tune_costs *c, const struct collopt_topology *t);

#endif
