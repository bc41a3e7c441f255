/* Where the ranks of a communicator are: found once, when it is engaged, and told to all in one small allgather. */
#include "config.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "hosts.h"
#include "inside.h"
#include "select/host_mpi.h"

/* ---- processors ---------------------------------------------------------------------------------------------- */

/* Simulated ranks have processors of their own, and what network they have, the simulating machine does not know. */
#ifdef COLLOPT_HOST_SMPI
enum { SIMULATED = 1 };
#else
enum { SIMULATED = 0 };
#endif

static void add_processors(unsigned long long *mask)
{
    cpu_set_t *set = CPU_ALLOC(COLLOPT_MASK_WORDS * 64);
    size_t size = CPU_ALLOC_SIZE(COLLOPT_MASK_WORDS * 64);

    if (set && sched_getaffinity(0, size, set) == 0) {
        for (int i = 0; i < COLLOPT_MASK_WORDS * 64; i++)
            if (CPU_ISSET_S((size_t)i, size, set))
                mask[i / 64] |= 1ull << i % 64;
    } else {
        long n = sysconf(_SC_NPROCESSORS_ONLN);

        for (long i = 0; i < n && i < COLLOPT_MASK_WORDS * 64; i++)
            mask[i / 64] |= 1ull << i % 64;
    }
    if (set)
        CPU_FREE(set);
}

/* Ranks of this job that share the PROCESSORS: a communicator may hold a few of them only, and the others want processors too,
 * unless the launcher has bound them elsewhere. */
static int ranks_on(int processors, int of_communicator)
{
    int launched = processors < sysconf(_SC_NPROCESSORS_ONLN) ? -1 : collopt_launched_local_ranks();

    return launched > of_communicator ? launched : of_communicator;
}

/* What of the node this rank may use says nothing of where it is, if that is all. */
static int find_spot(const unsigned long long *mask)
{
    long processors = 0;

    for (int i = 0; i < COLLOPT_MASK_WORDS; i++)
        processors += __builtin_popcountll(mask[i]);
    return SIMULATED || processors >= sysconf(_SC_NPROCESSORS_ONLN) ? 0 : collopt_pack_spot(collopt_spot(mask));
}

static int look_at_node(MPI_Comm node, struct collopt_sight *mine)
{
    unsigned long long mask[COLLOPT_MASK_WORDS] = { 0 }, usable[COLLOPT_MASK_WORDS];
    int ranks, processors = 0, err;

    add_processors(mask);
    if ((err = PMPI_Comm_size(node, &ranks))
        || (err = collopt_host.Allreduce(mask, usable, COLLOPT_MASK_WORDS, MPI_UNSIGNED_LONG_LONG, MPI_BOR, node)))
        return err;
    for (int i = 0; i < COLLOPT_MASK_WORDS; i++)
        processors += __builtin_popcountll(usable[i]);
    mine->crowded = !SIMULATED && ranks_on(processors, ranks) > processors;
    mine->spot = ranks > 1 ? find_spot(mask) : COLLOPT_ALONE;
    return MPI_SUCCESS;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static struct collopt_shape machine(void)
{
    struct collopt_shape shape;
    char message[256];          /* settings.c has warned of what cannot be parsed */

    collopt_parse_shape(collopt_settings()->topology, &shape, message, sizeof message);
    return shape;
}

/* Which ranks of the world count as a node; NULL: those that share memory. */
static const char *stated_nodes(void)
{
    return collopt_settings()->node_ranks ? collopt_settings()->node_ranks : machine().nodes;
}

/* Nodes are numbered by their first rank. */
static int number_nodes(int *node, const struct collopt_sight *seen, int ranks)
{
    int nodes = 0;

    for (int r = 0; r < ranks; r++)
        node[r] = seen[r].leader == r ? nodes++ : node[seen[r].leader];
    return nodes;
}

/* The leaders by STATED nodes of the world. */
static bool lead_as_stated(struct collopt_sight *seen, int ranks, const char *stated)
{
    int most = 0, *first;

    for (int r = 0; r < ranks; r++) {
        seen[r].leader = collopt_stated_node(stated, seen[r].world);
        most = seen[r].leader > most ? seen[r].leader : most;
    }
    first = malloc(((size_t)most + 1) * sizeof *first);
    if (!first)
        return false;
    for (int r = ranks - 1; r >= 0; r--)
        first[seen[r].leader] = r;
    for (int r = 0; r < ranks; r++)
        seen[r].leader = first[seen[r].leader];
    free(first);
    return true;
}

/* Is there a device of verbs (InfiniBand, RoCE, EFA), of Omni-Path or of Slingshot? */
static bool has_fast_network(void)
{
    static const char *const directories[] = { "/sys/class/infiniband", "/sys/class/hfi1", "/sys/class/cxi" };
    bool found = SIMULATED;

    for (size_t i = 0; i < sizeof directories / sizeof *directories && !found; i++) {
        DIR *d = opendir(directories[i]);
        struct dirent *e;

        while (d && !found && (e = readdir(d)))
            found = e->d_name[0] != '.';
        if (d)
            closedir(d);
    }
    return found;
}

/* As the MPI library calls this host, or as it calls itself. */
static int my_host(void)
{
    const struct collopt_hosts *hosts = collopt_settings()->hosts;
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "", itself[256] = "";
    int length, found;

    if (!hosts)
        return -1;
    if (PMPI_Get_processor_name(name, &length) == MPI_SUCCESS && (found = collopt_host_named(hosts, name)) >= 0)
        return found;
    return gethostname(itself, sizeof itself - 1) == 0 ? collopt_host_named(hosts, itself) : -1;
}

static void look_at_switches(struct collopt_sight *mine)
{
    uint32_t pattern, branch, address;

    if (machine().kind == COLLOPT_NOTHING || !collopt_launched_switches(&pattern, &branch, &address))
        return;
    memcpy(&mine->pattern, &pattern, sizeof pattern);
    memcpy(&mine->branch, &branch, sizeof branch);
    memcpy(&mine->address, &address, sizeof address);
}

static int gather(struct collopt_comm *c, MPI_Comm node, struct collopt_sight *mine, struct collopt_sight *seen)
{
    const int ints = sizeof *mine / sizeof(int);
    const char *stated = stated_nodes();
    int err;

    mine->leader = mine->world = c->rank;
    mine->fast = has_fast_network();
    mine->host = my_host();
    look_at_switches(mine);
    if ((c->inside && (err = PMPI_Comm_rank(MPI_COMM_WORLD, &mine->world)))
        || (!stated && (err = PMPI_Bcast(&mine->leader, 1, MPI_INT, 0, node)))
        || (err = PMPI_Allgather(mine, ints, MPI_INT, seen, ints, MPI_INT, c->hidden)))
        return err;
    return stated && !lead_as_stated(seen, c->ranks, stated) ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

static bool map_nodes(struct collopt_comm *c, const struct collopt_sight *seen)
{
    c->topology.nodes = number_nodes(c->node, seen, c->ranks);
    c->topology.node = c->node;
    for (int r = 0; r < c->ranks; r++)
        c->topology.oversubscribed |= seen[r].crowded;
    return collopt_topology_measure(&c->topology, c->ranks);
}

/* By facts that all ranks know alike. */
static enum collopt_network network_of(const struct collopt_comm *c, const struct collopt_sight *seen)
{
    bool fast = true;

    for (int r = 0; r < c->ranks; r++)
        fast &= seen[r].fast != 0;
    return collopt_network_of(&c->topology, fast);
}

/* ---- groups above nodes and inside them ------------------------------------------------------------------------------ */

static bool file_has_switches(void)
{
    const struct collopt_hosts *hosts = collopt_settings()->hosts;

    return hosts && hosts->shape.kind != COLLOPT_GRID;
}

/* Slurm's address ends with the name of a node.  MPICH's launcher hands that of its own node to the ranks of all: then it says
 * nothing of the others.  0 or 1; -1: no memory. */
static int copied_addresses(const struct collopt_comm *c, const struct collopt_sight *seen, uint64_t *key)
{
    if (file_has_switches() || seen[0].pattern == 0)
        return 0;
    for (int r = 0; r < c->ranks; r++)
        key[r] = (unsigned)seen[r].address;
    return collopt_topology_straddled(&c->topology, key, c->ranks);
}

/* The switch of rank R by the file of hosts or else by Slurm, where all ranks have one; false. */
static bool switch_of(const struct collopt_sight *seen, int r, uint64_t *key)
{
    const struct collopt_hosts *hosts = collopt_settings()->hosts;

    if (file_has_switches()) {
        *key = seen[r].host < 0 ? 0 : (uint64_t)hosts->host[seen[r].host].place;
        return seen[r].host >= 0;
    }
    *key = (unsigned)seen[r].branch;
    return seen[r].pattern != 0 && seen[r].pattern == seen[0].pattern;
}

/* Groups are known if every rank knows its own; else nobody has them. */
static bool map_group(struct collopt_comm *c, const struct collopt_sight *seen, enum collopt_grouping by, uint64_t *key)
{
    int *group, copied = by == COLLOPT_BY_SWITCH ? copied_addresses(c, seen, key) : 0;

    if (copied)
        return copied > 0;
    for (int r = 0; r < c->ranks; r++)
        if (!(by == COLLOPT_BY_SWITCH ? switch_of(seen, r, &key[r])
              : collopt_spot_key(seen[r].spot, c->node[r], by, &key[r])))
            return true;
    group = malloc((size_t)c->ranks * sizeof *group);
    if (!group || !collopt_topology_group(&c->level[by], &c->topology, key, group, c->ranks)) {
        free(group);
        c->level[by].node = NULL;
        return false;
    }
    c->groups[by] = &c->level[by];
    return true;
}

static bool map_groups(struct collopt_comm *c, const struct collopt_sight *seen)
{
    uint64_t *key = malloc((size_t)c->ranks * sizeof *key);
    bool mapped = key != NULL;

    c->topology.groups = c->groups;
    c->groups[COLLOPT_BY_NODE] = &c->topology;
    for (int by = COLLOPT_BY_SWITCH; by < COLLOPT_GROUPINGS && mapped; by++)
        mapped = map_group(c, seen, (enum collopt_grouping)by, key);
    free(key);
    return mapped;
}

/* ---- grids ------------------------------------------------------------------------------------------------------- */

/* MPI numbers the ranks of a Cartesian communicator with the last dimension running fastest, as a parameter "dims" does. */
static void map_cartesian(struct collopt_comm *c, MPI_Comm comm, bool wired)
{
#ifndef COLLOPT_HOST_SMPI       /* SimGrid has no MPI_Topo_test: a grid is told by COLLOPT_TOPOLOGY there */
    int kind = MPI_UNDEFINED, sides = 0, side[COLLOPT_SIDES], around[COLLOPT_SIDES], at[COLLOPT_SIDES];
    unsigned rings = 0;

    if (PMPI_Topo_test(comm, &kind) || kind != MPI_CART || PMPI_Cartdim_get(comm, &sides) || sides > COLLOPT_SIDES
        || PMPI_Cart_get(comm, sides, side, around, at))
        return;
    for (int d = 0; d < sides; d++)
        rings |= (unsigned)(around[d] != 0) << d;
    collopt_topology_grid(&c->topology, sides, side, rings);
    c->topology.wired = wired && c->topology.dims != 0;        /* some are longer than can be kept */
#else
    (void)c, (void)comm, (void)wired;
#endif
}

static bool fills_world(const struct collopt_shape *shape)
{
    int ranks = 0;

    return PMPI_Comm_size(MPI_COMM_WORLD, &ranks) == MPI_SUCCESS && ranks == collopt_shape_ranks(shape);
}

/* The lowest rank whose host is in no line of the file says so, as nobody else knows its name; -1: all are there. */
static int missing_host(const struct collopt_comm *c, const struct collopt_sight *seen)
{
    for (int r = 0; r < c->ranks; r++)
        if (seen[r].host < 0)
            return r;
    return -1;
}

/* Once in a job as a rule: by a communicator with the world's first rank, and there by one who has not heard it. */
static void say_missing(const struct collopt_comm *c, const struct collopt_sight *seen, int missing)
{
    static atomic_bool heard = false;
    const char *file = collopt_settings()->hosts->file;
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length;

    if (seen[0].world != 0 || atomic_exchange_explicit(&heard, true, memory_order_relaxed) || missing != c->rank)
        return;
    PMPI_Get_processor_name(name, &length);
    collopt_warn_once("COLLOPT_TOPOLOGY=file:%s has no line, or several, for the host %s; it is ignored where that takes part",
                      file, name);
}

/* A part of the machine may well be no box; that all of it is none is worth a message. */
static void map_hosts(struct collopt_comm *c, struct collopt_sight *seen)
{
    const struct collopt_hosts *hosts = collopt_settings()->hosts;
    int missing = missing_host(c, seen), world = 0;

    if (missing >= 0)
        say_missing(c, seen, missing);
    if (missing >= 0 || hosts->shape.kind != COLLOPT_GRID)
        return;
    if (!collopt_topology_hosts(&c->topology, hosts, &seen->host, sizeof *seen / sizeof(int), c->ranks)
        && c->inside && PMPI_Comm_size(MPI_COMM_WORLD, &world) == MPI_SUCCESS && world == c->ranks
        && collopt_speaks())
        collopt_warn_once("COLLOPT_TOPOLOGY=file:%s: ranks 0 to %d are no box of the grid in its order, with as many ranks on "
                          "each host; it is ignored", hosts->file, world - 1);
}

static void map_grid(struct collopt_comm *c, MPI_Comm comm, struct collopt_sight *seen)
{
    struct collopt_shape shape = machine();

    if (shape.kind == COLLOPT_NOTHING)
        return;
    if (shape.kind == COLLOPT_HOSTS && collopt_settings()->hosts)
        map_hosts(c, seen);
    if (shape.kind == COLLOPT_GRID && c->inside && fills_world(&shape))
        collopt_topology_box(&c->topology, &shape, &seen->world, sizeof *seen / sizeof(int), c->ranks);
    if (!c->topology.dims)
        map_cartesian(c, comm, shape.kind == COLLOPT_CARTESIAN);
}

static void say_topology(const struct collopt_comm *c)
{
    char text[256];

    if (collopt_settings()->log < COLLOPT_LOG_DECIDE)
        return;
    collopt_topology_text(&c->topology, c->ranks, text, sizeof text);
    collopt_say_once(COLLOPT_LOG_DECIDE, "communicators of %d ranks: %s", c->ranks, text);
}

void collopt_survey_world(void)
{
    struct collopt_shape shape = machine();
    int ranks = 0;

    if (shape.kind == COLLOPT_GRID && !fills_world(&shape) && PMPI_Comm_size(MPI_COMM_WORLD, &ranks) == MPI_SUCCESS)
        collopt_warn("COLLOPT_TOPOLOGY=%s has room for %d ranks, MPI_COMM_WORLD has %d; it is ignored",
                     collopt_settings()->topology, collopt_shape_ranks(&shape), ranks);
}

/* Of one job all ranks have the same. */
static enum collopt_mpi host_mpi(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;

    return PMPI_Get_library_version(version, &length) == MPI_SUCCESS ? collopt_mpi_of(version) : COLLOPT_OTHER_MPI;
}

/* A host that yields while it waits does all that we could: PMPI_Recv and PMPI_Send take shorter paths than tests of requests.
 * Waiting is each rank's own affair, so this need not be alike. */
static bool is_polite(const struct collopt_comm *c, bool crowded)
{
    enum collopt_wait wait = collopt_settings()->wait;
    bool host_yields = c->machine.mpi == COLLOPT_OPENMPI && collopt_launched_to_yield();

    return (wait == COLLOPT_WAIT_YIELD || (wait == COLLOPT_WAIT_AUTO && crowded)) && !host_yields;
}

int collopt_survey(struct collopt_comm *c, MPI_Comm comm, struct collopt_sight *seen)
{
    MPI_Comm node;
    struct collopt_sight mine = { .crowded = false };
    int err = PMPI_Comm_split_type(c->hidden, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &node);

    if (err)
        return err;
    if (!(err = look_at_node(node, &mine)))
        err = gather(c, node, &mine, seen);
    if (!err && (!map_nodes(c, seen) || !map_groups(c, seen)))
        err = MPI_ERR_NO_MEM;
    if (!err) {
        map_grid(c, comm, seen);
        say_topology(c);
    }
    if (!err) {
        collopt_machine_pick(&c->machine, network_of(c, seen), collopt_settings()->machine);
        c->machine.mpi = host_mpi();
    }
    c->polite = is_polite(c, mine.crowded);
    PMPI_Comm_free(&node);
    return err;
}
