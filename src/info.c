/* Info keys: collopt_allreduce=ring on a communicator says what COLLOPT_ALLREDUCE says for all, and goes before it.
 *
 * Neither host keeps a key that it does not know, so they are read where they are given.  MPI_Comm_set_info and
 * MPI_Comm_dup_with_info are collective: what was given is compared there, and used on all ranks or on none.  Like any hint, what
 * cannot serve a call is passed over without a warning.
 *
 * The communicator that MPI_Comm_idup_with_info makes may not be used before its request is complete, and nobody tells us when it
 * is.  So its keys wait in its state, and are compared when ranks next compare something on it: other keys, or whether it
 * is to be engaged.  By then it is complete, or the program would not use it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "hash.h"

enum { VALUE = MPI_MAX_INFO_VAL + 1 };
static const char prefix[] = "collopt_";

struct given {
    bool any, back;             /* back: "auto", to the usual choice */
    struct collopt_choice choice;
};

struct collopt_keys {           /* of one info object */
    struct given given[COLLOPT_COLLECTIVES];
    uint64_t hash;              /* of all keys and values of ours */
};

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

    return info != MPI_INFO_NULL && PMPI_Info_get(info, key, VALUE - 1, value, &there) == MPI_SUCCESS && there && *value;
}
#pragma GCC diagnostic pop

/* False, after a sentence in MESSAGE, where VALUE makes no sense. */
static bool understand(struct given *g, int collective, const char *value, char *message, size_t size)
{
    g->back = strcmp(value, "auto") == 0;
    return g->any = g->back || collopt_parse_choice(value, (enum collopt_collective)collective, &g->choice, message, size);
}

static void read_keys(MPI_Info info, struct collopt_keys *keys)
{
    keys->hash = COLLOPT_HASH_START;
    for (int i = 0; i < COLLOPT_COLLECTIVES; i++) {
        char key[64], value[VALUE] = "", message[512];

        keys->given[i] = (struct given){ 0 };
        name_key(i, key, sizeof key);
        if (!get(info, key, value))
            continue;
        keys->hash = collopt_hash_bytes(collopt_hash_bytes(keys->hash, key, strlen(key) + 1), value, strlen(value) + 1);
        understand(&keys->given[i], i, value, message, sizeof message);
    }
}

/* ---- what is wrong with them; rank 0 of the communicator speaks, for that of MPI_COMM_WORLD may not be here ---------------- */

static const char *nth_collective(int i, const void *data)
{
    (void)data;
    return collopt_collective_names[i];
}

static void tell_mistake(MPI_Info info, const char *key)
{
    const char *name = key + strlen(prefix);
    char value[VALUE] = "", message[512];
    struct given g;
    int nearest;

    for (int i = 0; i < COLLOPT_COLLECTIVES; i++)
        if (strcmp(name, collopt_collective_names[i]) == 0) {
            if (get(info, key, value) && !understand(&g, i, value, message, sizeof message))
                collopt_warn_once("info key %s=%s is not understood: %s; it is ignored", key, value, message);
            return;
        }
    nearest = collopt_nearest(name, COLLOPT_COLLECTIVES, nth_collective, NULL);
    collopt_warn_once("%s is not an info key of collopt and is ignored;%s%s%s%s collopt(7) lists them", key,
                      nearest < 0 ? "" : " did you mean ", nearest < 0 ? "" : prefix,
                      nearest < 0 ? "" : nth_collective(nearest, NULL), nearest < 0 ? "" : "?");
}

static void tell_mistakes(MPI_Info info)
{
    char key[MPI_MAX_INFO_KEY + 1];
    int n = 0;

    if (info == MPI_INFO_NULL || PMPI_Info_get_nkeys(info, &n))
        return;
    for (int i = 0; i < n; i++)
        if (PMPI_Info_get_nthkey(info, i, key) == MPI_SUCCESS && strncmp(key, prefix, strlen(prefix)) == 0)
            tell_mistake(info, key);
}

/* ---- comparing and using them ------------------------------------------------------------------------------------------- */

static bool alike(MPI_Comm comm, uint64_t hash)
{
    long long h = (long long)(hash >> 1), mine[2] = { h, -h }, all[2];

    return collopt_host.Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_MIN, comm) == MPI_SUCCESS && all[0] == -all[1];
}

static void use(struct collopt_comm *c, const struct collopt_keys *keys)
{
    for (int i = 0; i < COLLOPT_COLLECTIVES; i++)
        if (keys->given[i].any)
            c->wish[i] = (struct collopt_wish){ .given = !keys->given[i].back, .choice = keys->given[i].choice };
    collopt_plans_free(c);
}

/* ---- keys that wait ------------------------------------------------------------------------------------------------------ */

uint64_t collopt_info_waiting(const struct collopt_comm *c)
{
    return c->waiting ? c->waiting->hash : COLLOPT_HASH_START;
}

void collopt_info_compared(struct collopt_comm *c, bool are_alike)
{
    if (!are_alike && c->rank == 0)
        collopt_warn_once("the info keys collopt_... differ between the %d ranks of a communicator; they are ignored", c->ranks);
    if (are_alike && c->waiting)
        use(c, c->waiting);
    free(c->waiting);
    c->waiting = NULL;
}

/* There may be nothing yet where MADE points. */
void collopt_info_later(MPI_Comm *made, MPI_Info info)
{
    struct collopt_keys keys;
    struct collopt_comm *c;

    if (!collopt_world_agreed())
        return;
    read_keys(info, &keys);
    if (keys.hash == COLLOPT_HASH_START)
        return;
    c = collopt_quirk(COLLOPT_IDUP_AT_ONCE) ? collopt_comm_find(*made) : NULL;
    if (c ? c->rank == 0 : collopt_speaks())
        tell_mistakes(info);
    if (c && (c->waiting = malloc(sizeof keys)) != NULL)
        *c->waiting = keys;
    else
        collopt_warn("the info keys collopt_... of an MPI_Comm_idup_with_info are ignored: the communicator is not there yet");
}

/* ---- keys that are given to communicators that can be used --------------------------------------------------------------- */

/* Every rank of COMM comes here, with keys of ours or without.  Where the ranks were not asked in MPI_Init, some may be without
 * collopt's consent, and nothing can be compared. */
void collopt_info_take(MPI_Comm comm, MPI_Info info)
{
    struct collopt_comm *c = collopt_world_agreed() ? collopt_comm_find(comm) : NULL;
    struct collopt_keys keys;
    bool are_alike;

    if (!c || c->status == COLLOPT_INTERCOMM || !collopt_comm_inside(c))
        return;
    read_keys(info, &keys);
    if (c->rank == 0)
        tell_mistakes(info);
    are_alike = alike(comm, collopt_info_waiting(c) * COLLOPT_HASH_PRIME ^ keys.hash);
    collopt_info_compared(c, are_alike);
    if (are_alike)
        use(c, &keys);
}

bool collopt_info_select(const struct collopt_comm *c, const struct collopt_problem *p, struct collopt_decision *d)
{
    const struct collopt_wish *wish = &c->wish[p->collective];
    const char *why;
    char key[64];

    if (!wish->given)
        return false;
    name_key((int)p->collective, key, sizeof key);
    if (!collopt_choice_usable(&wish->choice, p, &why)) {
        collopt_say(COLLOPT_LOG_DECIDE, "info key %s=%s cannot serve %d ranks, %zu bytes: %s; the next choice is used", key,
                    wish->choice.algorithm ? wish->choice.algorithm->name : "host", p->ranks, p->count * p->size, why);
        return false;
    }
    d->choice = wish->choice;
    d->open = false;
    snprintf(d->why, sizeof d->why, "forced by info key %s", key);
    return true;
}
