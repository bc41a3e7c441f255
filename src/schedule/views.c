/* Messages that their receiver reads where the sender has put them, instead of copying them to
 * its own memory first.
 *
 * A receive into scratch or OUT whose value is only read, by folds and copies, becomes a view:
 * these steps are given the sender's memory, and the last one gives it back. Between the receive
 * and that step the memory of the receive would have held the same bytes, so neither order nor
 * results change. A receive stays a copy where its value is sent on, is overwritten in parts that
 * do not begin or end where it does, or is still needed when the next message of the same sender
 * and strand is received; and in OUT, where a part of it is the result, or it is short.
 *
 * A view that still waits for its last step may have to move to the memory that it stands for, to
 * make room for the next message (move_held() in src/mpi/run). So a receive stays a copy, too,
 * where a part of that memory is written before all of the value was read, as by a fold that is
 * done piece by piece.
 *
 * Only for schedules of one strand, whose steps run in the order in which they stand. */
#include "config.h"

#include <stdlib.h>

#include "schedule/views.h"
#include "schedule/block.h"
#include "schedule/bound.h"

struct extent {                 /* elements FROM .. TO-1 of a place that still hold what was
                                 * received */
    int place;
    size_t from, to;
};

static bool overlaps(const struct extent *e, const struct collopt_run *r)
{
    return r->place == e->place && r->at < e->to && e->from < r->at + r->n;
}

/* Takes what R overwrites away from E; false: two parts are left. */
static bool overwrite(struct extent *e, const struct collopt_run *r)
{
    if (!overlaps(e, r))
        return true;
    if (r->at <= e->from)
        e->from = r->at + r->n < e->to ? r->at + r->n : e->to;
    else if (r->at + r->n >= e->to)
        e->to = r->at;
    else
        return false;
    return true;
}

static bool may_be_view(const struct collopt_message *m, const struct collopt_nearby *nearby)
{
    return !m->send && nearby->rank[m->peer] && m->runs == 1
        && (m->run[0].place != COLLOPT_OUT || m->n > nearby->copied);
}

/* What is known of the value that one message brings. */
struct view {
    const struct collopt_message *m;
    struct extent all, left;
    size_t last;                /* the last step that reads it; 0: none */
    bool written;               /* its memory holds something else in part */
    int held;                   /* messages of its sender and strand from it on, up to that step */
    int since;                  /* the same, up to the present step */
};

/* Step Q reads or writes: false if the value must have been copied for it. With two operands, the
 * right one is the result. */
static bool follow_local(struct view *v, const struct collopt_step *q, size_t k, bool two_operands)
{
    if (q->kind == COLLOPT_PREFIXES) {
        for (int r = 0; r < q->runs; r++)
            if (overlaps(&v->left, &q->run[r]))
                return false;
        return true;
    }
    for (int r = 1; r < q->runs; r++) {
        if (!overlaps(&v->left, &q->run[r]))
            continue;
        if (v->written || q->run[r].at < v->left.from
            || q->run[r].at + q->run[r].n > v->left.to
            || (two_operands && overlaps(&v->left, &q->run[0])))
            return false;
        v->last = k;
        v->held = v->since;
    }
    v->written = v->written || overlaps(&v->all, &q->run[0]);
    return overwrite(&v->left, &q->run[0]);
}

static bool follow_message(struct view *v, enum collopt_step_kind kind,
                           const struct collopt_message *m)
{
    if (kind != COLLOPT_POST_RECEIVE && !m->send && m->peer == v->m->peer && m->tag == v->m->tag)
        v->since++;
    for (int r = 0; r < m->runs && kind != COLLOPT_WAIT; r++) {
        v->written = v->written || (!m->send && overlaps(&v->all, &m->run[r]));
        if (m->send ? overlaps(&v->left, &m->run[r]) : !overwrite(&v->left, &m->run[r]))
            return false;
    }
    return true;
}

/* All that was received into OUT must have been overwritten at the end. */
static bool leaves_no_result(const struct view *v)
{
    return v->all.place != COLLOPT_OUT || v->left.from >= v->left.to;
}

/* Follows the value that step I brings; false: it must be copied. */
static bool follow(const struct collopt_bound *b, const struct collopt_step *step, size_t i,
                   bool two_operands, struct view *v)
{
    const struct collopt_message *m = &b->message[step[i].message];

    *v = (struct view){ .m = m, .all = { m->run[0].place, m->run[0].at,
                                         m->run[0].at + m->run[0].n }, .since = 1, .held = 1 };
    v->left = v->all;
    for (size_t k = i + 1; step[k].kind != COLLOPT_END && v->left.from < v->left.to; k++) {
        const struct collopt_step *q = &step[k];
        bool fine = true;

        if (q->kind == COLLOPT_FOLD || q->kind == COLLOPT_COPY || q->kind == COLLOPT_PREFIXES)
            fine = follow_local(v, q, k, two_operands);
        else if (q->kind != COLLOPT_AWAIT)
            fine = follow_message(v, q->kind, &b->message[q->message]);
        if (!fine)
            return false;
    }
    return v->last > 0 && v->held == 1 && leaves_no_result(v);
}

/* Gives PLACE instead of its memory to the steps that read the value which step I receives. */
static void make_view(struct collopt_step *step, size_t i, const struct view *v, int place)
{
    struct collopt_run *whole = (struct collopt_run *)&v->m->run[0], *last = NULL;
    struct extent left = v->all;

    *whole = (struct collopt_run){ .place = place, .n = whole->n };
    for (size_t k = i + 1; k <= v->last; k++) {
        if (step[k].kind != COLLOPT_FOLD && step[k].kind != COLLOPT_COPY)
            continue;
        for (int r = 1; r < step[k].runs; r++) {
            struct collopt_run *run = (struct collopt_run *)&step[k].run[r];

            if (overlaps(&left, run)) {
                *run = (struct collopt_run){ .place = place, .at = run->at - v->all.from,
                                             .n = run->n };
                last = run;
            }
        }
        overwrite(&left, &step[k].run[0]);
    }
    last->last = true;
    step[v->last].last = true;
}

/* Room for views, of which there are as many as messages at most; false: no memory. */
static bool make_room(struct collopt_bound *b)
{
    size_t most = (size_t)b->messages, slots = (size_t)b->slots;
    struct collopt_view *view = malloc((most + 1) * sizeof *view);
    size_t *slot = view ? realloc((size_t *)b->slot, (slots + most + 1) * sizeof *slot) : NULL;

    if (!slot) {
        free(view);
        return false;
    }
    b->view = view;
    b->slot = slot;
    return true;
}

static void add_view(struct collopt_bound *b, struct collopt_step *step, size_t i,
                     const struct view *v)
{
    ((struct collopt_view *)b->view)[b->views++] =
        (struct collopt_view){ step[i].message, v->all.place, v->all.from };
    ((size_t *)b->slot)[b->slots] = v->all.to - v->all.from;
    make_view(step, i, v, COLLOPT_FIRST_SLOT + b->slots++);
}

bool collopt_bound_near(struct collopt_bound *b, const struct collopt_nearby *nearby,
                        bool two_operands)
{
    struct collopt_step *step = (struct collopt_step *)b->strand[0];
    struct view v;

    if (b->strands != 1 || !nearby->views)
        return true;
    if (!make_room(b))
        return false;
    for (size_t i = 0; step[i].kind != COLLOPT_END; i++)
        if ((step[i].kind == COLLOPT_RECEIVE || step[i].kind == COLLOPT_WAIT)
            && may_be_view(&b->message[step[i].message], nearby)
            && follow(b, step, i, two_operands, &v))
            add_view(b, step, i, &v);
    return true;
}
