/* Which pieces of a schedule share memory. */
#ifndef COLLOPT_SCHEDULE_STORAGE_H
#define COLLOPT_SCHEDULE_STORAGE_H

#include <stdbool.h>

#include "schedule/parts.h"

bool collopt_pieces_overlap(const struct collopt_schedule *s, struct piece a, struct piece b);
bool collopt_pieces_same(const struct collopt_schedule *s, struct piece a, struct piece b);
bool collopt_spans_overlap(const struct collopt_schedule *s, struct span a, struct span b);
/* Are different parts of one partition different memory, in PLACE and what is the same memory as
 * it? */
bool collopt_parts_are_apart(const struct collopt_schedule *s, int place);
bool collopt_spans_same(const struct collopt_schedule *s, struct span a, struct span b);

#endif
