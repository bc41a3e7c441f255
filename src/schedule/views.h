/* Messages that their receiver reads where the sender has put them. */
#ifndef COLLOPT_SCHEDULE_VIEWS_H
#define COLLOPT_SCHEDULE_VIEWS_H

#include <stdbool.h>

struct collopt_bound;
struct collopt_nearby;

/* The last pass of binding where some ranks are near; false: no memory. */
bool collopt_bound_near(struct collopt_bound *b, const struct collopt_nearby *nearby,
                        bool two_operands);

#endif
