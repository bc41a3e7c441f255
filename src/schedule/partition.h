/* Partitions: the position of a block in the vector, and whether two blocks overlap. */
#ifndef COLLOPT_SCHEDULE_PARTITION_H
#define COLLOPT_SCHEDULE_PARTITION_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/block.h"

struct collopt_problem;
struct collopt_schedule;
struct partition;

/* Its number. */
int collopt_add_partition(struct collopt_schedule *s, struct partition q);
size_t collopt_offset(const struct collopt_schedule *s, const struct collopt_problem *p,
                      const size_t *sums, int partition, int part);
bool collopt_lift(const struct collopt_schedule *s, struct collopt_block *b);
bool collopt_blocks_overlap(const struct collopt_schedule *s, struct collopt_block a,
                            struct collopt_block b);
bool collopt_block_contains(const struct collopt_schedule *s, struct collopt_block outer,
                            struct collopt_block inner);

#endif
