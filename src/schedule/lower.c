/* The two-operand pass, for operations that can only do right = left op right (MPI_Reduce_local,
 * user-defined operations).
 *
 * Every fold, and all prefixes, become a row of such steps. The result is computed where the right
 * operand lies if that value is not read again, else in a copy; the copies that remain are what the
 * operation's form costs. Where operands may be exchanged, the result's place is the right one and
 * nothing is copied.
 *
 * left = left op right, where RIGHT is still needed, would take two: of RIGHT, and of the result.
 * If LEFT is what a message has brought, this is received beside LEFT's place, where the result is
 * to be; then that of RIGHT is enough. */
#include "config.h"

#include <stdlib.h>

#include "schedule/lower.h"
#include "schedule/memory.h"
#include "schedule/parts.h"
#include "schedule/storage.h"
#include "schedule/write.h"

struct pass {
    struct collopt_schedule *s;
    const struct action *from;          /* the actions as they were */
    size_t n;
    int spare[2], spares;               /* packed slots for copies of operands that must be kept */
    int *beside;                        /* [places] a slot of the same kind for messages that would
                                         * go there; 0: none yet */
};

enum { NEAR = 64 };             /* actions between a receive and the fold that it is for, at most */

static struct action *again(struct pass *w, const struct action *like, enum action_kind kind,
                            int regions)
{
    struct collopt_schedule *s = w->s;

    if (!schedule_room(s, action, actions))
        return NULL;
    s->action[s->actions] = *like;
    s->action[s->actions].kind = kind;
    s->action[s->actions].regions = regions;
    s->action[s->actions].region = (int)s->regions;
    return &s->action[s->actions++];
}

static void region(struct pass *w, struct span span)
{
    struct collopt_schedule *s = w->s;

    if (schedule_room(s, region, regions))
        s->region[s->regions++] = span;
}

static void copy(struct pass *w, const struct action *like, struct span to, struct span from)
{
    again(w, like, ACTION_COPY, 2);
    region(w, to);
    region(w, from);
}

/* right = left op right */
static void combine(struct pass *w, const struct action *like, struct span left, struct span right)
{
    again(w, like, ACTION_FOLD, 3);
    region(w, right);
    region(w, left);
    region(w, right);
}

/* The value of a packed slot is dead when the next action that touches the slot fills it anew. */
static bool dead_after(const struct pass *w, size_t i, struct span span)
{
    const struct collopt_schedule *s = w->s;

    for (int k = 0; k < span.n; k++) {
        int place = s->piece[span.first + k].place;

        if (place < COLLOPT_FIRST_SLOT || s->place[place].kind != PLACE_PACKED)
            return false;
    }
    for (size_t j = i + 1; j < w->n; j++)
        for (int r = w->from[j].regions - 1; r >= 0; r--)
            if (collopt_spans_overlap(s, *collopt_region_of(s, &w->from[j], r), span))
                return collopt_fills(&w->from[j], r);
    return true;
}

/* A copy of SPAN in a packed slot; two take turns, as one may still be the left operand of the next
 * step. */
static struct span kept_copy(struct pass *w, const struct action *like, struct span span)
{
    struct collopt_schedule *s = w->s;
    int turn = w->spares++ % 2;
    int at = (int)s->pieces;

    if (w->spare[turn] < 0)
        w->spare[turn] = collopt_packed_slot(s);
    for (int k = 0; k < span.n; k++) {
        if (!schedule_room(s, piece, pieces))
            return span;
        s->piece[s->pieces++] = (struct piece){ w->spare[turn], s->piece[span.first + k].block };
    }

    struct span to = { at, span.n };

    copy(w, like, to, span);
    return to;
}

static struct span step(struct pass *w, size_t i, struct span to, struct span left,
                        struct span right)
{
    const struct action *a = &w->from[i];

    if (collopt_spans_same(w->s, right, to))
        right = to;
    else if (!dead_after(w, i, right))
        right = kept_copy(w, a, right);
    combine(w, a, left, right);
    return right;
}

static void lower(struct pass *w, size_t i)
{
    const struct collopt_schedule *s = w->s;
    const struct action *a = &w->from[i];
    struct span to = *collopt_region_of(s, a, 0), left = *collopt_region_of(s, a, 1);
    struct span last = *collopt_region_of(s, a, a->regions - 1);

    for (int r = 2; r < a->regions - 1; r++)
        left = step(w, i, to, left, *collopt_region_of(s, a, r));
    if (s->either_order && a->regions == 3 && collopt_spans_same(s, left, to)) {
        combine(w, a, last, to);
        return;
    }
    if (collopt_spans_same(s, left, to) && !collopt_spans_same(s, last, to)) {
        copy(w, a, to, step(w, i, to, left, last));
        return;
    }
    if (!collopt_spans_same(s, last, to))
        copy(w, a, to, last);
    combine(w, a, left, to);
}

/* The form that there is: each prefix is combined where the right operand lies. */
static void lower_prefixes(struct pass *w, size_t i)
{
    const struct action *a = &w->from[i];

    for (int r = 1; r < a->regions; r++)
        combine(w, a, *collopt_region_of(w->s, a, r - 1), *collopt_region_of(w->s, a, r));
}

/* The receive that left in SPAN what action I of its strand reads there first; or NULL. */
static const struct action *receive_of(const struct pass *w, size_t i, struct span span)
{
    const struct collopt_schedule *s = w->s;

    for (size_t j = i; j-- > 0 && i - j <= NEAR;)
        for (int r = 0; r < w->from[j].regions; r++) {
            const struct action *a = &w->from[j];

            if (collopt_spans_overlap(s, *collopt_region_of(s, a, r), span))
                return a->kind == ACTION_RECEIVE && a->strand == w->from[i].strand
                        && collopt_spans_same(s, *collopt_region_of(s, a, 0), span) ? a : NULL;
        }
    return NULL;
}

static void move_beside(struct pass *w, struct span span)
{
    struct collopt_schedule *s = w->s;

    for (int k = 0; k < span.n && !s->failed; k++) {
        struct piece *q = &s->piece[span.first + k];
        const struct place place = s->place[q->place];
        int *beside = &w->beside[q->place];

        if (!*beside)
            *beside = place.kind == PLACE_PACKED ? collopt_packed_slot(s)
                                                 : collopt_vector_slot(s, place.cover);
        q->place = *beside;
    }
}

/* Every action has regions of its own, so pieces may be changed where they lie. */
static void receive_beside(struct pass *w)
{
    const struct collopt_schedule *s = w->s;

    w->beside = calloc(s->places, sizeof *w->beside);
    for (size_t i = 0; i < w->n && w->beside && !s->failed; i++) {
        const struct action *a = &w->from[i], *receive;
        struct span to, left, right;

        if (a->kind != ACTION_FOLD || a->regions != 3)
            continue;
        to = *collopt_region_of(s, a, 0), left = *collopt_region_of(s, a, 1),
        right = *collopt_region_of(s, a, 2);
        if (!collopt_spans_same(s, left, to) || collopt_spans_same(s, right, to)
            || dead_after(w, i, right) || !(receive = receive_of(w, i, left)))
            continue;
        move_beside(w, *collopt_region_of(s, receive, 0));
        move_beside(w, left);
    }
    free(w->beside);
}

void collopt_pass_two_operands(struct collopt_schedule *s)
{
    struct pass w = { .s = s, .from = s->action, .n = s->actions, .spare = { -1, -1 } };

    receive_beside(&w);
    s->action = NULL;
    s->actions = 0;
    for (size_t i = 0; i < w.n && !s->failed; i++) {
        if (w.from[i].kind == ACTION_FOLD) {
            lower(&w, i);
        } else if (w.from[i].kind == ACTION_PREFIXES) {
            lower_prefixes(&w, i);
        } else if (schedule_room(s, action, actions)) {
            s->action[s->actions++] = w.from[i];
        }
    }
    free((void *)w.from);
}
