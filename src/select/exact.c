/* Contributions in one fold, or exact accumulators on the way; see exact.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "select/exact.h"
#include "base/text.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "model/choose.h"
#include "model/model.h"
#include "schedule/problem.h"
#include "select/decision.h"
#include "select/prediction_cache.h"
#include "select/reproducible.h"

/* Seconds that an element's row takes to be written, and to be rounded. */
static const double loading = 15e-9, rounding = 85e-9;

/* A replacement of the table's choice must take at most this part of its time. */
static const double gain = 0.9;

/* Elements in the longest result of a rank. */
static size_t results_of(const struct collopt_problem *p)
{
    return collopt_scatters(p->collective) ? p->count / (size_t)p->ranks + 1 : p->count;
}

static double predict(const struct collopt_problem *p, const struct collopt_choice *choice)
{
    struct collopt_problem with = *p;

    collopt_set_parameters(&with, choice);
    return collopt_model(choice->algorithm, &with);
}

/* The table knows no placement.  Where it gathers, exchanging parts may be faster there; it takes
 * less scratch. */
static double choose_fold(const struct collopt_problem *p, struct collopt_decision *d)
{
    double seconds = predict(p, &d->choice);
    struct collopt_candidate best;

    if (collopt_choose(p, 1, &best) == 0 || strcmp(best.choice.algorithm->name, "alltoall") != 0
        || best.seconds >= gain * seconds)
        return seconds;
    d->choice = best.choice;
    return best.seconds;
}

static double predict_rows(const struct collopt_problem *rows, const struct collopt_candidate *c)
{
    return c->seconds + loading * (double)rows->count + rounding * (double)results_of(rows);
}

/* A fold, unless rows are faster. */
static bool choose(const struct collopt_problem *p, struct collopt_decision *d)
{
    struct collopt_problem rows;
    struct collopt_candidate best;
    char fold[32], fastest[32];
    double seconds;

    if (!collopt_select_reproducible(p, d))
        return false;
    if (p->ranks == 1 || p->row == 0)
        return true;
    seconds = choose_fold(p, d);
    if (!collopt_problem_in_rows(p, &rows) || !collopt_choose(&rows, 1, &best))
        return true;
    d->rows = predict_rows(&rows, &best) < gain * seconds;
    collopt_seconds_text(seconds, fold, sizeof fold);
    collopt_seconds_text(predict_rows(&rows, &best), fastest, sizeof fastest);
    if (!d->rows) {
        snprintf(d->why, sizeof d->why, "exact, predicted %s; %s in exact accumulators %s", fold,
                 best.choice.algorithm->name, fastest);
        return true;
    }
    snprintf(d->why, sizeof d->why, "exact, predicted %s in exact accumulators; %s %s", fastest,
             d->choice.algorithm->name, fold);
    d->choice = best.choice;
    return true;
}

static bool serves(const struct collopt_problem *p, const struct collopt_decision *d)
{
    struct collopt_problem rows;

    if (!d->rows)
        return collopt_choice_usable(&d->choice, p, NULL);
    return collopt_problem_in_rows(p, &rows) && collopt_choice_usable(&d->choice, &rows, NULL);
}

bool collopt_select_exact(const struct collopt_problem *p, struct collopt_remembered *r,
                          struct collopt_decision *d)
{
    struct collopt_problem rounded = *p;
    const struct collopt_decision *known;

    rounded.count = collopt_rounded(p);
    known = collopt_recall(r, &rounded);
    if (known)
        *d = *known;
    else if (choose(&rounded, d))
        collopt_remember(r, &rounded, d);
    else
        return false;
    if (serves(p, d))
        return true;
    d->rows = false;
    return collopt_select_reproducible(p, d);
}

bool collopt_select_given(const struct collopt_choice *choice, const struct collopt_problem *p,
                          struct collopt_decision *d, const char **why)
{
    struct collopt_problem rows;

    d->choice = *choice;
    d->rows = false;
    if (collopt_choice_usable(choice, p, why))
        return true;
    d->rows = collopt_problem_in_rows(p, &rows) && collopt_choice_usable(choice, &rows, why);
    return d->rows;
}

const char *collopt_rows_text(const struct collopt_decision *d)
{
    return d->rows ? ", in exact accumulators" : "";
}
