/* The placement that each rank finds out; see locality.h. */
#include "config.h"

#include "mpi/node/locality.h"
#include "base/control_groups.h"
#include "base/launcher.h"
#include "base/log.h"
#include "mpi/host/host.h"
#include "mpi/host/offload.h"
#include "mpi/host/poll.h"
#include "mpi/node/nodes.h"
#include "settings/settings.h"
#include "shm/segment.h"
#include "topology/host_file.h"
#include "topology/intranode.h"
#include "topology/scheduler.h"
#include "topology/topology.h"

#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Simulated ranks have processors of their own, and the simulating machine does not know their
 * network. */
#ifdef COLLOPT_HOST_SMPI
enum { SIMULATED = 1 };
#else
enum { SIMULATED = 0 };
#endif

/* ---- processors ------------------------------------------------------------------------------ */

typedef unsigned long long mask[COLLOPT_MASK_WORDS];

static void find_processors(unsigned long long *mine)
{
    cpu_set_t *set = CPU_ALLOC(COLLOPT_MASK_WORDS * 64);
    size_t size = CPU_ALLOC_SIZE(COLLOPT_MASK_WORDS * 64);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    bool known = set && sched_getaffinity(0, size, set) == 0;

    for (int i = 0; i < COLLOPT_MASK_WORDS * 64; i++)
        if (known ? CPU_ISSET_S((size_t)i, size, set) : i < n)
            mine[i / 64] |= 1ull << i % 64;
    if (set)
        CPU_FREE(set);
}

static int processors_of(const unsigned long long *m)
{
    int n = 0;

    for (int i = 0; i < COLLOPT_MASK_WORDS; i++)
        n += __builtin_popcountll(m[i]);
    return n;
}

/* Ranks of this job that share the PROCESSORS: MPI_COMM_WORLD may be one of several in the job,
 * unless the launcher has bound the others elsewhere. */
static int ranks_on(int processors, int here)
{
    int launched = processors < sysconf(_SC_NPROCESSORS_ONLN) ? -1 : collopt_launched_local_ranks();

    return launched > here ? launched : here;
}

struct found {
    int crowded, spot;
};

static int spot_of(const unsigned long long *m)
{
    return processors_of(m) >= sysconf(_SC_NPROCESSORS_ONLN) ? 0
                                                             : collopt_pack_spot(collopt_spot(m));
}

/* NODE: the ranks of this one's node.  Are those in this rank's control group more than its quota
 * of processor time is for? */
static int count_in_group(MPI_Comm node, const struct collopt_quota *quota, int *crowded)
{
    int color = quota->processors == SIZE_MAX ? MPI_UNDEFINED : (int)(quota->group & INT_MAX);
    MPI_Comm group;
    int ranks, err = collopt_host.Comm_split(node, color, 0, &group);

    if (err || group == MPI_COMM_NULL)
        return err;
    if (!(err = PMPI_Comm_size(group, &ranks)))
        collopt_time_is_scarce |= (size_t)ranks > quota->processors;
    if (collopt_time_is_scarce)
        collopt_explain_once("ranks in one control group: %d, its quota of processors: %zu",
                             ranks, quota->processors);
    *crowded |= collopt_time_is_scarce;
    collopt_host.Comm_free(&group);
    return err;
}

/* NODE: the ranks of this one's node.  Are there more of them than processors that they may use? */
static int count_processors(MPI_Comm node, int ranks, const unsigned long long *mine, int *crowded)
{
    struct collopt_quota quota = collopt_group_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    struct {
        mask usable;
        unsigned long long quota;       /* not 0: there is one */
    } all = { .quota = quota.processors != SIZE_MAX }, seen;
    int n, err;

    memcpy(all.usable, mine, sizeof all.usable);
    err = collopt_host.Allreduce(&all, &seen, COLLOPT_MASK_WORDS + 1, MPI_UNSIGNED_LONG_LONG,
                                 MPI_BOR, node);
    n = err ? 0 : processors_of(seen.usable);
    *crowded = !err && ranks_on(n, ranks) > n;
    return err || seen.quota == 0 ? err : count_in_group(node, &quota, crowded);
}

/* The leader of a node looks up the bindings of all its ranks in hwloc, so that only one rank loads
 * it.  Each rank takes part, whatever memory it has, so the leader serves one after the other. */
static int ask_leader(MPI_Comm node, int rank, int ranks, mask mine, int *spot)
{
    enum { TAG = 0 };
    int err;

    if (rank > 0) {
        err = PMPI_Send(mine, COLLOPT_MASK_WORDS, MPI_UNSIGNED_LONG_LONG, 0, TAG, node);
        return err ? err : PMPI_Recv(spot, 1, MPI_INT, 0, TAG, node, MPI_STATUS_IGNORE);
    }
    *spot = ranks > 1 ? spot_of(mine) : COLLOPT_ALONE;
    for (int r = 1; r < ranks; r++) {
        mask theirs;
        int found;

        if ((err = PMPI_Recv(theirs, COLLOPT_MASK_WORDS, MPI_UNSIGNED_LONG_LONG, r, TAG, node,
                             MPI_STATUS_IGNORE)))
            return err;
        found = spot_of(theirs);
        if ((err = PMPI_Send(&found, 1, MPI_INT, r, TAG, node)))
            return err;
    }
    return MPI_SUCCESS;
}

static int share_node(MPI_Comm node, struct found *found)
{
    mask mine = { 0 };
    int rank, ranks, err;

    if ((err = PMPI_Comm_rank(node, &rank)) || (err = PMPI_Comm_size(node, &ranks)))
        return err;
    find_processors(mine);
    err = count_processors(node, ranks, mine, &found->crowded);
    return err ? err : ask_leader(node, rank, ranks, mine, &found->spot);
}

/* Communicates nothing if each rank has its own node, which all ranks know. */
static int look_around(MPI_Comm comm, int rank, int ranks, const int *node,
                       struct collopt_locality *mine)
{
    struct found found = { .crowded = 0, .spot = COLLOPT_ALONE };
    bool shared = false;
    MPI_Comm here;
    int err;

    for (int r = 0; r < ranks; r++)
        shared |= node[r] != r;         /* R is not the first rank of its node */
    if (shared && SIMULATED)
        found.spot = 0;
    if (shared && !SIMULATED) {
        if ((err = collopt_host.Comm_split(comm, node[rank], rank, &here)))
            return err;
        err = share_node(here, &found);
        collopt_host.Comm_free(&here);
        if (err)
            return err;
    }
    mine->crowded = found.crowded;
    mine->spot = found.spot;
    return MPI_SUCCESS;
}

/* ---- networks and names ---------------------------------------------------------------------- */

/* Is there a device of verbs (InfiniBand, RoCE, EFA), of Omni-Path or of Slingshot? */
static bool has_fast_network(void)
{
    static const char *const directories[] = { "/sys/class/infiniband", "/sys/class/hfi1",
                                               "/sys/class/cxi" };
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

/* This host by the name that the MPI library gives it, or by its own. */
static int my_host(void)
{
    const struct collopt_hosts *hosts = collopt_settings()->hosts;
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "", itself[256] = "";
    int length, found;

    if (!hosts)
        return -1;
    if (PMPI_Get_processor_name(name, &length) == MPI_SUCCESS
        && (found = collopt_host_named(hosts, name)) >= 0)
        return found;
    return gethostname(itself, sizeof itself - 1) == 0 ? collopt_host_named(hosts, itself) : -1;
}

static void look_at_switches(struct collopt_locality *mine)
{
    uint32_t pattern, branch, address;

    if (!collopt_launched_switches(&pattern, &branch, &address))
        return;
    memcpy(&mine->pattern, &pattern, sizeof pattern);
    memcpy(&mine->branch, &branch, sizeof branch);
    memcpy(&mine->address, &address, sizeof address);
}

/* ---- all together ---------------------------------------------------------------------------- */

/* Until the end SEEN holds the nodes: nothing here needs memory of its own, since a rank that
 * lacked it would leave the others waiting. */
int collopt_localities_gather(MPI_Comm comm, int rank, int ranks,
                          const struct collopt_segment_key *segment, struct collopt_locality *seen)
{
    const int ints = sizeof *seen / sizeof(int), *node;
    struct collopt_locality mine = { .world = rank, .segment.descriptor = -1 };
    int err;

    _Static_assert(COLLOPT_NODES_ROOM <= sizeof *seen, "they lie in SEEN");
    if (segment)
        mine.segment = *segment;
    if ((err = collopt_nodes_find(comm, rank, ranks, &mine.segment, seen, &node)))
        return err;
    mine.node = node[rank];
    mine.fast = has_fast_network();
    mine.offload = collopt_host_offload();
    mine.host = my_host();
    look_at_switches(&mine);
    if ((err = look_around(comm, rank, ranks, node, &mine)))
        return err;
    return PMPI_Allgather(&mine, ints, MPI_INT, seen, ints, MPI_INT, comm);
}
