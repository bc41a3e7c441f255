/* Binding: a compiled schedule meets a count, and its blocks become runs of elements.
 *
 * Blocks that turn out empty vanish here, alike on both sides of a message, since both compute the
 * same lengths; and so are long messages cut. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/bind.h"
#include "base/list.h"
#include "schedule/fragment.h"
#include "schedule/parts.h"
#include "schedule/partition.h"
#include "schedule/problem.h"
#include "schedule/storage.h"
#include "schedule/views.h"

struct binder {
    const struct collopt_schedule *s;
    const struct collopt_problem *p;
    const size_t *sums;
    const struct collopt_cut *cuts;
    const struct collopt_nearby *nearby;        /* or NULL */
    bool failed;
    size_t *slot;

    struct collopt_run *run;
    size_t runs;
    struct collopt_message *message;
    size_t messages;
    struct collopt_step *step;
    size_t steps;
    int *first_message;         /* [actions] of a message: its first one on the wire ... */
    int *wire_messages;         /* [actions] ... and how many there are */
    int member;                 /* the last multicast that was looked up begins at s->member[member]
                                 * ... */
    bool near;                  /* ... is among near ranks */
};

struct whole_bound {            /* what is freed together */
    struct collopt_bound bound;
    struct collopt_run *run;
    struct collopt_message *message;
    struct collopt_step *step;
    const struct collopt_step **strand;
    int *member;                /* of all multicasts */
};

/* Notes that there was no memory. */
static bool grows(struct binder *b, bool room)
{
    b->failed = b->failed || !room;
    return !b->failed;
}

/* ---- offsets --------------------------------------------------------------------------------- */

static size_t offset(const struct binder *b, int partition, int part)
{
    return collopt_offset(b->s, b->p, b->sums, partition, part);
}

static size_t block_length(const struct binder *b, struct collopt_block q)
{
    return offset(b, q.partition, q.first + q.parts) - offset(b, q.partition, q.first);
}

/* Walks the runs of a span: blocks that lie one behind the other in memory are one run. */
struct walk {
    const struct binder *b;
    struct span span;
    int next;
    size_t packed;              /* elements of the packed slot that were passed */
    size_t back;                /* by so many elements runs lie before their place: pieces that take
                                 * turns in one */
    struct collopt_run run;     /* what is left of the run at hand */
};

static struct collopt_run piece_run(struct walk *w, struct piece q)
{
    const struct place *place = &w->b->s->place[q.place];
    struct collopt_run r = { .place = q.place, .n = block_length(w->b, q.block) };

    if (place->kind == PLACE_PACKED) {
        r.at = w->packed;
        w->packed += r.n;
    } else {
        r.at = offset(w->b, q.block.partition, q.block.first)
            - offset(w->b, place->cover.partition, place->cover.first);
    }
    return r;
}

static bool advance(struct walk *w)
{
    while (w->next < w->span.n) {
        struct collopt_run r = piece_run(w, w->b->s->piece[w->span.first + w->next]);

        if (w->run.n > 0 && r.n > 0 && (r.place != w->run.place || r.at != w->run.at + w->run.n)) {
            w->packed -= w->b->s->place[r.place].kind == PLACE_PACKED ? r.n : 0;
            return true;
        }
        if (w->run.n > 0)
            w->run.n += r.n;
        else
            w->run = r;
        w->next++;
    }
    return w->run.n > 0;
}

static struct walk walk(const struct binder *b, struct span span)
{
    struct walk w = { .b = b, .span = span };

    advance(&w);
    return w;
}

/* Takes N elements off the run at hand. */
static struct collopt_run take(struct walk *w, size_t n)
{
    struct collopt_run r = { .place = w->run.place, .at = w->run.at - w->back, .n = n };

    w->run.at += n;
    w->run.n -= n;
    if (w->run.n == 0)
        advance(w);
    return r;
}

static void add_run(struct binder *b, struct collopt_run r)
{
    if (r.place >= COLLOPT_FIRST_SLOT && b->slot[r.place - COLLOPT_FIRST_SLOT] < r.at + r.n)
        b->slot[r.place - COLLOPT_FIRST_SLOT] = r.at + r.n;
    if (grows(b, collopt_room(b->run, b->runs)))
        b->run[b->runs++] = r;
}

/* ---- messages and steps; run pointers are indices until the arrays stop growing -------------- */

static void *as_pointer(size_t index)
{
    return (void *)(uintptr_t)index;
}

static const struct collopt_cut *cut_among(const struct collopt_cut *cuts, size_t n)
{
    const struct collopt_cut *found = NULL;

    for (const struct collopt_cut *c = cuts; c && c->piece > 0; c++)
        if (n > c->above)
            found = c;
    return found && n > found->piece ? found : NULL;
}

static size_t pieces_of(const struct collopt_cut *cut, size_t n)
{
    return cut ? (n + cut->piece - 1) / cut->piece : 1;
}

static bool all_near(struct binder *b, const struct action *a)
{
    const int *member = &b->s->member[a->member];

    if (b->member == a->member)
        return b->near;
    b->member = a->member;
    b->near = true;
    for (int i = 0; i < a->members && b->near; i++)
        b->near = member[i] == b->s->rank || b->nearby->rank[member[i]];
    return b->near;
}

/* Are messages of N elements of A a multicast?  Alike for all its members. */
static bool is_multicast(struct binder *b, const struct action *a, size_t n)
{
    return a->members > 0 && b->nearby && b->s->strands <= COLLOPT_MULTICAST_STRANDS
        && all_near(b, a)
        && pieces_of(cut_among(b->nearby->multicast, n), n) <= COLLOPT_MULTICAST_PIECES;
}

/* Cuts a message of N elements of A; NULL: nothing does. */
static const struct collopt_cut *cut_of(struct binder *b, const struct action *a, size_t n)
{
    if (is_multicast(b, a, n))
        return cut_among(b->nearby->multicast, n);
    return cut_among(b->nearby && b->nearby->rank[a->peer] ? b->nearby->cuts : b->cuts, n);
}

static size_t span_length(const struct binder *b, struct span span)
{
    size_t n = 0;

    for (int k = 0; k < span.n; k++)
        n += block_length(b, b->s->piece[span.first + k].block);
    return n;
}

/* Of what the instruction sends, receives or writes. */
static size_t first_length(const struct binder *b, const struct instruction *q)
{
    return span_length(b, *collopt_region_of(b->s, &b->s->action[q->action], 0));
}

/* One action's message: cut where it is too long for one on the wire, in pieces that are as long as
 * one another. ONE_PLACE: they take turns in the first one's. */
static void bind_message(struct binder *b, int i, bool one_place)
{
    const struct action *a = &b->s->action[i];
    struct span span = *collopt_region_of(b->s, a, 0);
    size_t length = span_length(b, span), pieces = pieces_of(cut_of(b, a, length), length);
    bool multicast = is_multicast(b, a, length);
    struct walk w = walk(b, span);

    b->first_message[i] = (int)b->messages;
    for (size_t piece = 0; w.run.n > 0 && !b->failed; piece++) {
        size_t most = length / pieces + (piece < length % pieces);
        struct collopt_message m = { .peer = a->peer, .tag = a->strand,
                                     .send = a->kind == ACTION_SEND, .run = as_pointer(b->runs),
                                     .members = multicast ? a->members : 0,
                                     .repeats = multicast && a->repeats,
                                     .member = as_pointer((size_t)a->member) };

        while (w.run.n > 0 && m.n < most) {
            size_t n = w.run.n < most - m.n ? w.run.n : most - m.n;

            add_run(b, take(&w, n));
            m.runs++;
            m.n += n;
        }
        if (grows(b, collopt_room(b->message, b->messages)))
            b->message[b->messages++] = m;
        if (one_place)
            w.back += m.n;
    }
    b->wire_messages[i] = (int)b->messages - b->first_message[i];
}

static void add_step(struct binder *b, struct collopt_step q)
{
    if (grows(b, collopt_room(b->step, b->steps)))
        b->step[b->steps++] = q;
}

/* The next N elements of what a rank does by itself, cut where any of its operands is in two
 * pieces. */
static void bind_part(struct binder *b, enum collopt_step_kind kind, struct walk *w, int regions,
                      size_t n)
{
    while (n > 0 && w[0].run.n > 0 && !b->failed) {
        size_t some = n, first = b->runs;

        for (int r = 0; r < regions; r++)
            if (w[r].run.n < some)
                some = w[r].run.n;
        for (int r = 0; r < regions; r++)
            add_run(b, take(&w[r], some));
        add_step(b, (struct collopt_step){ .kind = kind, .message = -1, .runs = regions,
                                           .run = as_pointer(first) });
        n -= some;
    }
}

static void walk_regions(const struct binder *b, const struct action *a, struct walk *w)
{
    for (int r = 0; r < a->regions; r++)
        w[r] = walk(b, *collopt_region_of(b->s, a, r));
}

static void bind_local(struct binder *b, enum collopt_step_kind kind, const struct action *a)
{
    struct walk few[ACTION_REGIONS] = { { 0 } }, *w = few;

    if (a->regions > ACTION_REGIONS && !(w = malloc((size_t)a->regions * sizeof *w))) {
        b->failed = true;
        return;
    }
    walk_regions(b, a, w);
    bind_part(b, kind, w, a->regions, SIZE_MAX);
    if (w != few)
        free(w);
}

static void bind_pieces(struct binder *b, int action, enum collopt_step_kind kind)
{
    for (int k = 0; k < b->wire_messages[action]; k++)
        add_step(b, (struct collopt_step){ .kind = kind, .message = b->first_message[action] + k });
}

/* The pieces of a message that is sent and waited for in one are all under way before one is waited
 * for: a blocking send may return only when the receiver has taken the piece, as Open MPI's does
 * for more than 256 bytes. */
static void bind_instruction(struct binder *b, const struct instruction *q)
{
    if (q->kind == COLLOPT_FOLD || q->kind == COLLOPT_COPY || q->kind == COLLOPT_PREFIXES) {
        bind_local(b, q->kind, &b->s->action[q->action]);
    } else if (q->kind == COLLOPT_AWAIT || q->kind == COLLOPT_END) {
        add_step(b, (struct collopt_step){ .kind = q->kind, .message = -1, .strand = q->strand,
                                           .step = q->instruction });
    } else {
        if (q->kind != COLLOPT_WAIT)
            bind_message(b, q->action, false);
        if (q->kind == COLLOPT_SEND && b->wire_messages[q->action] > 1) {
            bind_pieces(b, q->action, COLLOPT_POST_SEND);
            bind_pieces(b, q->action, COLLOPT_WAIT);
        } else {
            bind_pieces(b, q->action, q->kind);
        }
    }
}

/* ---- in fragments (fragment.c), in schedules of one strand ----------------------------------- */

/* The walks of all regions of a group; those of the SPAN that its pieces take turns in go back when
 * a piece is done. */
struct group_walks {
    struct walk w[COLLOPT_GROUP][ACTION_REGIONS];
    bool turns[COLLOPT_GROUP][ACTION_REGIONS];
};

static void walk_group(const struct binder *b, const struct instruction *list,
                       const struct collopt_group *g, const struct span *one_place,
                       struct group_walks *x)
{
    for (size_t k = 0; k < g->n; k++) {
        const struct action *a = &b->s->action[list[k].action];

        walk_regions(b, a, x->w[k]);
        for (int r = 0; r < a->regions; r++)
            x->turns[k][r] =
                one_place && collopt_spans_same(b->s, *collopt_region_of(b->s, a, r), *one_place);
    }
}

static void bind_piece(struct binder *b, const struct instruction *list, size_t k, size_t n,
                       struct group_walks *x)
{
    int regions = b->s->action[list[k].action].regions;

    bind_part(b, list[k].kind, x->w[k], regions, n);
    for (int r = 0; r < regions; r++)
        if (x->turns[k][r])
            x->w[k][r].back += n;
}

/* LATE: the receive has not been posted yet. */
static void bind_group(struct binder *b, const struct instruction *list,
                       const struct collopt_group *g, bool late)
{
    const struct instruction *arrival = &list[g->arrival];
    enum collopt_step_kind kind = late ? COLLOPT_RECEIVE : arrival->kind;
    struct span coming = *collopt_region_of(b->s, &b->s->action[arrival->action], 0);
    bool one_place = kind == COLLOPT_RECEIVE && collopt_group_last(b->s, &list[g->n], coming);
    struct group_walks x;

    walk_group(b, list, g, one_place ? &coming : NULL, &x);
    if (kind == COLLOPT_RECEIVE)
        bind_message(b, arrival->action, one_place);
    for (int m = 0; m < b->wire_messages[arrival->action] && !b->failed; m++) {
        size_t n = b->message[b->first_message[arrival->action] + m].n;

        for (size_t k = 0; k < g->n; k++)
            if (k < g->first || k > g->arrival)
                bind_piece(b, list, k, n, &x);
            else
                add_step(b, (struct collopt_step){ .kind = k < g->arrival ? COLLOPT_WAIT : kind,
                                                   .message = b->first_message[list[k].action]
                                                       + m });
    }
}

/* Binds what lies between the receive that LIST[0] posts and its group, which is K instructions
 * behind it, and the group. */
static void bind_late(struct binder *b, const struct instruction *list, size_t k,
                      const struct collopt_group *g)
{
    for (size_t i = 1; i < k; i++)
        if (!collopt_group_holds_up(b->s, list, i))
            bind_instruction(b, &list[i]);
    bind_group(b, &list[k], g, true);
    for (size_t i = 1; i < k; i++)
        if (collopt_group_holds_up(b->s, list, i))
            bind_instruction(b, &list[i]);
}

/* The group that begins with LIST[0], if its messages are cut alike and all its vectors are as
 * long. */
static struct collopt_group cut_group(struct binder *b, const struct instruction *list)
{
    struct collopt_group none = { 0 }, g = none;
    size_t first = list[0].kind == COLLOPT_FOLD || list[0].kind == COLLOPT_COPY ? 1 : 0, n = 0;
    const struct collopt_cut *cut = NULL;

    if (list[first].kind == COLLOPT_WAIT || list[first].kind == COLLOPT_RECEIVE)
        n = first_length(b, &list[first]);
    if (n > 0 && (cut = cut_of(b, &b->s->action[list[first].action], n)))
        g = collopt_group_at(b->s, list);
    for (size_t k = 0; k < g.n; k++)
        if (first_length(b, &list[k]) != n
            || (k > g.first && k <= g.arrival
                && cut_of(b, &b->s->action[list[k].action], n) != cut))
            return none;
    return g;
}

/* Binds the first of LIST, and what goes with it piece by piece; returns how many instructions
 * these were. */
static size_t bind_some(struct binder *b, const struct instruction *list)
{
    bool receive = list[0].kind == COLLOPT_POST_RECEIVE;
    const struct collopt_cut *cut =
        receive ? cut_of(b, &b->s->action[list[0].action], first_length(b, &list[0])) : NULL;
    size_t k = cut && cut->in_turn ? collopt_group_of(b->s, list) : 0;
    struct collopt_group g = { 0 };

    if (k > 0 || !receive)
        g = cut_group(b, &list[k]);
    if (g.n == 0) {
        bind_instruction(b, &list[0]);
        return 1;
    }
    if (k > 0)
        bind_late(b, list, k, &g);
    else
        bind_group(b, list, &g, false);
    return k + g.n;
}

/* STRAND[t]: where strand t begins among the steps. */
static void bind_strands(struct binder *b, size_t *strand)
{
    const struct collopt_schedule *s = b->s;
    size_t all = 0, done = 0;

    for (int t = 0; t < s->strands; t++)
        all += s->program[t].n;

    /* instruction -> step, strand by strand */
    size_t *start = malloc((all + 1) * sizeof *start);
    size_t base[s->strands];

    if (!start) {
        b->failed = true;
        return;
    }
    for (int t = 0; t < s->strands; t++) {
        strand[t] = b->steps;
        base[t] = done;
        for (size_t k = 0, n; k < s->program[t].n; k += n) {
            start[done] = b->steps - strand[t];
            n = 1;
            if (s->strands == 1 && b->cuts)
                n = bind_some(b, &s->program[t].list[k]);
            else
                bind_instruction(b, &s->program[t].list[k]);
            done += n;
        }
    }
    for (size_t k = 0; k < b->steps && !b->failed; k++)
        if (b->step[k].kind == COLLOPT_AWAIT)
            b->step[k].step = (int)start[base[b->step[k].strand] + (size_t)b->step[k].step];
    free(start);
}

/* Does nothing but short work of the rank's own, or the start of sends, lie between the receive
 * posted in step I and its wait? Returns the wait, else 0. */
static size_t wait_soon(const struct binder *b, size_t i)
{
    const size_t few = 2048;            /* bytes */
    size_t bytes = 0;

    for (size_t k = i + 1; k < b->steps; k++) {
        const struct collopt_step *q = &b->step[k];

        if (q->kind == COLLOPT_WAIT)
            return q->message == b->step[i].message ? k : 0;
        if (q->kind == COLLOPT_COPY || q->kind == COLLOPT_FOLD)
            bytes += b->run[(uintptr_t)q->run].n * b->p->size * (size_t)q->runs;
        else if (q->kind != COLLOPT_POST_SEND)
            return 0;
        if (bytes > few)
            return 0;
    }
    return 0;
}

/* Where there is one strand: moves such a receive to its wait and makes them one step.  A posted
 * receive would be better only if the message arrived within that short work, and the hosts' paths
 * for a receive with its wait are shorter. */
static void fuse(struct binder *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->steps; i++) {
        size_t wait = b->step[i].kind == COLLOPT_POST_RECEIVE ? wait_soon(b, i) : 0;

        if (wait)
            b->step[wait].kind = COLLOPT_RECEIVE;
        else
            b->step[kept++] = b->step[i];
    }
    b->steps = kept;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Copies the members of the schedule's multicasts; *MEMBER stays NULL if there are none.  False: no
 * memory. */
static bool copy_members(const struct collopt_schedule *s, int **member)
{
    if (s->members == 0)
        return true;
    *member = malloc(s->members * sizeof **member);
    if (*member)
        memcpy(*member, s->member, s->members * sizeof **member);
    return *member != NULL;
}

static struct collopt_bound *finish(struct binder *b, const size_t *strand)
{
    struct whole_bound *x = calloc(1, sizeof *x);
    const struct collopt_step **strands = malloc((size_t)b->s->strands * sizeof *strands);
    int *member = NULL;

    if (!x || !strands || !copy_members(b->s, &member)) {
        free(x);
        free(strands);
        return NULL;
    }
    for (size_t i = 0; i < b->messages; i++) {
        b->message[i].run = b->run + (uintptr_t)b->message[i].run;
        b->message[i].member =
            b->message[i].members > 0 ? member + (uintptr_t)b->message[i].member : NULL;
    }
    for (size_t i = 0; i < b->steps; i++)
        if (b->step[i].runs > 0)
            b->step[i].run = b->run + (uintptr_t)b->step[i].run;
    for (int t = 0; t < b->s->strands; t++)
        strands[t] = b->step + strand[t];
    *x = (struct whole_bound){
        .bound = { .strands = b->s->strands, .messages = (int)b->messages,
                   .slots = (int)b->s->places - COLLOPT_FIRST_SLOT, .strand = strands,
                   .message = b->message, .slot = b->slot, .steps = b->steps },
        .run = b->run, .message = b->message, .step = b->step, .strand = strands,
        .member = member,
    };
    return &x->bound;
}

static size_t *prefix_sums(const struct collopt_problem *p)
{
    size_t *sums = malloc(((size_t)p->ranks + 1) * sizeof *sums);

    if (!sums)
        return NULL;
    sums[0] = 0;
    for (int r = 0; r < p->ranks; r++)
        sums[r + 1] = sums[r] + p->counts[r];
    return sums;
}

static struct collopt_bound *with_views(struct collopt_bound *bound,
                                        const struct collopt_nearby *nearby, bool two_operands)
{
    if (bound && nearby && !collopt_bound_near(bound, nearby, two_operands)) {
        collopt_bound_free(bound);
        return NULL;
    }
    return bound;
}

struct collopt_bound *collopt_bind(const struct collopt_schedule *s,
                                   const struct collopt_problem *p, const struct collopt_cut *cuts)
{
    return collopt_bind_near(s, p, cuts, NULL);
}

struct collopt_bound *collopt_bind_near(const struct collopt_schedule *s,
                                        const struct collopt_problem *p,
                                        const struct collopt_cut *cuts,
                                        const struct collopt_nearby *nearby)
{
    size_t *sums = p->counts && s->at.counts_partition >= 0 ? prefix_sums(p) : NULL;
    struct binder b = { .s = s, .p = p, .sums = sums, .cuts = cuts, .nearby = nearby,
                        .member = -1 };
    struct collopt_bound *bound = NULL;
    size_t strand[s->strands];

    b.failed = p->counts && s->at.counts_partition >= 0 && !sums;
    b.slot = calloc(s->places - COLLOPT_FIRST_SLOT + 1, sizeof *b.slot);
    b.first_message = calloc(2 * s->actions + 1, sizeof *b.first_message);
    if (!b.slot || !b.first_message)
        b.failed = true;
    b.wire_messages = b.first_message + s->actions;
    if (!b.failed)
        bind_strands(&b, strand);
    if (!b.failed && s->strands == 1)
        fuse(&b);
    if (!b.failed)
        bound = finish(&b, strand);
    if (!bound) {
        free(b.run);
        free(b.message);
        free(b.step);
        free(b.slot);
    }
    free(b.first_message);
    free(sums);
    return with_views(bound, nearby, (s->how & COLLOPT_TWO_OPERANDS) != 0);
}

void collopt_bound_free(struct collopt_bound *bound)
{
    struct whole_bound *x = (struct whole_bound *)bound;

    if (!x)
        return;
    free((struct collopt_view *)bound->view);
    free(x->run);
    free(x->message);
    free(x->step);
    free(x->strand);
    free(x->member);
    free((size_t *)bound->slot);
    free(x);
}
