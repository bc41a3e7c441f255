/* The model: messages by distance, on a machine of nodes and links.  See model.h. */
#include "config.h"

#include <string.h>

#include "algorithms/algorithm.h"
#include "select/machine.h"
#include "select/model.h"

/* One that is like none in particular: alpha 1 us, beta 0.1 ns, gamma 0.05 ns, nodes and networks alike. */
#define LIKE_NONE   { .latency = 0.5e-6, .overhead = 0.25e-6, .byte = 0.1e-9, .shared = 0, .eager = 1e18 }

static const struct collopt_machine like_none = { .way = { LIKE_NONE, LIKE_NONE }, .combine = 0.05e-9, .group = 64, .taper = 2 };

const struct collopt_machine *collopt_machine_of(const struct collopt_problem *p)
{
    return p->machine && !p->anywhere ? p->machine : &like_none;
}

/* Messages that may be under way to one rank in a pipeline: along a chain it has scratch for so many; in trees, from all its
 * children.  On a grid trees wait for their longest edges. */
enum { CHAIN_WINDOW = COLLOPT_CHAIN_SLOTS, GRID_WINDOW = 2, TREE_WINDOW = 4 };
/* Where ranks outnumber processors, so many of these do the copying and combining of all.  How many there are is not known. */
enum { PROCESSORS = 2 };

struct collopt_traffic {
    const struct collopt_problem *p;
    const struct collopt_machine *machine;
    int ranks, node;            /* of the communicator; of its largest node */
    bool flat, scattered, wired, crowded;
    struct collopt_grid grid;
    double longest;             /* Reduce_scatter with counts: bytes of the longest part, which each message may have in it */
    double seconds;
    int chunks;                 /* 0: of none is being told */
    double begun;               /* SECONDS when these began */
    double processor, port, links;      /* what one chunk keeps busy: a rank's processor, its node's port, what leads out of groups */
    double stage;               /* the longest that it keeps any of them busy on one level */
};

/* How the messages of one level lie in the machine. */
struct lie {
    double inside, between;     /* messages of a node that stay in it, that leave it */
    double hops, load;          /* of those that leave: links on the way, messages that share the busiest one at a time */
    double at_all;              /* likewise on the whole, if more */
};

/* ---- on nodes -------------------------------------------------------------------------------------------------------- */

/* Where pairs have been folded, one of two ranks goes on, as far as there were pairs: they lie twice as far apart there, and groups
 * of those behind them begin wherever the pairs end. */
static void lie_folded(const struct collopt_traffic *t, const struct collopt_messages *m, struct lie *l)
{
    int n = t->node, d = m->distance, group = d * (most(m->fan, 1) + 1), behind = t->ranks - 2 * m->folded;
    int playing = behind >= n ? n : (n + behind + 1) / 2;       /* of the node that has most of them */
    bool aligned = t->p->topology->grain % (2 * group) == 0 && (m->folded % group == 0 || behind <= d);

    l->between = aligned ? 0 : m->fan > 1 ? playing : least(2 * d, playing);
    l->inside = playing - l->between;
}

/* The ranks of a node follow one another: how many of them have a peer elsewhere. */
static void lie_on_nodes(const struct collopt_traffic *t, const struct collopt_messages *m, struct lie *l)
{
    int n = t->node, d = m->distance, group = d * (most(m->fan, 1) + 1);
    bool within = t->p->topology->grain % group == 0, aligned = d % n == 0 || (within && !(m->astride && n == group));

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

/* ---- on grids -------------------------------------------------------------------------------------------------------- */

/* Links that lead STEPS along a side; where ranks are shifted on one that is no ring, some go all the way back.  Of the strands
 * that swing by one step, each goes back once in its two steps of that length. */
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

/* A distance in ranks, as steps along each dimension; where ranks are shifted, some step one further as those before wrap. */
static void lie_at(const struct collopt_traffic *t, const struct collopt_messages *m, int distance, struct lie *l)
{
    double carry = 0;

    l->hops = 0;
    l->load = 1;
    for (int d = t->grid.sides - 1; d >= 0; d--) {
        int side = t->grid.side[d], steps = distance % side;
        bool ring = t->p->topology->rings >> d & 1 || side == 2;
        /* Of several that go upwards at once, one wraps. */
        enum collopt_pattern pattern = m->pattern == COLLOPT_UPWARDS && m->fan > 1 ? COLLOPT_SHIFT : m->pattern;
        double far = along_side(side, ring, steps, pattern), farther = along_side(side, ring, steps + 1, pattern);
        double load = least(steps, side - steps) * (ring ? 1 : m->pattern == COLLOPT_SWING ? 4
                                                    : m->pattern == COLLOPT_SHIFT && m->strands > 1 ? 2 : 1);

        l->hops += farther > far ? far + carry * (farther - far) : far;
        l->load = load > l->load ? load : l->load;
        carry = m->pattern == COLLOPT_SHIFT ? steps > 0 : m->pattern == COLLOPT_UPWARDS ? (double)steps / side : 0;
        distance /= side;
    }
}

/* Groups of N along a line of the grid, in which all send to all: the busiest link carries what half of them send to the other
 * half, half of that on a ring, and groups lie between one another.  In multiples of N/2 messages; 0: they are on no line. */
static double load_on_line(const struct collopt_traffic *t, const struct collopt_messages *m)
{
    int n = m->fan + 1, d = 0;
    bool ring;

    if (m->pattern != COLLOPT_PAIRS || n <= 2 || !collopt_on_lines(t->p->topology, m->distance, n, &ring))
        return 0;
    while (m->distance % t->grid.stride[d])
        d++;
    return larger(m->distance / t->grid.stride[d] * n / (ring ? 4.0 : 2.0), 1);
}

/* The longest way and the busiest link of all that are under way at once. */
static void lie_on_grid(const struct collopt_traffic *t, const struct collopt_messages *m, struct lie *l)
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
    if (m->pattern == COLLOPT_SWING)
        load = (int)(load + 1) / 2;
    if (m->fan > 1)
        load = load > 2 ? load / 2 : 1;
    l->hops = hops;
    l->load = load;
    l->at_all = load_on_line(t, m);
}

/* From each rank to the next, on the average. */
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

/* The longest of these. */
static double longest_along(const struct collopt_traffic *t)
{
    double hops = 0;

    for (int d = t->grid.sides - 1; d >= 0; d--) {
        bool ring = t->p->topology->rings >> d & 1 || t->grid.side[d] == 2;

        hops += d == 0 || ring ? 1 : t->grid.side[d] - 1;
    }
    return hops;
}

/* ---- one level ---------------------------------------------------------------------------------------------------------- */

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
        l.inside = m->pattern == COLLOPT_TREE ? most(t->ranks / (m->distance * (most(m->fan, 1) + 1)), 1) : t->ranks;
    else
        lie_on_nodes(t, m, &l);
    return l;
}

/* Neighbours are often nearer than others, also where nothing says so, and the farther all ranks send, the more
 * share links: there are fewer of them between groups of a dragonfly or above the switches of a tapered tree than
 * below.  Whoever shifts pays for the longest way; pairs, for each doubling of their distance, but that the messages
 * of a fan have several ways.  In trees few send at a time.  With full bisection bytes do not pay. */
static const double farther = 1.1, far = 0.04;

/* How scarce far links are: 0 with full bisection, 1 where bytes take twice as long and more, as where nothing is known. */
static double scarcity(const struct collopt_traffic *t)
{
    return t->machine->taper < 2 ? larger(t->machine->taper - 1, 0) : 1;
}

static int nodes_in(const struct collopt_traffic *t, int ranks)
{
    return ranks / (t->p->abreast > 0 || t->scattered ? 1 : t->node);
}

/* The part of the messages of a level that leaves its group of nodes; all ranks send as many.  Groups are of neighbours, and begin
 * where those of pairs do. */
static double crossing(const struct collopt_traffic *t, const struct collopt_messages *m)
{
    double group = t->machine->group, d = nodes_in(t, m->distance), inside = 0;
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

/* What leaves a group has a part of its ranks' bandwidth. */
static double taper(const struct collopt_traffic *t, const struct collopt_messages *m, enum collopt_level level)
{
    return level == COLLOPT_BETWEEN ? larger(t->machine->taper * crossing(t, m), 1) : 1;
}

/* For pairs and trees: 1, or how much more bytes cost. */
static double pairs_away(const struct collopt_traffic *t, const struct collopt_messages *m)
{
    bool straddle = m->pattern == COLLOPT_SWING && nodes_in(t, t->ranks) > t->machine->group;

    if (m->pattern > COLLOPT_SWING || m->fan > 1)
        return 1;
    return 1 + far * (log2_floor(m->distance) + straddle);
}

/* Up a tree on a grid the messages of a FAN along a line come from ever farther: nearer ones arrive while the
 * farthest is on its way.  Of what ALL of them take where they meet, that of the last and what exceeds the way is
 * left. */
static double staggered(const struct collopt_traffic *t, const struct lie *l, int fan, double last, double all)
{
    return fan > 2 * l->hops ? all : larger(last, all - (l->hops - 1) * t->machine->hop);
}

/* What a FAN of messages keeps a rank busy beside LATENCY, that of the longest way: between nodes, those that have come are taken
 * in while one is on it.  Along a line of a grid nearer ones have come by then, if they were sent before that, or not much
 * later.  Up a tree nobody sends more than one. */
static double both_ends(const struct collopt_traffic *t, const struct collopt_messages *m, enum collopt_level level,
                        const struct lie *l, double latency)
{
    const struct collopt_way *w = &t->machine->way[level];
    int fan = most(m->fan, 1);
    double last = fan * w->overhead, all = 2 * last;
    bool ring;

    if ((level == COLLOPT_INSIDE && m->pattern != COLLOPT_TREE) || t->machine->ideal)
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

/* What a FAN of messages takes of a rank's processor, also where that would have waited for one of them. */
static double handled(const struct collopt_traffic *t, const struct collopt_messages *m, enum collopt_level level)
{
    return (m->pattern == COLLOPT_TREE ? 1 : 2) * most(m->fan, 1) * t->machine->way[level].overhead;
}

struct parts {                  /* of one message's time */
    double ends, latency, wire, combining, turns;
    double copying;             /* of the rank's processor in LATENCY and WIRE */
    double handled;             /* of the processor, for all messages of a fan, also while it waits for them */
};

/* How much longer a port is busy than its bytes say.  Where ranks send upwards, lower ones are ahead by latencies:
 * short messages do not meet.  And of SHARE that a port has to carry one after the other, some are always ready.  Where rounds are
 * kept nobody is ahead, but all send as far in each, over what few links there may be: twice as long on a dragonfly. */
static double unevenness(const struct collopt_traffic *t, const struct collopt_messages *m, enum collopt_level level, double byte,
                         double share)
{
    const struct collopt_way *w = &t->machine->way[level];
    double together = w->shared * share, alone = m->bytes * larger(byte, together);

    if (t->machine->ideal)
        return 0;
    if (m->pattern > COLLOPT_UPWARDS)
        return m->uneven;
    if (t->wired || level == COLLOPT_INSIDE || alone == 0)
        return 0;
    if (m->lockstep)
        return scarcity(t);
    return m->pattern == COLLOPT_SHIFT ? m->uneven : m->uneven * alone / (alone + w->latency) / (together > byte ? share : 1);
}

/* SHARE messages of a node on a way, of which LOAD share a link. */
static struct parts parts_of(const struct collopt_traffic *t, const struct collopt_messages *m, enum collopt_level level,
                             double share,
                             const struct lie *l)
{
    const struct collopt_way *w = &t->machine->way[level];
    int fan = most(m->fan, 1), strands = most(m->strands, 1);
    double at_once = m->bytes * (level == COLLOPT_INSIDE ? strands : 1);        /* in a node nothing is gained by strands */
    bool shifts = m->pattern <= COLLOPT_UPWARDS || m->pattern == COLLOPT_AROUND;
    double away = level != COLLOPT_BETWEEN ? 1 : shifts ? farther : pairs_away(t, m);
    bool loaded = level == COLLOPT_BETWEEN && (t->wired || nodes_in(t, t->ranks) > t->machine->group);
    double byte = w->byte * (loaded ? l->load : 1), together = w->shared * share;
    double at_a_time = t->wired ? (1 + fan) / 2.0 : fan;    /* on a grid some of them have links of their own */
    double uneven = unevenness(t, m, level, byte, share);
    double spread = t->wired ? 1 : (1 + (away - 1) * scarcity(t)) * strands * taper(t, m, level);
    double slower = t->crowded && level == COLLOPT_INSIDE ? share / PROCESSORS : 1;

    if (slower > 1)
        together = larger(together, w->byte * slower);

    bool on_way = m->staggered && t->wired && level == COLLOPT_BETWEEN;
    double wire = m->bytes * larger(byte, together), hops = level == COLLOPT_BETWEEN && t->wired ? t->machine->hop * l->hops : 0;

    struct parts s = {
        .ends = both_ends(t, m, level, l, w->latency + hops),
        .latency = w->latency * (m->pattern <= COLLOPT_UPWARDS ? away : 1) + (at_once > w->eager ? w->handshake : 0) + hops,
        .wire = (1 + uneven) * (on_way ? staggered(t, l, fan, wire, at_a_time * wire) : at_a_time * wire)
                * spread,
        .combining = t->machine->combine * m->combined * strands * larger(slower, 1),
        .turns = t->crowded ? t->machine->turn * (at_once > w->eager ? 1 + fan : 1) : 0,
    };

    if (t->wired && level == COLLOPT_BETWEEN)   /* those that go farther share links later */
        s.wire = larger(s.wire, at_a_time * m->bytes * w->byte * l->at_all - (l->hops - 1) * t->machine->hop);
    s.handled = handled(t, m, level);
    s.copying = level == COLLOPT_INSIDE ? s.wire + s.latency - w->latency : 0;
    return s;
}

/* Strands keep the rank busy one after another, and are under way at the same time. */
static double level_seconds(const struct collopt_messages *m, struct parts s)
{
    double one = s.ends + s.latency + s.wire + s.combining + s.turns;

    return m->strands > 1 ? larger(one, s.handled * m->strands + s.latency / 2 + s.combining) : one;
}

/* Each hop takes its time; where all ranks send, the slowest one holds up all of them every time. */
static double along(const struct collopt_traffic *t, const struct collopt_messages *m, double times)
{
    struct lie l = { .load = 1, .hops = t->wired ? hops_along(t) : 0 };
    int nodes = t->p->abreast > 0 || t->wired ? t->ranks : t->flat ? 1 : t->p->topology->nodes;
    int crossings = t->scattered ? t->ranks : nodes;
    double between = nodes == 1 ? 0 : (double)least(crossings, t->ranks) / t->ranks;
    bool all_leave = t->scattered && !t->wired && m->pattern == COLLOPT_AROUND;
    double share = t->p->abreast > 0 ? t->p->abreast : all_leave ? t->node : 1;
    struct parts in = parts_of(t, m, COLLOPT_INSIDE, t->node, &l), out = parts_of(t, m, COLLOPT_BETWEEN, share, &l);
    double slowest = between > 0 && m->pattern == COLLOPT_AROUND ? out.ends + out.wire : 0;

    return times * larger(between * level_seconds(m, out) + (1 - between) * level_seconds(m, in), slowest);
}

/* Where ranks are shifted by less than a node, no chain of messages leaves nodes more often than it has gone so far:
 * latencies are mixed.  But ports are shared in every round. */
static double mixed(const struct collopt_messages *m, struct parts in, struct parts out, double share)
{
    double late = (1 - share) * (in.ends + in.latency) + share * (out.ends + out.latency);

    return m->strands > 1 ? larger(level_seconds(m, in), level_seconds(m, out))
                          : late + larger(in.wire, out.wire) + in.combining + in.turns;
}

/* ---- chunks ---------------------------------------------------------------------------------------------------------------- */

void collopt_chunks(struct collopt_traffic *t, int chunks)
{
    t->chunks = chunks;
    t->begun = t->seconds;
    t->processor = t->port = t->links = t->stage = 0;
}

/* The chunks behind the first one: each is ready when the one before has left the level that takes longest.  Nor is there more of a
 * processor, a port or a link than one, and of the time in which a chunk does not use it half is before the first or behind the
 * last.  Simulated, Allreduce of 512 KiB on 64 ranks in two chunks, fat tree and dragonfly: 86 and 95 us (90 and 108 in one). */
void collopt_chunks_end(struct collopt_traffic *t)
{
    double first = t->seconds - t->begun, busiest = larger(t->processor, larger(t->port, t->links));
    double shared = t->chunks * busiest + larger(first - busiest, 0) / 2, all = larger(first + (t->chunks - 1) * t->stage, shared);

    if (t->chunks > 1)
        t->seconds = t->begun + all;
    t->chunks = 0;
}

/* TIMES messages M of a chunk, by what they keep busy. */
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
        between = out.handled + out.combining + out.turns;
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

/* What a rank is busy with IN messages that come and OUT that go, by one processor; on an ideal machine by a way in and one out. */
static double ends_of(const struct collopt_traffic *t, const struct parts *s, int in, int out)
{
    return (t->machine->ideal ? most(in, out) : (in + out) / 2.0) * s->ends;
}

/* The processor of a rank that takes messages in and sends some, or its port, which carries others meanwhile. */
static double busy(const struct collopt_traffic *t, const struct parts *s, int in, int out)
{
    return larger(ends_of(t, s, in, out) + in * (s->combining + s->copying), most(in, out) * s->wire) + s->turns;
}

double collopt_slot_seconds(const struct collopt_traffic *t, int in, int out, struct collopt_messages m)
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

/* The busiest rank's processor, its ports, which rest while it is busy with a message unless there are slots, and a message that
 * waits for a place.  Inside a node processors do the copying. */
static double period(const struct collopt_traffic *t, const struct collopt_messages *m, struct parts s, int in, int out)
{
    bool chain = m->pattern == COLLOPT_ALONG || m->pattern == COLLOPT_AROUND;
    int window = chain ? CHAIN_WINDOW : t->wired ? GRID_WINDOW : TREE_WINDOW;
    double ends = ends_of(t, &s, in, out), work = in * (s.combining + s.copying),
        wire = (t->wired ? (1 + most(in, out)) / 2.0 : most(in, out)) * s.wire;    /* some come on links of their own */

    return larger(larger(most(m->strands, 1) * ends + work, (m->slotted ? 0 : ends) + wire),
                  (s.ends + s.latency + s.wire + s.combining) / window) + s.turns;
}

/* Along all lines of a mesh and back: what goes from the end of one line to the beginning of the next meets what comes back on each
 * link.  Simulated, Allreduce of 4 MiB by a chain of 64 ranks: 870 us on a torus of 8x8, where it goes round, 2520 on the mesh. */
static const double met = 4;

/* However few edges of a tree leave a node, most are in it, and share what its ranks have together. */
static double edges_in_node(const struct collopt_traffic *t, const struct collopt_messages *m, int in, int out)
{
    return (in + out) / 2.0 * m->bytes * t->machine->way[COLLOPT_INSIDE].shared * (t->node - 1);
}

void collopt_pipeline(struct collopt_traffic *t, double times, int in, int out, struct collopt_messages m)
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
        l.load = t->wired ? 1.4 : 1.2;  /* all levels are busy at once, and some share links: of a grid, or between groups */
    if (m.pattern == COLLOPT_TREE && l.between > 0 && t->scattered && !t->wired)
        l.between = t->node;    /* likewise all ranks of a node, none of whose neighbours are on it */
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

/* ---- all of them -------------------------------------------------------------------------------------------------------- */

/* What no algorithm can avoid on several nodes: the vector that a node contributes has to leave it, but for the parts of its own
 * ranks, and that is one message at least. */
static double least_between(const struct collopt_traffic *t)
{
    const struct collopt_problem *p = t->p;
    const struct collopt_way *w = &t->machine->way[COLLOPT_BETWEEN];
    bool parts = p->collective == COLLOPT_REDUCE_SCATTER || p->collective == COLLOPT_REDUCE_SCATTER_BLOCK;
    double bytes = (double)p->count * (double)p->size, own = !parts ? 0 : bytes * p->topology->least / p->ranks;

    if (p->counts)              /* at most */
        own = p->topology->least * t->longest;
    return w->latency + 2 * w->overhead + w->shared * larger(bytes - own, 0);
}

double collopt_model(const struct collopt_algorithm *a, const struct collopt_problem *p)
{
    struct collopt_traffic t = { .p = p, .machine = collopt_machine_of(p), .ranks = p->ranks };
    /* COLLOPT_REPRODUCIBLE: presets must not depend on where the ranks are. */
    bool somewhere = p->abreast == 0 && !p->anywhere;

    t.flat = !somewhere || p->topology->nodes == 1;
    t.crowded = p->topology->oversubscribed && !p->anywhere;
    t.node = t.flat ? p->ranks : most(p->topology->largest, 1);
    t.scattered = !t.flat && p->topology->scattered;
    t.wired = somewhere && p->topology->wired && collopt_grid(&t.grid, p->topology->dims);
    for (int r = 0; p->counts && r < p->ranks; r++)
        t.longest = larger(t.longest, (double)p->counts[r] * (double)p->size);
    a->traffic(p, &t);
    return t.flat || t.wired ? t.seconds : larger(t.seconds, least_between(&t));
}

void collopt_inner_seconds(struct collopt_traffic *t, double seconds)
{
    t->seconds += seconds;
}
