/* Folding P ranks to fewer, at least half as many: of the first 2 (p - goal) ranks the even ones
 * give what they have to their upper neighbour and stand aside. Neighbours, so that rank order is
 * kept. */
#include "config.h"

#include "algorithm.h"

struct collopt_fold_pairs collopt_fold_pairs(int ranks, int goal, int rank)
{
    int extra = ranks - goal;

    if (rank >= 2 * extra)
        return (struct collopt_fold_pairs){ .index = rank - extra };
    return (struct collopt_fold_pairs){ .index = rank % 2 ? rank / 2 : -1, .folded = true };
}

int collopt_fold_rank(int ranks, int goal, int index)
{
    int extra = ranks - goal;

    return index < extra ? 2 * index + 1 : index + extra;
}
