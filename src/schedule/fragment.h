/* Instructions that can be done in fragments. */
#ifndef COLLOPT_SCHEDULE_FRAGMENT_H
#define COLLOPT_SCHEDULE_FRAGMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/parts.h"

/* Instructions that may be done piece by piece: N of them, one a wait for what has
 * been received; the one before it, if any, and those behind it are local. */
enum { COLLOPT_GROUP = 4 };     /* instructions at most */
struct collopt_group {
    size_t n, arrival;
};
struct collopt_group collopt_group_at(const struct collopt_schedule *s,
                                      const struct instruction *list);
size_t collopt_group_of(const struct collopt_schedule *s, const struct instruction *list);
bool collopt_group_last(const struct collopt_schedule *s, const struct instruction *list,
                        struct span span);
bool collopt_group_holds_up(const struct collopt_schedule *s, const struct instruction *list,
                            size_t k);

#endif
