/* The topology and the machine of a communicator, derived from what its ranks have told of
 * themselves (locality.h).  Nothing is sent here. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/comm/topology.h"
#include "base/launcher.h"
#include "base/log.h"
#include "model/host_times.h"
#include "model/machine.h"
#include "model/offload.h"
#include "mpi/node/agree.h"
#include "mpi/comm/comm.h"
#include "mpi/node/locality.h"
#include "mpi/node/segments.h"
#include "select/measured.h"
#include "select/break_even.h"
#include "settings/settings.h"
#include "topology/host_file.h"
#include "topology/intranode.h"
#include "topology/topology.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

static struct collopt_shape machine(void)
{
    struct collopt_shape shape;
    char message[256];          /* settings.c has warned of what cannot be parsed */

    collopt_parse_shape(collopt_settings()->topology, &shape, message, sizeof message);
    return shape;
}

static bool map_nodes(struct collopt_comm *c, const struct collopt_locality *seen, uint64_t *key)
{
    const char *stated = machine().nodes;       /* NULL: ranks that share memory are a node */
    bool together = true;

    for (int r = 0; r < c->ranks; r++) {
        key[r] = (uint64_t)(stated ? collopt_stated_node(stated, seen[r].world) : seen[r].node);
        c->map.topology.oversubscribed |= seen[r].crowded;
        together = together && seen[r].node == seen[0].node;
    }
    c->map.topology.nodes = collopt_topology_number(key, c->map.node, c->ranks);
    c->map.one_node = together && c->map.topology.nodes == 1;
    c->map.topology.node = c->map.node;
    return c->map.topology.nodes > 0 && collopt_topology_measure(&c->map.topology, c->ranks);
}

/* By facts that all ranks know alike. */
static enum collopt_network network_of(const struct collopt_comm *c,
                                       const struct collopt_locality *seen)
{
    bool fast = true;

    for (int r = 0; r < c->ranks; r++)
        fast &= seen[r].fast != 0;
    return collopt_network_of(&c->map.topology, fast);
}

/* ---- what the host has the network do -------------------------------------------------------- */

static void say_offload(const struct collopt_comm *c, const struct collopt_offload *o)
{
    if (!o || o == &collopt_offload_stated || c->map.topology.nodes < 2 || !collopt_speaks())
        return;
    collopt_warn_once("between nodes the MPI library has %s reduce: calls of MPI_Allreduce%s are "
                      "left to it there unless rules or variables name an algorithm; "
                      "COLLOPT_OFFLOAD=ignore changes this",
                      o->name, o->reduce ? " and MPI_Reduce" : "");
}

static void say_one_sided(const struct collopt_comm *c)
{
    if (c->map.topology.nodes > 1)
        collopt_explain_once("the ranks find different libraries that reduce in the network, or "
                             "only some find one: collopt reduces between nodes itself");
}

/* The same on all ranks of C; a machine file has the host's times instead.  NULL: nothing. */
static const struct collopt_offload *offload_of(const struct collopt_comm *c,
                                                const struct collopt_locality *seen)
{
    enum collopt_offloading set = collopt_settings()->offload;

    if (set == COLLOPT_OFFLOAD_HOST)
        return &collopt_offload_stated;
    if (set == COLLOPT_OFFLOAD_IGNORE || collopt_settings()->machine)
        return NULL;
    for (int r = 1; r < c->ranks; r++)
        if (seen[r].offload != seen[0].offload) {
            say_one_sided(c);
            return NULL;
        }
    return seen[0].offload > 0 ? &collopt_offloads[seen[0].offload - 1] : NULL;
}

/* ---- groups above nodes and inside them ------------------------------------------------------ */

static bool file_has_switches(void)
{
    const struct collopt_hosts *hosts = collopt_settings()->hosts;

    return hosts && hosts->shape.kind != COLLOPT_GRID;
}

static bool slurm_tells(const struct collopt_locality *seen)
{
    return seen[0].pattern != 0 && machine().kind != COLLOPT_NOTHING;
}

/* Slurm's address ends with the name of a node.  MPICH's launcher hands that of its own node to the
 * ranks of all: then it says nothing of the others.  0 or 1; -1: no memory. */
static int copied_addresses(const struct collopt_comm *c, const struct collopt_locality *seen,
                            uint64_t *key)
{
    if (file_has_switches() || !slurm_tells(seen))
        return 0;
    for (int r = 0; r < c->ranks; r++)
        key[r] = (unsigned)seen[r].address;
    return collopt_topology_straddled(&c->map.topology, key, c->ranks);
}

/* The switch of rank R by the file of hosts or else by Slurm, where all ranks have one; false. */
static bool switch_of(const struct collopt_locality *seen, int r, uint64_t *key)
{
    const struct collopt_hosts *hosts = collopt_settings()->hosts;

    if (file_has_switches()) {
        *key = seen[r].host < 0 ? 0 : (uint64_t)hosts->host[seen[r].host].place;
        return seen[r].host >= 0;
    }
    *key = (unsigned)seen[r].branch;
    return slurm_tells(seen) && seen[r].pattern == seen[0].pattern;
}

/* Groups are known if every rank knows its own; otherwise to no rank. */
static bool map_group(struct collopt_comm *c, const struct collopt_locality *seen,
                      enum collopt_grouping by, uint64_t *key)
{
    int *group, copied = by == COLLOPT_BY_SWITCH ? copied_addresses(c, seen, key) : 0;

    if (copied)
        return copied > 0;
    for (int r = 0; r < c->ranks; r++)
        if (!(by == COLLOPT_BY_SWITCH ? switch_of(seen, r, &key[r])
              : collopt_spot_key(seen[r].spot, c->map.node[r], by, &key[r])))
            return true;
    group = malloc((size_t)c->ranks * sizeof *group);
    if (!group
        || !collopt_topology_group(&c->map.level[by], &c->map.topology, key, group, c->ranks)) {
        free(group);
        c->map.level[by].node = NULL;
        return false;
    }
    c->map.groups[by] = &c->map.level[by];
    return true;
}

static bool map_groups(struct collopt_comm *c, const struct collopt_locality *seen, uint64_t *key)
{
    bool mapped = true;

    c->map.topology.groups = c->map.groups;
    c->map.groups[COLLOPT_BY_NODE] = &c->map.topology;
    for (int by = COLLOPT_BY_SWITCH; by < COLLOPT_GROUPINGS && mapped; by++)
        mapped = map_group(c, seen, (enum collopt_grouping)by, key);
    return mapped;
}

/* ---- grids ----------------------------------------------------------------------------------- */

/* MPI numbers the ranks of a Cartesian communicator with the last dimension running fastest, as a
 * parameter "dims" does. */
static void map_cartesian(struct collopt_comm *c, MPI_Comm comm, bool wired)
{
#ifndef COLLOPT_HOST_SMPI       /* SimGrid has no MPI_Topo_test; COLLOPT_TOPOLOGY states the grid */
    int kind = MPI_UNDEFINED, sides = 0, side[COLLOPT_SIDES], around[COLLOPT_SIDES],
        at[COLLOPT_SIDES];
    unsigned rings = 0;

    if (PMPI_Topo_test(comm, &kind) || kind != MPI_CART || PMPI_Cartdim_get(comm, &sides)
        || sides > COLLOPT_SIDES || PMPI_Cart_get(comm, sides, side, around, at))
        return;
    for (int d = 0; d < sides; d++)
        rings |= (unsigned)(around[d] != 0) << d;
    collopt_topology_grid(&c->map.topology, sides, side, rings);
    /* some are longer than can be kept */
    c->map.topology.wired = wired && c->map.topology.dims != 0;
#else
    (void)c, (void)comm, (void)wired;
#endif
}

static bool fills_world(const struct collopt_shape *shape)
{
    int ranks = 0;

    return PMPI_Comm_size(MPI_COMM_WORLD, &ranks) == MPI_SUCCESS
        && ranks == collopt_shape_ranks(shape);
}

/* The lowest rank whose host is not in the file, which reports it, as only it knows the name;
 * -1: all are in the file. */
static int missing_host(const struct collopt_comm *c, const struct collopt_locality *seen)
{
    for (int r = 0; r < c->ranks; r++)
        if (seen[r].host < 0)
            return r;
    return -1;
}

/* Once in a job as a rule: by a communicator with the world's first rank, and there by one who has
 * not heard it. */
static void say_missing(const struct collopt_comm *c, const struct collopt_locality *seen,
                        int missing)
{
    static atomic_bool heard = false;
    const char *file = collopt_settings()->hosts->file;
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length;

    if (seen[0].world != 0 || atomic_exchange_explicit(&heard, true, memory_order_relaxed)
        || missing != c->rank)
        return;
    PMPI_Get_processor_name(name, &length);
    collopt_warn_once("COLLOPT_TOPOLOGY=file:%s has no line, or several, for the host %s; it is "
                      "ignored where that takes part",
                      file, name);
}

/* Some of the machine's hosts may well form no box.  If all of them form none, that is worth a
 * message. */
static void map_hosts(struct collopt_comm *c, struct collopt_locality *seen)
{
    const struct collopt_hosts *hosts = collopt_settings()->hosts;
    int missing = missing_host(c, seen), world = 0;

    if (missing >= 0)
        say_missing(c, seen, missing);
    if (missing >= 0 || hosts->shape.kind != COLLOPT_GRID)
        return;
    if (!collopt_topology_hosts(&c->map.topology, hosts, &seen->host, sizeof *seen / sizeof(int),
                                c->ranks)
        && c->inside && PMPI_Comm_size(MPI_COMM_WORLD, &world) == MPI_SUCCESS && world == c->ranks
        && collopt_speaks())
        collopt_warn_once("COLLOPT_TOPOLOGY=file:%s: ranks 0 to %d are no box of the grid in its "
                          "order, with as many ranks on "
                          "each host; it is ignored",
                          hosts->file, world - 1);
}

static void map_grid(struct collopt_comm *c, MPI_Comm comm, struct collopt_locality *seen)
{
    struct collopt_shape shape = machine();

    if (shape.kind == COLLOPT_NOTHING)
        return;
    if (shape.kind == COLLOPT_HOSTS && collopt_settings()->hosts)
        map_hosts(c, seen);
    if (shape.kind == COLLOPT_GRID && c->inside && fills_world(&shape))
        collopt_topology_box(&c->map.topology, &shape, &seen->world, sizeof *seen / sizeof(int),
                             c->ranks);
    if (!c->map.topology.dims)
        map_cartesian(c, comm, shape.kind == COLLOPT_CARTESIAN);
}

static void say_topology(const struct collopt_comm *c)
{
    char text[256];

    if (collopt_settings()->log < COLLOPT_LOG_DECIDE)
        return;
    collopt_topology_text(&c->map.topology, c->ranks, text, sizeof text);
    collopt_explain_once("communicators of %d ranks: %s", c->ranks, text);
}

void collopt_map_check_world(void)
{
    struct collopt_shape shape = machine();
    int ranks = 0;

    if (shape.kind == COLLOPT_GRID && !fills_world(&shape)
        && PMPI_Comm_size(MPI_COMM_WORLD, &ranks) == MPI_SUCCESS)
        collopt_warn(
            "COLLOPT_TOPOLOGY=%s has room for %d ranks, MPI_COMM_WORLD has %d; it is ignored",
            collopt_settings()->topology, collopt_shape_ranks(&shape), ranks);
}

/* All ranks of one job have the same. */
static enum collopt_mpi host_mpi(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;

    return PMPI_Get_library_version(version, &length) == MPI_SUCCESS ? collopt_mpi_of(version)
                                                                     : COLLOPT_OTHER_MPI;
}

/* A host that yields while it waits does all that we could: PMPI_Recv and PMPI_Send take shorter
 * paths than tests of requests. Waiting is each rank's own affair, so this need not be alike. */
static void set_waiting(struct collopt_comm *c, bool crowded)
{
    enum collopt_wait wait = collopt_settings()->wait;
    bool host_yields = c->map.machine.mpi == COLLOPT_OPENMPI && collopt_launched_to_yield();

    c->yields = wait == COLLOPT_WAIT_YIELD || (wait == COLLOPT_WAIT_AUTO && crowded);
    c->yields_in_host = c->yields && !host_yields;
}

void collopt_map_free(struct collopt_comm *c)
{
    for (int by = 0; by < COLLOPT_GROUPINGS; by++) {
        free((int *)c->map.level[by].node);
        c->map.level[by].node = NULL;
        c->map.groups[by] = NULL;
    }
    free(c->map.node);
    c->map.node = NULL;
    c->map.topology = (struct collopt_topology){ .nodes = 1 };
    c->map.one_node = c->ranks == 1;
    collopt_break_even_end(&c->break_even);
    collopt_part_attach(c, COLLOPT_PART_MAP, NULL, NULL);
}

bool collopt_map_fill(struct collopt_comm *c, MPI_Comm comm, struct collopt_locality *seen)
{
    uint64_t *key = malloc((size_t)c->ranks * sizeof *key);
    static const struct collopt_part_ops ops = { .end = collopt_map_free };
    bool mapped;

    collopt_part_attach(c, COLLOPT_PART_MAP, &c->map, &ops);
    c->map.node = malloc((size_t)c->ranks * sizeof *c->map.node);
    mapped = key && c->map.node && map_nodes(c, seen, key) && map_groups(c, seen, key);
    free(key);
    if (!mapped || !collopt_break_even_begin(&c->break_even, c->ranks))
        return false;
    map_grid(c, comm, seen);
    collopt_machine_as_set(&c->map.machine, network_of(c, seen),
                           !c->own && collopt_segments_everywhere(),
                           !c->own && collopt_world_bundled());
    collopt_machine_as_set(&c->map.machine_p2p, network_of(c, seen), false,
                           !c->own && collopt_world_bundled());
    c->map.machine.mpi = c->map.machine_p2p.mpi = host_mpi();
    c->map.machine.offload = c->map.machine_p2p.offload = offload_of(c, seen);
    say_offload(c, c->map.machine.offload);
    set_waiting(c, seen[c->rank].crowded);
    say_topology(c);
    return true;
}
