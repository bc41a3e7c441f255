/* COLLOPT_ADAPT=on: trials (select/trials.h) of one communicator, one for each kind of problem that
 * it has met.
 *
 * A kind is what the choice may depend on: the collective, whether the operation commutes and
 * rounds, the size class of the vector, for Reduce_scatter whether the counts differ much, for
 * Reduce the root: a rank that is root now and then would not know which of its times to compare.
 * All of it is alike on all ranks, and so is the number of the call of each kind, by which the
 * trials go on.  The times are not: they are agreed on before a call whose number says so. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "mpi/plan/tuning.h"
#include "base/log.h"
#include "base/text.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/greatest.h"
#include "mpi/host/host.h"
#include "report/counters.h"
#include "schedule/problem.h"
#include "select/candidates.h"
#include "select/tuning_results.h"
#include "select/trials.h"
#include "settings/rules.h"
#include "topology/topology.h"

struct collopt_adapted {
    struct collopt_adapted *next;
    enum collopt_collective collective;
    unsigned kind;
    bool uneven;
    int root, size_class;
    struct collopt_trials trials;
};

static struct collopt_adapted *first_of(const struct collopt_comm *c)
{
    return collopt_part(c, COLLOPT_PART_TUNING);
}

static bool uneven(const struct collopt_problem *p)
{
    for (int r = 0; r < p->ranks && p->counts; r++)
        if (p->counts[r] / 4 > p->count / (size_t)p->ranks)
            return true;
    return false;
}

static unsigned kind_of(const struct collopt_problem *p)
{
    return !p->commutative ? COLLOPT_KIND_ORDERED
        : p->exact         ? COLLOPT_KIND_EXACT
                           : COLLOPT_KIND_ROUNDING;
}

static bool same_kind(const struct collopt_adapted *a, const struct collopt_adapted *b)
{
    return a->collective == b->collective && a->kind == b->kind && a->uneven == b->uneven
        && a->root == b->root && a->size_class == b->size_class;
}

static void choose_candidates(struct collopt_adapted *a, const struct collopt_problem *p)
{
    struct collopt_choice choice[COLLOPT_TRIED];
    int n = collopt_candidates(p, choice, COLLOPT_TRIED - 1);
    bool host = false;

    for (int i = 0; i < n; i++)
        host = host || !choice[i].algorithm;
    if (!host)
        choice[n++] = (struct collopt_choice){ .algorithm = NULL };
    collopt_trials_begin(&a->trials, n, choice);
}

/* ---- going on -------------------------------------------------------------------------------- */

static void say_settled(const struct collopt_comm *c, const struct collopt_adapted *a)
{
    const struct collopt_trials *t = &a->trials;
    char text[2048], choice[COLLOPT_CHOICE_TEXT], bytes[24];
    size_t used;

    collopt_size_text((size_t)1 << (a->size_class < 63 ? a->size_class : 63), bytes, sizeof bytes);
    used = (size_t)snprintf(text, sizeof text, "%s, %d ranks, up to %s, %s: tried",
                            collopt_collective_names[a->collective], c->ranks, bytes,
                            collopt_kind_name(a->kind));
    for (int i = 0; i < t->n && used < sizeof text; i++) {
        collopt_choice_text(&t->choice[i], choice, sizeof choice);
        used += (size_t)snprintf(text + used, sizeof text - used, " %s %lld.%02d us%s,", choice,
                                 (long long)(t->time[i] / 1000), (int)(t->time[i] % 1000 / 10),
                                 t->dropped[i] ? " at a first look" : "");
    }
    collopt_choice_text(&t->choice[t->chosen], choice, sizeof choice);
    collopt_say(COLLOPT_LOG_DECIDE, "%s and stays with %s", text, choice);
}

static int greatest_times(struct collopt_comm *c, int64_t times[COLLOPT_TRIED])
{
    long long mine[COLLOPT_TRIED], greatest[COLLOPT_TRIED];
    int err;

    for (int i = 0; i < COLLOPT_TRIED; i++)
        mine[i] = times[i];
    if ((err = collopt_greatest(c, mine, greatest, COLLOPT_TRIED)))
        return err;
    for (int i = 0; i < COLLOPT_TRIED; i++)
        times[i] = greatest[i];
    return MPI_SUCCESS;
}

int collopt_adapt_agree(struct collopt_comm *c, struct collopt_adapted *a)
{
    bool settled = a->trials.state == COLLOPT_SETTLED;
    int64_t times[COLLOPT_TRIED];
    int err;

    if (!collopt_trials_due(&a->trials))
        return MPI_SUCCESS;
    collopt_trials_give(&a->trials, times);
    if ((err = greatest_times(c, times)))
        return err;
    collopt_trials_take(&a->trials, times);
    if (!settled && a->trials.state == COLLOPT_SETTLED)
        say_settled(c, a);
    return MPI_SUCCESS;
}

int collopt_adapt_next(const struct collopt_adapted *a, bool *timed)
{
    return collopt_trials_next(&a->trials, timed);
}

void collopt_adapt_begins(struct collopt_adapted *a)
{
    collopt_trials_done(&a->trials, COLLOPT_NEVER_ENDED);
}

void collopt_adapt_ends(struct collopt_adapted *a, int candidate, int64_t time)
{
    collopt_trials_ended(&a->trials, candidate, time);
}

const struct collopt_choice *collopt_adapt_choice(const struct collopt_adapted *a, int candidate)
{
    return &a->trials.choice[candidate];
}

unsigned long long collopt_adapt_calls(const struct collopt_adapted *a)
{
    return a->trials.calls;
}

/* ---- what was learnt ------------------------------------------------------------------------- */

static void tell(const struct collopt_comm *c, const struct collopt_adapted *a, int candidate)
{
    const struct collopt_topology *t = &c->map.topology;
    bool one_node = t->nodes <= 1 || t->largest == 0;
    struct collopt_tuning_result l = {
        .collective = (int32_t)a->collective,
        .ranks = c->ranks,
        .nodes = one_node ? 1 : t->nodes,
        .ppn = one_node ? c->ranks : t->largest,
        .size_class = a->size_class,
        .kind = a->kind,
        .uneven = a->uneven,
        .samples = 1,
        .chosen = candidate == a->trials.chosen,
        .time = (uint64_t)a->trials.time[candidate],
    };

    if (l.time == 0)
        return;
    if (collopt_choice_text(&a->trials.choice[candidate], l.algorithm, sizeof l.algorithm)
        < (int)sizeof l.algorithm)
        collopt_tuning_result_add(&l);
}

static void report(struct collopt_comm *c)
{
    for (const struct collopt_adapted *a = first_of(c); a; a = a->next)
        for (int i = 0; i < a->trials.n; i++)
            tell(c, a, i);
}

static void free_all(struct collopt_comm *c)
{
    for (struct collopt_adapted *a = first_of(c), *next; a; a = next) {
        next = a->next;
        free(a);
    }
    collopt_part_attach(c, COLLOPT_PART_TUNING, NULL, NULL);
}

struct collopt_adapted *collopt_adapted_for(struct collopt_comm *c, const struct collopt_problem *p)
{
    static const struct collopt_part_ops ops = { .end = free_all, .report = report };
    struct collopt_adapted key = { .collective = p->collective,
                                   .kind = kind_of(p),
                                   .uneven = uneven(p),
                                   .root = p->root,
                                   .size_class = collopt_size_class(p->count * p->size) },
                           *a;

    for (a = first_of(c); a; a = a->next)
        if (same_kind(a, &key))
            return a;
    if (!(a = malloc(sizeof *a)))
        return NULL;
    *a = key;
    choose_candidates(a, p);
    a->next = first_of(c);
    collopt_part_attach(c, COLLOPT_PART_TUNING, a, &ops);
    return a;
}
