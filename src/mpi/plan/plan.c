/* The life of plans; see plan.h. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>

#include "mpi/plan/plan.h"
#include "schedule/bind.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of who holds plans */

void collopt_plan_free_types(struct collopt_plan *plan)
{
    for (int i = 0; plan->bound && plan->wire && i < plan->bound->messages; i++)
        if (plan->wire[i].made) {
            collopt_host.Type_free(&plan->wire[i].type);
            plan->wire[i].made = false;
        }
}

void collopt_plan_free(struct collopt_plan *plan)
{
    collopt_plan_free_types(plan);
    collopt_bound_free((struct collopt_bound *)plan->bound);
    free(plan->wire);
    free(plan->slot);
    free(plan->counts);
    free(plan->chosen);
    free(plan);
}

void collopt_plan_forget(struct collopt_plan *plan)
{
    bool held;

    pthread_mutex_lock(&lock);
    held = plan->held > 0;
    plan->forgotten = true;
    pthread_mutex_unlock(&lock);
    if (!held)
        collopt_plan_free(plan);
}

void collopt_plan_retain(struct collopt_plan *plan)
{
    pthread_mutex_lock(&lock);
    plan->held++;
    pthread_mutex_unlock(&lock);
}

void collopt_plan_release(struct collopt_plan *plan)
{
    bool last;

    pthread_mutex_lock(&lock);
    last = --plan->held == 0 && plan->forgotten;
    pthread_mutex_unlock(&lock);
    if (last)
        collopt_plan_free(plan);
}

bool collopt_plan_is_held(struct collopt_plan *plan)
{
    bool held;

    pthread_mutex_lock(&lock);
    held = plan->held > 0;
    pthread_mutex_unlock(&lock);
    return held;
}
