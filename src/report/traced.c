/* See traced.h.  Calls are kept in pieces, so that they stay where they are. */
#include "config.h"

#include "report/traced.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1024 };

struct piece {
    struct piece *next;
    size_t used;
    struct collopt_traced call[PIECE];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of what is below */
static size_t room;                     /* bytes that may still be kept */
static struct piece *first, *last;
static size_t kept;
static uint64_t dropped;
static struct collopt_traced_comm *first_comm, **end_of_comms = &first_comm;
static int rows;

void collopt_traced_begin(size_t limit)
{
    pthread_mutex_lock(&lock);
    room = limit;
    pthread_mutex_unlock(&lock);
}

static bool take(size_t bytes)
{
    if (bytes > room)
        return false;
    room -= bytes;
    return true;
}

bool collopt_traced_has_room(void)
{
    bool has_room;

    pthread_mutex_lock(&lock);
    has_room = room >= sizeof(struct collopt_traced_comm) + sizeof(struct collopt_traced);
    pthread_mutex_unlock(&lock);
    return has_room;
}

/* ---- communicators --------------------------------------------------------------------------- */

static bool alike(const struct collopt_traced_comm *a, const struct collopt_traced_comm *b)
{
    return a->id == b->id && a->rank == b->rank && a->ranks == b->ranks
        && strcmp(a->name, b->name) == 0;
}

static struct collopt_traced_comm *find_row(const struct collopt_traced_comm *about)
{
    struct collopt_traced_comm *c = first_comm;

    while (c && (c->used || !alike(c, about)))
        c = c->next;
    return c;
}

static struct collopt_traced_comm *new_row(const struct collopt_traced_comm *about)
{
    struct collopt_traced_comm *c = take(sizeof *c) ? malloc(sizeof *c) : NULL;

    if (!c)
        return NULL;
    *c = *about;
    c->next = NULL;
    c->row = ++rows;
    *end_of_comms = c;
    end_of_comms = &c->next;
    return c;
}

struct collopt_traced_comm *collopt_traced_comm(const struct collopt_traced_comm *about)
{
    struct collopt_traced_comm *c;

    pthread_mutex_lock(&lock);
    c = find_row(about);
    if (!c)
        c = new_row(about);
    if (c)
        c->used = true;
    pthread_mutex_unlock(&lock);
    return c;
}

void collopt_traced_leave_comm(struct collopt_traced_comm *c)
{
    pthread_mutex_lock(&lock);
    c->used = false;
    pthread_mutex_unlock(&lock);
}

const struct collopt_traced_comm *collopt_traced_comms(void)
{
    return first_comm;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool grow(void)
{
    struct piece *p = malloc(sizeof *p);

    if (!p)
        return false;
    p->next = NULL;
    p->used = 0;
    if (last)
        last->next = p;
    else
        first = p;
    last = p;
    return true;
}

static struct collopt_traced *next(void)
{
    if (!take(sizeof(struct collopt_traced)))
        return NULL;
    if ((!last || last->used == PIECE) && !grow())
        return NULL;
    kept++;
    return &last->call[last->used++];
}

struct collopt_traced *collopt_traced_add(const struct collopt_traced *call)
{
    struct collopt_traced *place;

    pthread_mutex_lock(&lock);
    place = call->comm ? next() : NULL;
    if (place)
        *place = *call;
    else
        dropped++;
    pthread_mutex_unlock(&lock);
    return place;
}

void collopt_traced_end(struct collopt_traced *call)
{
    if (!call)
        return;
    pthread_mutex_lock(&lock);          /* the call may be looked at, in MPI_Abort */
    if (call->took == COLLOPT_NOT_ENDED)
        call->took = (collopt_now() - call->entered) & COLLOPT_NOT_ENDED;
    pthread_mutex_unlock(&lock);
}

uint64_t collopt_traced_dropped(void)
{
    uint64_t n;

    pthread_mutex_lock(&lock);
    n = dropped;
    pthread_mutex_unlock(&lock);
    return n;
}

/* Of two that were entered at the same time, the longer one may have the other inside. */
static int by_entry(const void *a, const void *b)
{
    const struct collopt_traced *x = *(const struct collopt_traced *const *)a,
                                *y = *(const struct collopt_traced *const *)b;

    if (x->entered != y->entered)
        return x->entered < y->entered ? -1 : 1;
    return x->took == y->took ? 0 : x->took > y->took ? -1 : 1;
}

const struct collopt_traced **collopt_traced_sorted(size_t *n)
{
    const struct collopt_traced **list;

    *n = 0;
    pthread_mutex_lock(&lock);          /* a rank that calls MPI_Abort may have other threads */
    list = malloc((kept + 1) * sizeof *list);
    for (const struct piece *p = list ? first : NULL; p; p = p->next)
        for (size_t i = 0; i < p->used; i++)
            list[(*n)++] = &p->call[i];
    if (list)
        qsort(list, *n, sizeof *list, by_entry);
    pthread_mutex_unlock(&lock);
    return list;
}

void collopt_traced_free(void)
{
    pthread_mutex_lock(&lock);
    room = 0;
    for (struct piece *p = first, *after; p; p = after) {
        after = p->next;
        free(p);
    }
    first = last = NULL;
    kept = 0;
    pthread_mutex_unlock(&lock);
}
