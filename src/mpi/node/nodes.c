/* Finds out who shares a node; see nodes.h. */
#include "config.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "mpi/node/nodes.h"
#include "base/hash.h"
#include "base/log.h"
#include "mpi/host/host.h"
#include "settings/settings.h"
#include "shm/segment.h"
#include "topology/topology.h"

struct place {                  /* of one rank; what it tells the others */
    uint64_t named;             /* by names: alike for ranks that are one node in any case */
    uint64_t machine;           /* alike for ranks that may be one node if they try */
    struct collopt_segment_key segment;
    int unused;
};

enum { INTS = sizeof(struct place) / sizeof(int) };

struct room {                   /* [ranks] of each */
    struct place *place;
    uint64_t *key;
    int *group, *well, *node;
};
_Static_assert(sizeof(struct place) + sizeof(uint64_t) + 3 * sizeof(int) <= COLLOPT_NODES_ROOM,
               "all of it lies in the caller's room");

/* ---- this rank ------------------------------------------------------------------------------- */

#ifdef COLLOPT_HOST_SMPI        /* simulated hosts have nothing but names */
static void find_place(struct place *p)
{
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length;

    PMPI_Get_processor_name(name, &length);
    p->named = p->machine = collopt_hash_text(COLLOPT_HASH_START, name);
}
#else
/* False: the file cannot be read. */
static bool add_file(uint64_t *h, const char *name)
{
    char text[64] = "";
    FILE *f = fopen(name, "re");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0;

    *h = collopt_hash_bytes(*h, text, n);
    if (f)
        fclose(f);
    return n > 0;
}

/* False: there is no such namespace that can be seen. */
static bool add_namespace(uint64_t *h, const char *name)
{
    struct stat is;
    bool seen = stat(name, &is) == 0;

    if (seen)
        *h = collopt_hash_bytes(*h, &is.st_ino, sizeof is.st_ino);
    return seen;
}

/* Alike for the ranks of one node, and with all likelihood for no others.  The MPI library is not
 * used: some builds say that each rank is on a node of its own. */
static void find_place(struct place *p)
{
    uint64_t boot = COLLOPT_HASH_START, machine;
    bool known = add_file(&boot, "/proc/sys/kernel/random/boot_id");
    struct utsname self;
    uid_t user = geteuid();

    machine = collopt_hash_bytes(boot, &user, sizeof user);
    known = known && add_namespace(&machine, "/proc/self/ns/pid")
        && add_namespace(&machine, "/proc/self/ns/user");
    p->named = boot;
    if (uname(&self) == 0)
        p->named = collopt_hash_text(p->named, self.nodename);
    add_namespace(&p->named, "/proc/self/ns/net");
    p->machine = known && collopt_settings()->nodes != COLLOPT_NODES_BY_NAMES ? machine : p->named;
}
#endif

/* ---- all ranks ------------------------------------------------------------------------------- */

static int number_named(const struct room *room, int ranks)
{
    for (int r = 0; r < ranks; r++)
        room->key[r] = room->place[r].named;
    return collopt_topology_number(room->key, room->node, ranks);
}

/* Numbers them; has one of them several names? */
static bool number_machines(const struct room *room, int ranks)
{
    int *name = room->well, known = 0;          /* NAME [machine] of its first rank */
    bool several = false;

    for (int r = 0; r < ranks; r++)
        room->key[r] = room->place[r].machine;
    collopt_topology_number(room->key, room->group, ranks);
    for (int r = 0; r < ranks; r++) {
        if (room->group[r] == known)
            name[known++] = room->node[r];
        several = several || name[room->group[r]] != room->node[r];
    }
    return several;
}

/* Can this rank map the memory of all ranks of its machine, and are all of its name there?  Ranks
 * of one name are one node anyway, and a node shares memory as a whole or not at all. */
static bool reaches_all(const struct room *room, int rank, int ranks, char *why, size_t size)
{
    const struct place *mine = &room->place[rank];
    bool well = mine->segment.descriptor >= 0;

    if (!well)
        snprintf(why, size, "there is no segment");
    for (int r = 0; r < ranks && well; r++)
        if (room->place[r].machine == mine->machine) {
            well = collopt_segment_reaches(&room->place[r].segment, why, size);
        } else if (room->place[r].named == mine->named) {
            snprintf(why, size, "one name has ranks in several namespaces");
            well = false;
        }
    return well;
}

/* Numbers the nodes where machines whose ranks are all WELL are one. */
static int join(const struct room *room, int ranks)
{
    int *bad = room->node;      /* [machine], until that is numbered */

    memset(bad, 0, (size_t)ranks * sizeof *bad);
    for (int r = 0; r < ranks; r++)
        bad[room->group[r]] |= !room->well[r];
    for (int r = 0; r < ranks; r++)
        room->key[r] = bad[room->group[r]] ? room->place[r].named : room->place[r].machine;
    return collopt_topology_number(room->key, room->node, ranks);
}

static void say(int names, int nodes, const char *why)
{
    if (nodes < names)
        collopt_say(COLLOPT_LOG_DECIDE,
                    "host names and networks tell %d nodes apart, and the ranks of one machine can "
                    "map each other's memory: %d (COLLOPT_NODES=names: as named)",
                    names, nodes);
    else
        collopt_say(COLLOPT_LOG_DECIDE,
                    "host names and networks tell %d nodes apart, some of them on one machine, "
                    "whose ranks cannot map each other's memory%s%s",
                    names, *why ? ": " : "", why);
}

/* Some machine has several names, as all ranks know. */
static int try(MPI_Comm comm, const struct room *room, int rank, int ranks, int names)
{
    char why[160] = "";
    int well = reaches_all(room, rank, ranks, why, sizeof why);
    int err = PMPI_Allgather(&well, 1, MPI_INT, room->well, 1, MPI_INT, comm);

    if (!err)
        say(names, join(room, ranks), why);
    return err;
}

int collopt_nodes_find(MPI_Comm comm, int rank, int ranks,
                       const struct collopt_segment_key *segment, void *room, const int **node)
{
    struct place mine = { .segment = *segment };
    struct room r = { .place = room };
    int names, err;

    r.key = (uint64_t *)(void *)(r.place + ranks);
    r.group = (int *)(void *)(r.key + ranks);
    r.well = r.group + ranks;
    *node = r.node = r.well + ranks;
    find_place(&mine);
    if ((err = PMPI_Allgather(&mine, INTS, MPI_INT, r.place, INTS, MPI_INT, comm)))
        return err;
    names = number_named(&r, ranks);
    return number_machines(&r, ranks) ? try(comm, &r, rank, ranks, names) : MPI_SUCCESS;
}
