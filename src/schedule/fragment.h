/* Instructions that can be done in fragments. */
#ifndef COLLOPT_SCHEDULE_FRAGMENT_H
#define COLLOPT_SCHEDULE_FRAGMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/parts.h"

/* Instructions that may be done piece by piece: N of them, those from FIRST to ARRIVAL waits for
 * what has been received; the one before them, if any, and those behind them are local. */
enum {
    COLLOPT_GROUP_ARRIVALS = COLLOPT_FOLD_OPERANDS - 1,         /* at most ... */
    COLLOPT_GROUP_LOCALS = 3,
    COLLOPT_GROUP = COLLOPT_GROUP_ARRIVALS + COLLOPT_GROUP_LOCALS       /* ... instructions */
};
struct collopt_group {
    size_t n, first, arrival;
};
struct collopt_group collopt_group_at(const struct collopt_schedule *s,
                                      const struct instruction *list);
size_t collopt_group_of(const struct collopt_schedule *s, const struct instruction *list);
bool collopt_group_last(const struct collopt_schedule *s, const struct instruction *list,
                        struct span span);
bool collopt_group_holds_up(const struct collopt_schedule *s, const struct instruction *list,
                            size_t k);

#endif
