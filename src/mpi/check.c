/* COLLOPT_CHECK=on: before a call runs, the ranks compare what they are about to do.
 *
 * Ranks that disagree on a count, a root or an operation hang, or end with wrong sums, and neither
 * says where.  Each rank puts its call into a few numbers, the fields; one MAX over them and their
 * negatives tells every rank whether all are equal.  Only if they are not, all numbers are
 * gathered, the rank that is unlike the others is found, and it says in its own words what it has.
 * What may rightfully differ (the layout of a datatype, the address of an operation) is in no
 * field. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "mpi/adapt.h"
#include "mpi/attributes.h"
#include "mpi/comm.h"
#include "mpi/dispatch.h"
#include "mpi/host.h"
#include "mpi/plan.h"
#include "schedule/schedule.h"

/* In the order in which they are named: where the collective differs, its arguments are no news. */
enum field {
    COLLECTIVE,
    SWITCH,
    ROOT,
    COUNT,
    COUNTS,
    OPERATION,
    COMMUTES,
    ELEMENT,
    TYPE,
    TAKEN,
    DECISION,
    FIELDS
};

static const int error_class[FIELDS] = {
    [COLLECTIVE] = MPI_ERR_ARG, [SWITCH] = MPI_ERR_ARG,      [ROOT] = MPI_ERR_ROOT,
    [COUNT] = MPI_ERR_COUNT,    [COUNTS] = MPI_ERR_COUNT,    [OPERATION] = MPI_ERR_OP,
    [COMMUTES] = MPI_ERR_OP,    [ELEMENT] = MPI_ERR_TYPE,    [TYPE] = MPI_ERR_TYPE,
    [TAKEN] = MPI_ERR_ARG,      [DECISION] = MPI_ERR_INTERN,
};

/* a field of which this rank knows nothing: like whatever the others have */
static const long long any = LLONG_MIN;

/* one rank's call, as it is compared; what is gathered when ranks differ */
struct asked {
    long long field[FIELDS], world;
};

struct side {                   /* what a rank says of itself */
    const struct collopt_comm *c;
    const struct collopt_call *call;
    const struct collopt_plan *plan;
    struct collopt_facts facts;         /* size 0: none could be had */
    bool valid;                 /* an operation and a datatype that go together */
    struct asked asked;
};

struct words {
    char name[32], text[192];
};

/* ---- fields ---------------------------------------------------------------------------------- */

static long long count_at(const struct collopt_call *call, int i)
{
    return call->counts ? call->counts[i] : call->counts64[i];
}

static bool has_counts(const struct collopt_call *call)
{
    return call->collective == COLLOPT_REDUCE_SCATTER && (call->counts || call->counts64);
}

static long long hash_of(const char *text)
{
    return (long long)(collopt_hash_text(COLLOPT_HASH_START, text) >> 1);
}

static void take_counts(struct side *s)
{
    unsigned long long sum = 0;

    for (int i = 0; i < s->c->ranks; i++)
        sum += (unsigned long long)count_at(s->call, i);
    s->asked.field[COUNT] = (long long)(sum & LLONG_MAX);
    s->asked.field[COUNTS] = (long long)(collopt_counts_hash(s->call, s->c->ranks) >> 1);
}

static void take_facts(struct side *s)
{
    long long *field = s->asked.field;

    if (!s->facts.op_name)
        return;
    field[OPERATION] = s->facts.op_id;
    if (s->valid && s->facts.op_id == COLLOPT_OP_USER)
        field[COMMUTES] = s->facts.commutative;
    if (s->facts.size)
        field[ELEMENT] = (long long)s->facts.size;
    if (s->facts.type_id != COLLOPT_TYPE_NONE)
        field[TYPE] = s->facts.type_id;
}

/* The state of trials (COLLOPT_ADAPT), and the next candidate. */
static long long state_of(const struct collopt_adapted *a)
{
    bool timed;

    return (long long)(8 * collopt_adapt_calls(a)) + collopt_adapt_next(a, &timed);
}

static void take(struct side *s, int outcome)
{
    long long *field = s->asked.field;

    for (int i = 0; i < FIELDS; i++)
        field[i] = any;
    field[COLLECTIVE] = s->call->collective
        + (s->call->trial == COLLOPT_PERSISTENT) * COLLOPT_COLLECTIVES;
    field[SWITCH] = atomic_load_explicit(&collopt_switched_on, memory_order_relaxed);
    field[ROOT] = s->call->root;
    if (has_counts(s->call))
        take_counts(s);
    else if (s->call->collective != COLLOPT_REDUCE_SCATTER)
        field[COUNT] = (long long)s->call->count;
    take_facts(s);
    field[TAKEN] = outcome;
    if (outcome == MPI_SUCCESS && s->plan->adapted)
        field[DECISION] = state_of(s->plan->adapted);
    else if (outcome == MPI_SUCCESS && s->plan->chosen)
        field[DECISION] = hash_of(s->plan->chosen);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void say_taken(const struct side *s, char *text, size_t size)
{
    const char *what = "arguments that collopt can work with";

    if (s->asked.field[TAKEN] == COLLOPT_DECLINED)
        what = "arguments that only the MPI library can judge (a null buffer or handle, an "
               "operation that does not go with "
               "the datatype)";
    else if (s->asked.field[TAKEN] != MPI_SUCCESS)
        what = "no memory for a schedule";
    snprintf(text, size, "has %s", what);
}

/* INDEX: the first of the counts that differs. */
static void say(const struct side *s, enum field f, int index, struct words *w)
{
    const long long *field = s->asked.field;
    char *text = w->text;
    const size_t size = sizeof w->text;

    snprintf(w->name, sizeof w->name, "MPI%s%s", strncmp(s->call->name, "X_", 2) == 0 ? "" : "_",
             s->call->name);
    switch (f) {
    case COLLECTIVE:
        snprintf(text, size, "calls %s", w->name);
        return;
    case SWITCH:
        snprintf(text, size, "has collopt switched %s", field[f] ? "on" : "off");
        return;
    case ROOT:
        snprintf(text, size, "has root %lld", field[f]);
        return;
    case COUNT:
        snprintf(text, size, "has %lld elements%s", field[f], has_counts(s->call) ? " in all" : "");
        return;
    case COUNTS:
        snprintf(text, size, "has %lld elements for rank %d", count_at(s->call, index), index);
        return;
    case OPERATION:
        snprintf(text, size, "has %s%s",
                 s->facts.op_id == COLLOPT_OP_USER ? "an operation of its own" : "operation ",
                 s->facts.op_id == COLLOPT_OP_USER ? "" : s->facts.op_name);
        return;
    case COMMUTES:
        snprintf(text, size, "has an operation that %s",
                 field[f] ? "commutes" : "does not commute");
        return;
    case ELEMENT:
        snprintf(text, size, "has elements of %lld bytes (%s)", field[f], s->facts.type_name);
        return;
    case TYPE:
        snprintf(text, size, "has elements of type %s", s->facts.type_name);
        return;
    case TAKEN:
        say_taken(s, text, size);
        return;
    case DECISION:
        if (s->plan->adapted)
            snprintf(text, size, "is at call %llu of its trials",
                     collopt_adapt_calls(s->plan->adapted));
        else
            snprintf(text, size, "has chosen %s", s->plan->chosen);
        return;
    case FIELDS:
        return;
    }
}

/* ---- who is unlike the others ---------------------------------------------------------------- */

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

struct difference {
    /* the lowest rank that is like most of them, and the lowest that is not */
    int usual, odd;
    int odds;                   /* how many are not */
};

/* PAIR: N of them, of all ranks that know their value.  Of two values that equally many have, that
 * of the lowest rank is the usual one. */
static struct difference judge(struct pair *pair, int n)
{
    struct difference d = { 0 };
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

static struct difference find(const struct asked *all, int ranks, enum field f, struct pair *pair)
{
    int n = 0;

    for (int r = 0; r < ranks; r++)
        if (all[r].field[f] != any)
            pair[n++] = (struct pair){ all[r].field[f], r };
    return judge(pair, n);
}

/* ---- telling --------------------------------------------------------------------------------- */

/* The first index at which the odd rank's counts differ from the usual ones, known to both; ROOM is
 * for the counts. */
static int compare_counts(const struct side *s, const struct difference *d, long long *room,
                          int *index)
{
    int err, ranks = s->c->ranks;

    for (int i = 0; i < ranks && s->c->rank == d->usual; i++)
        room[i] = count_at(s->call, i);
    if ((err = PMPI_Bcast(room, ranks, MPI_LONG_LONG, d->usual, collopt_comm_of(s->c))))
        return err;
    for (*index = 0;
         *index + 1 < ranks && s->c->rank == d->odd && room[*index] == count_at(s->call, *index);)
        ++*index;
    return PMPI_Bcast(index, 1, MPI_INT, d->odd, collopt_comm_of(s->c));
}

static void name_rank(const struct side *s, const struct asked *all, int rank, char *text,
                      size_t size)
{
    bool same = true;

    for (int r = 0; r < s->c->ranks; r++)
        same = same && (all[r].world == r || all[r].world < 0);
    if (same)
        snprintf(text, size, "rank %d", rank);
    else
        snprintf(text, size, "rank %d (%lld in MPI_COMM_WORLD)", rank, all[rank].world);
}

static void tell(int ranks, const struct difference *d, const struct words w[2],
                 const char name[2][64])
{
    char more[64] = "";

    if (d->odds > 1)
        snprintf(more, sizeof more, "; %d ranks are unlike the others", d->odds);
    collopt_warn_once("%s on a communicator of %d ranks: %s %s, %s %s%s", w[0].name, ranks, name[1],
                      w[1].text, name[0], w[0].text, more);
}

/* Rank 0 of the communicator speaks: that of MPI_COMM_WORLD may not be here.  No rank goes on
 * before it has, for errors may end the job. */
static int explain(const struct side *s, enum field f, struct asked *all, struct pair *pair)
{
    struct difference d = find(all, s->c->ranks, f, pair);
    struct words w[2] = { { "", "" }, { "", "" } };
    char name[2][64];
    int err, index = 0;

    name_rank(s, all, d.usual, name[0], sizeof name[0]);
    name_rank(s, all, d.odd, name[1], sizeof name[1]);
    if (f == COUNTS && (err = compare_counts(s, &d, (long long *)all, &index)))
        return err;
    if (s->c->rank == d.usual)
        say(s, f, index, &w[0]);
    if (s->c->rank == d.odd)
        say(s, f, index, &w[1]);
    if ((err = PMPI_Bcast(&w[0], sizeof w[0], MPI_BYTE, d.usual, collopt_comm_of(s->c)))
        || (err = PMPI_Bcast(&w[1], sizeof w[1], MPI_BYTE, d.odd, collopt_comm_of(s->c))))
        return err;
    if (s->c->rank == 0)
        tell(s->c->ranks, &d, w, name);
    return PMPI_Barrier(collopt_comm_of(s->c));
}

static int gather_and_explain(struct side *s, enum field f)
{
    size_t ranks = (size_t)s->c->ranks;
    struct asked *all = malloc(ranks * sizeof *all);
    struct pair *pair = malloc(ranks * sizeof *pair);
    int world = -1, err = MPI_ERR_NO_MEM;

    if (s->c->inside)
        PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    s->asked.world = world;
    if (all && pair)
        err = PMPI_Allgather(&s->asked, sizeof *all / sizeof(long long), MPI_LONG_LONG, all,
                             sizeof *all / sizeof(long long), MPI_LONG_LONG, collopt_comm_of(s->c));
    if (err == MPI_SUCCESS)
        err = explain(s, f, all, pair);
    free(all);
    free(pair);
    return err == MPI_SUCCESS ? error_class[f] : err;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* The first field that is not alike on all ranks; FIELDS: all are. */
static int compare(const struct side *s, enum field *f)
{
    long long mine[2 * FIELDS], all[2 * FIELDS];
    int err;

    for (int i = 0; i < FIELDS; i++) {
        mine[2 * i] = s->asked.field[i];
        mine[2 * i + 1] = s->asked.field[i] == any ? any : -s->asked.field[i];
    }
    if ((err = collopt_host.Allreduce(mine, all, 2 * FIELDS, MPI_LONG_LONG, MPI_MAX,
                                      collopt_comm_of(s->c))))
        return err;
    for (*f = 0; *f < FIELDS; ++*f)
        if (all[2 * *f] != any && all[2 * *f] != -all[2 * *f + 1])
            break;
    return MPI_SUCCESS;
}

int collopt_check(struct collopt_comm *c, const struct collopt_call *call,
                  const struct collopt_plan *plan, int outcome)
{
    struct side s = { .c = c, .call = call, .plan = plan };
    MPI_Errhandler handler = collopt_quiet(collopt_comm_of(c));
    enum field f = FIELDS;
    int err;

    s.valid = collopt_facts(call->op, call->type, &s.facts);
    take(&s, outcome);
    c->busy = true;
    err = compare(&s, &f);
    if (err == MPI_SUCCESS && f != FIELDS)
        err = gather_and_explain(&s, f);
    c->busy = false;
    collopt_as_before(collopt_comm_of(c), handler);
    return err;
}
