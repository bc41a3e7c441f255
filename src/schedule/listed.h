/* Partitions whose parts are lists of blocks; there are none in a finished schedule. */
#ifndef COLLOPT_SCHEDULE_LISTED_H
#define COLLOPT_SCHEDULE_LISTED_H

#include <stdbool.h>

#include "schedule/block.h"

struct collopt_schedule;

/* The partition whose parts are those of the members of the current phase. */
int collopt_partition_listed(struct collopt_schedule *s);
/* Cuts WHOLE, a block of listed parts, into PARTS pieces, each of which has one piece of every
 * block.  EACH: cuts each part of it into PARTS pieces. */
int collopt_cut_listed(struct collopt_schedule *s, struct collopt_block whole, int parts,
                       bool each);
/* The smallest block of an ordinary partition that holds B. */
struct collopt_block collopt_hull(const struct collopt_schedule *s, struct collopt_block b);

#endif
