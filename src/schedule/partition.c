/* Partitions: the position of a block in the vector, and whether two blocks overlap.
 *
 * A partition cuts a block of another one into parts, down from the whole vector, so partitions
 * form a tree.  Offsets are computed from the count when a schedule is bound; overlap is decided
 * before that, from the tree alone. */
#include "config.h"

#include "schedule/partition.h"
#include "schedule/memory.h"
#include "schedule/parts.h"
#include "schedule/problem.h"

int collopt_add_partition(struct collopt_schedule *s, struct partition q)
{
    if (!schedule_room(s, partition, partitions))
        return COLLOPT_WHOLE;
    s->partition[s->partitions] = q;
    return (int)s->partitions++;
}

/* Where part I of N elements in K even parts begins: the first n mod k parts are one longer. */
static size_t even(size_t n, int k, int i)
{
    size_t longer = n % (size_t)k, length = n / (size_t)k;

    return (size_t)i * length + ((size_t)i < longer ? (size_t)i : longer);
}

static size_t offset_in_block(const struct collopt_schedule *s, const struct collopt_problem *p,
                              const size_t *sums, const struct partition *q, int part)
{
    size_t from = collopt_offset(s, p, sums, q->base.partition, q->base.first);
    size_t to = collopt_offset(s, p, sums, q->base.partition, q->base.first + q->base.parts);

    return from + even(to - from, q->parts, part);
}

static size_t offset_in_each(const struct collopt_schedule *s, const struct collopt_problem *p,
                             const size_t *sums, const struct partition *q, int part)
{
    int outer = part / q->parts_each, inner = part % q->parts_each;
    size_t from = collopt_offset(s, p, sums, q->base.partition, outer);

    if (inner == 0)
        return from;
    return from
        + even(collopt_offset(s, p, sums, q->base.partition, outer + 1) - from, q->parts_each,
               inner);
}

/* The element at which PART begins; PART may be the number of parts, one past the last. SUMS:
 * prefix sums of p->counts. */
size_t collopt_offset(const struct collopt_schedule *s, const struct collopt_problem *p,
                      const size_t *sums, int partition, int part)
{
    const struct partition *q = &s->partition[partition];

    switch (q->kind) {
    case PARTITION_WHOLE:
        return part == 0 ? 0 : p->count;
    case PARTITION_COUNTS:
        return sums ? sums[part] : p->count / (size_t)p->ranks * (size_t)part;
    case PARTITION_BLOCK:
        return offset_in_block(s, p, sums, q, part);
    case PARTITION_EACH:
        return offset_in_each(s, p, sums, q, part);
    case PARTITION_LISTED:
        break;
    }
    return 0;
}

/* The smallest block of the next partition up that holds B; false at the top. */
bool collopt_lift(const struct collopt_schedule *s, struct collopt_block *b)
{
    const struct partition *q = &s->partition[b->partition];

    switch (q->kind) {
    case PARTITION_WHOLE:
        return false;
    case PARTITION_COUNTS:
        *b = (struct collopt_block){ COLLOPT_WHOLE, 0, 1 };
        return true;
    case PARTITION_BLOCK:
        *b = q->base;
        return true;
    case PARTITION_EACH: {
        int first = b->first / q->parts_each, last = (b->first + b->parts - 1) / q->parts_each;

        *b = (struct collopt_block){ q->base.partition, first, last - first + 1 };
        return true;
    }
    case PARTITION_LISTED:
        return false;
    }
    return false;
}

/* Compares at the deepest partition that both come from; says yes where it cannot know. */
bool collopt_blocks_overlap(const struct collopt_schedule *s, struct collopt_block a,
                            struct collopt_block b)
{
    if (a.parts == 0 || b.parts == 0)
        return false;
    do {
        struct collopt_block other = b;

        do {
            if (a.partition == other.partition)
                return a.first < other.first + other.parts && other.first < a.first + a.parts;
        } while (collopt_lift(s, &other));
    } while (collopt_lift(s, &a));
    return true;
}

/* Says no where it cannot know. */
bool collopt_block_contains(const struct collopt_schedule *s, struct collopt_block outer,
                            struct collopt_block inner)
{
    do {
        if (inner.partition == outer.partition)
            return outer.first <= inner.first
                && inner.first + inner.parts <= outer.first + outer.parts;
    } while (collopt_lift(s, &inner));
    return false;
}
