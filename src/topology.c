/* What can be said of the nodes of a communicator's ranks, whatever they are; and nodes by the user's word. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* A number from 1 on at *TEXT, which is moved behind it; 0: none. */
static int take_number(const char **text)
{
    const char *digit = *text;
    long n = 0;

    for (; *digit >= '0' && *digit <= '9' && n <= INT_MAX; digit++)
        n = 10 * n + (*digit - '0');
    *text = digit;
    return n <= INT_MAX ? (int)n : 0;
}

/* "3,1,4": the first three, the next one, and then four each. */
static int node_by_blocks(const char *text, int rank)
{
    int node = -1;

    for (int k = 0;; k++, text++) {
        int n = take_number(&text);
        bool last = *text == '\0';

        if (n == 0 || (!last && *text != ','))
            return -1;
        if (node < 0 && (last || rank < n))
            node = k + rank / n;
        rank -= node < 0 ? n : 0;
        if (last)
            return node;
    }
}

int collopt_stated_node(const char *text, int rank)
{
    static const char dealt[] = "cyclic:";
    int nodes;

    if (strncmp(text, dealt, sizeof dealt - 1) != 0)
        return node_by_blocks(text, rank);
    text += sizeof dealt - 1;
    nodes = take_number(&text);
    return nodes == 0 || *text ? -1 : rank % nodes;
}

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
