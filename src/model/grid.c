/* Grids of ranks: a parameter "dims" says how many ranks there are along each dimension, the last
 * one running fastest. */
#include "config.h"

#include "model/grid.h"
#include "base/numbers.h"
#include "schedule/parameters.h"
#include "schedule/problem.h"
#include "topology/topology.h"

static const struct collopt_parameter dims = COLLOPT_DIMS(NULL);

bool collopt_grid(struct collopt_grid *g, size_t value)
{
    int stride = 1;

    g->sides = collopt_list_length(&dims, value);
    for (int d = g->sides - 1; d >= 0; d--) {
        g->side[d] = (int)collopt_list_at(&dims, value, d);
        g->stride[d] = stride;
        stride *= g->side[d];
    }
    return g->sides > 0;
}

struct collopt_grid collopt_grid_proper(size_t value)
{
    struct collopt_grid all, g = { .sides = 0 };

    if (!collopt_grid(&all, value))
        return g;
    for (int d = 0; d < all.sides; d++)
        if (all.side[d] > 1) {
            g.side[g.sides] = all.side[d];
            g.stride[g.sides++] = all.stride[d];
        }
    return g;
}

int collopt_square_side(int ranks)
{
    int side = 1;

    while (side * side < ranks)
        side++;
    return side;
}

int collopt_grid_hops(const struct collopt_grid *g)
{
    int hops = 0;

    for (int d = 0; d < g->sides; d++)
        hops += g->side[d] - 1;
    return hops;
}

static bool fits(const struct collopt_problem *p, size_t value)
{
    return value && collopt_list_product(&dims, value) == (size_t)p->ranks;
}

bool collopt_grid_fits(const struct collopt_problem *p)
{
    return fits(p, p->value[0]);
}

bool collopt_grid_fits_second(const struct collopt_problem *p)
{
    return fits(p, p->value[1]);
}

int collopt_grid_at(const struct collopt_grid *g, int rank, int dimension)
{
    return rank / g->stride[dimension] % g->side[dimension];
}

int collopt_grid_moved(const struct collopt_grid *g, int rank, int dimension, int to)
{
    return rank + (to - collopt_grid_at(g, rank, dimension)) * g->stride[dimension];
}

bool collopt_on_lines(const struct collopt_topology *t, int width, int n, bool *ring)
{
    struct collopt_grid g;

    if (!t->wired || !collopt_grid(&g, t->dims))
        return false;
    for (int d = 0; d < g.sides; d++) {
        int all = g.stride[d] * g.side[d];

        if (width % g.stride[d] == 0 && width <= all / n) {
            *ring = (t->rings >> d & 1) && width * n == all;
            return true;
        }
    }
    return false;
}

/* On a ring of N: as far as can be, and then one nearer on either side. */
static int around(int n, int i)
{
    int side = (i + n) % 2 ? 1 : -1, away = (n + 1) / 2 - (i + 1 + n % 2) / 2;

    return side * away;
}

void collopt_farthest_first(const struct collopt_topology *t, int width, int n, int own,
                            int others[])
{
    bool ring = false, line = collopt_on_lines(t, width, n, &ring) && !ring;
    int low = 0, high = n - 1;

    for (int i = 0; i < n - 1; i++)
        if (line)
            others[i] = own - low >= high - own ? low++ : high--;
        else
            others[i] = modulo(own + (ring ? around(n, i) : i + 1), n);
}

/* A multiple of EACH that divides RANKS, as near to the square root from below as there is; 0:
 * none. */
static int nearest_side(int ranks, int each)
{
    int best = 0;

    for (int side = each; side <= ranks / side; side += each)
        if (ranks % side == 0 && ranks / side % each == 0)
            best = side;
    return best;
}

static bool multiples(size_t value, int each)
{
    for (int d = 0, n = collopt_list_length(&dims, value); d < n; d++)
        if (collopt_list_at(&dims, value, d) % (size_t)each)
            return false;
    return value != 0;
}

size_t collopt_preset_dims(const struct collopt_problem *p, int each)
{
    int shorter = nearest_side(p->ranks, each);
    size_t longer = (size_t)(shorter ? p->ranks / shorter : p->ranks);

    if (multiples(p->topology->dims, each))
        return p->topology->dims;

    if (longer > dims.most || longer % (size_t)each)
        return 0;
    return shorter > 1 ? longer | (size_t)shorter << dims.list_bits : longer;
}
