/* Which algorithms are worth a trial: the one that would be chosen, then the others by the times
 * that are predicted for them. */
#include "config.h"

#include "select/candidates.h"
#include "catalogue/choice.h"
#include "model/choose.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "select/decide.h"

static const double hopeless = 3;       /* a candidate is dropped if it takes so many times the
                                         * least predicted time */

enum { LOOKED_AT = 16 };

static bool is_among(const struct collopt_algorithm *a, const struct collopt_choice *choice, int n)
{
    for (int i = 0; i < n; i++)
        if (choice[i].algorithm == a)
            return true;
    return false;
}

int collopt_candidates(const struct collopt_problem *p, struct collopt_choice *choice, int most)
{
    struct collopt_candidate best[LOOKED_AT];
    struct collopt_decision d;
    int found = collopt_choose(p, LOOKED_AT, best), n = 0;

    collopt_select(p, &d);
    choice[n++] = d.choice;
    for (int i = 0; i < found && n < most; i++)
        if (!is_among(best[i].choice.algorithm, choice, n)
            && best[i].seconds <= hopeless * best[0].seconds)
            choice[n++] = best[i].choice;
    return n;
}
