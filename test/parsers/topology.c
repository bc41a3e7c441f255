/* COLLOPT_TOPOLOGY, and the switches that a scheduler names: a line for each of COLLOPT_TOPOLOGY,
 * SLURM_TOPOLOGY_ADDR and SLURM_TOPOLOGY_ADDR_PATTERN. */
#include "config.h"

#include "parsers.h"
#include "topology/scheduler.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 24 };

static void is_sound(const struct collopt_shape *shape)
{
    if (shape->kind == COLLOPT_GRID && (shape->sides < 1 || shape->sides > COLLOPT_SIDES))
        wrong("a grid of %d sides", shape->sides);
    for (int i = 0; i < shape->sides && shape->kind == COLLOPT_GRID; i++)
        if (shape->side[i] < 1)
            wrong("side %d is %d", i, shape->side[i]);
    if (shape->kind == COLLOPT_GRID && collopt_shape_ranks(shape) < 1)
        wrong("a grid of %d ranks", collopt_shape_ranks(shape));
}

static void use(const struct collopt_shape *shape)
{
    struct collopt_topology t = { .nodes = 1 };
    int world[RANKS];

    if (shape->kind == COLLOPT_NODES_OF)
        for (int r = 0; r < RANKS; r++)
            if (collopt_stated_node(shape->nodes, r) < 0)
                wrong("rank %d has no node by %s", r, shape->nodes);
    if (shape->kind != COLLOPT_GRID)
        return;
    collopt_topology_grid(&t, shape->sides, shape->side, shape->rings ? ~0u : 0);
    for (int step = 1; step <= 3; step++) {
        int ranks = collopt_shape_ranks(shape) / step;

        ranks = ranks > RANKS ? RANKS : ranks;
        for (int r = 0; r < ranks; r++)
            world[r] = r * step;
        if (ranks > 0)
            collopt_topology_box(&t, shape, world, 1, ranks);
    }
}

static void read_shape(const char *text)
{
    struct collopt_shape shape;
    char message[640] = "";

    collopt_stated_node(text, RANKS);
    if (!collopt_parse_shape(text, &shape, message, sizeof message)) {
        is_sentence(message);
        return;
    }
    is_sound(&shape);
    use(&shape);
}

static void read_switches(const char *address, const char *pattern)
{
    size_t n = collopt_slurm_switches(address, pattern);

    if (n > strlen(address))
        wrong("%zu letters of %s name switches", n, address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size), *rest = text, *line[3];

    for (int i = 0; i < 3; i++)
        line[i] = rest ? strsep(&rest, "\n") : text + strlen(text);
    read_shape(line[0]);
    read_switches(line[1], line[2]);
    free(text);
    return 0;
}
