/* Derived facts about the nodes of a communicator's ranks; and nodes and grids as stated by the
 * user. */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/topology.h"
#include "base/text.h"

/* A number from 1 on at *TEXT, which is moved behind it; 0: none. */
static int take_number(const char **text)
{
    size_t digits = strspn(*text, "0123456789"), n;
    bool fits = collopt_parse_number(*text, digits, false, &n) && n <= INT_MAX;

    *text += digits;
    return fits ? (int)n : 0;
}

/* The node of RANK.  TEXT "3,1,4": three ranks on the first node, one on the next, then four on
 * each. */
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

static int common_divisor(int a, int b)
{
    while (b) {
        int rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

bool collopt_topology_measure(struct collopt_topology *t, int ranks)
{
    int *size;

    t->largest = t->least = t->grain = 0;
    t->scattered = false;
    if (!t->node || t->nodes == 1)
        return true;
    size = calloc((size_t)t->nodes, sizeof *size);
    if (!size)
        return false;
    for (int r = 0; r < ranks; r++) {
        size[t->node[r]]++;
        t->scattered |= r > 0 && t->node[r] < t->node[r - 1];
        if (r > 0 && t->node[r] != t->node[r - 1])
            t->grain = common_divisor(r, t->grain);
    }
    t->least = ranks;
    for (int k = 0; k < t->nodes; k++) {
        t->largest = size[k] > t->largest ? size[k] : t->largest;
        t->least = size[k] < t->least ? size[k] : t->least;
    }
    free(size);
    return true;
}

/* ---- other groups ---------------------------------------------------------------------------- */

/* The place of KEY in a table of SIZE, a power of two: of the first rank that has it, or empty. */
static size_t place_of(uint64_t key, const uint64_t *keys, const int *first, size_t size)
{
    size_t at = (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (size - 1);

    while (first[at] > 0 && keys[first[at] - 1] != key)
        at = (at + 1) & (size - 1);
    return at;
}

/* Numbers the groups without a table: slow, but needs no memory. */
static int number_slowly(const uint64_t *key, int *group, int ranks)
{
    int groups = 0;

    for (int r = 0, q; r < ranks; r++) {
        for (q = 0; key[q] != key[r]; q++)
            ;
        group[r] = q < r ? group[q] : groups++;
    }
    return groups;
}

int collopt_topology_number(const uint64_t *key, int *group, int ranks)
{
    size_t size = 2;
    int *first, groups = 0;

    while (size < 2 * (size_t)ranks)
        size *= 2;
    first = calloc(size, sizeof *first);        /* a rank + 1 */
    if (!first)
        return number_slowly(key, group, ranks);
    for (int r = 0; r < ranks; r++) {
        size_t at = place_of(key[r], key, first, size);

        group[r] = first[at] > 0 ? group[first[at] - 1] : groups++;
        if (first[at] == 0)
            first[at] = r + 1;
    }
    free(first);
    return groups;
}

bool collopt_topology_group(struct collopt_topology *level, const struct collopt_topology *base,
                            const uint64_t *key, int *group, int ranks)
{
    *level = (struct collopt_topology){ .nodes = collopt_topology_number(key, group, ranks),
                                        .node = group, .inside = base->nodes == 1,
                                        .oversubscribed = base->oversubscribed,
                                        .groups = base->groups };
    return level->nodes > 0 && collopt_topology_measure(level, ranks);
}

const struct collopt_topology *collopt_topology_caches(const struct collopt_topology *t)
{
    const struct collopt_topology *c =
        t->nodes == 1 && t->groups ? t->groups[COLLOPT_BY_CACHE] : NULL;

    return c && c->nodes > 1 && c->largest > 1 ? c : NULL;
}

int collopt_topology_straddled(const struct collopt_topology *base, const uint64_t *key, int ranks)
{
    int *group = malloc(2 * (size_t)ranks * sizeof *group), *home = group + ranks, straddled = 0;

    if (!group || collopt_topology_number(key, group, ranks) == 0) {
        free(group);
        return -1;
    }
    for (int r = ranks - 1; r >= 0; r--)
        home[group[r]] = base->node[r];
    for (int r = 0; r < ranks; r++)
        straddled |= base->node[r] != home[group[r]];
    free(group);
    return straddled;
}

/* ---- grids ----------------------------------------------------------------------------------- */

enum { LONGEST_SIDE = (1 << COLLOPT_SIDE_BITS) - 1 };

static bool parse_sides(const char *text, struct collopt_shape *shape)
{
    long ranks = 1;

    for (;; text++) {
        int side = take_number(&text);

        if (side == 0 || side > LONGEST_SIDE || shape->sides == COLLOPT_SIDES
            || (ranks *= side) > INT_MAX)
            return false;
        shape->side[shape->sides++] = side;
        if (*text != 'x')
            return *text == '\0';
    }
}

/* The rest of TEXT after WORD; NULL: TEXT does not start with it. */
static const char *behind(const char *text, const char *word)
{
    size_t n = strlen(word);

    return strncmp(text, word, n) == 0 ? text + n : NULL;
}

bool collopt_parse_shape(const char *text, struct collopt_shape *shape, char *message, size_t size)
{
    const char *torus, *mesh, *nodes, *file;

    *shape = (struct collopt_shape){ .kind = COLLOPT_AS_FOUND };
    if (!text)
        return true;
    torus = behind(text, "torus:");
    mesh = behind(text, "mesh:");
    nodes = behind(text, "nodes:");
    shape->nodes = nodes;
    shape->file = file = behind(text, "file:");
    shape->rings = torus != NULL;
    shape->kind = nodes ? COLLOPT_NODES_OF : torus || mesh ? COLLOPT_GRID : file ? COLLOPT_HOSTS
                  : strcmp(text, "none") == 0 ? COLLOPT_NOTHING : COLLOPT_CARTESIAN;
    if (nodes && collopt_stated_node(nodes, 0) < 0)
        snprintf(message, size,
                 "nodes: takes ranks on a node such as 24, on one node after another such as "
                 "4,4,2, or cyclic:4");
    else if ((torus || mesh) && !parse_sides(torus ? torus : mesh, shape))
        snprintf(message, size, "it takes up to %d sides of 1 to %d ranks, such as %s8x8x4",
                 COLLOPT_SIDES, LONGEST_SIDE, torus ? "torus:" : "mesh:");
    else if (file && !*file)
        snprintf(message, size, "file: takes the name of a file that says where hosts are");
    else if (shape->kind == COLLOPT_CARTESIAN && strcmp(text, "cartesian") != 0)
        snprintf(message, size,
                 "it takes torus:8x8x4, mesh:16x16, nodes:24, file:FILE, cartesian, none or auto");
    else
        return true;
    *shape = (struct collopt_shape){ .kind = COLLOPT_AS_FOUND };
    return false;
}

int collopt_shape_ranks(const struct collopt_shape *shape)
{
    int ranks = shape->kind == COLLOPT_GRID;

    for (int d = 0; d < shape->sides; d++)
        ranks *= shape->side[d];
    return ranks;
}

void collopt_topology_grid(struct collopt_topology *t, int sides, const int *side, unsigned rings)
{
    size_t dims = 0;
    unsigned kept = 0;
    int n = 0;

    for (int d = 0; d < sides; d++) {
        if (side[d] == 1)
            continue;
        if (side[d] > LONGEST_SIDE || n == (int)(8 * sizeof dims) / COLLOPT_SIDE_BITS)
            return;
        dims |= (size_t)side[d] << n * COLLOPT_SIDE_BITS;
        kept |= (rings >> d & 1) << n;
        n++;
    }
    t->dims = dims;
    t->rings = kept;
}

/* Number I of the ranks of a box whose sides are SIDE, as a rank of SHAPE, counted from the box's
 * first. */
static int in_box(const struct collopt_shape *shape, const int *side, int i)
{
    int rank = 0, stride = 1;

    for (int d = shape->sides - 1; d >= 0; d--) {
        rank += i % side[d] * stride;
        i /= side[d];
        stride *= shape->side[d];
    }
    return rank;
}

void collopt_topology_box(struct collopt_topology *t, const struct collopt_shape *shape,
                          const int *world, int stride, int ranks)
{
    int first = world[0], last = world[(size_t)stride * (size_t)(ranks - 1)], side[COLLOPT_SIDES],
        box = 1;
    unsigned rings = 0;

    for (int d = shape->sides - 1; d >= 0; d--) {
        side[d] = last % shape->side[d] - first % shape->side[d] + 1;
        if (side[d] < 1 || side[d] > ranks / box)
            return;
        box *= side[d];
        rings |= (unsigned)(shape->rings && side[d] == shape->side[d]) << d;
        first /= shape->side[d];
        last /= shape->side[d];
    }
    for (int r = 0; r < ranks; r++)
        if (box != ranks || world[(size_t)stride * (size_t)r] != world[0] + in_box(shape, side, r))
            return;
    collopt_topology_grid(t, shape->sides, side, rings);
    t->wired = t->dims != 0;
}

/* ---- in words -------------------------------------------------------------------------------- */

static void add_nodes(struct collopt_text *w, const struct collopt_topology *t, int ranks)
{
    if (t->nodes == 1)
        collopt_add(w, "one node of %d rank%s", ranks, ranks == 1 ? "" : "s");
    else if (t->least == t->largest)
        collopt_add(w, "%d nodes of %d rank%s", t->nodes, t->largest, t->largest == 1 ? "" : "s");
    else
        collopt_add(w, "%d nodes of %d to %d ranks", t->nodes, t->least, t->largest);
    if (t->scattered)
        collopt_add(w, ", which do not follow one another");
}

static void add_grid(struct collopt_text *w, const struct collopt_topology *t)
{
    int sides = 0;

    if (t->dims == 0)
        return;
    while (t->dims >> sides * COLLOPT_SIDE_BITS & LONGEST_SIDE)
        sides++;
    collopt_add(w, "; %s",
                !t->wired                           ? "a grid of the program's, "
                    : t->rings == 0                 ? "a mesh of "
                    : t->rings == (1u << sides) - 1 ? "a torus of "
                                                    : "a grid, some sides of which are rings, ");
    for (int d = 0; d < sides; d++)
        collopt_add(w, "%s%d", d ? "x" : "",
                    (int)(t->dims >> d * COLLOPT_SIDE_BITS & LONGEST_SIDE));
}

void collopt_topology_text(const struct collopt_topology *t, int ranks, char *text, size_t size)
{
    static const char *const one[COLLOPT_GROUPINGS] = { NULL, NULL, "switch", "NUMA domain",
                                                        "last-level cache", "core" },
        *const many[COLLOPT_GROUPINGS] = { NULL, NULL, "switches", "NUMA domains",
                                           "last-level caches", "cores" };
    struct collopt_text w = { text, size, 0 };

    add_nodes(&w, t, ranks);
    for (int by = COLLOPT_BY_SWITCH; by < COLLOPT_GROUPINGS && t->groups; by++)
        if (t->groups[by])
            collopt_add(&w, "; %d %s", t->groups[by]->nodes,
                        t->groups[by]->nodes == 1 ? one[by] : many[by]);
    add_grid(&w, t);
    if (t->oversubscribed)
        collopt_add(&w, "; more ranks than processors");
}
