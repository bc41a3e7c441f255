/* Chooses where measurements or facts of the network are better than predictions. */
#ifndef COLLOPT_SELECT_MEASURED_H
#define COLLOPT_SELECT_MEASURED_H

#include <stdbool.h>

#include "model/machine.h"

struct collopt_choice;
struct collopt_problem;

/* *M = the machine with NETWORK as the user's files say.  Without such files and with BUNDLED: as
 * the file says that comes with collopt for this processor and this MPI, the same on all ranks. */
void collopt_machine_as_set(struct collopt_machine *m, enum collopt_network network, bool shm,
                            bool bundled);

/* Sets CHOICE to a ring for the long parts of P if messages go over TCP; else false. */
bool collopt_long_over_tcp(const struct collopt_problem *p, struct collopt_choice *choice);

#endif
