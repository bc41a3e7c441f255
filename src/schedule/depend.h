/* Dependencies of actions on those of other strands. */
#ifndef COLLOPT_SCHEDULE_DEPEND_H
#define COLLOPT_SCHEDULE_DEPEND_H

#include <stdbool.h>
#include <stddef.h>

struct collopt_schedule;

struct collopt_depend {
    int strand, position;       /* until this strand has come to this position */
};

struct collopt_depends {
    struct collopt_depend *list;
    size_t n;
    size_t *first;              /* [actions + 1] those of action i are FIRST[i] .. FIRST[i + 1] - 1
                                 * of LIST */
};

/* DONE[i]: the position in its strand by which action i is complete. Sets SETTLE[i] for messages
 * that others wait for. */
void collopt_depends_find(struct collopt_schedule *s, const int *done, bool *settle,
                          struct collopt_depends *d);
void collopt_depends_free(struct collopt_depends *d);

#endif
