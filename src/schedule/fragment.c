/* Finds steps that can be pipelined in fragments: a long message that is combined after its arrival
 * is still in the caches if each fragment is combined before the next one is received.
 *
 * That is a wait, and the folds and copies beside it, of which none reads or writes any element but
 * those of its own index. Then the receive of a piece need not be posted before the pieces before
 * it are combined, and what the host copies when a message has met its receive is copied when it is
 * wanted: a host that copies from the sender's memory copies all that is posted.  No rank waits
 * longer or deadlocks: nothing waits between the old place of the receive and the first fragment,
 * and the sender sends all fragments in sequence before anything else.  A later message of the same
 * sender must not match these receives, so its own receive is posted after them.
 *
 * Or several waits, for what other ranks have sent, that are combined together: the first piece of
 * each, and so on. All were posted before the first wait, but for the last one at most, so here too
 * nothing is posted after a wait that it did not follow before. Pieces that come by shared memory
 * are then read where they are (views.c); if one sender's were waited for to the end before
 * another's, all but the last one would have to be copied.
 *
 * The proofs run with all kinds of fragments. */
#include "config.h"

#include "schedule/fragment.h"
#include "schedule/parts.h"
#include "schedule/storage.h"

static bool is_local(const struct instruction *q)
{
    return q->kind == COLLOPT_FOLD || q->kind == COLLOPT_COPY;
}

/* Until a message has come. */
static bool is_arrival(const struct collopt_schedule *s, const struct instruction *q)
{
    return (q->kind == COLLOPT_WAIT || q->kind == COLLOPT_RECEIVE)
        && s->action[q->action].kind == ACTION_RECEIVE;
}

/* Where A and B overlap, do they touch the same elements at the same index? */
static bool in_step(const struct collopt_schedule *s, const struct action *a,
                    const struct action *b)
{
    for (int i = 0; i < a->regions; i++)
        for (int j = 0; j < b->regions; j++) {
            struct span x = *collopt_region_of(s, a, i), y = *collopt_region_of(s, b, j);

            if (collopt_spans_overlap(s, x, y) && !collopt_spans_same(s, x, y))
                return false;
        }
    return true;
}

static bool touches(const struct collopt_schedule *s, const struct action *a, struct span span)
{
    for (int r = 0; r < a->regions; r++)
        if (collopt_spans_same(s, *collopt_region_of(s, a, r), span))
            return true;
    return false;
}

static bool overlaps(const struct collopt_schedule *s, const struct action *a, struct span span)
{
    for (int r = 0; r < a->regions; r++)
        if (collopt_spans_overlap(s, *collopt_region_of(s, a, r), span))
            return true;
    return false;
}

/* Is action I in step with itself and with all others of G, and hence with the arriving vector? */
static bool belongs(const struct collopt_schedule *s, const struct instruction *list,
                    const struct collopt_group *g, int i)
{
    const struct action *a = &s->action[i];

    if (a->regions > ACTION_REGIONS || !in_step(s, a, a))
        return false;
    for (size_t k = 0; k < g->n; k++)
        if (!in_step(s, a, &s->action[list[k].action]))
            return false;
    return true;
}

static int peer_of(const struct collopt_schedule *s, const struct instruction *q)
{
    return s->action[q->action].peer;
}

/* Does one of LIST[FIRST] to LIST[LAST] come from the sender of LIST[K]? */
static bool among_senders(const struct collopt_schedule *s, const struct instruction *list,
                          size_t first, size_t last, size_t k)
{
    for (size_t i = first; i <= last; i++)
        if (peer_of(s, &list[i]) == peer_of(s, &list[k]))
            return true;
    return false;
}

/* The last one of the arrivals, of different senders, that begin with LIST[FIRST]. */
static size_t last_arrival(const struct collopt_schedule *s, const struct instruction *list,
                           size_t first)
{
    size_t k = first;

    while (k - first + 1 < COLLOPT_GROUP_ARRIVALS && list[k].kind == COLLOPT_WAIT
           && is_arrival(s, &list[k + 1]) && !among_senders(s, list, first, k, k + 1))
        k++;
    return k;
}

static struct span coming(const struct collopt_schedule *s, const struct instruction *arrival)
{
    return *collopt_region_of(s, &s->action[arrival->action], 0);
}

/* Does the one before the arrivals of G leave alone what they bring? */
static bool begins(const struct collopt_schedule *s, const struct instruction *list,
                   const struct collopt_group *g)
{
    for (size_t k = g->first; g->first > 0 && k <= g->arrival; k++)
        if (overlaps(s, &s->action[list[0].action], coming(s, &list[k])))
            return false;
    return true;
}

/* Do those behind the arrivals of G touch all that these bring? */
static bool uses_all(const struct collopt_schedule *s, const struct instruction *list,
                     const struct collopt_group *g)
{
    for (size_t k = g->first; k <= g->arrival; k++) {
        bool used = false;

        for (size_t i = g->arrival + 1; i < g->n && !used; i++)
            used = touches(s, &s->action[list[i].action], coming(s, &list[k]));
        if (!used)
            return false;
    }
    return true;
}

/* The group that begins with LIST[0]; N is 0 if none does. */
struct collopt_group collopt_group_at(const struct collopt_schedule *s,
                                      const struct instruction *list)
{
    struct collopt_group g = { .first = is_local(&list[0]) ? 1 : 0 }, none = { 0 };
    size_t most;

    if (!is_arrival(s, &list[g.first]))
        return none;
    g.arrival = last_arrival(s, list, g.first);
    most = g.arrival - g.first + 1 + COLLOPT_GROUP_LOCALS;
    if (!begins(s, list, &g))
        return none;            /* reads the previous contents */
    while (g.n <= g.arrival || (g.n < most && is_local(&list[g.n]))) {
        if (!belongs(s, list, &g, list[g.n].action))
            break;
        g.n++;
    }
    return uses_all(s, list, &g) ? g : none;
}

/* How far behind the receive that LIST[0] posts the group is that it may be posted with; 0: there
 * is none. Behind the waits for others it must not be posted. */
size_t collopt_group_of(const struct collopt_schedule *s, const struct instruction *list)
{
    for (size_t k = 1;; k++) {
        struct collopt_group g = { 0 };

        if (is_local(&list[k]) || is_arrival(s, &list[k]))
            g = collopt_group_at(s, &list[k]);
        if (g.n > 0)
            return g.first == g.arrival && list[k + g.arrival].action == list[0].action ? k : 0;
        if (list[k].kind != COLLOPT_POST_RECEIVE && list[k].kind != COLLOPT_POST_SEND
            && !is_local(&list[k]))
            return 0;
    }
}

/* Does the receive that LIST[K] posts come from the sender of the one that LIST[0] posts? */
bool collopt_group_holds_up(const struct collopt_schedule *s, const struct instruction *list,
                            size_t k)
{
    return list[k].kind == COLLOPT_POST_RECEIVE
        && s->action[list[k].action].peer == s->action[list[0].action].peer;
}

/* Is SPAN one block of a slot, and is its content not read from LIST[0] on? If the next action on a
 * packed slot does not read it, it fills it anew. */
bool collopt_group_last(const struct collopt_schedule *s, const struct instruction *list,
                        struct span span)
{
    int place = s->piece[span.first].place;

    if (span.n != 1 || place < COLLOPT_FIRST_SLOT)
        return false;
    for (; list->kind != COLLOPT_END; list++) {
        const struct action *a = &s->action[list->action];

        for (int r = a->regions - 1; r >= 0 && list->kind != COLLOPT_WAIT; r--)
            if (collopt_spans_overlap(s, *collopt_region_of(s, a, r), span))
                return collopt_fills(a, r)
                    && (s->place[place].kind == PLACE_PACKED
                        || collopt_spans_same(s, *collopt_region_of(s, a, r), span));
    }
    return true;
}
