/* Schedules: what one rank receives, sends, combines and copies, as data.
 *
 * An algorithm is a pure function (problem, rank) -> schedule: problem.h and descriptor.h define
 * problems and algorithms; an algorithm writes its schedule by the functions of block.h, write.h
 * and phase.h. The schedule is compiled once (in-place pass, two-operand lowering, order of posting
 * and waiting), and bind.h gives it element offsets for a given count. Nothing in this folder knows
 * of addresses, datatypes, operations or MPI. */
#ifndef COLLOPT_SCHEDULE_SCHEDULE_H
#define COLLOPT_SCHEDULE_SCHEDULE_H

struct collopt_algorithm;
struct collopt_problem;
struct collopt_schedule;

/* Builds and compiles the schedule of one rank. P->segments and P->value must be set. NULL: out of
 * memory. */
struct collopt_schedule *collopt_schedule_new(const struct collopt_algorithm *a,
                                              const struct collopt_problem *p, int rank,
                                              unsigned how);
void collopt_schedule_free(struct collopt_schedule *s);

#endif
