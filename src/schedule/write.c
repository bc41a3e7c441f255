/* Writing a schedule down: the calls that an algorithm's build() makes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/write.h"
#include "schedule/listed.h"
#include "schedule/memory.h"
#include "schedule/parts.h"
#include "schedule/partition.h"
#include "schedule/problem.h"
#include "schedule/scope.h"

/* ---- partitions and places ------------------------------------------------------------------- */

int collopt_partition(struct collopt_schedule *s, int parts)
{
    return collopt_partition_block(s, (struct collopt_block){ COLLOPT_WHOLE, 0, 1 }, parts);
}

int collopt_partition_block(struct collopt_schedule *s, struct collopt_block whole, int parts)
{
    whole = collopt_outer_block(s->scope, whole);
    if (s->partition[whole.partition].kind == PARTITION_LISTED)
        return collopt_cut_listed(s, whole, parts, false);
    return collopt_add_partition(
        s, (struct partition){ .kind = PARTITION_BLOCK, .parts = parts, .base = whole });
}

int collopt_partition_counts(struct collopt_schedule *s)
{
    if (s->at.counts_partition < 0 && s->scope)
        s->at.counts_partition = collopt_partition_listed(s);
    else if (s->at.counts_partition < 0)
        s->at.counts_partition = collopt_add_partition(
            s, (struct partition){ .kind = PARTITION_COUNTS, .parts = s->ranks });
    return s->at.counts_partition;
}

int collopt_partition_each(struct collopt_schedule *s, int partition, int parts)
{
    int outer = s->partition[partition].parts;

    if (partition == COLLOPT_WHOLE)
        return collopt_partition(s, parts);
    if (s->partition[partition].kind == PARTITION_LISTED)
        return collopt_cut_listed(s, (struct collopt_block){ partition, 0, outer }, parts, true);
    return collopt_add_partition(s, (struct partition){ .kind = PARTITION_EACH,
                                                        .parts = outer * parts, .parts_each = parts,
                                                        .base = { partition, 0, outer } });
}

static int add_place(struct collopt_schedule *s, struct place q)
{
    if (!schedule_room(s, place, places))
        return COLLOPT_OUT;
    s->place[s->places] = q;
    return (int)s->places++;
}

int collopt_vector_slot(struct collopt_schedule *s, struct collopt_block cover)
{
    return add_place(
        s, (struct place){ PLACE_VECTOR, collopt_hull(s, collopt_outer_block(s->scope, cover)) });
}

int collopt_packed_slot(struct collopt_schedule *s)
{
    return add_place(s, (struct place){ .kind = PLACE_PACKED });
}

int collopt_accumulator(struct collopt_schedule *s)
{
    struct collopt_block all = { COLLOPT_WHOLE, 0, 1 };

    if (s->at.accumulator < 0) {
        bool out = s->at.has_out
            && (s->scope ? !s->scope->phase->part
                         : collopt_blocks_equal(s->place[COLLOPT_OUT].cover, all));

        s->at.accumulator = out ? COLLOPT_OUT : collopt_vector_slot(s, all);
    }
    return s->at.accumulator;
}

/* ---- actions --------------------------------------------------------------------------------- */

void collopt_round(struct collopt_schedule *s)
{
    s->round++;
}

void collopt_strand(struct collopt_schedule *s, int strand)
{
    s->at.strand = strand + (s->scope ? s->scope->before.strand : 0);
    if (s->at.strand >= s->strands)
        s->strands = s->at.strand + 1;
}

int collopt_round_number(const struct collopt_schedule *s)
{
    return s->round;
}

void collopt_follow(struct collopt_schedule *s, int strand, int round)
{
    int ahead = strand + (s->scope ? s->scope->before.strand : 0);

    if (schedule_room(s, follow, follows))
        s->follow[s->follows++] = (struct follow){ s->at.strand, s->round, ahead, round };
}

void collopt_keep_rounds(struct collopt_schedule *s)
{
    s->at.keep_rounds = true;
}

static bool may_multicast(const struct collopt_schedule *s)
{
    for (const struct scope *scope = s->scope; scope; scope = scope->outer)
        if (scope->phase->again)
            return false;
    return true;
}

/* Two ranks exchange as fast by ordinary messages. */
void collopt_multicast(struct collopt_schedule *s, int members, const int *member)
{
    s->multicast.members = 0;
    s->multicast.sends = false;
    if (members <= 2 || !may_multicast(s))
        return;
    for (int i = 0; i < members; i++) {
        if (!schedule_room(s, member, members))
            return;
        s->member[s->members++] = collopt_outer_rank(s->scope, member ? member[i] : i);
    }
    s->multicast.members = members;
}

static void add_piece(struct collopt_schedule *s, int place, struct collopt_block b)
{
    if (b.parts > 0 && schedule_room(s, piece, pieces))
        s->piece[s->pieces++] = (struct piece){ place, b };
}

/* A block of listed parts is all the blocks in their lists; neighbours become one block. */
static void add_listed(struct collopt_schedule *s, int place, struct collopt_block b)
{
    const int *start = &s->lists.start[s->partition[b.partition].listed];

    for (int i = start[b.first]; i < start[b.first + b.parts]; i++) {
        struct collopt_block one = s->lists.block[i];
        struct piece *last = i > start[b.first] ? &s->piece[s->pieces - 1] : NULL;

        if (last && last->block.partition == one.partition
            && last->block.first + last->block.parts == one.first)
            last->block.parts += one.parts;
        else
            add_piece(s, place, one);
        if (s->failed)
            return;
    }
}

/* Drops blocks without parts, so that no piece is empty. */
static int add_region(struct collopt_schedule *s, struct collopt_region r)
{
    int first = (int)s->pieces, place = collopt_outer_place(s->scope, r.place);

    for (int i = 0; i < r.blocks; i++) {
        struct collopt_block b =
            collopt_outer_block(s->scope, r.blocks == 1 && !r.list ? r.block : r.list[i]);

        if (b.parts > 0 && s->partition[b.partition].kind == PARTITION_LISTED)
            add_listed(s, place, b);
        else
            add_piece(s, place, b);
    }
    if (!schedule_room(s, region, regions))
        return 0;
    s->region[s->regions] = (struct span){ first, (int)s->pieces - first };
    return (int)s->regions++;
}

static void join_multicast(struct collopt_schedule *s, struct action *a)
{
    a->members = s->multicast.members;
    a->member = (int)s->members - s->multicast.members;
    a->repeats = a->kind == ACTION_SEND && s->multicast.sends;
    s->multicast.sends |= a->kind == ACTION_SEND;
}

static void add_action(struct collopt_schedule *s, enum action_kind kind, int peer, int regions,
                       const struct collopt_region *region)
{
    int first = (int)s->regions;

    for (int i = 0; i < regions; i++)
        add_region(s, region[i]);
    if (!schedule_room(s, action, actions))
        return;
    s->action[s->actions++] = (struct action){ .kind = kind, .round = s->round,
                                               .strand = s->at.strand,
                                               .peer = peer < 0
                                                   ? peer : collopt_outer_rank(s->scope, peer),
                                               .regions = regions, .region = first,
                                               .in_round = s->at.keep_rounds };
    if (s->multicast.members > 0 && peer >= 0)
        join_multicast(s, &s->action[s->actions - 1]);
}

void collopt_send(struct collopt_schedule *s, int peer, struct collopt_region from)
{
    add_action(s, ACTION_SEND, peer, 1, &from);
}

void collopt_receive(struct collopt_schedule *s, int peer, struct collopt_region to)
{
    add_action(s, ACTION_RECEIVE, peer, 1, &to);
}

void collopt_copy(struct collopt_schedule *s, struct collopt_region to, struct collopt_region from)
{
    add_action(s, ACTION_COPY, -1, 2, (struct collopt_region[]){ to, from });
}

void collopt_combine(struct collopt_schedule *s, struct collopt_region to,
                     struct collopt_region left, struct collopt_region right)
{
    add_action(s, ACTION_FOLD, -1, 3, (struct collopt_region[]){ to, left, right });
}

/* More operands than a kernel takes are folded in several passes; TO must then not be one of the
 * later operands. */
void collopt_fold(struct collopt_schedule *s, struct collopt_region to, int operands,
                  const struct collopt_region *operand)
{
    struct collopt_region r[ACTION_REGIONS] = { to, operand[0] };
    int done = 1;

    while (done < operands) {
        int take = operands - done < COLLOPT_FOLD_OPERANDS - 1 ? operands - done
                                                               : COLLOPT_FOLD_OPERANDS - 1;

        memcpy(&r[2], &operand[done], (size_t)take * sizeof *operand);
        add_action(s, ACTION_FOLD, -1, 2 + take, r);
        r[1] = to;
        done += take;
    }
}

void collopt_fold_once(struct collopt_schedule *s, struct collopt_region to, int operands,
                       const struct collopt_region *operand)
{
    struct collopt_region *r = collopt_workspace(s, ((size_t)operands + 1) * sizeof *r);

    if (!r)
        return;
    r[0] = to;
    memcpy(&r[1], operand, (size_t)operands * sizeof *operand);
    add_action(s, ACTION_FOLD, -1, operands + 1, r);
    free(r);
}

void collopt_prefixes(struct collopt_schedule *s, int operands,
                      const struct collopt_region *operand)
{
    for (int k = 0; k < operands; k++)          /* the in-place pass knows of no action that writes
                                                 * several regions */
        s->failed |= operand[k].place < COLLOPT_FIRST_SLOT;
    if (operands > 1)
        add_action(s, ACTION_PREFIXES, -1, operands, operand);
}

/* ---- the beginning --------------------------------------------------------------------------- */

void collopt_write_start(struct collopt_schedule *s, const struct collopt_problem *p)
{
    struct collopt_block all = { COLLOPT_WHOLE, 0, 1 };

    s->at.accumulator = s->at.counts_partition = -1;
    s->strands = 1;
    s->at.has_out = collopt_has_result(p, s->rank);
    collopt_add_partition(s, (struct partition){ .kind = PARTITION_WHOLE, .parts = 1 });
    add_place(s, (struct place){ PLACE_VECTOR, all });
    add_place(s, (struct place){ PLACE_VECTOR, all });
    if (s->failed)
        return;
    if (collopt_scatters(p->collective))
        s->place[COLLOPT_OUT].cover = (struct collopt_block){ collopt_partition_counts(s), s->rank,
                                                              1 };
    if (!s->at.has_out)
        s->place[COLLOPT_OUT].kind = PLACE_NONE;
}
