/* Which pieces of a schedule share memory. */
#ifndef COLLOPT_SCHEDULE_STORAGE_H
#define COLLOPT_SCHEDULE_STORAGE_H

#include <stdbool.h>

#include "schedule/parts.h"

bool collopt_pieces_overlap(const struct collopt_schedule *s, struct piece a, struct piece b);
bool collopt_pieces_same(const struct collopt_schedule *s, struct piece a, struct piece b);
bool collopt_spans_overlap(const struct collopt_schedule *s, struct span a, struct span b);
/* Do different parts of a partition never share memory, in PLACE and in the places that are the
 * same memory? */
bool collopt_parts_are_apart(const struct collopt_schedule *s, int place);
bool collopt_spans_same(const struct collopt_schedule *s, struct span a, struct span b);

#endif
