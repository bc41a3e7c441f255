/* Explains the choice for a problem without a job: for collopt_explain() and collopt-info; see
 * reproducible.h. */
#include "config.h"

#include <string.h>

#include "select/explain.h"
#include "catalogue/catalogue.h"
#include "kernels/exact_words.h"
#include "model/machine.h"
#include "schedule/problem.h"
#include "select/decide.h"
#include "select/measured.h"
#include "select/reproducible.h"
#include "settings/search_path.h"
#include "settings/settings.h"

/* Describes one node under this backend's MPI library. */
static void one_node(struct collopt_machine *m)
{
    collopt_machine_as_set(m, COLLOPT_SHARED_MEMORY, collopt_settings()->shm != COLLOPT_SHM_OFF,
                           true);
    for (int i = 0; i < COLLOPT_MPIS; i++)
        if (strcmp(collopt_host_name, collopt_mpi_names[i]) == 0)
            m->mpi = (enum collopt_mpi)i;
}

void collopt_explain_reproducible(struct collopt_problem *p)
{
    p->once = collopt_settings()->reproducible == COLLOPT_EXACTLY && p->commutative && !p->exact;
    p->row = p->once && p->size == sizeof(double) ? collopt_exact_row(COLLOPT_DOUBLE, p->ranks) : 0;
    collopt_hide_placement(p);
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
        one_node(&machine);
        with.machine = &machine;
    }
    collopt_explain_reproducible(&with);
    collopt_select(&with, d);
    if (!d->choice.algorithm)
        return;
    if (d->rows)
        collopt_problem_in_rows(&with, &with);
    collopt_set_parameters(&with, &d->choice);
    memcpy(d->choice.value, with.value, sizeof d->choice.value);
}
