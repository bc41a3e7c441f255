/* Decides which pieces of a schedule share memory: buffers are separate, except that in place IN
 * and OUT are one. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/storage.h"
#include "schedule/parts.h"
#include "schedule/partition.h"
#include "schedule/problem.h"

enum { MANY = 64 };             /* pieces in both spans, from which on they are put in order before
                                 * they are compared */

static bool in_and_out(const struct collopt_schedule *s, struct piece a, struct piece b)
{
    return (s->how & COLLOPT_IN_PLACE) && a.place + b.place == COLLOPT_IN + COLLOPT_OUT;
}

/* In an in-place Reduce_scatter OUT overlays the first elements of IN, which are rank 0's part. */
static bool shifted(const struct collopt_schedule *s, struct piece a, struct piece b)
{
    return a.place != b.place && collopt_scatters(s->collective) && s->rank != 0;
}

bool collopt_parts_are_apart(const struct collopt_schedule *s, int place)
{
    struct piece in = { .place = COLLOPT_IN }, out = { .place = COLLOPT_OUT };

    if (place == COLLOPT_IN || place == COLLOPT_OUT)
        return !in_and_out(s, in, out) || !shifted(s, in, out);
    return s->place[place].kind != PLACE_PACKED;
}

bool collopt_pieces_overlap(const struct collopt_schedule *s, struct piece a, struct piece b)
{
    if (a.place != b.place && !in_and_out(s, a, b))
        return false;
    if (shifted(s, a, b) || s->place[a.place].kind == PLACE_PACKED)
        return a.block.parts > 0 && b.block.parts > 0;
    return collopt_blocks_overlap(s, a.block, b.block);
}

bool collopt_pieces_same(const struct collopt_schedule *s, struct piece a, struct piece b)
{
    if (a.place != b.place && (!in_and_out(s, a, b) || shifted(s, a, b)))
        return false;
    return collopt_blocks_equal(a.block, b.block);
}

/* ---- long lists of blocks -------------------------------------------------------------------- */

static int by_first(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    return (x->block.first > y->block.first) - (x->block.first < y->block.first);
}

/* The pieces of a span in order: those of the pool, if they are, or else a copy; LIST is NULL if
 * there is no memory for one. */
struct ordered {
    const struct piece *list;
    struct piece *copy;
    int n;
};

static struct ordered order(const struct collopt_schedule *s, struct span span)
{
    struct ordered o = { .list = &s->piece[span.first], .n = span.n };
    int i = 1;

    while (i < span.n && by_first(&o.list[i - 1], &o.list[i]) <= 0)
        i++;
    if (i == span.n)
        return o;
    o.copy = malloc((size_t)span.n * sizeof *o.copy);
    if (o.copy) {
        memcpy(o.copy, o.list, (size_t)span.n * sizeof *o.copy);
        qsort(o.copy, (size_t)span.n, sizeof *o.copy, by_first);
    }
    o.list = o.copy;
    return o;
}

/* True if all pieces are of one buffer and one partition. */
static bool uniform(const struct collopt_schedule *s, struct span span)
{
    const struct piece *piece = &s->piece[span.first];

    for (int i = 1; i < span.n; i++)
        if (piece[i].place != piece[0].place
            || piece[i].block.partition != piece[0].block.partition)
            return false;
    return true;
}

static bool meet(const struct ordered *a, const struct ordered *b)
{
    for (int i = 0, j = 0; i < a->n && j < b->n;) {
        const struct collopt_block *x = &a->list[i].block, *y = &b->list[j].block;

        if (x->first + x->parts <= y->first)
            i++;
        else if (y->first + y->parts <= x->first)
            j++;
        else
            return true;
    }
    return false;
}

/* Decides for uniform spans; false if it cannot. */
static bool compare_ordered(const struct collopt_schedule *s, struct span a, struct span b,
                            bool *overlap)
{
    struct piece x = s->piece[a.first], y = s->piece[b.first];
    struct ordered left, right;

    if (!uniform(s, a) || !uniform(s, b))
        return false;
    *overlap = x.place == y.place || in_and_out(s, x, y);
    if (!*overlap || shifted(s, x, y) || s->place[x.place].kind == PLACE_PACKED)
        return true;
    if (x.block.partition != y.block.partition)
        return false;
    left = order(s, a);
    right = order(s, b);
    *overlap = !left.list || !right.list || meet(&left, &right);
    free(left.copy);
    free(right.copy);
    return true;
}

bool collopt_spans_overlap(const struct collopt_schedule *s, struct span a, struct span b)
{
    bool overlap;

    if (a.n > 0 && b.n > 0 && a.n + b.n > MANY && compare_ordered(s, a, b, &overlap))
        return overlap;
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < b.n; j++)
            if (collopt_pieces_overlap(s, s->piece[a.first + i], s->piece[b.first + j]))
                return true;
    return false;
}

bool collopt_spans_same(const struct collopt_schedule *s, struct span a, struct span b)
{
    if (a.n != b.n)
        return false;
    for (int i = 0; i < a.n; i++)
        if (!collopt_pieces_same(s, s->piece[a.first + i], s->piece[b.first + i]))
            return false;
    return true;
}
