/* Which pieces of a schedule are the same memory: places are separate, except that in place IN and OUT are one. */
#include "config.h"

#include "schedule_parts.h"

static bool scatters(const struct collopt_schedule *s)
{
    return s->collective == COLLOPT_REDUCE_SCATTER || s->collective == COLLOPT_REDUCE_SCATTER_BLOCK;
}

static bool in_and_out(const struct collopt_schedule *s, struct piece a, struct piece b)
{
    return (s->how & COLLOPT_IN_PLACE) && a.place + b.place == COLLOPT_IN + COLLOPT_OUT;
}

/* In a Reduce_scatter in place OUT lies over the first elements of IN, whosever they are: only on rank 0 are these its own. */
static bool shifted(const struct collopt_schedule *s, struct piece a, struct piece b)
{
    return a.place != b.place && scatters(s) && s->rank != 0;
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

bool collopt_spans_overlap(const struct collopt_schedule *s, struct span a, struct span b)
{
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
