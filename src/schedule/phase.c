/* Phases: the schedule of another algorithm, among some of the ranks, written into the one that is
 * being written.
 *
 * The inner algorithm knows nothing of it: it sees ranks 0 .. n-1, a whole vector, IN and OUT.
 * While it writes, a scope puts its words into those of the schedule around it, which may itself be
 * a phase: its ranks into the members, its whole vector into a block, its places into others. What
 * member i is to get of a Reduce_scatter may be any list of blocks; partitions made of such lists
 * exist only while writing, a region of theirs becomes a region of all the blocks. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/passes.h"
#include "schedule/schedule.h"
#include "topology/topology.h"

int collopt_outer_rank(const struct scope *scope, int rank)
{
    for (; scope; scope = scope->outer)
        rank = scope->phase->member[rank];
    return rank;
}

int collopt_outer_place(const struct scope *scope, int place)
{
    for (; scope && (place == COLLOPT_IN || place == COLLOPT_OUT); scope = scope->outer)
        place = place == COLLOPT_IN ? scope->phase->in : scope->phase->out;
    return place;
}

struct collopt_block collopt_outer_block(const struct scope *scope, struct collopt_block b)
{
    for (; scope && b.partition == COLLOPT_WHOLE && b.parts > 0; scope = scope->outer)
        b = scope->whole;
    return b;
}

/* ---- partitions whose parts are lists of blocks ---------------------------------------------- */

static void add_listed_block(struct collopt_schedule *s, struct collopt_block b)
{
    if (b.parts > 0 && schedule_room(s, listed, listeds, listed_room))
        s->listed[s->listeds++] = b;
}

static void begin_part(struct collopt_schedule *s)
{
    if (schedule_room(s, list_start, list_starts, list_start_room))
        s->list_start[s->list_starts++] = (int)s->listeds;
}

/* LISTED: where its parts begin; their number follows from what was begun since, with an end for
 * the last. */
static int add_listed_partition(struct collopt_schedule *s, int listed)
{
    if (!schedule_room(s, partition, partitions, partition_room))
        return COLLOPT_WHOLE;
    s->partition[s->partitions] = (struct partition){ .kind = PARTITION_LISTED,
                                                      .parts = (int)s->list_starts - 1 - listed,
                                                      .listed = listed };
    return (int)s->partitions++;
}

/* A part of the phase around may be a list itself. */
static void add_expanded(struct collopt_schedule *s, struct collopt_block b)
{
    b = collopt_outer_block(s->scope->outer, b);
    if (b.parts == 0 || s->partition[b.partition].kind != PARTITION_LISTED) {
        add_listed_block(s, b);
        return;
    }

    int from = s->list_start[s->partition[b.partition].listed + b.first];
    int to = s->list_start[s->partition[b.partition].listed + b.first + b.parts];

    for (int i = from; i < to && !s->failed; i++)
        add_listed_block(s, s->listed[i]);
}

/* The parts of the members of the present phase. */
int collopt_partition_listed(struct collopt_schedule *s)
{
    const struct collopt_phase *phase = s->scope->phase;
    int listed = (int)s->list_starts;

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
    const struct scope *scope = s->scope;
    int made;

    for (size_t i = 0; i < s->partitions; i++)
        if (s->partition[i].kind == PARTITION_EACH && s->partition[i].base.partition == partition
            && s->partition[i].parts_each == parts)
            return (int)i;
    s->scope = NULL;            /* a partition of the schedule's own terms */
    made = collopt_partition_each(s, partition, parts);
    s->scope = scope;
    return s->failed ? -1 : made;
}

/* WHOLE, some listed parts, in PARTS pieces: a piece has one of each block's. Or EACH part of it in
 * as many. */
int collopt_cut_listed(struct collopt_schedule *s, struct collopt_block whole, int parts, bool each)
{
    int listed = (int)s->list_starts, from = s->partition[whole.partition].listed;

    for (int i = 0; i < (each ? whole.parts : 1) * parts; i++) {
        int first = whole.first + (each ? i / parts : 0),
            last = each ? first : whole.first + whole.parts - 1;

        begin_part(s);
        for (int k = s->failed ? 0 : s->list_start[from + first];
             !s->failed && k < s->list_start[from + last + 1]; k++)
            add_cut(s, s->listed[k], cut_of(s, s->listed[k].partition, parts), parts, i % parts);
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

    const int *start = &s->list_start[s->partition[b.partition].listed];

    for (int i = start[b.first]; i < start[b.first + b.parts]; i++)
        hull = hull.parts == 0 ? s->listed[i] : join(s, hull, s->listed[i]);
    return hull;
}

/* ---- the phase ------------------------------------------------------------------------------- */

void collopt_phase(struct collopt_schedule *s, const struct collopt_problem *p,
                   const struct collopt_phase *phase, const struct collopt_inner *inner)
{
    static const struct collopt_topology flat = { .nodes = 1 };
    struct collopt_problem problem = {
        .collective = inner->algorithm->collective, .ranks = phase->ranks, .root = phase->root,
        .count = p->count, .size = p->size, .commutative = p->commutative, .exact = p->exact,
        .segments = inner->segments, .topology = phase->topology ? phase->topology : &flat,
    };
    struct scope scope = { .phase = phase, .outer = s->scope, .whole = phase->whole,
                           .strand = s->at_strand, .accumulator = s->accumulator,
                           .counts_partition = s->counts_partition, .has_out = s->has_out,
                           .keep_rounds = s->keep_rounds };

    memcpy(problem.value, inner->value, sizeof problem.value);
    s->scope = &scope;
    s->accumulator = s->counts_partition = -1;
    s->keep_rounds = false;
    if (phase->part)            /* these may be less than the vector around them */
        scope.whole = (struct collopt_block){ collopt_partition_counts(s), 0, phase->ranks };
    s->has_out = collopt_has_result(&problem, phase->index);
    collopt_round(s);
    inner->algorithm->build(s, &problem, phase->index);
    s->scope = scope.outer;
    s->accumulator = scope.accumulator;
    s->counts_partition = scope.counts_partition;
    s->has_out = scope.has_out;
    s->at_strand = scope.strand;
    s->keep_rounds = scope.keep_rounds;
    collopt_round(s);
}
