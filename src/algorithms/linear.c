/* Linear: one rank receives from all the others and combines in rank order; for Allreduce it then
 * sends the result to all.
 *
 * All receives of a window are posted at once, so that short messages overlap, and several of them
 * are combined in one pass. The first vector to arrive goes straight to the result.
 * Cost: p-1 messages behind one another at the root (Allreduce: as many again), (p-1) m received
 * and combined there, one vector of scratch for each receive in the window. In rank order; all
 * ranks get the root's bits. Use it for very few ranks, or for a few bytes on few ranks.
 * Folklore. */
#include "config.h"

#include "algorithm.h"

/* The root combines the vectors of all ranks, from rank 0 upwards. */
static void gather(struct collopt_schedule *s, const struct collopt_problem *p, int root)
{
    struct collopt_row row = { .to = out(whole()) };
    struct turns tmp = { .slots = (int)p->value[0] };
    int batch = least(COLLOPT_FOLD_OPERANDS - 1, (tmp.slots + 1) / 2);

    for (int r = 0; r < p->ranks; r++) {
        if (r == root) {
            collopt_row_add(s, &row, in(whole()));
            continue;
        }

        struct collopt_region place = r == (root == 0) ? row.to : at(turn(s, &tmp), whole());

        if (tmp.used % batch <= 1)
            collopt_round(s);
        collopt_receive(s, r, place);
        collopt_row_add(s, &row, place);
        if (tmp.used % batch == 0)
            collopt_row_flush(s, &row);
    }
    collopt_row_flush(s, &row);
}

static void build_reduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    if (rank == p->root)
        gather(s, p, p->root);
    else
        collopt_send(s, p->root, in(whole()));
}

static void build_allreduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    if (rank == 0) {
        gather(s, p, 0);
        collopt_round(s);
        collopt_multicast(s, p->ranks, NULL);
        for (int r = 1; r < p->ranks; r++)
            collopt_send(s, r, out(whole()));
    } else {
        collopt_send(s, 0, in(whole()));
        collopt_round(s);
        collopt_multicast(s, p->ranks, NULL);
        collopt_receive(s, 0, out(whole()));
    }
    collopt_multicast(s, 0, NULL);
}

static size_t window(const struct collopt_problem *p)
{
    return collopt_preset_window(vector_bytes(p));
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double m = vector_bytes(p);
    struct collopt_messages each = { .pattern = COLLOPT_TREE, .distance = 1, .bytes = m,
                                     .combined = (p->ranks - 1) * m, .fan = p->ranks - 1 };

    collopt_messages(t, 1, each);
    each.combined = 0;
    each.multicast = true;
    collopt_messages(t, p->collective == COLLOPT_ALLREDUCE, each);
}

#define LINEAR \
    .name = "linear", .order = COLLOPT_IN_ORDER, .source = "folklore", \
    .parameter = { COLLOPT_WINDOW(window) }, .traffic = traffic

const struct collopt_algorithm collopt_reduce_linear = {
    LINEAR, .collective = COLLOPT_REDUCE, .build = build_reduce,
    .summary = "the root receives from every rank; very few ranks",
};

const struct collopt_algorithm collopt_allreduce_linear = {
    LINEAR, .collective = COLLOPT_ALLREDUCE, .build = build_allreduce,
    .summary = "rank 0 receives from every rank and sends to every rank; very few ranks",
};
