/* Where the ranks of a communicator are: found once, when it is engaged, and told to all in one small allgather. */
#include "config.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "hosts.h"
#include "select/host_mpi.h"

/* ---- processors ---------------------------------------------------------------------------------------------- */

enum { MASK_WORDS = 32 };       /* of 64 processors each */

/* Simulated ranks have processors of their own, and what network they have, the simulating machine does not know. */
#ifdef COLLOPT_HOST_SMPI
enum { SIMULATED = 1 };
#else
enum { SIMULATED = 0 };
#endif

static void add_processors(unsigned long long *mask)
{
    cpu_set_t *set = CPU_ALLOC(MASK_WORDS * 64);
    size_t size = CPU_ALLOC_SIZE(MASK_WORDS * 64);

    if (set && sched_getaffinity(0, size, set) == 0) {
        for (int i = 0; i < MASK_WORDS * 64; i++)
            if (CPU_ISSET_S((size_t)i, size, set))
                mask[i / 64] |= 1ull << i % 64;
    } else {
        long n = sysconf(_SC_NPROCESSORS_ONLN);

        for (long i = 0; i < n && i < MASK_WORDS * 64; i++)
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

static int crowded(MPI_Comm node, bool *answer)
{
    unsigned long long mask[MASK_WORDS] = { 0 }, usable[MASK_WORDS];
    int ranks, processors = 0, err;

    add_processors(mask);
    if ((err = PMPI_Comm_size(node, &ranks))
        || (err = collopt_host.Allreduce(mask, usable, MASK_WORDS, MPI_UNSIGNED_LONG_LONG, MPI_BOR, node)))
        return err;
    for (int i = 0; i < MASK_WORDS; i++)
        processors += __builtin_popcountll(usable[i]);
    *answer = !SIMULATED && ranks_on(processors, ranks) > processors;
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

/* Is there a verbs or an Omni-Path device? */
static bool has_fast_network(void)
{
    static const char *const directories[] = { "/sys/class/infiniband", "/sys/class/hfi1" };
    bool found = SIMULATED;

    for (int i = 0; i < 2 && !found; i++) {
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

static int gather(struct collopt_comm *c, MPI_Comm node, bool crowd, struct collopt_sight *seen)
{
    struct collopt_sight mine = { .leader = c->rank, .world = c->rank, .crowded = crowd, .fast = has_fast_network(),
                                  .host = my_host() };
    const int ints = sizeof mine / sizeof(int);
    const char *stated = stated_nodes();
    int err;

    if ((c->inside && (err = PMPI_Comm_rank(MPI_COMM_WORLD, &mine.world)))
        || (!stated && (err = PMPI_Bcast(&mine.leader, 1, MPI_INT, 0, node)))
        || (err = PMPI_Allgather(&mine, ints, MPI_INT, seen, ints, MPI_INT, c->hidden)))
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
    c->topology.wired = wired;
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

static void say_missing(void)
{
    const char *file = collopt_settings()->hosts->file;
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length;

    PMPI_Get_processor_name(name, &length);
    if (!collopt_said_before(file))
        collopt_warn_here("COLLOPT_TOPOLOGY=file:%s has no line for the host %s; it is ignored where that takes part", file, name);
}

/* A part of the machine may well be no box; that all of it is none is worth a message. */
static void map_hosts(struct collopt_comm *c, const struct collopt_sight *seen)
{
    const struct collopt_hosts *hosts = collopt_settings()->hosts;
    int missing = missing_host(c, seen), world = 0;

    if (missing == c->rank)
        say_missing();
    if (missing >= 0 || hosts->shape.kind != COLLOPT_GRID)
        return;
    if (!collopt_topology_hosts(&c->topology, hosts, &seen->host, sizeof *seen / sizeof(int), c->ranks)
        && c->inside && PMPI_Comm_size(MPI_COMM_WORLD, &world) == MPI_SUCCESS && world == c->ranks
        && !collopt_said_before(hosts->file))
        collopt_warn("COLLOPT_TOPOLOGY=file:%s: ranks 0 to %d are no box of the grid in its order, with as many ranks on each host; "
                     "it is ignored", hosts->file, world - 1);
}

static void map_grid(struct collopt_comm *c, MPI_Comm comm, const struct collopt_sight *seen)
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

int collopt_survey(struct collopt_comm *c, MPI_Comm comm, struct collopt_sight *seen)
{
    enum collopt_wait wait = collopt_settings()->wait;
    MPI_Comm node;
    bool crowd = false;
    int err = PMPI_Comm_split_type(c->hidden, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &node);

    if (err)
        return err;
    if (!(err = crowded(node, &crowd)))
        err = gather(c, node, crowd, seen);
    if (!err && !map_nodes(c, seen))
        err = MPI_ERR_NO_MEM;
    if (!err)
        map_grid(c, comm, seen);
    if (!err) {
        collopt_machine_pick(&c->machine, network_of(c, seen), collopt_settings()->machine);
        c->machine.mpi = host_mpi();
    }
    c->polite = wait == COLLOPT_WAIT_YIELD || (wait == COLLOPT_WAIT_AUTO && crowd);
    PMPI_Comm_free(&node);
    return err;
}
