/* Finds steps that can be pipelined in fragments: a long message that is combined after its arrival
 * is still in the caches if each fragment is combined before the next one is received.
 *
 * That is a wait, and the folds and copies beside it, of which none reads or writes any element but
 * those of its own index. Then the receive of a piece need not be posted before the pieces before
 * it are combined, and what the host copies when a message has met its receive is copied when it is
 * wanted: a host that copies from the sender's memory copies all that is posted.  No rank waits
 * longer or deadlocks: nothing waits between the old place of the receive and the first fragment,
 * and the sender sends all fragments in sequence before anything else.  A later message of the same
 * sender must not match these receives, so its own receive is posted after them.  The proofs run
 * with all kinds of fragments. */
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

/* The group that begins with LIST[0]; N is 0 if none does. */
struct collopt_group collopt_group_at(const struct collopt_schedule *s,
                                      const struct instruction *list)
{
    struct collopt_group g = { .arrival = is_local(&list[0]) ? 1 : 0 }, none = { 0 };

    if (!is_arrival(s, &list[g.arrival]))
        return none;

    struct span coming = *collopt_region_of(s, &s->action[list[g.arrival].action], 0);
    bool used = false;

    if (g.arrival == 1 && overlaps(s, &s->action[list[0].action], coming))
        return none;            /* reads the previous contents */
    while (g.n <= g.arrival || (g.n < COLLOPT_GROUP && is_local(&list[g.n]))) {
        if (!belongs(s, list, &g, list[g.n].action))
            break;
        used = used || (g.n > g.arrival && touches(s, &s->action[list[g.n].action], coming));
        g.n++;
    }
    return used ? g : none;
}

/* How far behind the receive that LIST[0] posts the group is that it may be posted with; 0: there
 * is none. */
size_t collopt_group_of(const struct collopt_schedule *s, const struct instruction *list)
{
    for (size_t k = 1;; k++) {
        struct collopt_group g = { 0 };

        if (is_local(&list[k]) || is_arrival(s, &list[k]))
            g = collopt_group_at(s, &list[k]);
        if (g.n > 0)
            return list[k + g.arrival].action == list[0].action ? k : 0;
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
