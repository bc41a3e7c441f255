/* Ranks along several dimensions: coordinates, and how far messages go. */
#ifndef COLLOPT_MODEL_GRID_H
#define COLLOPT_MODEL_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "topology/topology.h"

struct collopt_problem;
struct collopt_topology;

struct collopt_grid {
    /* STRIDE: from one rank to the next along it */
    int sides, side[COLLOPT_SIDES], stride[COLLOPT_SIDES];
};

/* Reads VALUE of a parameter "dims"; false: it states no grid. */
bool collopt_grid(struct collopt_grid *g, size_t value);
/* The same without dimensions of one rank; no sides if there is no grid. */
struct collopt_grid collopt_grid_proper(size_t value);
/* The square root of RANKS, rounded up: the side that presets assume before the dims are known. */
int collopt_square_side(int ranks);
/* Steps from the first rank to the last, along all dimensions. */
int collopt_grid_hops(const struct collopt_grid *g);
/* True if the dims in the first or the second parameter multiply to the ranks. COLLOPT_GRID_UNFIT
 * is the reason if not. */
bool collopt_grid_fits(const struct collopt_problem *p);
bool collopt_grid_fits_second(const struct collopt_problem *p);
#define COLLOPT_GRID_UNFIT "its dims do not multiply to the number of ranks"
/* RANK's coordinate; the rank with coordinate TO and RANK's other coordinates. */
int collopt_grid_at(const struct collopt_grid *g, int rank, int dimension);
int collopt_grid_moved(const struct collopt_grid *g, int rank, int dimension, int to);
/* True if groups of N ranks, WIDTH apart, lie on lines of the machine's grid. RING: their ends
 * are neighbours. */
bool collopt_on_lines(const struct collopt_topology *t, int width, int n, bool *ring);
/* The order in which member OWN of such a group sends to the others: the following ones
 * cyclically, or, on lines, the farthest first. */
void collopt_farthest_first(const struct collopt_topology *t, int width, int n, int own,
                            int others[]);
/* The grid of the ranks, if known and all its sides are multiples of EACH. Otherwise two sides
 * as nearly equal as possible, the longer first, both multiples of EACH; one side if there are
 * no two; 0: none. */
size_t collopt_preset_dims(const struct collopt_problem *p, int each);
static inline size_t collopt_preset_sides(const struct collopt_problem *p)
{
    return collopt_preset_dims(p, 1);
}

#define COLLOPT_DIMS(preset_) \
    { .name = "dims", .list_bits = COLLOPT_SIDE_BITS, .least = 1, \
      .most = (1 << COLLOPT_SIDE_BITS) - 1, \
      .help = "ranks along each dimension, the last one consecutive", .preset = preset_ }

#endif
