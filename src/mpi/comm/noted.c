/* See noted.h. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>

#include "mpi/comm/noted.h"
#include "base/clock.h"
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

/* With room for so many members; NULL: no memory. */
static struct collopt_noted *allocate(int ranks)
{
    size_t bytes = sizeof(struct collopt_noted) + (size_t)ranks * sizeof(int);

    return take(bytes) ? calloc(1, bytes) : NULL;
}

/* *LOST: others may have what this rank has not. */
static struct collopt_noted *make(const struct collopt_comm *c, bool *lost)
{
    struct collopt_noted *n = allocate(c->ranks);

    *lost = !n || !collopt_members_find(collopt_comm_of(c), c->ranks, n->own);
    if (!*lost) {
        n->member = n->own;
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

/* N, unless NULL. */
static void append(struct collopt_noted *n, bool lost)
{
    pthread_mutex_lock(&lock);
    any_lost |= lost;
    if (n) {
        *end = n;
        end = &n->next;
    }
    pthread_mutex_unlock(&lock);
}

struct collopt_noted *collopt_noted_add(struct collopt_comm *c)
{
    static const struct collopt_part_ops ops = { .end = forget, .shut_down = forget };
    bool lost = false;
    struct collopt_noted *n = is_wanted(c) ? make(c, &lost) : NULL;

    c->noted = n != NULL;
    if (n)
        collopt_part_attach(c, COLLOPT_PART_NOTED, n, &ops);
    append(n, lost);
    if (n && c->status == COLLOPT_TAKEN_OVER)
        collopt_noted_agreed(c);
    return n;
}

void collopt_noted_agreed(const struct collopt_comm *c)
{
    struct collopt_noted *n = c->noted ? collopt_noted(c) : NULL;

    if (n)
        n->members ^= collopt_comm_id(c);
}

/* ---- calls that go on after their end -------------------------------------------------------- */

static struct collopt_noted *find(struct collopt_comm *c)
{
    struct collopt_noted *n = c->noted ? collopt_noted(c) : NULL;

    return n || !c->noted ? n : collopt_noted_add(c);
}

static struct collopt_noted *make_for_starts(struct collopt_noted *parent)
{
    struct collopt_noted *n = allocate(0);

    if (n) {
        n->parent = parent;
        n->member = parent->member;
        n->members = parent->members;
        n->rank = parent->rank;
        n->ranks = parent->ranks;
    }
    append(n, !n);
    return n;
}

void collopt_noted_make(struct collopt_comm *c)
{
    struct collopt_noted *n = find(c);

    if (n)
        n->made = make_for_starts(n);
}

struct collopt_noted *collopt_noted_made(const struct collopt_comm *c)
{
    struct collopt_noted *n = c->noted ? collopt_noted(c) : NULL, *made = n ? n->made : NULL;

    if (n)
        n->made = NULL;
    return made;
}

struct collopt_noting collopt_noting_of(struct collopt_noted *n)
{
    struct collopt_noting g = { .note = n ? collopt_notes_next(&n->notes) : NULL };

    if (g.note && !(g.wait = collopt_notes_next(&n->waits)))
        g.note = NULL;
    return g;
}

void collopt_noted_lose(struct collopt_noted *n)
{
    if (n)
        collopt_notes_close(&n->notes);
}

void collopt_noted_begin_call(struct collopt_comm *c)
{
    struct collopt_noted *n = find(c);

    if (n)
        n->begun = collopt_noting_of(n);
}

struct collopt_noting collopt_noted_begun(const struct collopt_comm *c)
{
    struct collopt_noted *n = c && c->noted ? collopt_noted(c) : NULL;
    struct collopt_noting g = { .note = NULL };

    if (n) {
        g = n->begun;
        n->begun = (struct collopt_noting){ .note = NULL };
    }
    return g;
}

void collopt_noting_describe(struct collopt_noting *g, struct collopt_noted *n, int collective,
                             struct collopt_counted as, bool root)
{
    struct collopt_notes_row row = { .as = as, .collective = collective, .later = true };

    if (g->note && !collopt_notes_describe(&n->notes, g->note, &row, root))
        g->note = NULL;
}

/* Is G waited for as soon as it is started? */
static bool is_at_once(const struct collopt_noting *g)
{
    return g->awaited > 0 && g->awaited - (g->entered + g->starting) < COLLOPT_NOTES_AT_ONCE;
}

/* A call that only tests it has not waited: its note says when it found the end. */
void collopt_noting_end(const struct collopt_noting *g)
{
    if (!g->note)
        return;
    g->wait->entered = g->awaited > 0 ? g->awaited : collopt_now();
    g->wait->took = g->waiting;
    g->wait->root = is_at_once(g);
    g->note->took = collopt_noting_time(g);
    g->note->entered = g->entered;
}

/* ---- the end --------------------------------------------------------------------------------- */

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
    for (struct collopt_noted *n = first; n; n = n->next)
        n->ended |= n->parent && n->parent->ended;
    for (struct collopt_noted **at = &first, *n; (n = *at);) {
        if (!n->ended) {
            at = &n->next;
            continue;
        }
        *at = n->next;
        collopt_notes_free(&n->notes);
        collopt_notes_free(&n->waits);
        free(n);
    }
    for (end = &first; *end; end = &(*end)->next)
        ;
    pthread_mutex_unlock(&lock);
}
