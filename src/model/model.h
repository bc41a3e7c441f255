/* Predicts the time of an algorithm on a machine from its communication pattern.
 *
 * An algorithm's traffic() states number, length and distance (in ranks) of its messages. Nodes
 * and grid determine how far they travel in the machine and what shares their links. The time
 * runs from the moment all ranks start until the last one has its result. No MPI here. */
#ifndef COLLOPT_MODEL_H
#define COLLOPT_MODEL_H

#include "model/machine.h"

#include <stdbool.h>

struct collopt_algorithm;
struct collopt_problem;

/* Predicted seconds of A for P, whose parameters are set. */
double collopt_model(const struct collopt_algorithm *a, const struct collopt_problem *p);
/* The machine of P, or a generic one. */
const struct collopt_machine *collopt_machine_of(const struct collopt_problem *p);

/* What messages of P's topology cost: inside its groups and between them, be they nodes or the
 * caches of one. */
enum collopt_level { COLLOPT_INSIDE, COLLOPT_BETWEEN };
const struct collopt_way *collopt_way(const struct collopt_problem *p, enum collopt_level level);

/* True if messages between nodes use TCP or a network as slow. */
bool collopt_over_tcp(const struct collopt_problem *p);

#endif
