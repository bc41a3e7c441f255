/* A communicator's store for new plans: schedules, which serve any count, and predictions. */
#ifndef COLLOPT_MPI_PLAN_SCHEDULES_H
#define COLLOPT_MPI_PLAN_SCHEDULES_H

struct collopt_algorithm;
struct collopt_comm;
struct collopt_problem;
struct collopt_remembered;
struct collopt_schedule;

/* HOW: as collopt_schedule_new() takes it.  NULL: no memory. */
const struct collopt_schedule *collopt_schedule_for(struct collopt_comm *c,
                                                    const struct collopt_algorithm *a,
                                                    const struct collopt_problem *p, unsigned how);
/* NULL: no memory; then nothing is remembered. */
struct collopt_remembered *collopt_schedules_predictions(struct collopt_comm *c);
void collopt_schedules_forget_predictions(struct collopt_comm *c);
void collopt_schedules_free(struct collopt_comm *c);

#endif
