/* Predicted times: what an algorithm says of its messages, on a machine.
 *
 * An algorithm's traffic() tells how many messages of which length go how far, in ranks.  From that, the nodes and the grid
 * follow how far they go in the machine, what shares their way, and the time: that of all ranks, who begin at one moment, until
 * the last one has its result.  No MPI here. */
#ifndef COLLOPT_MODEL_H
#define COLLOPT_MODEL_H

#include "schedule.h"
#include "select/machine.h"

/* Seconds that A takes for P, whose parameters are set. */
double collopt_model(const struct collopt_algorithm *a, const struct collopt_problem *p);
/* The machine of P, or one that is like none in particular. */
const struct collopt_machine *collopt_machine_of(const struct collopt_problem *p);

#endif
