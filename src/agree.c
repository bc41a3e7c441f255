/* Agreement: whatever a decision depends on must be alike on all ranks, and this is where that is made sure.
 *
 * One reduction with MIN over values and their complements tells every rank the same thing: whether all values were
 * equal.  It is done once for MPI_COMM_WORLD, inside MPI_Init, so that settings that steer when collopt begins
 * (COLLOPT, COLLOPT_AFTER) cannot make one rank begin alone; and once per communicator when it is engaged, for what
 * ranks may have run out of. */
#include "config.h"

#include "call.h"

static atomic_bool world_asked, world_agreed;

bool collopt_world_asked(void)
{
    return atomic_load_explicit(&world_asked, memory_order_relaxed);
}

bool collopt_world_agreed(void)
{
    return atomic_load_explicit(&world_agreed, memory_order_relaxed);
}

/* Of all that decides alike only if it is the same code: the version, and the algorithms there are. */
static uint64_t version_hash(void)
{
    uint64_t h = COLLOPT_AGREED_VERSION;

    for (const char *t = PACKAGE_VERSION; *t; t++)
        h = (h ^ (unsigned char)*t) * 0x100000001b3u;
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        for (const char *t = (*a)->name; *t; t++)
            h = (h ^ (unsigned char)*t ^ (uint64_t)(*a)->collective << 8) * 0x100000001b3u;
    return h;
}

bool collopt_agree(MPI_Comm comm, bool ready, bool *alike)
{
    long long settings = (long long)(collopt_settings()->hash >> 1), version = (long long)(version_hash() >> 1);
    long long mine[5] = { version, -version, settings, -settings, ready }, all[5];

    *alike = false;
    if (collopt_host.Allreduce(mine, all, 5, MPI_LONG_LONG, MPI_MIN, comm) != MPI_SUCCESS)
        return false;
    *alike = all[0] == -all[1] && all[2] == -all[3];
    return *alike && all[4];
}

/* Called by all ranks right after MPI_Init.  A rank that runs without collopt cannot be
 * seen from here: the library has to be preloaded on all ranks or on none. */
void collopt_agree_on_world(void)
{
    const char *rules = collopt_settings()->rules_file;
    bool alike, on = collopt_settings()->on;
    int ranks, rank;

    if (PMPI_Comm_size(MPI_COMM_WORLD, &ranks) || PMPI_Comm_rank(MPI_COMM_WORLD, &rank))
        return;
    collopt_speak_as(rank);
    atomic_store_explicit(&world_asked, true, memory_order_relaxed);
    if (collopt_agree(MPI_COMM_WORLD, on, &alike)) {
        atomic_store_explicit(&world_agreed, true, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&collopt_switched_on, false, memory_order_relaxed);
    if (!alike)
        collopt_warn("the %d ranks of MPI_COMM_WORLD run different versions of collopt, or with different COLLOPT_ "
                     "variables%s%s; all use the MPI library's own collectives.  Set the variables alike on all nodes "
                     "(collopt-info shows them).", ranks, rules ? " or another content of the file " : "", rules ? rules : "");
}
