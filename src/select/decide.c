/* Tries the sources of a decision in order; see decide.h. */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "select/decide.h"
#include "base/log.h"
#include "base/text.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "model/choose.h"
#include "model/host_times.h"
#include "model/machine.h"
#include "model/model.h"
#include "model/offload.h"
#include "schedule/problem.h"
#include "select/exact.h"
#include "select/measured.h"
#include "select/prediction_cache.h"
#include "select/reproducible.h"
#include "settings/rules.h"
#include "settings/settings.h"
#include "topology/topology.h"

/* ---- by the model ---------------------------------------------------------------------------- */

/* The host, if it was measured to be faster than FIRST, the best of ours. */
static bool by_host(const struct collopt_problem *p, const struct collopt_candidate *first,
                    struct collopt_decision *d)
{
    const struct collopt_machine *m = collopt_machine_of(p);
    double seconds = collopt_host_measured(m->host_times, m->mpi, p);
    char theirs[32], ours[32];

    if (seconds == 0 || seconds >= collopt_host_share * first->seconds)
        return false;
    collopt_seconds_text(seconds, theirs, sizeof theirs);
    collopt_seconds_text(first->seconds, ours, sizeof ours);
    d->choice = (struct collopt_choice){ .algorithm = NULL };
    snprintf(d->why, sizeof d->why, "measured %s; first own, %s, predicted %s", theirs,
             first->choice.algorithm->name, ours);
    return true;
}

static bool by_model(const struct collopt_problem *p, struct collopt_decision *d)
{
    struct collopt_candidate best[2];
    int n = collopt_choose(p, 2, best);
    char first[32], second[32];

    if (n == 0)
        return false;
    if (by_host(p, &best[0], d))
        return true;
    d->choice = best[0].choice;
    collopt_seconds_text(best[0].seconds, first, sizeof first);
    snprintf(d->why, sizeof d->why, "predicted %s", first);
    if (n > 1) {
        collopt_seconds_text(best[1].seconds, second, sizeof second);
        snprintf(d->why, sizeof d->why, "predicted %s; %s %s", first,
                 best[1].choice.algorithm->name, second);
    }
    return true;
}

/* ---- what the user forced -------------------------------------------------------------------- */

struct forced {
    bool given;
    struct collopt_choice choice;
    atomic_bool refused_once;
};

static struct forced forced[COLLOPT_COLLECTIVES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* settings.c has warned of what cannot be parsed. */
static void read_forced(void)
{
    char message[256];

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        const char *text = collopt_settings()->force[c];

        forced[c].given = text
            && collopt_parse_choice(text, (enum collopt_collective)c, &forced[c].choice, message,
                                    sizeof message);
    }
}

static void name_variable(enum collopt_collective c, char *name, size_t size)
{
    snprintf(name, size, "COLLOPT_%s", collopt_collective_names[c]);
    for (char *s = name; *s; s++)
        if (*s >= 'a' && *s <= 'z')
            *s += 'A' - 'a';
}

static bool as_forced(const struct collopt_problem *p, struct collopt_decision *d)
{
    struct forced *f = &forced[p->collective];
    char variable[48];
    const char *why;

    if (!f->given)
        return false;
    name_variable(p->collective, variable, sizeof variable);
    if (!collopt_select_given(&f->choice, p, d, &why)) {
        if (!atomic_exchange(&f->refused_once, true))
            collopt_warn("%s=%s cannot serve %d ranks, %zu bytes: %s; the next choice is used",
                         variable, collopt_settings()->force[p->collective], p->ranks,
                         p->count * p->size, why);
        return false;
    }
    snprintf(d->why, sizeof d->why, "forced by %s%s", variable, collopt_rows_text(d));
    return true;
}

/* ---- what rules say -------------------------------------------------------------------------- */

/* Shortens a long name to its end, which says more. */
static void name_rule(const char *what, const struct collopt_rules *rules,
                      const struct collopt_rule *r, char *text, size_t size)
{
    enum { SHOWN = 100 };
    size_t n = strlen(rules->file);

    snprintf(text, size, "%s %s%s:%d", what, n > SHOWN ? "..." : "",
             rules->file + (n > SHOWN ? n - SHOWN : 0), r->line);
}

/* WHAT: "rule", or "measured" for those that come with collopt. */
static bool by_rules(const char *what, const struct collopt_rules *rules,
                     const struct collopt_problem *p, struct collopt_decision *d)
{
    const struct collopt_rule *r = NULL;
    char name[160];
    const char *why;

    while (rules && (r = collopt_rules_next(rules, p, r)) != NULL) {
        if (r->automatic)
            return false;
        if (!r->choice.algorithm || collopt_choice_usable(&r->choice, p, &why)) {
            d->choice = r->choice;
            name_rule(what, rules, r, d->why, sizeof d->why);
            return true;
        }
        name_rule(what, rules, r, name, sizeof name);
        collopt_say(COLLOPT_LOG_DECIDE,
                    "%s, %s, cannot serve %s of %d ranks, %zu bytes: %s; the next line that "
                    "matches is used",
                    name, r->choice.algorithm->name, collopt_collective_names[p->collective],
                    p->ranks, p->count * p->size, why);
    }
    return false;
}

/* Inside a node nothing is faster than its memory. */
static bool by_offload(const struct collopt_problem *p, struct collopt_decision *d)
{
    const struct collopt_offload *o = p->machine ? p->machine->offload : NULL;

    if (!o || p->topology->nodes < 2 || !collopt_offload_serves(o, p))
        return false;
    d->choice = (struct collopt_choice){ .algorithm = NULL };
    d->offloaded = true;
    snprintf(d->why, sizeof d->why, "between nodes, %s", o->name);
    return true;
}

static bool by_measurement(const struct collopt_problem *p, struct collopt_decision *d)
{
    if (!collopt_settings()->machine && collopt_long_over_tcp(p, &d->choice)) {
        snprintf(d->why, sizeof d->why, "long parts over TCP");
        return true;
    }
    return p->machine && by_rules("measured", p->machine->measured, p, d);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool predict(const struct collopt_problem *p, struct collopt_remembered *r,
                    struct collopt_decision *d)
{
    const struct collopt_decision *known = collopt_recall(r, p);

    if (known) {
        *d = *known;
        return true;
    }
    if (!by_model(p, d))
        return false;
    collopt_remember(r, p, d);
    return true;
}

static bool by_prediction(const struct collopt_problem *p, struct collopt_remembered *r,
                          struct collopt_decision *d)
{
    struct collopt_problem rounded = *p;

    rounded.count = collopt_rounded(p);
    return (predict(&rounded, r, d)
            && (!d->choice.algorithm || collopt_choice_usable(&d->choice, p, NULL)))
        || by_model(p, d);
}

void collopt_select_again(const struct collopt_problem *p, struct collopt_remembered *r,
                          struct collopt_decision *d)
{
    pthread_once(&once, read_forced);
    d->open = d->offloaded = d->rows = false;
    if (as_forced(p, d) || (p->once && collopt_select_exact(p, r, d)))
        return;
    if (p->anywhere ? collopt_select_reproducible(p, d)
                    : by_rules("rule", collopt_settings()->rules, p, d))
        return;
    d->open = !p->anywhere;
    if (!p->anywhere && (by_offload(p, d) || by_measurement(p, d) || by_prediction(p, r, d)))
        return;
    d->choice = (struct collopt_choice){ 0 };
    snprintf(d->why, sizeof d->why, "no algorithm here can serve this");
}

void collopt_select(const struct collopt_problem *p, struct collopt_decision *d)
{
    collopt_select_again(p, NULL, d);
}
