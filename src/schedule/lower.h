/* The two-operand pass. */
#ifndef COLLOPT_SCHEDULE_LOWER_H
#define COLLOPT_SCHEDULE_LOWER_H

struct collopt_schedule;

void collopt_pass_two_operands(struct collopt_schedule *s);

#endif
