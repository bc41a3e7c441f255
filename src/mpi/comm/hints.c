/* Info keys: collopt_allreduce=ring on a communicator says what COLLOPT_ALLREDUCE says for all, and
 * goes before it.
 *
 * Neither host keeps a key that it does not know, so they are read where they are given.  Like any
 * hint, what cannot serve a call is passed over without a warning.
 *
 * MPI_Comm_set_info and its like are collective, but need not synchronize, and in a program that
 * gives only keys of others they must not start to.  So keys wait in the communicator's state.
 * They are compared when it is taken over.  One that was taken over compares at its next reduction:
 * every rank knows that MPI_Comm_set_info was called, whether with keys of ours or without.  There
 * they are used on all ranks or on none. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm/hints.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/greatest.h"
#include "mpi/comm/peers.h"
#include "mpi/host/host.h"
#include "mpi/host/quirks.h"
#include "mpi/node/agree.h"
#include "schedule/problem.h"
#include "select/decide.h"
#include "select/exact.h"

enum { VALUE = MPI_MAX_INFO_VAL + 1 };
static const char prefix[] = "collopt_";

struct given {
    bool any, back;             /* BACK: "auto", which returns to the usual choice */
    struct collopt_choice choice;
};

struct collopt_keys {           /* of info objects, the last one given counts */
    struct given given[COLLOPT_COLLECTIVES];
    uint64_t value[COLLOPT_COLLECTIVES];        /* hashes; 0: not given */
};

struct hints {                  /* of a communicator */
    struct collopt_keys *waiting;       /* keys that were not compared yet, or NULL */
    struct given used[COLLOPT_COLLECTIVES];     /* ANY: in use */
};

static struct hints *hints_of(const struct collopt_comm *c)
{
    return collopt_part(c, COLLOPT_PART_HINTS);
}

static void free_hints(struct collopt_comm *c)
{
    free(hints_of(c)->waiting);
    free(hints_of(c));
    collopt_part_attach(c, COLLOPT_PART_HINTS, NULL, NULL);
    c->hints_due = false;
}

/* NULL: no memory. */
static struct hints *make_hints(struct collopt_comm *c)
{
    static const struct collopt_part_ops ops = { .end = free_hints };
    struct hints *h = hints_of(c);

    if (!h && (h = calloc(1, sizeof *h)))
        collopt_part_attach(c, COLLOPT_PART_HINTS, h, &ops);
    return h;
}

static void name_key(int collective, char *key, size_t size)
{
    snprintf(key, size, "%s%s", prefix, collopt_collective_names[collective]);
}

/* MPI-4 would have MPI_Info_get_string, which the other versions that one build serves lack. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static bool get(MPI_Info info, const char *key, char *value)
{
    int there = 0;

    return info != MPI_INFO_NULL
        && PMPI_Info_get(info, key, VALUE - 1, value, &there) == MPI_SUCCESS && there && *value;
}
#pragma GCC diagnostic pop

/* False, after a sentence in MESSAGE, where VALUE makes no sense. */
static bool understand(struct given *g, int collective, const char *value, char *message,
                       size_t size)
{
    g->back = strcmp(value, "auto") == 0;
    return g->any = g->back
        || collopt_parse_choice(value, (enum collopt_collective)collective, &g->choice, message,
                                size);
}

/* Adds INFO's keys to KEYS; were there any?  One that is not understood changes nothing: those that
 * were given before it stay as they are. */
static bool read_keys(MPI_Info info, struct collopt_keys *keys)
{
    bool any = false;
    struct given g;

    for (int i = 0; i < COLLOPT_COLLECTIVES; i++) {
        char key[64], value[VALUE] = "", message[512];

        name_key(i, key, sizeof key);
        if (!get(info, key, value) || !understand(&g, i, value, message, sizeof message))
            continue;
        any = true;
        keys->value[i] = collopt_hash_text(COLLOPT_HASH_START, value) | 1;
        keys->given[i] = g;
    }
    return any;
}

/* ---- what is wrong with them ----------------------------------------------------------------- */

/* Rank 0 of the communicator speaks, as that of MPI_COMM_WORLD may not be here. */

static const char *nth_collective(int i, const void *data)
{
    (void)data;
    return collopt_collective_names[i];
}

static void tell_mistake(MPI_Info info, const char *key)
{
    const char *name = key + strlen(prefix);
    char value[VALUE] = "", message[512], hint[COLLOPT_HINT];
    struct given g;

    for (int i = 0; i < COLLOPT_COLLECTIVES; i++)
        if (strcmp(name, collopt_collective_names[i]) == 0) {
            if (get(info, key, value) && !understand(&g, i, value, message, sizeof message))
                collopt_warn_once("info key %s=%s is not understood: %s; it is ignored", key, value,
                                  message);
            return;
        }
    collopt_hint(hint, " did you mean collopt_", name, COLLOPT_COLLECTIVES, nth_collective, NULL);
    collopt_warn_once("%s is not an info key of collopt and is ignored;%s collopt(7) lists them",
                      key, hint);
}

/* Has INFO keys of ours, right or wrong?  LOOK is called for each, unless it is NULL. */
static bool visit_keys(MPI_Info info, void (*look)(MPI_Info info, const char *key))
{
    char key[MPI_MAX_INFO_KEY + 1];
    bool any = false;
    int n = 0;

    if (info == MPI_INFO_NULL || PMPI_Info_get_nkeys(info, &n))
        return false;
    for (int i = 0; i < n; i++)
        if (PMPI_Info_get_nthkey(info, i, key) == MPI_SUCCESS
            && strncmp(key, prefix, strlen(prefix)) == 0) {
            any = true;
            if (look)
                look(info, key);
        }
    return any;
}

static void tell_mistakes(MPI_Info info)
{
    visit_keys(info, tell_mistake);
}

/* ---- comparing and using them ---------------------------------------------------------------- */

static void use(struct collopt_comm *c, const struct collopt_keys *keys)
{
    for (int i = 0; i < COLLOPT_COLLECTIVES; i++)
        if (keys->given[i].any) {
            hints_of(c)->used[i] = keys->given[i];
            hints_of(c)->used[i].any = !keys->given[i].back;
        }
    collopt_comm_hints_changed(c);
}

uint64_t collopt_hints_waiting(const struct collopt_comm *c)
{
    const struct hints *h = hints_of(c);

    return h && h->waiting
        ? collopt_hash_bytes(COLLOPT_HASH_START, h->waiting->value, sizeof h->waiting->value)
        : COLLOPT_HASH_START;
}

void collopt_hints_compared(struct collopt_comm *c, bool are_alike)
{
    struct hints *h = hints_of(c);

    if (!are_alike && c->rank == 0)
        collopt_warn_once("the info keys collopt_... differ between the %d ranks of a "
                          "communicator; they are ignored",
                          c->ranks);
    if (are_alike && h && h->waiting)
        use(c, h->waiting);
    if (h) {
        free(h->waiting);
        h->waiting = NULL;
    }
    c->hints_due = false;
}

int collopt_hints_compare(struct collopt_comm *c)
{
    long long h = (long long)(collopt_hints_waiting(c) >> 1), mine[2] = { h, -h }, all[2];
    int err = collopt_greatest(c, mine, all, 2);

    if (err == MPI_SUCCESS)
        collopt_hints_compared(c, all[0] == -all[1]);
    return err;
}

/* ---- keys that are given --------------------------------------------------------------------- */

static void wait_with(struct collopt_comm *c, MPI_Info info)
{
    struct collopt_keys keys = { .value = { 0 } };
    struct hints *h = hints_of(c);
    bool any;

    if (h && h->waiting)
        keys = *h->waiting;
    any = read_keys(info, &keys);
    if (c->rank == 0)
        tell_mistakes(info);
    if (!any || !(h = make_hints(c)))   /* without memory, what the others have is not alike */
        return;
    if (!h->waiting)
        h->waiting = malloc(sizeof keys);
    if (h->waiting)
        *h->waiting = keys;
}

/* There may be nothing yet where MADE points. */
void collopt_hints_later(MPI_Comm *made, MPI_Info info)
{
    struct collopt_keys keys = { .value = { 0 } };
    struct collopt_comm *c;

    if (!collopt_world_agreed() || !visit_keys(info, NULL))
        return;
    c = collopt_quirk(COLLOPT_IDUP_AT_ONCE) ? collopt_comm_find(*made) : NULL;
    if (c) {
        wait_with(c, info);
        return;
    }
    if (collopt_speaks())
        tell_mistakes(info);
    if (!read_keys(info, &keys))
        return;
    collopt_warn("the info keys collopt_... of an MPI_Comm_idup_with_info are ignored: the "
                 "communicator is not there yet");
}

/* Every rank of COMM comes here, with keys of ours or without.  Where the ranks did not agree on
 * collopt in MPI_Init, some may run without it, and nothing can be compared. */
void collopt_hints_take(MPI_Comm comm, MPI_Info info)
{
    struct collopt_comm *c = collopt_world_agreed() ? collopt_comm_find(comm) : NULL;

    if (!c || c->status == COLLOPT_INTERCOMM || c->status == COLLOPT_REFUSED
        || !collopt_comm_inside(c))
        return;
    wait_with(c, info);
    if (c->status == COLLOPT_TAKEN_OVER && c->ranks == 1)
        collopt_hints_compared(c, true);
    else if (c->status == COLLOPT_TAKEN_OVER)
        c->hints_due = true;
}

static const struct given *used_for(const struct collopt_comm *c,
                                    enum collopt_collective collective)
{
    const struct hints *h = hints_of(c);

    return h && h->used[collective].any ? &h->used[collective] : NULL;
}

bool collopt_hints_force(const struct collopt_comm *c, enum collopt_collective collective,
                         bool *host)
{
    const struct given *given = used_for(c, collective);

    *host = given && !given->choice.algorithm;
    return given != NULL;
}

bool collopt_hints_select(const struct collopt_comm *c, const struct collopt_problem *p,
                          struct collopt_decision *d)
{
    const struct given *given = used_for(c, p->collective);
    const char *why;
    char key[64];

    if (!given)
        return false;
    name_key((int)p->collective, key, sizeof key);
    if (!collopt_select_given(&given->choice, p, d, &why)) {
        collopt_say(COLLOPT_LOG_DECIDE,
                    "info key %s=%s cannot serve %d ranks, %zu bytes: %s; the next choice is used",
                    key, given->choice.algorithm ? given->choice.algorithm->name : "host", p->ranks,
                    p->count * p->size, why);
        return false;
    }
    d->open = false;
    snprintf(d->why, sizeof d->why, "forced by info key %s%s", key, collopt_rows_text(d));
    return true;
}
