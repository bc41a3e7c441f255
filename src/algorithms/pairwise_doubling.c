/* Pairwise doubling for Scan and Exscan: in round k, ranks that differ in bit k exchange the sums
 * of their blocks of 2^k ranks.
 *
 * The block of d ranks around r begins at a multiple of d. Two neighbouring ones make one of 2d,
 * whose sum both partners then have; the upper partner also puts the lower block's sum before its
 * prefix. A sum is sent only if somebody uses it: r needs that of its d ranks if and only if r + d
 * < p, be it for the partner above or, below, for later rounds. So all blocks that are asked for
 * are complete, any p will do, and each rank sends as many messages as in recursive_doubling, where
 * all go up. The prefix, which is not sent, is combined while the next round's messages are under
 * way. Cost: ceil(log2 p) rounds and vectors sent, at most 2 ceil(log2 p) - 3 combined (from 8
 * ranks on), three vectors of scratch. In rank order.
 * Use it for short vectors where neighbours are near: pairs stay in groups of 2, 4, 8 ... ranks as
 * long as can be, where what is sent up over the same distances crosses from one group to the next,
 * and ranks wait for one another, so that no rank runs ahead and sends to several at once.
 * Folklore: prefix sums on a hypercube; in MPICH and Open MPI "recursive doubling". */
#include "config.h"

#include "algorithm.h"

enum { SLOTS = 3 };             /* the block's sum, what came for the prefix, and what is coming */

struct sums {
    struct collopt_schedule *s;
    struct collopt_region total;        /* of the block; in IN, OUT or a slot */
    struct collopt_region prefix;       /* up to this rank, in IN or OUT; of an Exscan, of those
                                         * below it, in OUT */
    struct collopt_region below;        /* is to be put before the prefix */
    bool empty;                 /* there is no prefix */
    bool same;                  /* the prefix is the block's sum: this rank is the last one of the
                                 * block */
    bool late;                  /* there is something in BELOW */
    int slot[SLOTS], slots, used;
};

static bool holds(const struct sums *w, int slot)
{
    return w->total.place == slot || (w->late && w->below.place == slot);
}

/* The slot that was free for longest. */
static struct collopt_region free_slot(struct sums *w)
{
    int i = w->used++ % SLOTS;

    if (w->slots < SLOTS)
        w->slot[i = w->slots++] = collopt_packed_slot(w->s);
    while (holds(w, w->slot[i]))
        i = w->used++ % SLOTS;
    return at(w->slot[i], whole());
}

static void extend_prefix(struct sums *w)
{
    if (!w->late)
        return;
    collopt_combine(w->s, out(whole()), w->below, w->prefix);
    w->prefix = out(whole());
    w->late = false;
}

/* THEIRS is the sum of the block above. */
static void add_above(struct sums *w, struct collopt_region theirs)
{
    collopt_combine(w->s, theirs, w->total, theirs);
    w->total = theirs;
    w->same = false;
}

/* THEIRS is the sum of the block below; KEEPS: the sum of both is needed. */
static void add_below(struct sums *w, struct collopt_region theirs, bool keeps)
{
    if (keeps && !w->same) {
        struct collopt_region to = w->total.place == COLLOPT_IN ? free_slot(w) : w->total;

        collopt_combine(w->s, to, theirs, w->total);
        w->total = to;
    }
    if (w->empty)
        w->prefix = theirs;
    w->late = !w->empty;
    w->empty = false;
    w->below = theirs;
    if (w->same) {
        extend_prefix(w);
        w->total = w->prefix;
    }
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    bool exclusive = p->collective == COLLOPT_EXSCAN;
    struct sums w = { .s = s, .total = in(whole()), .prefix = in(whole()), .empty = exclusive,
                      .same = !exclusive };
    bool nothing = true;        /* in OUT */

    if (rank == 0 && !exclusive)
        collopt_copy(s, out(whole()), in(whole()));
    for (int d = 1; d < p->ranks; d *= 2) {
        bool upper = rank & d, keeps = rank + 2 * d < p->ranks;
        struct collopt_region theirs = out(whole());

        collopt_round(s);
        if (rank + d < p->ranks)
            collopt_send(s, rank ^ d, w.total);
        if (upper || keeps) {
            if (!upper || !nothing)
                theirs = free_slot(&w);
            nothing &= !upper;
            collopt_receive(s, rank ^ d, theirs);
        }
        extend_prefix(&w);
        if (upper)
            add_below(&w, theirs, keeps);
        else if (keeps)
            add_above(&w, theirs);
    }
    extend_prefix(&w);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    for (int d = 1; d < p->ranks; d *= 2)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_PAIRS, .distance = d,
                                                          .bytes = vector_bytes(p),
                                                          .combined = vector_bytes(p) });
}

COLLOPT_SCAN_AND_EXSCAN(pairwise_doubling,
    .name = "pairwise_doubling",
    .summary = "sums exchanged over doubling distances; short vectors, where neighbours are near",
    .order = COLLOPT_IN_ORDER, .source = "folklore; in MPICH and Open MPI", .traffic = traffic,
    .build = build);
