/* Partitions whose parts are lists of blocks: what member i of a phase is to get of a
 * Reduce_scatter. They exist only while writing; a region of theirs becomes a region of all the
 * blocks. */
#include "config.h"

#include "schedule/listed.h"
#include "schedule/memory.h"
#include "schedule/parts.h"
#include "schedule/partition.h"
#include "schedule/scope.h"

static void add_listed_block(struct collopt_schedule *s, struct collopt_block b)
{
    if (b.parts > 0 && schedule_room(s, lists.block, lists.n))
        s->lists.block[s->lists.n++] = b;
}

static void begin_part(struct collopt_schedule *s)
{
    if (schedule_room(s, lists.start, lists.starts))
        s->lists.start[s->lists.starts++] = (int)s->lists.n;
}

/* LISTED: where its parts begin; their number follows from what was begun since, with an end for
 * the last. */
static int add_listed_partition(struct collopt_schedule *s, int listed)
{
    return collopt_add_partition(s, (struct partition){ .kind = PARTITION_LISTED,
                                                        .parts = (int)s->lists.starts - 1 - listed,
                                                        .listed = listed });
}

/* A part of the outer phase may itself be a listed block. */
static void add_expanded(struct collopt_schedule *s, struct collopt_block b)
{
    b = collopt_outer_block(s->scope->outer, b);
    if (b.parts == 0 || s->partition[b.partition].kind != PARTITION_LISTED) {
        add_listed_block(s, b);
        return;
    }

    int from = s->lists.start[s->partition[b.partition].listed + b.first];
    int to = s->lists.start[s->partition[b.partition].listed + b.first + b.parts];

    for (int i = from; i < to && !s->failed; i++)
        add_listed_block(s, s->lists.block[i]);
}

/* The parts of the members of the present phase. */
int collopt_partition_listed(struct collopt_schedule *s)
{
    const struct collopt_phase *phase = s->scope->phase;
    int listed = (int)s->lists.starts;

    for (int i = 0; i < phase->ranks; i++) {
        begin_part(s);
        for (int k = phase->first[i]; k < phase->first[i + 1]; k++)
            add_expanded(s, phase->part[k]);
    }
    begin_part(s);
    return s->failed ? COLLOPT_WHOLE : add_listed_partition(s, listed);
}

/* Piece J of PARTS of a block: the block's own parts are cut, each alike. */
static void add_cut(struct collopt_schedule *s, struct collopt_block b, int cut, int parts, int j)
{
    if (cut < 0)
        return;
    for (int t = 0; t < b.parts; t++)
        add_listed_block(s, (struct collopt_block){ cut, (b.first + t) * parts + j, 1 });
}

/* The partition that cuts every part of PARTITION in PARTS: made once. */
static int cut_of(struct collopt_schedule *s, int partition, int parts)
{
    int outer = s->partition[partition].parts, made;

    for (size_t i = 0; i < s->partitions; i++)
        if (s->partition[i].kind == PARTITION_EACH && s->partition[i].base.partition == partition
            && s->partition[i].parts_each == parts)
            return (int)i;
    made = collopt_add_partition(s, (struct partition){ .kind = PARTITION_EACH,
                                                        .parts = outer * parts,
                                                        .parts_each = parts,
                                                        .base = { partition, 0, outer } });
    return s->failed ? -1 : made;
}

/* WHOLE, some listed parts, in PARTS pieces: a piece has one of each block's. Or EACH part of it in
 * as many. */
int collopt_cut_listed(struct collopt_schedule *s, struct collopt_block whole, int parts, bool each)
{
    int listed = (int)s->lists.starts, from = s->partition[whole.partition].listed;

    for (int i = 0; i < (each ? whole.parts : 1) * parts; i++) {
        int first = whole.first + (each ? i / parts : 0),
            last = each ? first : whole.first + whole.parts - 1;

        begin_part(s);
        for (int k = s->failed ? 0 : s->lists.start[from + first];
             !s->failed && k < s->lists.start[from + last + 1]; k++)
            add_cut(s, s->lists.block[k], cut_of(s, s->lists.block[k].partition, parts), parts,
                    i % parts);
    }
    begin_part(s);
    return s->failed ? COLLOPT_WHOLE : add_listed_partition(s, listed);
}

/* The smallest block that holds both. */
static struct collopt_block join(const struct collopt_schedule *s, struct collopt_block a,
                                 struct collopt_block b)
{
    do {
        struct collopt_block other = b;

        do {
            if (a.partition == other.partition) {
                int first = a.first < other.first ? a.first : other.first, end = a.first + a.parts;

                if (end < other.first + other.parts)
                    end = other.first + other.parts;
                return (struct collopt_block){ a.partition, first, end - first };
            }
        } while (collopt_lift(s, &other));
    } while (collopt_lift(s, &a));
    return (struct collopt_block){ COLLOPT_WHOLE, 0, 1 };
}

struct collopt_block collopt_hull(const struct collopt_schedule *s, struct collopt_block b)
{
    struct collopt_block hull = { COLLOPT_WHOLE, 0, 0 };

    if (b.parts == 0 || s->partition[b.partition].kind != PARTITION_LISTED)
        return b;

    const int *start = &s->lists.start[s->partition[b.partition].listed];

    for (int i = start[b.first]; i < start[b.first + b.parts]; i++)
        hull = hull.parts == 0 ? s->lists.block[i] : join(s, hull, s->lists.block[i]);
    return hull;
}
