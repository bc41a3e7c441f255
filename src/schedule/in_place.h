/* The in-place pass. */
#ifndef COLLOPT_SCHEDULE_IN_PLACE_H
#define COLLOPT_SCHEDULE_IN_PLACE_H

struct collopt_schedule;

void collopt_pass_in_place(struct collopt_schedule *s);

#endif
