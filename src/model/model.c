/* The model: the time of messages, by their distance, on a machine of nodes and links. See
 * model.h. */
#include "config.h"

#include "model/model.h"
#include "base/numbers.h"
#include "model/grid.h"
#include "model/machine.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"

/* A generic machine: alpha 1 us, beta 0.1 ns, gamma 0.05 ns, the same inside nodes and between
 * them. */
#define LIKE_NONE   { .latency = 0.5e-6, .overhead = 0.25e-6, .byte = 0.1e-9, .shared = 0, \
                      .eager = 1e18, .group = 64, .taper = 2 }

static const struct collopt_machine like_none = { .way = { LIKE_NONE, LIKE_NONE, LIKE_NONE },
                                                  .combine = 0.05e-9 };

const struct collopt_machine *collopt_machine_of(const struct collopt_problem *p)
{
    return p->machine && !p->anywhere ? p->machine : &like_none;
}

const struct collopt_way *collopt_way(const struct collopt_problem *p, enum collopt_level level)
{
    enum collopt_reach inside = p->topology->inside ? COLLOPT_IN_CACHE : COLLOPT_IN_NODE;

    return &collopt_machine_of(p)->way[inside + level];
}

/* Messages under way to one rank in a pipeline: along a chain, as many as it has scratch for; in
 * trees, from all its children. On a grid, trees wait for their longest edges. */
enum { CHAIN_WINDOW = COLLOPT_CHAIN_SLOTS, GRID_WINDOW = 2, TREE_WINDOW = 4 };
/* Processors of a node that share copying and combining where ranks outnumber them; the true
 * number is unknown. */
enum { PROCESSORS = 2 };

struct collopt_traffic {
    const struct collopt_problem *p;
    const struct collopt_machine *machine;
    int ranks, node;            /* in the communicator; in its largest node */
    bool flat, scattered, wired, crowded;
    const struct collopt_way *way[2];   /* by level */
    bool caches;                /* nodes are the last-level caches of one node, whose processors
                                 * copy what leaves them */
    double exit;                /* seconds per byte of all that leaves one of them */
    double memory;              /* seconds per byte of all messages inside one node, where its
                                 * caches are too small; else 0 */
    int groups;                 /* caches of a node that do the same at the same time */
    struct collopt_grid grid;
    double longest;             /* Reduce_scatter with counts: bytes of the longest part, which any
                                 * message may contain */
    double seconds;
    int chunks;                 /* 0: not between collopt_chunks() and its end */
    double begun;               /* SECONDS at the start of the chunks */
    double processor, port, links;      /* time that one chunk occupies a rank's processor, its
                                         * node's port, the links out of groups */
    double stage;               /* the longest time for which one chunk occupies any of these on one
                                 * level */
};

static bool copied_by_processors(const struct collopt_traffic *t, enum collopt_level level)
{
    return level == COLLOPT_INSIDE || t->caches;
}

/* The placement of one level's messages in the machine. */
struct lie {
    double inside, between;     /* messages of a node that stay in it; that leave it */
    double hops, load;          /* of those that leave: links crossed; messages that share the
                                 * busiest link at a time */
    double at_all;              /* messages that share it in total, if more */
};

/* ---- on nodes -------------------------------------------------------------------------------- */

/* After folding, one rank of each folded pair remains, so the remaining ranks are twice as far
 * apart in that range; the groups of the ranks after it start where the pairs end. */
static void lie_folded(const struct collopt_traffic *t, const struct collopt_messages *m,
                       struct lie *l)
{
    int n = t->node, d = m->distance, group = d * (most(m->fan, 1) + 1),
        behind = t->ranks - 2 * m->folded;
    int playing = behind >= n ? n : (n + behind + 1) / 2;       /* in the node with the most of
                                                                 * them */
    bool aligned =
        t->p->topology->grain % (2 * group) == 0 && (m->folded % group == 0 || behind <= d);

    l->between = aligned ? 0 : m->fan > 1 ? playing : least(2 * d, playing);
    l->inside = playing - l->between;
}

/* Counts the ranks of a node whose peer is on another node; the ranks of a node are consecutive. */
static void lie_on_nodes(const struct collopt_traffic *t, const struct collopt_messages *m,
                         struct lie *l)
{
    int n = t->node, d = m->distance, group = d * (most(m->fan, 1) + 1);
    bool within = t->p->topology->grain % group == 0,
         aligned = d % n == 0 || (within && !(m->astride && n == group));

    if (m->folded > 0 && !t->scattered) {
        lie_folded(t, m, l);
    } else if (t->scattered) {
        l->between = m->pattern == COLLOPT_TREE ? 1 : n;
    } else if (m->pattern == COLLOPT_TREE) {
        l->between = d >= n || !aligned ? 1 : 0;
        l->inside = d < n ? most(n / group, 1) : 0;
    } else if (m->pattern == COLLOPT_PAIRS && (aligned || m->fan > 1)) {
        l->between = within ? 0 : n;
        l->inside = n - l->between;
    } else {
        l->between = least(d, n);
        l->inside = n - l->between;
    }
}

/* ---- on grids -------------------------------------------------------------------------------- */

/* Links crossed by STEPS along a side. In a shift on a side that is not a ring, some messages
 * travel all the way back. Strands that swing by one step travel back once in their two steps of
 * that length. */
static double along_side(int side, bool ring, int steps, enum collopt_pattern pattern)
{
    steps = modulo(steps, side);
    if (ring)
        return least(steps, side - steps);
    if (pattern == COLLOPT_SWING && steps == 1)
        return side / 2.0;
    if (pattern == COLLOPT_SHIFT || (pattern == COLLOPT_SWING && steps > 0))
        return steps > 0 ? most(steps, side - steps) : 0;
    return pattern == COLLOPT_UPWARDS ? 2.0 * steps * (side - steps) / side : steps;
}

/* Converts a distance in ranks into steps along each dimension; in a shift, some ranks step one
 * further where a faster dimension wraps. */
static void lie_at(const struct collopt_traffic *t, const struct collopt_messages *m, int distance,
                   struct lie *l)
{
    double carry = 0;

    l->hops = 0;
    l->load = 1;
    for (int d = t->grid.sides - 1; d >= 0; d--) {
        int side = t->grid.side[d], steps = distance % side;
        bool ring = t->p->topology->rings >> d & 1 || side == 2;
        /* If a rank sends several messages upwards at once, one wraps. */
        enum collopt_pattern pattern =
            m->pattern == COLLOPT_UPWARDS && m->fan > 1 ? COLLOPT_SHIFT : m->pattern;
        double far = along_side(side, ring, steps, pattern),
               farther = along_side(side, ring, steps + 1, pattern);
        double load = least(steps, side - steps)
            * (ring                                                ? 1
                   : m->pattern == COLLOPT_SWING                   ? 4
                   : m->pattern == COLLOPT_SHIFT && m->strands > 1 ? 2
                                                                   : 1);

        l->hops += farther > far ? far + carry * (farther - far) : far;
        l->load = load > l->load ? load : l->load;
        carry = m->pattern == COLLOPT_SHIFT ? steps > 0
            : m->pattern == COLLOPT_UPWARDS ? (double)steps / side
                                            : 0;
        distance /= side;
    }
}

/* Groups of N along a line of the grid, in which all send to all: the busiest link carries what
 * one half sends to the other, half of that on a ring, times the number of interleaved groups.
 * In multiples of N/2 messages; 0: not on a line. */
static double load_on_line(const struct collopt_traffic *t, const struct collopt_messages *m)
{
    int n = m->fan + 1, d = 0;
    bool ring;

    if (m->pattern != COLLOPT_PAIRS || n <= 2
        || !collopt_on_lines(t->p->topology, m->distance, n, &ring))
        return 0;
    while (m->distance % t->grid.stride[d])
        d++;
    n *= m->distance / t->grid.stride[d];
    return larger(n / (ring ? 4.0 : 2.0), 1);
}

/* The longest path and the busiest link of all messages under way at once. */
static void lie_on_grid(const struct collopt_traffic *t, const struct collopt_messages *m,
                        struct lie *l)
{
    enum { LOOKED_AT = 16 };
    int fan = most(m->fan, 1), step = most(fan / LOOKED_AT, 1);
    double hops = 0, load = 0;

    for (int j = fan; j >= 1; j -= step) {
        lie_at(t, m, j * m->distance, l);
        hops = l->hops > hops ? l->hops : hops;
        load = l->load > load ? l->load : load;
    }
    if (m->pattern == COLLOPT_TREE)
        load = 1;
    if (m->pattern == COLLOPT_SWING) {
        int halved = (int)(load + 1) / 2;

        load = halved;
    }
    if (m->fan > 1)
        load = load > 2 ? load / 2 : 1;
    l->hops = hops;
    l->load = load;
    l->at_all = load_on_line(t, m);
}

/* Average number of links from each rank to the next. */
static double hops_along(const struct collopt_traffic *t)
{
    double hops = 0, reached = 1;

    for (int d = t->grid.sides - 1; d >= 0; d--) {
        int side = t->grid.side[d];
        bool ring = t->p->topology->rings >> d & 1 || side == 2;

        hops += reached * ((side - 1) + (ring ? 1 : side - 1)) / side;
        reached /= side;
    }
    return hops;
}

/* The maximum of the same. */
static double longest_along(const struct collopt_traffic *t)
{
    double hops = 0;

    for (int d = t->grid.sides - 1; d >= 0; d--) {
        bool ring = t->p->topology->rings >> d & 1 || t->grid.side[d] == 2;

        hops += d == 0 || ring ? 1 : t->grid.side[d] - 1;
    }
    return hops;
}

/* ---- one level ------------------------------------------------------------------------------- */

static struct lie lie_of(const struct collopt_traffic *t, const struct collopt_messages *m)
{
    struct lie l = { .hops = 0, .load = 1 };

    if (m->inside)
        l.inside = m->pattern == COLLOPT_TREE ? 1 : t->node;
    else if (t->p->abreast > 0)
        l.between = t->p->abreast;
    else if (t->wired) {
        l.between = 1;
        lie_on_grid(t, m, &l);
    } else if (t->flat)
        l.inside = m->pattern == COLLOPT_TREE
            ? most(t->ranks / (m->distance * (most(m->fan, 1) + 1)), 1)
            : t->ranks;
    else
        lie_on_nodes(t, m, &l);
    return l;
}

/* Far traffic costs more, even if the topology is unknown: fewer links join groups of a
 * dragonfly, or lead above the switches of a tapered tree, than lie within them. Shifts pay for
 * their longest path, pairs for each doubling of their distance; the messages of a fan use
 * several paths, and in trees few ranks send at a time. With full bisection, bytes cost no more. */
static const double farther = 1.1, far = 0.04;

/* The scarcity of far links: 0 with full bisection, 1 if bytes take twice as long or more, which
 * is the default. */
static double scarcity(const struct collopt_traffic *t)
{
    double taper = t->way[COLLOPT_BETWEEN]->taper;

    return taper < 2 ? larger(taper - 1, 0) : 1;
}

static int nodes_in(const struct collopt_traffic *t, int ranks)
{
    return ranks / (t->p->abreast > 0 || t->scattered ? 1 : t->node);
}

/* The fraction of a level's messages that leave their group of nodes; all ranks send equally
 * many. Groups consist of neighbours and are aligned with pairs. */
static double crossing(const struct collopt_traffic *t, const struct collopt_messages *m)
{
    double group = t->way[COLLOPT_BETWEEN]->group, d = nodes_in(t, m->distance), inside = 0;
    int fan = most(m->fan, 1);

    if (m->pattern > COLLOPT_SWING)
        return 0;
    if (m->pattern == COLLOPT_PAIRS)
        inside = d > 0 ? least(fan, (int)(group / d) - 1) : fan;
    else
        for (int j = 1; j <= fan && j * d < group; j++)
            inside += 1 - j * d / group;
    return 1 - larger(inside, 0) / fan;
}

/* Slowdown of bytes, because messages that leave a group get a part of its ranks' bandwidth. */
static double taper(const struct collopt_traffic *t, const struct collopt_messages *m,
                    enum collopt_level level)
{
    return level == COLLOPT_BETWEEN ? larger(t->way[COLLOPT_BETWEEN]->taper * crossing(t, m), 1)
                                    : 1;
}

/* Cost factor of bytes between pairs by distance; 1 for trees. */
static double pairs_away(const struct collopt_traffic *t, const struct collopt_messages *m)
{
    bool straddle =
        m->pattern == COLLOPT_SWING && nodes_in(t, t->ranks) > t->way[COLLOPT_BETWEEN]->group;

    if (m->pattern > COLLOPT_SWING || m->fan > 1)
        return 1;
    return 1 + far * (log2_floor(m->distance) + straddle);
}

/* Up a tree on a grid the messages of a FAN along a line come from growing distances: nearer
 * ones arrive while the farthest is under way. Of the time that ALL of them take at their
 * receiver, that of the LAST remains, and what exceeds the latency of the path. */
static double staggered(const struct collopt_traffic *t, const struct lie *l, int fan, double last,
                        double all)
{
    return fan > 2 * l->hops ? all : larger(last, all - (l->hops - 1) * t->machine->hop);
}

/* The number of messages of a FAN that the sender writes: 1 for a multicast on a node, unless it is
 * too long for one (bind.c). */
static int written(const struct collopt_traffic *t, const struct collopt_messages *m,
                   enum collopt_level level)
{
    static const double longest = COLLOPT_MULTICAST_PIECES * (double)(64 << 10);
    int fan = most(m->fan, 1);
    bool on_node = t->flat || t->caches || m->distance * (fan + 1) <= t->node;

    return m->multicast && fan > 1 && t->machine->shm && on_node && m->bytes <= longest
            && copied_by_processors(t, level)
        ? 1 : fan;
}

/* The overhead of a FAN of messages at a rank, in addition to LATENCY, that of the longest path.
 * Between nodes, messages that have arrived are received while another is under way. Along a
 * line of a grid, nearer ones arrive earlier if they were sent before the farthest, or shortly
 * after. Up a tree each rank sends one message. */
static double both_ends(const struct collopt_traffic *t, const struct collopt_messages *m,
                        enum collopt_level level, const struct lie *l, double latency)
{
    const struct collopt_way *w = t->way[level];
    int fan = most(m->fan, 1), writes = written(t, m, level);
    double last = writes * w->overhead, all = (writes + fan) * w->overhead;
    bool ring;

    if ((copied_by_processors(t, level) && m->pattern != COLLOPT_TREE) || t->machine->ideal)
        return all;
    if (t->wired && level == COLLOPT_BETWEEN) {
        if (m->pattern == COLLOPT_TREE && m->staggered)
            last = staggered(t, l, fan, w->overhead, last);
        else if ((m->pattern == COLLOPT_PAIRS || m->pattern == COLLOPT_UPWARDS)
                 && collopt_on_lines(t->p->topology, m->distance, fan + 1, &ring)) {
            last = (m->farthest_first ? 1 : least(fan, most((int)l->hops, 1))) * w->overhead;
            all -= latency - w->latency;
        }
    }
    last += w->overhead;
    return m->pattern == COLLOPT_TREE ? last : larger(last, all - w->latency);
}

/* Processor time for a FAN of messages, including time in which the rank would have waited for
 * one of them. */
static double handled(const struct collopt_traffic *t, const struct collopt_messages *m,
                      enum collopt_level level)
{
    int writes = written(t, m, level), reads = m->pattern == COLLOPT_TREE ? 0 : most(m->fan, 1);

    return (writes + reads) * t->way[level]->overhead;
}

struct parts {                  /* parts of one message's time */
    double ends, latency, wire, combining, turns;
    double copying;             /* processor time within LATENCY and WIRE */
    double handled;             /* processor time for all messages of a fan, including waiting */
};

/* Seconds per byte of all messages of a node (cache) together. Messages that leave a cache come
 * from memory, too, if the caches are too small. */
static double together_of(const struct collopt_traffic *t, enum collopt_level level)
{
    if (!copied_by_processors(t, level))
        return t->way[level]->shared;
    return larger(t->memory * t->groups, level == COLLOPT_BETWEEN ? t->exit : 0);
}

/* Port time in addition to the bytes, relative to them. Where ranks send upwards, lower ranks
 * run ahead by latencies, so short messages do not collide; and of the SHARE messages that a
 * port carries in sequence, some are always ready. With kept rounds no rank runs ahead, but all
 * send over the same distance in each round, over few links: twice as long on a dragonfly. */
static double unevenness(const struct collopt_traffic *t, const struct collopt_messages *m,
                         enum collopt_level level, double byte, double share)
{
    const struct collopt_way *w = t->way[level];
    double together = together_of(t, level) * share, alone = m->bytes * larger(byte, together);

    if (t->machine->ideal)
        return 0;
    if (m->pattern > COLLOPT_UPWARDS)
        return m->uneven;
    if (t->wired || copied_by_processors(t, level) || alone == 0)
        return 0;
    if (m->lockstep)
        return scarcity(t);
    return m->pattern == COLLOPT_SHIFT
        ? m->uneven
        : m->uneven * alone / (alone + w->latency) / (together > byte ? share : 1);
}

/* The cost of one message on LEVEL, if SHARE messages of a node share its port and L->load a
 * link. */
static struct parts parts_of(const struct collopt_traffic *t, const struct collopt_messages *m,
                             enum collopt_level level, double share, const struct lie *l)
{
    const struct collopt_way *w = t->way[level];
    int fan = most(m->fan, 1), strands = most(m->strands, 1), writes = written(t, m, level);
    bool local = copied_by_processors(t, level);
    double at_once = m->bytes * (local ? strands : 1);          /* in a node strands gain nothing */
    bool shifts = m->pattern <= COLLOPT_UPWARDS || m->pattern == COLLOPT_AROUND;
    double away = local ? 1 : shifts ? farther : pairs_away(t, m);
    bool loaded = !local && (t->wired || nodes_in(t, t->ranks) > w->group);
    double byte = w->byte * (loaded ? l->load : 1), together = together_of(t, level) * share;
    /* on a grid some use separate links */
    double at_a_time = t->wired ? (1 + fan) / 2.0
        : (writes + (m->pattern == COLLOPT_TREE ? writes : fan)) / 2.0;
    double uneven = unevenness(t, m, level, byte, share);
    double spread = t->wired ? 1 : (1 + (away - 1) * scarcity(t)) * strands * taper(t, m, level);
    double slower = t->crowded && level == COLLOPT_INSIDE ? share / PROCESSORS : 1;

    if (slower > 1)
        together = larger(together, w->byte * slower);

    bool on_way = m->staggered && t->wired && level == COLLOPT_BETWEEN;
    double wire = m->bytes * larger(byte, together),
           hops = level == COLLOPT_BETWEEN && t->wired ? t->machine->hop * l->hops : 0;

    struct parts s = {
        .ends = both_ends(t, m, level, l, w->latency + hops),
        .latency = w->latency * (m->pattern <= COLLOPT_UPWARDS ? away : 1)
                   + (at_once > w->eager ? w->handshake : 0) + hops,
        .wire = (1 + uneven) * (on_way ? staggered(t, l, fan, wire,
                                                   at_a_time * wire) : at_a_time * wire)
                * spread,
        .combining = t->machine->combine * m->combined * strands * larger(slower, 1),
        .turns = t->crowded ? t->machine->turn * (at_once > w->eager ? 1 + writes : 1) : 0,
    };

    if (t->wired && level == COLLOPT_BETWEEN)   /* messages that travel farther share links later */
        s.wire =
            larger(s.wire,
                   at_a_time * m->bytes * w->byte * l->at_all - (l->hops - 1) * t->machine->hop);
    s.handled = handled(t, m, level);
    s.copying = local ? s.wire + s.latency - w->latency : 0;
    return s;
}

/* Strands occupy the rank's processor in turn and are under way at the same time. */
static double level_seconds(const struct collopt_messages *m, struct parts s)
{
    double one = s.ends + s.latency + s.wire + s.combining + s.turns;

    return m->strands > 1 ? larger(one, s.handled * m->strands + s.latency / 2 + s.combining) : one;
}

/* Each hop takes its own time; where all ranks send, the slowest hop delays all of them each
 * time. */
static double along(const struct collopt_traffic *t, const struct collopt_messages *m, double times)
{
    struct lie l = { .load = 1, .hops = t->wired ? hops_along(t) : 0 };
    int nodes = t->p->abreast > 0 || t->wired ? t->ranks : t->flat ? 1 : t->p->topology->nodes;
    int crossings = t->scattered ? t->ranks : nodes;
    double between = nodes == 1 ? 0 : (double)least(crossings, t->ranks) / t->ranks;
    bool all_leave = t->scattered && !t->wired && m->pattern == COLLOPT_AROUND;
    double share = t->p->abreast > 0 ? t->p->abreast : all_leave ? t->node : 1;
    struct parts in = parts_of(t, m, COLLOPT_INSIDE, t->node, &l),
                 out = parts_of(t, m, COLLOPT_BETWEEN, share, &l);
    double slowest = between > 0 && m->pattern == COLLOPT_AROUND ? out.ends + out.wire : 0;

    return times
        * larger(between * level_seconds(m, out) + (1 - between) * level_seconds(m, in), slowest);
}

/* In shifts by less than a node, a chain of messages leaves nodes in only some of its rounds, so
 * latencies are averaged. Ports are shared in every round. */
static double mixed(const struct collopt_messages *m, struct parts in, struct parts out,
                    double share)
{
    double late = (1 - share) * (in.ends + in.latency) + share * (out.ends + out.latency);

    return m->strands > 1 ? larger(level_seconds(m, in), level_seconds(m, out))
                          : late + larger(in.wire, out.wire) + in.combining + in.turns;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

void collopt_chunks(struct collopt_traffic *t, int chunks)
{
    t->chunks = chunks;
    t->begun = t->seconds;
    t->processor = t->port = t->links = t->stage = 0;
}

/* Each chunk after the first is ready when its predecessor has left the slowest level. All
 * chunks share one processor, one port and one set of links; half of the time in which a chunk
 * does not use the busiest of them falls before the first chunk or after the last. Simulated,
 * Allreduce of 512 KiB on 64 ranks in two chunks, fat tree and dragonfly: 86 and 95 us (90 and
 * 108 in one). */
void collopt_chunks_end(struct collopt_traffic *t)
{
    double first = t->seconds - t->begun, busiest = larger(t->processor, larger(t->port, t->links));
    double shared = t->chunks * busiest + larger(first - busiest, 0) / 2,
           all = larger(first + (t->chunks - 1) * t->stage, shared);

    if (t->chunks > 1)
        t->seconds = t->begun + all;
    t->chunks = 0;
}

/* Adds the resources that TIMES messages M of a chunk occupy. */
static void add_to_chunk(struct collopt_traffic *t, const struct collopt_messages *m, double times)
{
    struct lie l = lie_of(t, m);
    struct parts in = { 0 }, out = { 0 };
    double inside = 0, between = 0, processor, links = 0;

    if (l.inside > 0) {
        in = parts_of(t, m, COLLOPT_INSIDE, l.inside, &l);
        inside = in.handled + in.combining + in.copying + in.turns;
    }
    if (l.between > 0) {
        out = parts_of(t, m, COLLOPT_BETWEEN, l.between, &l);
        between = out.handled + out.combining + out.copying + out.turns;
    }
    processor = larger(inside, between);
    if (taper(t, m, COLLOPT_BETWEEN) > 1)
        links = out.wire;
    t->processor += times * processor;
    t->port += times * out.wire / taper(t, m, COLLOPT_BETWEEN);
    t->links += times * links;
    t->stage = larger(t->stage, times * larger(processor, out.wire));
}

double collopt_message_seconds(const struct collopt_traffic *t, struct collopt_messages m)
{
    struct parts in = { 0 }, out = { 0 };
    struct lie l = lie_of(t, &m);

    if (l.inside > 0)
        in = parts_of(t, &m, COLLOPT_INSIDE, l.inside, &l);
    if (l.between > 0)
        out = parts_of(t, &m, COLLOPT_BETWEEN, l.between, &l);
    if (m.pattern <= COLLOPT_UPWARDS && l.inside > 0 && l.between > 0)
        return mixed(&m, in, out, l.between / (l.inside + l.between));
    return larger(level_seconds(&m, in), level_seconds(&m, out));
}

void collopt_messages(struct collopt_traffic *t, double times, struct collopt_messages m)
{
    if (times <= 0 || t->ranks < 2)
        return;
    if (t->longest > 0) {
        m.bytes = larger(m.bytes, t->longest / most(m.blocks, 1));
        m.combined = m.combined > 0 ? larger(m.combined, m.bytes) : 0;
    }
    if (t->chunks > 1)
        add_to_chunk(t, &m, times);
    if (m.pattern == COLLOPT_ALONG || m.pattern == COLLOPT_AROUND)
        t->seconds += along(t, &m, times);
    else
        t->seconds += times * collopt_message_seconds(t, m);
}

/* The time that a rank's processor handles IN received and OUT sent messages; on an ideal
 * machine, its two ports. */
static double ends_of(const struct collopt_traffic *t, const struct parts *s, int in, int out)
{
    return (t->machine->ideal ? most(in, out) : (in + out) / 2.0) * s->ends;
}

/* The time that a rank's processor, or its port if that takes longer, is busy with IN and OUT
 * messages. */
static double busy(const struct collopt_traffic *t, const struct parts *s, int in, int out)
{
    return larger(ends_of(t, s, in, out) + in * (s->combining + s->copying),
                  most(in, out) * s->wire)
        + s->turns;
}

double collopt_slot_seconds(const struct collopt_traffic *t, int in, int out,
                            struct collopt_messages m)
{
    struct lie l = lie_of(t, &m);
    double inside = 0, between = 0;

    if (l.inside > 0) {
        struct parts s = parts_of(t, &m, COLLOPT_INSIDE, l.inside, &l);

        inside = busy(t, &s, in, out);
    }
    if (l.between > 0) {
        struct parts s = parts_of(t, &m, COLLOPT_BETWEEN, l.between, &l);

        between = busy(t, &s, in, out);
    }
    return larger(inside, between);
}

/* The period of a pipeline: the maximum of the busiest rank's processor time, of its port time
 * (ports idle while the processor handles a message, unless there are slots), and of a message's
 * time over the window. Inside a node processors copy. */
static double period(const struct collopt_traffic *t, const struct collopt_messages *m,
                     struct parts s, int in, int out)
{
    bool chain = m->pattern == COLLOPT_ALONG || m->pattern == COLLOPT_AROUND;
    int window = chain ? CHAIN_WINDOW : t->wired ? GRID_WINDOW : TREE_WINDOW;
    double ends = ends_of(t, &s, in, out), work = in * (s.combining + s.copying),
        /* some arrive on separate links */
        wire = (t->wired ? (1 + most(in, out)) / 2.0 : most(in, out)) * s.wire;

    return larger(larger(most(m->strands, 1) * ends + work, (m->slotted ? 0 : ends) + wire),
                  (s.ends + s.latency + s.wire + s.combining) / window) + s.turns;
}

/* A chain along all lines of a mesh and back: messages from the end of one line to the start of
 * the next collide with returning ones on each link. Simulated, Allreduce of 4 MiB by a chain of
 * 64 ranks: 870 us on an 8x8 torus, where lines wrap, 2520 us on the mesh. */
static const double met = 4;

/* Most edges of a tree are inside nodes, however few leave one, and share the node's bandwidth. */
static double edges_in_node(const struct collopt_traffic *t, const struct collopt_messages *m,
                            int in, int out)
{
    return (in + out) / 2.0 * m->bytes * t->memory * ((t->caches ? t->ranks : t->node) - 1);
}

void collopt_pipeline(struct collopt_traffic *t, double times, int in, int out,
                      struct collopt_messages m)
{
    double inside = 0, between = 0;
    struct lie l;

    if (times <= 0 || t->ranks < 2)
        return;
    l = lie_of(t, &m);
    if (m.pattern == COLLOPT_ALONG || m.pattern == COLLOPT_AROUND)
        l.hops = t->wired ? longest_along(t) : 0;
    if (m.pattern == COLLOPT_ALONG && in > 1 && l.hops > t->grid.sides)
        m.uneven = met;
    if (m.pattern == COLLOPT_TREE && !t->machine->ideal)
        l.load = t->wired ? 1.4 : 1.2;  /* all levels are busy at once, and some share links of a
                                         * grid or between groups */
    if (m.pattern == COLLOPT_TREE && l.between > 0 && t->scattered && !t->wired)
        l.between = t->node;    /* all ranks of a node, whose neighbours are on other nodes */
    if (l.inside > 0 && !m.inside)
        l.inside = t->node;
    if (l.inside > 0)
        inside = period(t, &m, parts_of(t, &m, COLLOPT_INSIDE, l.inside, &l), in, out);
    if (l.between > 0)
        between = period(t, &m, parts_of(t, &m, COLLOPT_BETWEEN, l.between, &l), in, out);
    if (m.pattern == COLLOPT_TREE && !t->flat && !t->wired)
        inside = larger(inside, edges_in_node(t, &m, in, out));
    t->seconds += times * larger(inside, between);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* A lower bound on several nodes: the vector of a node must leave it, except the parts of its
 * own ranks, in at least one message. */
static double least_between(const struct collopt_traffic *t)
{
    const struct collopt_problem *p = t->p;
    const struct collopt_way *w = t->way[COLLOPT_BETWEEN];
    double bytes = vector_bytes(p),
           own = collopt_scatters(p->collective) ? bytes * p->topology->least / p->ranks : 0;

    if (p->counts)              /* at most */
        own = p->topology->least * t->longest;
    return w->latency + 2 * w->overhead + w->shared * larger(bytes - own, 0);
}

/* The same inside a node whose caches are too small: every vector is sent in P-1 messages' worth,
 * and so are the results of an Allreduce, by all groups that do the same. */
static double least_inside(const struct collopt_traffic *t)
{
    const struct collopt_problem *p = t->p;
    double times = p->collective == COLLOPT_ALLREDUCE ? 2 : 1, others = p->ranks - 1;

    return t->memory * vector_bytes(p) * others * times
        * most(p->abreast > 0 ? p->abreast : p->beside, 1);
}

/* The least time on two ranks of a node: that of one message of the whole vector.  It suffices for
 * Reduce, Scan and Exscan, and Allreduce should not be faster than Reduce.  Algorithms that divide
 * the vector send 1.5 times as many bytes, and both ranks copy.  The sum of their messages would be
 * less, but measured from 32 KiB to 4 MiB they take 1.0 to 1.6 times as long. */
static double least_on_two(const struct collopt_traffic *t)
{
    const struct collopt_problem *p = t->p;
    const double m = vector_bytes(p);

    if (p->ranks != 2 || !t->flat || p->abreast > 0 || collopt_scatters(p->collective))
        return 0;
    return collopt_message_seconds(t, (struct collopt_messages){ .pattern = COLLOPT_TREE,
                                                                 .distance = 1, .bytes = m,
                                                                 .combined = m });
}

/* The part of a vector that is read, and of the result, that finds no room in the caches that are a
 * rank's share. Of the host's messages, which it copies in ways that are not known: all. */
static double from_memory(const struct collopt_traffic *t)
{
    double bytes = 2 * vector_bytes(t->p);

    return !t->machine->shm ? 1 : bytes > t->machine->cache ? 1 - t->machine->cache / bytes : 0;
}

/* Where messages go, and what limits them. */
static void set_levels(struct collopt_traffic *t)
{
    const struct collopt_problem *p = t->p;
    t->way[COLLOPT_INSIDE] = collopt_way(p, COLLOPT_INSIDE);
    t->way[COLLOPT_BETWEEN] = collopt_way(p, COLLOPT_BETWEEN);
    t->caches = p->topology->inside;
    t->exit = t->machine->exit;
    t->groups = !t->caches           ? 1
        : t->flat && p->abreast == 0 ? most(p->beside, 1)
        : t->flat                    ? p->ranks
                                     : p->topology->nodes;
    t->memory = from_memory(t) * t->machine->way[COLLOPT_IN_NODE].shared;
}

/* Ranks of one node that are known to use several caches are seen as on nodes. */
static const struct collopt_topology *seen_as(const struct collopt_problem *p)
{
    bool alike = p->abreast > 0 || p->anywhere || p->topology->oversubscribed || p->topology->wired;
    const struct collopt_topology *caches = alike ? NULL : collopt_topology_caches(p->topology);

    return caches ? caches : p->topology;
}

double collopt_model(const struct collopt_algorithm *a, const struct collopt_problem *p)
{
    struct collopt_problem seen = *p;
    struct collopt_traffic t = { .p = &seen, .machine = collopt_machine_of(p), .ranks = p->ranks };
    /* COLLOPT_REPRODUCIBLE: presets must not depend on the placement of ranks. */
    bool somewhere = p->abreast == 0 && !p->anywhere;
    const struct collopt_topology *topology = seen.topology = seen_as(p);

    t.flat = !somewhere || topology->nodes == 1;
    t.crowded = topology->oversubscribed && !p->anywhere;
    t.node = t.flat ? p->ranks : most(topology->largest, 1);
    t.scattered = !t.flat && topology->scattered;
    t.wired = somewhere && topology->wired && collopt_grid(&t.grid, topology->dims);
    for (int r = 0; p->counts && r < p->ranks; r++)
        t.longest = larger(t.longest, (double)p->counts[r] * (double)p->size);
    set_levels(&t);
    a->traffic(p, &t);
    if (t.wired)
        return t.seconds;
    t.seconds = larger(t.seconds, least_on_two(&t));
    if (t.caches || (t.machine->shm && t.flat && p->abreast == 0))
        return larger(t.seconds, least_inside(&t));
    return t.flat ? t.seconds : larger(t.seconds, least_between(&t));
}

void collopt_inner_seconds(struct collopt_traffic *t, double seconds)
{
    t->seconds += seconds;
}

bool collopt_over_tcp(const struct collopt_problem *p)
{
    const double slow = 1e-9;           /* seconds per byte */
    bool between = p->abreast > 0 || (p->topology->nodes > 1 && !p->topology->wired);

    return between && !p->topology->inside && p->machine
        && p->machine->way[COLLOPT_OVER_NET].byte > slow;
}
