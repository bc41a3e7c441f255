/* Dependences between strands: an action waits for earlier actions of other strands that touch the
 * same memory.
 *
 * Every access is listed under the memory it touches.  One block of few parts, which is what
 * pipelines and rings use, is listed under each part, so that only accesses to the same parts
 * are compared with it; any other access is listed under its partition as a whole, and compared
 * with everything in that partition.  Accesses in different partitions of one place are always
 * compared. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "schedule/depend.h"
#include "schedule/memory.h"
#include "schedule/parts.h"
#include "schedule/storage.h"

enum { FEW = 4, WHOLE_PARTITION = -1, WIDE = -2 };

struct touch {
    int action, region;
    int before;                 /* the one before it in the same list, or -1 */
};

/* A list: the accesses of STRAND to PART of PARTITION in buffers of CHAIN; to the partition; or
 * to many parts. */
struct touches {
    int strand, chain, partition, part;
    int last;                   /* newest touch, or -1 */
    bool used;
};

struct index {
    struct collopt_schedule *s;
    const int *done;
    bool *settle;
    struct collopt_depends *d;
    struct touch *touch;
    size_t touches;
    struct touches *table;      /* open addressing, at most half full */
    size_t size, lists;
    int needer;
};

/* ---- lists ----------------------------------------------------------------------------------- */

static size_t hash(int strand, int chain, int partition, int part)
{
    uint64_t h = (uint64_t)(uint32_t)chain * 0x9e3779b97f4a7c15u
        ^ (uint64_t)(uint32_t)partition * 0xc2b2ae3d27d4eb4fu
        ^ (uint64_t)(uint32_t)part * 0x165667b19e3779f9u
        ^ (uint64_t)(uint32_t)strand * 0xff51afd7ed558ccdu;

    return (size_t)(h ^ h >> 29);
}

static struct touches *find(const struct index *x, int strand, int chain, int partition, int part)
{
    for (size_t i = hash(strand, chain, partition, part);; i++) {
        struct touches *t = &x->table[i & (x->size - 1)];

        if (!t->used
            || (t->strand == strand && t->chain == chain && t->partition == partition
                && t->part == part))
            return t;
    }
}

static bool grow(struct index *x)
{
    struct index larger = { .size = x->size ? 2 * x->size : 256 };

    larger.table = calloc(larger.size, sizeof *larger.table);
    if (!larger.table) {
        x->s->failed = true;
        return false;
    }
    for (size_t i = 0; i < x->size; i++)
        if (x->table[i].used)
            *find(&larger, x->table[i].strand, x->table[i].chain, x->table[i].partition,
                  x->table[i].part) = x->table[i];
    free(x->table);
    x->table = larger.table;
    x->size = larger.size;
    return true;
}

static void add(struct index *x, int chain, int partition, int part, int region)
{
    int strand = x->s->action[x->needer].strand;
    struct touches *t;

    if ((2 * x->lists >= x->size && !grow(x))
        || !collopt_grow(x->s, (void **)&x->touch, x->touches, sizeof *x->touch))
        return;
    t = find(x, strand, chain, partition, part);
    if (!t->used) {
        *t = (struct touches){ strand, chain, partition, part, -1, true };
        x->lists++;
    }
    x->touch[x->touches] = (struct touch){ x->needer, region, t->last };
    t->last = (int)x->touches++;
}

/* ---- dependences ----------------------------------------------------------------------------- */

static bool conflict(const struct collopt_schedule *s, const struct action *a, int of_a,
                     const struct action *b, int of_b)
{
    return (collopt_writes(a, of_a) || collopt_writes(b, of_b))
        && collopt_spans_overlap(s, *collopt_region_of(s, a, of_a), *collopt_region_of(s, b, of_b));
}

/* The needer waits until the strand of action ON has come to where ON is done. */
static void depend(struct index *x, int on)
{
    struct collopt_depends *d = x->d;
    const struct action *b = &x->s->action[on];

    x->settle[on] = b->kind == ACTION_SEND || b->kind == ACTION_RECEIVE;
    for (size_t i = d->first[x->needer]; i < d->n; i++)
        if (d->list[i].strand == b->strand) {
            if (d->list[i].position < x->done[on])
                d->list[i].position = x->done[on];
            return;
        }
    if (collopt_grow(x->s, (void **)&d->list, d->n, sizeof *d->list))
        d->list[d->n++] = (struct collopt_depend){ b->strand, x->done[on] };
}

static void compare(struct index *x, int region, int chain, int partition, int part)
{
    const struct collopt_schedule *s = x->s;
    const struct action *a = &s->action[x->needer];

    for (int strand = 0; strand < s->strands && x->size; strand++) {
        const struct touches *list = find(x, strand, chain, partition, part);

        for (int t = list->used && strand != a->strand ? list->last : -1; t >= 0;
             t = x->touch[t].before)
            if (conflict(s, a, region, &s->action[x->touch[t].action], x->touch[t].region))
                depend(x, x->touch[t].action);
    }
}

/* True if it is one block of few parts, in a buffer where other parts are other memory. Then it
 * is listed by its parts. */
static bool narrow(const struct collopt_schedule *s, struct span span)
{
    const struct piece *piece = &s->piece[span.first];

    return span.n == 1 && piece->block.parts <= FEW && collopt_parts_are_apart(s, piece->place);
}

/* IN and OUT share one chain: in place they are the same memory, and elsewhere they never
 * overlap. */
static int chain_of(int place)
{
    return place == COLLOPT_IN ? COLLOPT_OUT : place;
}

static void look_up(struct index *x, int region)
{
    const struct collopt_schedule *s = x->s;
    struct span span = *collopt_region_of(s, &s->action[x->needer], region);

    for (int k = 0; k < span.n; k++) {
        const struct piece *piece = &s->piece[span.first + k];
        int chain = chain_of(piece->place), first = piece->block.first;

        if (k > 0 && chain == chain_of(piece[-1].place))
            continue;
        for (int q = 0; q < (int)s->partitions; q++)
            if (q != piece->block.partition || !narrow(s, span))
                compare(x, region, chain, q, WHOLE_PARTITION);
        for (int i = 0; narrow(s, span) && i < piece->block.parts; i++)
            compare(x, region, chain, piece->block.partition, first + i);
        if (narrow(s, span))
            compare(x, region, chain, piece->block.partition, WIDE);
    }
}

static void record(struct index *x, int region)
{
    const struct collopt_schedule *s = x->s;
    struct span span = *collopt_region_of(s, &s->action[x->needer], region);

    for (int k = 0; k < span.n; k++) {
        const struct piece *piece = &s->piece[span.first + k];
        int chain = chain_of(piece->place), partition = piece->block.partition;

        if (k > 0 && chain == chain_of(piece[-1].place) && partition == piece[-1].block.partition)
            continue;
        add(x, chain, partition, WHOLE_PARTITION, region);
        for (int i = 0; narrow(s, span) && i < piece->block.parts; i++)
            add(x, chain, partition, piece->block.first + i, region);
        if (!narrow(s, span))
            add(x, chain, partition, WIDE, region);
    }
}

void collopt_depends_find(struct collopt_schedule *s, const int *done, bool *settle,
                          struct collopt_depends *d)
{
    struct index x = { .s = s, .done = done, .settle = settle, .d = d };

    d->first = calloc(s->actions + 1, sizeof *d->first);
    if (!d->first)
        s->failed = true;
    for (x.needer = 0; x.needer < (int)s->actions && !s->failed; x.needer++) {
        d->first[x.needer] = d->n;
        for (int r = 0; r < s->action[x.needer].regions; r++)
            look_up(&x, r);
        for (int r = 0; r < s->action[x.needer].regions; r++)
            record(&x, r);
        d->first[x.needer + 1] = d->n;
    }
    free(x.touch);
    free(x.table);
}

void collopt_depends_free(struct collopt_depends *d)
{
    free(d->list);
    free(d->first);
}
