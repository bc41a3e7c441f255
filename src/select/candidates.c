/* Which algorithms are worth a trial: the one that would be chosen, then the others by the times that are predicted for them. */
#include "config.h"

#include "algorithms/algorithm.h"
#include "internal.h"

static const double hopeless = 3;       /* times the least that is predicted */

/* Seconds that A may take for P; below 0: it cannot serve P, or is what another one is. */
static double predict(const struct collopt_algorithm *a, const struct collopt_problem *p)
{
    struct collopt_choice choice = { .algorithm = a };
    struct collopt_problem with = *p;
    struct collopt_cost cost = { 0 };

    if (a->collective != p->collective || !a->cost || (a->grouped && p->topology->nodes <= 1))
        return -1;
    collopt_set_parameters(&with, &choice);
    if (!collopt_usable(a, &with, NULL))
        return -1;
    a->cost(&with, &cost);
    return collopt_preset_time(&cost);
}

static double least_time(const struct collopt_problem *p)
{
    double least = -1;

    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++) {
        double seconds = predict(*a, p);

        if (seconds >= 0 && (least < 0 || seconds < least))
            least = seconds;
    }
    return least;
}

/* The one with the least predicted time, MOST seconds at most, that is not among N of CHOICE. */
static const struct collopt_algorithm *next(const struct collopt_problem *p, double most, const struct collopt_choice *choice,
                                            int n)
{
    const struct collopt_algorithm *best = NULL;
    double least = most;

    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++) {
        double seconds = predict(*a, p);
        bool known = false;

        for (int i = 0; i < n; i++)
            known = known || choice[i].algorithm == *a;
        if (seconds >= 0 && !known && (seconds < least || (!best && seconds <= most))) {
            best = *a;
            least = seconds;
        }
    }
    return best;
}

int collopt_candidates(const struct collopt_problem *p, struct collopt_choice *choice, int most)
{
    double longest = hopeless * least_time(p);
    const struct collopt_algorithm *a;
    struct collopt_decision d;
    int n = 0;

    collopt_select(p, &d);
    choice[n++] = d.choice;
    while (n < most && (a = next(p, longest, choice, n)) != NULL)
        choice[n++] = (struct collopt_choice){ .algorithm = a };
    return n;
}
