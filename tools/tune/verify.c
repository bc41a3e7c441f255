/* The rules that are about to be written against the choice without them, in pairs in one job: the
 * greatest of several figures with noise is too good, so a rule may be slower than what it
 * replaces.  Where it is, beyond the noise and by more than 5%, what is chosen without rules
 * stays. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/verify.h"
#include "base/text.h"
#include "schedule/problem.h"
#include "tune/cells.h"
#include "tune/job.h"
#include "tune/measure.h"
#include "tune/options.h"
#include "tune/series.h"
#include "tune/text.h"

static const double slower = 1 / 1.05;          /* times as fast */
static const double share = 0.25;               /* of --time, for all; */
static const double most_seconds = 1;           /* and for one cell */

struct verified {
    int same, compared, worse;
    double logs;
};

static bool at_point(const struct tune_cell *c, const struct tune_series *s,
                     const struct tune_point *p)
{
    return c->collective == s->collective && c->bytes == p->bytes
        && strcmp(tune_operations[c->operation].kind, s->kind) == 0;
}

static bool differs(const struct tune_point *p)
{
    return strcmp(p->chosen.name, p->plain) != 0;
}

/* Calls EACH for the cells that have a rule, until it says no. */
static bool walk(struct tune_cells *all, const struct tune_series *list, int n,
                 bool (*each)(struct tune_cell *c, const struct tune_point *p, void *data),
                 void *data)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < list[i].points; k++)
            for (int c = 0; c < all->n; c++)
                if (at_point(&all->cell[c], &list[i], &list[i].point[k])
                    && !each(&all->cell[c], &list[i].point[k], data))
                    return false;
    return true;
}

static bool count(struct tune_cell *c, const struct tune_point *p, void *data)
{
    (void)c;
    *(int *)data += differs(p);
    return true;
}

struct asking {
    const struct tune_options *o;
    struct tune_job *job;
    double seconds;             /* for each */
    struct verified sum;
};

static void judge(struct tune_cell *c, const struct tune_point *p, double ratio, double low,
                  double high, struct asking *a)
{
    struct verified *sum = &a->sum;
    char size[24];

    sum->compared++;
    sum->logs += log(ratio);
    c->worse = ratio < slower && high < 1;
    if (!c->worse)
        return;
    sum->worse++;
    collopt_size_text(c->bytes, size, sizeof size);
    tune_tell(a->o,
              "%s, %s, %s: %s is %.2f (%.2f-%.2f) times as fast as %s, the choice without rules, "
              "which stays\n",
              collopt_collective_names[c->collective], tune_operations[c->operation].name, size,
              p->chosen.name, ratio, low, high, p->plain);
}

/* A result that is wrong was told when it was measured first. */
static bool ask(struct tune_cell *c, const struct tune_point *p, void *data)
{
    struct asking *a = data;
    char question[512], result[32];
    double ratio, low, high;
    const char *answer;

    if (!differs(p)) {
        a->sum.same++;
        return true;
    }
    snprintf(question, sizeof question, "verify %s %s double %zu %s %.6f",
             collopt_collective_names[c->collective], tune_operations[c->operation].name, c->bytes,
             p->chosen.name, a->seconds);
    answer = tune_ask(a->job, question);
    if (!answer)
        return false;
    if (sscanf(answer, "verify %*s %*s %*s %*s %lf %lf %lf %*d %31s", &ratio, &low, &high, result)
            == 4
        && strcmp(result, "correct") == 0 && ratio > 0)
        judge(c, p, ratio, low, high, a);
    return true;
}

static void tell(const struct verified *sum, const struct tune_options *o)
{
    int cells = sum->same + sum->compared;

    tune_tell(o,
              "verified: %d cell%s, in %d of which the rules differ from the choice without them; "
              "there they are %.2f times as "
              "fast, in all %.2f times (geometric means); slower: %d\n",
              cells, cells == 1 ? "" : "s", sum->compared,
              sum->compared ? exp(sum->logs / sum->compared) : 1,
              cells ? exp(sum->logs / cells) : 1, sum->worse);
}

int tune_verify(struct tune_cells *all, const struct tune_options *o)
{
    int n, differ = 0, status = 0;
    struct tune_series *list = tune_series(all, o, &n);
    struct tune_machine where;
    struct tune_job job;
    struct asking a = { .o = o, .job = &job };
    bool well;

    walk(all, list, n, count, &differ);
    if (differ > 0)
        status = tune_begin(&job, &where, o);
    if (status == 0) {
        a.seconds = differ ? share * o->seconds / differ : 0;
        a.seconds = a.seconds < most_seconds ? a.seconds : most_seconds;
        well = walk(all, list, n, ask, &a);
        if (differ > 0)
            tune_job_end(&job, !well);
        tell(&a.sum, o);
        if (!well)
            tune_say(
                "%s",
                tune_interrupted()
                    ? "interrupted while the rules were verified; the same command does it again"
                    : "the job ended while the rules were verified");
        status = well ? 0 : tune_interrupted() ? TUNE_INTERRUPTED : TUNE_FAILED;
    }
    free(list);
    return status;
}
