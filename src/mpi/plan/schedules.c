/* Keeps schedules and predictions; see schedules.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/plan/schedules.h"
#include "mpi/comm/comm.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"
#include "select/prediction_cache.h"

enum { SCHEDULES = 64 };

struct kept {                   /* a schedule and what it was built for */
    const struct collopt_algorithm *algorithm;
    size_t value[COLLOPT_PARAMETERS];
    int segments, root;
    unsigned how;
    bool counted, commutative;
    struct collopt_schedule *schedule;
};

struct schedules {              /* of a communicator */
    struct kept list[SCHEDULES];
    int n, oldest;
    struct collopt_remembered *predictions;
};

static struct schedules *schedules_of(const struct collopt_comm *c)
{
    return collopt_part(c, COLLOPT_PART_SCHEDULES);
}

void collopt_schedules_free(struct collopt_comm *c)
{
    struct schedules *s = schedules_of(c);

    if (!s)
        return;
    for (int i = 0; i < s->n; i++)
        collopt_schedule_free(s->list[i].schedule);
    collopt_remembered_free(s->predictions);
    free(s);
    collopt_part_attach(c, COLLOPT_PART_SCHEDULES, NULL, NULL);
}

static struct schedules *make_schedules(struct collopt_comm *c)
{
    static const struct collopt_part_ops ops = { .end = collopt_schedules_free,
                                                 .shut_down = collopt_schedules_free,
                                                 .hints_changed = collopt_schedules_free };
    struct schedules *s = schedules_of(c);

    if (!s && (s = calloc(1, sizeof *s)))
        collopt_part_attach(c, COLLOPT_PART_SCHEDULES, s, &ops);
    return s;
}

static bool fits(const struct kept *k, const struct collopt_algorithm *a,
                 const struct collopt_problem *p, unsigned how)
{
    return k->algorithm == a && k->segments == p->segments && k->root == p->root && k->how == how
        && k->counted == (p->counts != NULL) && k->commutative == p->commutative
        && memcmp(k->value, p->value, sizeof k->value) == 0;
}

const struct collopt_schedule *collopt_schedule_for(struct collopt_comm *c,
                                                    const struct collopt_algorithm *a,
                                                    const struct collopt_problem *p, unsigned how)
{
    struct schedules *s = make_schedules(c);

    if (!s)
        return NULL;
    for (int i = 0; i < s->n; i++)
        if (fits(&s->list[i], a, p, how))
            return s->list[i].schedule;

    struct collopt_schedule *fresh = collopt_schedule_new(a, p, c->rank, how);

    if (!fresh)
        return NULL;

    struct kept *k = &s->list[s->n < SCHEDULES ? s->n++ : s->oldest++ % SCHEDULES];

    collopt_schedule_free(k->schedule);
    *k = (struct kept){ .algorithm = a, .segments = p->segments, .root = p->root, .how = how,
                        .counted = p->counts != NULL, .commutative = p->commutative,
                        .schedule = fresh };
    memcpy(k->value, p->value, sizeof k->value);
    return fresh;
}

struct collopt_remembered *collopt_schedules_predictions(struct collopt_comm *c)
{
    struct schedules *s = make_schedules(c);

    if (s && !s->predictions)
        s->predictions = collopt_remembered_new();
    return s ? s->predictions : NULL;
}

void collopt_schedules_forget_predictions(struct collopt_comm *c)
{
    struct schedules *s = schedules_of(c);

    if (!s)
        return;
    collopt_remembered_free(s->predictions);
    s->predictions = NULL;
}
