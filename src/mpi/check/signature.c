/* Describes calls, finds the rank whose call differs, and writes the message; see signature.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/check/signature.h"
#include "base/hash.h"
#include "base/log.h"
#include "mpi/comm/comm.h"
#include "mpi/host/attributes.h"
#include "mpi/host/call.h"
#include "mpi/node/process.h"
#include "mpi/plan/plan.h"
#include "mpi/plan/tuning.h"
#include "schedule/problem.h"

static const int error_class[COLLOPT_FIELDS] = {
    [COLLOPT_FIELD_COLLECTIVE] = MPI_ERR_ARG, [COLLOPT_FIELD_SWITCH] = MPI_ERR_ARG,
    [COLLOPT_FIELD_ROOT] = MPI_ERR_ROOT,      [COLLOPT_FIELD_COUNT] = MPI_ERR_COUNT,
    [COLLOPT_FIELD_COUNTS] = MPI_ERR_COUNT,   [COLLOPT_FIELD_OPERATION] = MPI_ERR_OP,
    [COLLOPT_FIELD_COMMUTES] = MPI_ERR_OP,    [COLLOPT_FIELD_ELEMENT] = MPI_ERR_TYPE,
    [COLLOPT_FIELD_TYPE] = MPI_ERR_TYPE,      [COLLOPT_FIELD_TAKEN] = MPI_ERR_ARG,
    [COLLOPT_FIELD_DECISION] = MPI_ERR_INTERN,
};

int collopt_signature_error(enum collopt_signature_field field)
{
    return error_class[field];
}

/* ---- fields and names ------------------------------------------------------------------------ */

static long long hash_of(const char *text)
{
    return (long long)(collopt_hash_text(COLLOPT_HASH_START, text) >> 1);
}

static void take_counts(struct collopt_signature *a, const struct collopt_call *call, int ranks)
{
    unsigned long long sum = 0;

    for (int i = 0; i < ranks; i++) {
        sum += (unsigned long long)(long long)collopt_call_count(call, i);
        if (i < COLLOPT_SIGNATURE_COUNTS)
            a->counts[i] = (long long)collopt_call_count(call, i);
    }
    a->field[COLLOPT_FIELD_COUNT] = (long long)(sum & LLONG_MAX);
    a->field[COLLOPT_FIELD_COUNTS] = (long long)(collopt_call_key(call, ranks) >> 1);
}

static void take_facts(struct collopt_signature *a, const struct collopt_call *call)
{
    struct collopt_facts f = { .size = 0 };
    bool valid = collopt_facts(call->op, call->type, &f);       /* the two go together */

    if (!f.op_name)
        return;
    a->field[COLLOPT_FIELD_OPERATION] = f.op_id;
    if (valid && f.op_id == COLLOPT_OP_USER)
        a->field[COLLOPT_FIELD_COMMUTES] = f.commutative;
    if (f.size)
        a->field[COLLOPT_FIELD_ELEMENT] = (long long)f.size;
    if (f.type_id != COLLOPT_TYPE_NONE)
        a->field[COLLOPT_FIELD_TYPE] = f.type_id;
    snprintf(a->op, sizeof a->op, "%s", f.op_name);
    snprintf(a->type, sizeof a->type, "%s", f.type_name ? f.type_name : "");
}

/* One number for the state of trials (COLLOPT_ADAPT) and the next candidate. */
enum { CANDIDATES = 8 };

static long long state_of(const struct collopt_adapted *adapted)
{
    bool timed;

    return (long long)(CANDIDATES * collopt_adapt_calls(adapted))
        + collopt_adapt_next(adapted, &timed);
}

static void take_decision(struct collopt_signature *a, const struct collopt_plan *plan,
                          const char *chosen)
{
    if (plan && plan->adapted) {
        a->field[COLLOPT_FIELD_DECISION] = state_of(plan->adapted);
    } else if (chosen) {
        a->field[COLLOPT_FIELD_DECISION] = hash_of(chosen);
        snprintf(a->chosen, sizeof a->chosen, "%s", chosen);
    }
}

static long long world_rank(const struct collopt_comm *c)
{
    int rank = -1;

    if (c->inside)
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void collopt_signature_take(struct collopt_signature *a, struct collopt_comm *c,
                            const struct collopt_call *call, enum collopt_outcome outcome,
                            const struct collopt_plan *plan, const char *chosen)
{
    memset(a, 0, sizeof *a);
    for (int i = 0; i < COLLOPT_FIELDS; i++)
        a->field[i] = COLLOPT_FIELD_ANY;
    a->world = world_rank(c);
    snprintf(a->name, sizeof a->name, "MPI%s%s", strncmp(call->name, "X_", 2) == 0 ? "" : "_",
             call->name);
    /* nonblocking calls are never compared with others */
    a->field[COLLOPT_FIELD_COLLECTIVE] = call->collective
        + (call->mode == COLLOPT_PERSISTENT) * COLLOPT_COLLECTIVES;
    a->field[COLLOPT_FIELD_SWITCH] = !collopt_is_off();
    a->field[COLLOPT_FIELD_ROOT] = call->root;
    if (collopt_call_scatters(call) && call->counts)
        take_counts(a, call, c->ranks);
    else if (call->collective != COLLOPT_REDUCE_SCATTER)
        a->field[COLLOPT_FIELD_COUNT] = (long long)call->count;
    take_facts(a, call);
    a->field[COLLOPT_FIELD_TAKEN] = outcome;
    if (outcome == COLLOPT_RUN)
        take_decision(a, plan, chosen);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void say_counts(const struct collopt_signature *a, int ranks, int index, char *text,
                       size_t size)
{
    size_t n;

    if (index >= 0) {
        snprintf(text, size, "has %lld elements for rank %d", a->counts[0], index);
        return;
    }
    n = (size_t)snprintf(text, size, "has counts %lld", a->counts[0]);
    for (int i = 1; i < ranks && i < COLLOPT_SIGNATURE_COUNTS && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, ", %lld", a->counts[i]);
    if (ranks > COLLOPT_SIGNATURE_COUNTS && n < size)       /* those left out may differ */
        snprintf(text + n, size - n, ", ... (hash %llx)",
                 (unsigned long long)a->field[COLLOPT_FIELD_COUNTS]);
}

static void say_taken(const struct collopt_signature *a, char *text, size_t size)
{
    const char *what = "arguments that collopt can work with";

    if (a->field[COLLOPT_FIELD_TAKEN] == COLLOPT_FALL_BACK)
        what = "arguments that only the MPI library can judge (a null buffer or handle, an "
               "operation that does not go with "
               "the datatype)";
    else if (a->field[COLLOPT_FIELD_TAKEN] == COLLOPT_FAILED)
        what = "no memory for a schedule";
    snprintf(text, size, "has %s", what);
}

static void say_decision(const struct collopt_signature *a, char *text, size_t size)
{
    if (*a->chosen)
        snprintf(text, size, "has chosen %s", a->chosen);
    else
        snprintf(text, size, "is at call %lld of its trials",
                 a->field[COLLOPT_FIELD_DECISION] / CANDIDATES);
}

/* INDEX: see struct collopt_difference. */
static void say(const struct collopt_signature *a, enum collopt_signature_field f, int ranks,
                int index, char *text, size_t size)
{
    long long value = a->field[f];
    bool own = a->field[COLLOPT_FIELD_OPERATION] == COLLOPT_OP_USER;

    switch (f) {
    case COLLOPT_FIELD_COLLECTIVE:
        snprintf(text, size, "calls %s", a->name);
        return;
    case COLLOPT_FIELD_SWITCH:
        snprintf(text, size, "has collopt switched %s", value ? "on" : "off");
        return;
    case COLLOPT_FIELD_ROOT:
        snprintf(text, size, "has root %lld", value);
        return;
    case COLLOPT_FIELD_COUNT:
        snprintf(text, size, "has %lld elements%s", value,
                 a->field[COLLOPT_FIELD_COUNTS] != COLLOPT_FIELD_ANY ? " in all" : "");
        return;
    case COLLOPT_FIELD_COUNTS:
        say_counts(a, ranks, index, text, size);
        return;
    case COLLOPT_FIELD_OPERATION:
        snprintf(text, size, "has %s%s", own ? "an operation of its own" : "operation ",
                 own ? "" : a->op);
        return;
    case COLLOPT_FIELD_COMMUTES:
        snprintf(text, size, "has an operation that %s", value ? "commutes" : "does not commute");
        return;
    case COLLOPT_FIELD_ELEMENT:
        snprintf(text, size, "has elements of %lld bytes (%s)", value, a->type);
        return;
    case COLLOPT_FIELD_TYPE:
        snprintf(text, size, "has elements of type %s", a->type);
        return;
    case COLLOPT_FIELD_TAKEN:
        say_taken(a, text, size);
        return;
    case COLLOPT_FIELD_DECISION:
        say_decision(a, text, size);
        return;
    case COLLOPT_FIELDS:
        return;
    }
}

/* ---- who is unlike the others ---------------------------------------------------------------- */

enum collopt_signature_field collopt_signatures_differ(const struct collopt_signature *all,
                                                       int ranks)
{
    for (int f = 0; f < COLLOPT_FIELDS; f++) {
        long long known = COLLOPT_FIELD_ANY;

        for (int r = 0; r < ranks; r++) {
            long long value = all[r].field[f];

            if (value == COLLOPT_FIELD_ANY)
                continue;
            if (known != COLLOPT_FIELD_ANY && value != known)
                return (enum collopt_signature_field)f;
            known = value;
        }
    }
    return COLLOPT_FIELDS;
}

struct pair {
    long long value;
    int rank;
};

static int by_value(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->rank > y->rank) - (x->rank < y->rank);
}

/* PAIR has the N ranks that know their value.  If two values are equally frequent, that of the
 * lowest rank is the usual one. */
static struct collopt_difference judge(struct pair *pair, int n)
{
    struct collopt_difference d = { .index = -1 };
    int most = 0, from = 0;

    qsort(pair, (size_t)n, sizeof *pair, by_value);
    for (int i = 0, begin = 0; i < n; i++) {
        if (pair[i].value != pair[begin].value)
            begin = i;
        if (i + 1 - begin > most || (i + 1 - begin == most && pair[begin].rank < pair[from].rank)) {
            most = i + 1 - begin;
            from = begin;
        }
    }
    d.usual = pair[from].rank;
    d.odd = INT_MAX;
    d.odds = n - most;
    for (int i = 0; i < n; i++)
        if ((i < from || i >= from + most) && pair[i].rank < d.odd)
            d.odd = pair[i].rank;
    return d;
}

int collopt_find_odd(const struct collopt_signature *all, int ranks,
                     enum collopt_signature_field field, struct collopt_difference *d)
{
    struct pair *pair = malloc((size_t)ranks * sizeof *pair);
    int n = 0;

    if (!pair)
        return MPI_ERR_NO_MEM;
    for (int r = 0; r < ranks; r++)
        if (all[r].field[field] != COLLOPT_FIELD_ANY)
            pair[n++] = (struct pair){ all[r].field[field], r };
    *d = judge(pair, n);
    free(pair);
    return MPI_SUCCESS;
}

/* ---- telling --------------------------------------------------------------------------------- */

static void name_rank(const struct collopt_signature *all, int ranks, int rank, char *text,
                      size_t size)
{
    bool same = true;

    for (int r = 0; r < ranks; r++)
        same = same && (all[r].world == r || all[r].world < 0);
    if (same)
        snprintf(text, size, "rank %d", rank);
    else
        snprintf(text, size, "rank %d (%lld in MPI_COMM_WORLD)", rank, all[rank].world);
}

void collopt_tell_odd(const struct collopt_signature *all, int ranks,
                      enum collopt_signature_field field, const struct collopt_difference *d)
{
    char more[64] = "", words[2][192], name[2][64];

    for (int i = 0; i < 2; i++) {
        int rank = i == 0 ? d->odd : d->usual;

        name_rank(all, ranks, rank, name[i], sizeof name[i]);
        say(&all[rank], field, ranks, d->index, words[i], sizeof words[i]);
    }
    if (d->odds > 1)
        snprintf(more, sizeof more, "; %d ranks are unlike the others", d->odds);
    collopt_warn_once("%s on a communicator of %d ranks: %s %s, %s %s%s", all[d->usual].name, ranks,
                      name[0], words[0], name[1], words[1], more);
}
