/* What can be said of the nodes of a communicator's ranks, whatever they are. */
#include "config.h"

#include <stdlib.h>

#include "schedule.h"

bool collopt_topology_measure(struct collopt_topology *t, int ranks)
{
    int *size;

    t->largest = t->least = 0;
    t->scattered = false;
    if (!t->node || t->nodes == 1)
        return true;
    size = calloc((size_t)t->nodes, sizeof *size);
    if (!size)
        return false;
    for (int r = 0; r < ranks; r++) {
        size[t->node[r]]++;
        t->scattered |= r > 0 && t->node[r] < t->node[r - 1];
    }
    t->least = ranks;
    for (int k = 0; k < t->nodes; k++) {
        t->largest = size[k] > t->largest ? size[k] : t->largest;
        t->least = size[k] < t->least ? size[k] : t->least;
    }
    free(size);
    return true;
}
