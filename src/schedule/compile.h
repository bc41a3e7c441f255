/* The last pass: actions become instructions. */
#ifndef COLLOPT_SCHEDULE_COMPILE_H
#define COLLOPT_SCHEDULE_COMPILE_H

struct collopt_schedule;

void collopt_pass_compile(struct collopt_schedule *s);

#endif
