/* Partitions whose parts are lists of blocks; there are none in a finished schedule. */
#ifndef COLLOPT_SCHEDULE_LISTED_H
#define COLLOPT_SCHEDULE_LISTED_H

#include <stdbool.h>

#include "schedule/block.h"

struct collopt_schedule;

/* The parts of the members of the present phase. */
int collopt_partition_listed(struct collopt_schedule *s);
/* WHOLE, some listed parts, in PARTS pieces: a piece has one of each block's. Or EACH part of it in
 * as many. */
int collopt_cut_listed(struct collopt_schedule *s, struct collopt_block whole, int parts,
                       bool each);
/* The smallest block of an ordinary partition that holds B. */
struct collopt_block collopt_hull(const struct collopt_schedule *s, struct collopt_block b);

#endif
