/* What would be chosen for a problem, without a job: for collopt_explain() and collopt-info; see reproducible.h. */
#include "config.h"

#include <string.h>

#include "internal.h"
#include "select/machine.h"
#include "select/reproducible.h"

/* One node, under the MPI library of this backend. */
static void one_node(const struct collopt_problem *p, struct collopt_machine *m)
{
    collopt_machine_pick(m, COLLOPT_SHARED_MEMORY, collopt_shm_suits(p), collopt_settings()->machine);
    for (int i = 0; i < COLLOPT_MPIS; i++)
        if (strcmp(collopt_host_name, collopt_mpi_names[i]) == 0)
            m->mpi = (enum collopt_mpi)i;
}

void collopt_select_outside(const struct collopt_problem *p, struct collopt_decision *d)
{
    struct collopt_problem with = *p;
    struct collopt_machine machine;

    if (!collopt_settings()->on) {
        *d = (struct collopt_decision){ .why = "COLLOPT=off" };
        return;
    }
    if (!with.machine) {
        one_node(p, &machine);
        with.machine = &machine;
    }
    with.once = collopt_settings()->reproducible == COLLOPT_EXACTLY && p->commutative && !p->exact;
    collopt_put_nowhere(&with);
    collopt_select(&with, d);
    if (!d->choice.algorithm)
        return;
    collopt_set_parameters(&with, &d->choice);
    memcpy(d->choice.value, with.value, sizeof d->choice.value);
}
