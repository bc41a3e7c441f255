/* See noted.h. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>

#include "mpi/comm/noted.h"
#include "mpi/comm/members.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of what is below */
static struct collopt_noted *first, **end = &first;
static bool any_lost, meet;
/* bytes of this list, which come beside those of the notes: where there is no room for notes any
 * more, there still is for communicators without any */
static size_t taken;
enum { LIMIT = 16 << 20 };

void collopt_noted_begin(void)
{
    pthread_mutex_lock(&lock);
    meet = true;
    pthread_mutex_unlock(&lock);
}

static bool is_wanted(const struct collopt_comm *c)
{
    bool wanted;

    pthread_mutex_lock(&lock);
    wanted = meet && c->status != COLLOPT_INTERCOMM && c->ranks > 0;
    pthread_mutex_unlock(&lock);
    return wanted;
}

/* Does it have ranks of another world, so that nobody will ask for its notes? */
static bool is_outside(const struct collopt_noted *n)
{
    for (int r = 0; r < n->ranks; r++)
        if (n->member[r] < 0)
            return true;
    return false;
}

static bool take(size_t bytes)
{
    bool room;

    pthread_mutex_lock(&lock);
    room = bytes <= LIMIT - taken;
    taken += room ? bytes : 0;
    pthread_mutex_unlock(&lock);
    return room;
}

/* *LOST: others may have what this rank has not. */
static struct collopt_noted *make(const struct collopt_comm *c, bool *lost)
{
    size_t bytes = sizeof(struct collopt_noted) + (size_t)c->ranks * sizeof(int);
    struct collopt_noted *n = take(bytes) ? calloc(1, bytes) : NULL;

    *lost = !n || !collopt_members_find(collopt_comm_of(c), c->ranks, n->member);
    if (!*lost) {
        n->rank = c->rank;
        n->ranks = c->ranks;
        n->members = collopt_members_hash(n->member, n->ranks);
        if (!is_outside(n))
            return n;
    }
    free(n);
    return NULL;
}

static void forget(struct collopt_comm *c)
{
    pthread_mutex_lock(&lock);
    collopt_noted(c)->ended = true;
    pthread_mutex_unlock(&lock);
    c->noted = false;
    collopt_part_attach(c, COLLOPT_PART_NOTED, NULL, NULL);
}

struct collopt_noted *collopt_noted_add(struct collopt_comm *c)
{
    static const struct collopt_part_ops ops = { .end = forget, .shut_down = forget };
    bool lost = false;
    struct collopt_noted *n = is_wanted(c) ? make(c, &lost) : NULL;

    c->noted = n != NULL;
    if (n)
        collopt_part_attach(c, COLLOPT_PART_NOTED, n, &ops);
    pthread_mutex_lock(&lock);
    any_lost |= lost;
    if (n) {
        *end = n;
        end = &n->next;
    }
    pthread_mutex_unlock(&lock);
    return n;
}

struct collopt_noted *collopt_noted_all(bool *lost)
{
    struct collopt_noted *all;

    pthread_mutex_lock(&lock);
    *lost = any_lost;
    all = first;
    pthread_mutex_unlock(&lock);
    return all;
}

/* A session's communicator that another thread is using keeps its own. */
void collopt_noted_free(void)
{
    pthread_mutex_lock(&lock);
    meet = false;
    for (struct collopt_noted **at = &first, *n; (n = *at);) {
        if (!n->ended) {
            at = &n->next;
            continue;
        }
        *at = n->next;
        collopt_notes_free(&n->notes);
        free(n);
    }
    for (end = &first; *end; end = &(*end)->next)
        ;
    pthread_mutex_unlock(&lock);
}
