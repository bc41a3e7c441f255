/* The in-place pass: where IN and OUT are the same memory, no write to OUT may destroy input that
 * is still to be read. And where messages carry more than OUT may be given (COLLOPT_VIA_SCRATCH),
 * none is received into it.
 *
 * Algorithms are written as if IN and OUT were apart. Here every write to OUT that would destroy
 * live input, or that is such a message, goes to a shadow of OUT instead, reads of that value
 * follow it there, and what still lies in the shadow at the end is copied home. Messages stay as
 * they are: what a rank sends and receives never depends on aliasing. Should a read span values in
 * both in a way that blocks cannot express, the input is copied first and all reads go to the copy;
 * with such messages the shadow stands for OUT throughout. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/in_place.h"
#include "schedule/memory.h"
#include "schedule/parts.h"
#include "schedule/partition.h"
#include "schedule/problem.h"
#include "schedule/storage.h"
#include "schedule/write.h"

struct read {                   /* of IN */
    int action;
    struct piece piece;
};

struct pass {
    struct collopt_schedule *s;
    struct read *reads;
    size_t n;
    int partition;                      /* the one in which all reads are blocks, where LAST and
                                         * SENT are known; or -1 */
    int *last, *sent;                   /* [parts] the last action that reads the part, that sends
                                         * it; or -1 */
    struct collopt_block *moved;        /* blocks of OUT that live in the shadow now */
    size_t moves;
    int shadow;                         /* place, or -1 */
    bool stuck;                         /* a read cannot be followed */
};

static void drop_copies_onto_itself(struct collopt_schedule *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->actions; i++) {
        const struct action *a = &s->action[i];

        if (a->kind == ACTION_COPY
            && collopt_spans_same(s, *collopt_region_of(s, a, 0), *collopt_region_of(s, a, 1)))
            continue;
        s->action[kept++] = *a;
    }
    s->actions = kept;
}

static void list_reads(struct pass *w)
{
    struct collopt_schedule *s = w->s;

    for (size_t i = 0; i < s->actions; i++)
        for (int r = 0; r < s->action[i].regions; r++) {
            struct span span = *collopt_region_of(s, &s->action[i], r);

            for (int k = 0; k < span.n && !collopt_writes(&s->action[i], r); k++) {
                if (s->piece[span.first + k].place != COLLOPT_IN)
                    continue;
                if (!collopt_grow(s, (void **)&w->reads, w->n, sizeof *w->reads))
                    return;
                w->reads[w->n++] = (struct read){ (int)i, s->piece[span.first + k] };
            }
        }
}

/* Where all reads are blocks of one partition, which is the rule, the last reader of each part says
 * nearly everything. */
static void index_reads(struct pass *w)
{
    const struct collopt_schedule *s = w->s;
    int parts;

    w->partition = w->n > 0 && s->strands == 1 ? w->reads[0].piece.block.partition : -1;
    for (size_t i = 0; i < w->n && w->partition >= 0; i++)
        if (w->reads[i].piece.block.partition != w->partition)
            w->partition = -1;
    if (w->partition < 0)
        return;
    parts = s->partition[w->partition].parts;
    w->last = malloc(2 * (size_t)parts * sizeof *w->last);
    if (!w->last) {
        w->partition = -1;
        return;
    }
    w->sent = w->last + parts;
    memset(w->last, -1, 2 * (size_t)parts * sizeof *w->last);
    for (size_t i = 0; i < w->n; i++) {
        struct collopt_block b = w->reads[i].piece.block;

        for (int k = b.first; k < b.first + b.parts; k++) {
            w->last[k] = w->reads[i].action;
            if (s->action[w->reads[i].action].kind == ACTION_SEND)
                w->sent[k] = w->reads[i].action;
        }
    }
}

/* An operand that is exactly what is written is read before it is destroyed, element by element. */
static bool exactly_written(const struct collopt_schedule *s, const struct action *a,
                            struct piece q)
{
    struct span to = *collopt_region_of(s, a, 0);

    if (a->kind != ACTION_FOLD)
        return false;
    for (int r = 1; r < a->regions; r++) {
        struct span from = *collopt_region_of(s, a, r);

        for (int k = 0; k < from.n; k++)
            if (s->piece[from.first + k].place == q.place
                && collopt_blocks_equal(s->piece[from.first + k].block, q.block)
                && collopt_spans_same(s, to, from))
                return true;
    }
    return false;
}

static bool under_way(const struct collopt_schedule *s, int sender, int i)
{
    return s->action[i].kind == ACTION_RECEIVE && s->action[sender].kind == ACTION_SEND
        && s->action[sender].round == s->action[i].round;
}

static bool destroys_own_operand(const struct pass *w, int i, struct piece q)
{
    const struct collopt_schedule *s = w->s;
    const struct action *a = &s->action[i];

    for (int r = 1; r < a->regions; r++) {
        struct span from = *collopt_region_of(s, a, r);

        for (int k = 0; k < from.n; k++) {
            struct piece read = s->piece[from.first + k];

            if (read.place == COLLOPT_IN && collopt_pieces_overlap(s, q, read)
                && !exactly_written(s, a, read))
                return true;
        }
    }
    return false;
}

static bool destroys_by_index(const struct pass *w, int i, struct piece q)
{
    for (int k = q.block.first; k < q.block.first + q.block.parts; k++)
        if (w->last[k] > i || (w->sent[k] >= 0 && under_way(w->s, w->sent[k], i)))
            return true;
    return destroys_own_operand(w, i, q);
}

/* Would writing Q in action I destroy input that is still needed, or is being sent? */
static bool destroys(const struct pass *w, int i, struct piece q)
{
    const struct collopt_schedule *s = w->s;
    const struct action *a = &s->action[i];

    if (q.block.partition == w->partition
        && collopt_pieces_same(s, q, (struct piece){ COLLOPT_IN, q.block }))
        return destroys_by_index(w, i, q);
    for (size_t k = w->n; k-- > 0;) {
        const struct read *r = &w->reads[k];
        const struct action *b = &s->action[r->action];

        if (s->strands == 1 && b->round < a->round)
            break;
        if (r->action != i
            && (r->action > i || b->strand != a->strand || under_way(s, r->action, i))
            && collopt_pieces_overlap(s, q, r->piece))
            return true;
    }
    return destroys_own_operand(w, i, q);
}

static bool in_shadow(const struct pass *w, struct collopt_block b)
{
    for (size_t i = 0; i < w->moves; i++)
        if (collopt_block_contains(w->s, w->moved[i], b))
            return true;
    return false;
}

static bool touches_shadow(const struct pass *w, struct collopt_block b)
{
    for (size_t i = 0; i < w->moves; i++)
        if (collopt_blocks_overlap(w->s, w->moved[i], b))
            return true;
    return false;
}

/* Every part of B is either in the shadow or in OUT: one piece for each stretch of parts that lie
 * in the same. */
static int split(struct pass *w, struct collopt_block b, struct piece **pieces, int n)
{
    for (int i = 0; i < b.parts; i++) {
        struct collopt_block part = { b.partition, b.first + i, 1 };
        int place = in_shadow(w, part) ? w->shadow : COLLOPT_OUT;

        if (place == COLLOPT_OUT && touches_shadow(w, part))
            w->stuck = true;
        if (i > 0 && (*pieces)[n - 1].place == place) {
            (*pieces)[n - 1].block.parts++;
            continue;
        }
        if (!collopt_grow(w->s, (void **)pieces, (size_t)n, sizeof **pieces))
            return n;
        (*pieces)[n++] = (struct piece){ place, part };
    }
    return n;
}

static void follow_reads(struct pass *w, struct action *a, int region)
{
    struct collopt_schedule *s = w->s;
    struct span span = *collopt_region_of(s, a, region);
    struct piece *pieces = NULL;
    int n = 0;
    bool moved = false;

    for (int k = 0; k < span.n; k++) {
        struct piece q = s->piece[span.first + k];

        if (q.place == COLLOPT_OUT && touches_shadow(w, q.block)) {
            moved = true;
            n = split(w, q.block, &pieces, n);
        } else if (collopt_grow(s, (void **)&pieces, (size_t)n, sizeof *pieces)) {
            pieces[n++] = q;
        }
    }
    if (moved && !s->failed) {
        int fresh = collopt_add_span(s, n, pieces);

        s->region[a->region + region] = s->region[fresh];
    }
    free(pieces);
}

static void now_in_shadow(struct pass *w, struct collopt_block b)
{
    if (!in_shadow(w, b)
        && collopt_grow(w->s, (void **)&w->moved, w->moves, sizeof *w->moved))
        w->moved[w->moves++] = b;
}

/* Forgets the moved blocks that B covers; false when B covers one of them in part only. */
static bool comes_home(struct pass *w, struct collopt_block b)
{
    size_t kept = 0;

    for (size_t i = 0; i < w->moves; i++)
        if (collopt_blocks_overlap(w->s, w->moved[i], b)
            && !collopt_block_contains(w->s, b, w->moved[i]))
            return false;
    for (size_t i = 0; i < w->moves; i++)
        if (!collopt_block_contains(w->s, b, w->moved[i]))
            w->moved[kept++] = w->moved[i];
    w->moves = kept;
    return true;
}

static bool shadow(struct pass *w)
{
    if (w->shadow < 0)
        w->shadow = collopt_vector_slot(w->s, w->s->place[COLLOPT_OUT].cover);
    return !w->s->failed;
}

static void place_write(struct pass *w, int i)
{
    struct collopt_schedule *s = w->s;
    struct span to = *collopt_region_of(s, &s->action[i], 0);
    bool away = (s->how & COLLOPT_VIA_SCRATCH) && s->action[i].kind == ACTION_RECEIVE;
    bool *redirect = collopt_workspace(s, (size_t)to.n * sizeof *redirect);

    if (!redirect)
        return;
    for (int k = 0; k < to.n; k++)
        redirect[k] = s->piece[to.first + k].place == COLLOPT_OUT
            && (away || destroys(w, i, s->piece[to.first + k]));
    for (int k = 0; k < to.n; k++) {
        struct piece *q = &s->piece[to.first + k];

        if (q->place != COLLOPT_OUT || (!redirect[k] && comes_home(w, q->block)))
            continue;
        if (!shadow(w))
            break;
        now_in_shadow(w, q->block);
        s->piece[to.first + k].place = w->shadow;
    }
    free(redirect);
}

static void copy_home(struct pass *w)
{
    struct collopt_schedule *s = w->s;

    collopt_strand(s, 0);
    collopt_round(s);
    for (size_t i = 0; i < w->moves; i++) {
        bool again = false;

        for (size_t k = 0; k < i; k++)
            again |= collopt_block_contains(s, w->moved[k], w->moved[i]);
        if (!again)
            collopt_copy(s, (struct collopt_region){ .place = COLLOPT_OUT, .blocks = 1,
                                                     .block = w->moved[i] },
                         (struct collopt_region){ .place = w->shadow, .blocks = 1,
                                                  .block = w->moved[i] });
    }
}

/* Until the end, where it is copied home as a whole.  Then no input is needed any more. */
static void all_in_shadow(struct pass *w)
{
    struct collopt_schedule *s = w->s;

    if (!shadow(w))
        return;
    for (size_t i = 0; i < s->pieces; i++)
        if (s->piece[i].place == COLLOPT_OUT)
            s->piece[i].place = w->shadow;
    w->moves = 0;
    now_in_shadow(w, s->place[COLLOPT_OUT].cover);
    copy_home(w);
}

static void copy_input_first(struct collopt_schedule *s)
{
    struct collopt_block all = { COLLOPT_WHOLE, 0, 1 };
    int copy = collopt_vector_slot(s, all);

    for (size_t i = 0; i < s->pieces; i++)
        if (s->piece[i].place == COLLOPT_IN)
            s->piece[i].place = copy;
    collopt_strand(s, 0);
    collopt_copy(s, (struct collopt_region){ .place = copy, .blocks = 1, .block = all },
                 (struct collopt_region){ .place = COLLOPT_IN, .blocks = 1, .block = all });
    if (s->failed)
        return;

    struct action first = s->action[s->actions - 1];

    memmove(&s->action[1], &s->action[0], (s->actions - 1) * sizeof *s->action);
    first.round = s->actions > 1 ? s->action[1].round : 0;
    s->action[0] = first;
}

/* Regions are shared by nobody at this point: every action has its own, so pieces may be changed
 * where they lie. */
static bool redirect(struct pass *w)
{
    struct collopt_schedule *s = w->s;
    size_t actions = s->actions;

    for (size_t i = 0; i < actions && !s->failed; i++) {
        for (int r = 0; r < s->action[i].regions; r++)
            if (!collopt_writes(&s->action[i], r))
                follow_reads(w, &s->action[i], r);
        if (w->stuck)
            return false;
        if (collopt_writes(&s->action[i], 0))
            place_write(w, (int)i);
    }
    if (w->moves > 0)
        copy_home(w);
    return true;
}

static void undo(struct pass *w)
{
    for (size_t i = 0; i < w->s->pieces; i++)
        if (w->shadow >= 0 && w->s->piece[i].place == w->shadow)
            w->s->piece[i].place = COLLOPT_OUT;
}

void collopt_pass_in_place(struct collopt_schedule *s)
{
    struct pass w = { .s = s, .partition = -1, .shadow = -1 };

    if (!s->at.has_out)
        return;
    drop_copies_onto_itself(s);
    if (s->how & COLLOPT_IN_PLACE) {
        list_reads(&w);
        index_reads(&w);
    }
    if (!s->failed && !redirect(&w)) {
        undo(&w);
        if (s->how & COLLOPT_VIA_SCRATCH)
            all_in_shadow(&w);
        else
            copy_input_first(s);
    }
    free(w.last);
    free(w.reads);
    free(w.moved);
}
