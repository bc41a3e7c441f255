/* The longest message that is sent unfragmented, where a machine file says so: fragments that the
 * host sends eagerly, where these beat the handshake of the whole, and fragments of long messages
 * that are combined while a cache holds them (schedule/fragment.c). */
#ifndef COLLOPT_SELECT_FRAGMENT_LENGTH_H
#define COLLOPT_SELECT_FRAGMENT_LENGTH_H

#include "schedule/bound.h"
#include "schedule/problem.h"

struct collopt_problem;

/* The best fragment lengths for P, in bytes, as a list for collopt_bind(). */
void collopt_cuts(const struct collopt_problem *p, struct collopt_cut cut[COLLOPT_CUTS]);

#endif
