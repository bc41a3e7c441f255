/* The messages of a plan in the host's terms, or as a link carries them. */
#ifndef COLLOPT_MPI_PLAN_WIRES_H
#define COLLOPT_MPI_PLAN_WIRES_H

#include <stdbool.h>

#include "mpi/host/host.h"

struct collopt_comm;
struct collopt_facts;
struct collopt_plan;
struct collopt_wire;

/* Sets the wires of PLAN, which is bound; false: no memory. */
bool collopt_wires_set(struct collopt_comm *c, struct collopt_plan *plan);
/* The datatype of a message of several runs.  Displacements count from ORIGIN, an address; PLACE
 * NULL: all runs are in one place, from whose beginning at W's they count. */
int collopt_wire_type(const struct collopt_plan *plan, const struct collopt_wire *w,
                      char *const *place, MPI_Aint origin, MPI_Datatype *made);
/* Is the datatype one of the program's? */
bool collopt_is_derived(const struct collopt_facts *f);
/* Do its data lie in the order in which they are sent? */
bool collopt_lies_in_order(const struct collopt_comm *c, const struct collopt_facts *f);
/* Are the bytes in memory those of a message? */
bool collopt_is_plain(const struct collopt_plan *plan);

#endif
