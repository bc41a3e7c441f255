/* Agreement: whatever a decision depends on must be alike on all ranks, and this is where that is
 * made sure.
 *
 * One reduction with MIN over values and their complements tells every rank the same thing: whether
 * all values were equal.  It is done once for MPI_COMM_WORLD, inside MPI_Init, so that settings
 * that steer when collopt begins (COLLOPT, COLLOPT_AFTER) cannot make one rank begin alone; and
 * once per communicator when it is taken over, for what ranks may have run out of.
 *
 * Environments do differ: a launcher forwards none, a login file sets a variable on one node.  To
 * agree later than in MPI_Init would be too late: the message of a rank that begins alone would
 * meet the others' next collective.  So COLLOPT=off loads the backend, too, and takes part. */
#include "config.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "mpi/node/agree.h"
#include "base/hash.h"
#include "base/log.h"
#include "model/fingerprint.h"
#include "mpi/host/host.h"
#include "mpi/node/process.h"
#include "mpi/node/ulfm.h"
#include "settings/search_path.h"
#include "settings/settings.h"
#include "settings/bundled.h"
#include "sources.h"

static atomic_bool world_asked, world_agreed, world_alike, world_bundled;

bool collopt_world_asked(void)
{
    return atomic_load_explicit(&world_asked, memory_order_relaxed);
}

bool collopt_world_agreed(void)
{
    return atomic_load_explicit(&world_agreed, memory_order_relaxed);
}

bool collopt_world_alike(void)
{
    return atomic_load_explicit(&world_alike, memory_order_relaxed);
}

bool collopt_world_bundled(void)
{
    return atomic_load_explicit(&world_bundled, memory_order_relaxed);
}

/* Ranks understand each other only if they run the same code: it decides, lays out what they share
 * in memory, and sends.  Two builds of one version may differ in it. */
static uint64_t code_hash(void)
{
    return collopt_hash_text(COLLOPT_HASH_START, PACKAGE_VERSION " " COLLOPT_SOURCES);
}

/* Includes the fingerprint, since the same code may be compiled to compute other predicted
 * times. */
static uint64_t version_hash(void)
{
    return (code_hash() ^ collopt_fingerprint()) * COLLOPT_HASH_PRIME;
}

/* Doubles between 1 and 2, and -2 and -1, that hold as many bits of a hash as they have room for.
 * They are made and compared as bits, since a program may trap what arithmetic raises. */
static const uint64_t one = UINT64_C(0x3ff) << 52, sign = UINT64_C(1) << 63;

static double of_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void put(double pair[2], uint64_t hash)
{
    pair[0] = of_bits(one | hash >> 12);
    pair[1] = of_bits(sign | one | hash >> 12);
}

/* LEAST has the minima of x and -x over the ranks.  Both are the same x only if all ranks have
 * it. */
static bool all_equal(const double least[2])
{
    return bits_of(least[0]) == (bits_of(least[1]) ^ sign);
}

static time_t time_now(void)
{
    struct timespec t = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* Says once that this rank has waited for PATIENCE seconds in MPI_Init.  Two ranks do, since one of
 * them may be the one that lacks collopt. */
static void say_who_is_missing(MPI_Comm comm, time_t since, bool *said)
{
    enum { PATIENCE = 10 };
    int rank;

    if (*said || time_now() - since < PATIENCE)
        return;
    *said = true;
    if (PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank <= 1)
        collopt_warn_here("rank %d has waited in MPI_Init for other ranks for %d seconds: collopt "
                          "must be loaded by all ranks of a job or by none", rank, PATIENCE);
}

/* MIN over N doubles.  In MPI_Init some ranks may run without collopt and be at the program's first
 * call: it must not meet what is sent here, so it is a nonblocking reduction, which hosts keep
 * apart from blocking calls. */
static int reduce_in_init(const double *mine, double *all, int n, MPI_Comm comm)
{
    MPI_Request request;
    time_t begun = time_now();
    bool said = false;
    int done = 0, err = collopt_host.Iallreduce(mine, all, n, MPI_DOUBLE, MPI_MIN, comm, &request);

    while (!err && !(err = collopt_host.Test(&request, &done, MPI_STATUS_IGNORE)) && !done) {
        sched_yield();
        say_who_is_missing(comm, begun, &said);
    }
    return err;
}

static int reduce(const double *mine, double *all, int n, MPI_Comm comm)
{
    bool in_init = comm == MPI_COMM_WORLD && !collopt_world_agreed();

    /* all ranks are one process; MPICH's nonblocking reductions fail where it tolerates faults */
    if (strcmp(collopt_host_name, "smpi") == 0 || collopt_fault_tolerant())
        in_init = false;

    return in_init ? reduce_in_init(mine, all, n, comm)
                   : collopt_host.Allreduce(mine, all, n, MPI_DOUBLE, MPI_MIN, comm);
}

/* The values are doubles: a rank that lacks the stack for integers (enough_stack()) can take
 * part. */
bool collopt_agree_also(MPI_Comm comm, bool ready, uint64_t hash, bool *alike, bool *hash_alike)
{
    enum { OF_VERSION = 0, OF_SETTINGS = 2, OF_HASH = 4, READINESS = 6, VALUES };
    double mine[VALUES], all[VALUES];

    *alike = *hash_alike = false;
    put(&mine[OF_VERSION], version_hash());
    put(&mine[OF_SETTINGS], collopt_settings()->hash);
    put(&mine[OF_HASH], hash);
    mine[READINESS] = of_bits(ready && !collopt_fault_tolerant() ? one : 0);
    if (reduce(mine, all, VALUES, comm) != MPI_SUCCESS)
        return false;
    *alike = all_equal(&all[OF_VERSION]) && all_equal(&all[OF_SETTINGS]);
    *hash_alike = all_equal(&all[OF_HASH]);
    return *alike && bits_of(all[READINESS]) == one;
}

bool collopt_agree(MPI_Comm comm, bool ready, bool *alike)
{
    bool nothing;

    return collopt_agree_also(comm, ready, 0, alike, &nothing);
}

/* ---- which variable it is -------------------------------------------------------------------- */

/* The lowest rank whose settings are not those of rank 0, and the first of its rows that differs.
 * RANK -1: none. */
static int find_difference(MPI_Comm comm, int *rank, int *which)
{
    int n, err, mine = -1;
    const struct collopt_setting_row *row = collopt_setting_rows(&n);
    unsigned long long hash[n], first[n];
    long long place = LLONG_MAX, least;

    for (int i = 0; i < n; i++)
        first[i] = hash[i] = collopt_setting_hash(collopt_settings(), &row[i]);
    if ((err = PMPI_Bcast(first, n, MPI_UNSIGNED_LONG_LONG, 0, comm))
        || (err = PMPI_Comm_rank(comm, &mine)))
        return err;
    for (int i = n - 1; i >= 0; i--)
        if (hash[i] != first[i])
            place = (long long)mine * n + i;
    if ((err = collopt_host.Allreduce(&place, &least, 1, MPI_LONG_LONG, MPI_MIN, comm)))
        return err;
    *rank = least == LLONG_MAX ? -1 : (int)(least / n);
    *which = (int)(least % n);
    return MPI_SUCCESS;
}

enum { VALUE = 200 };

static int tell_value(MPI_Comm comm, int from, const struct collopt_setting_row *row,
                      char value[VALUE])
{
    collopt_setting_value_text(collopt_settings(), row, value, VALUE);
    return PMPI_Bcast(value, VALUE, MPI_CHAR, from, comm);
}

static bool may_lie_in_a_default_place(const struct collopt_setting_row *row)
{
    return row->kind == COLLOPT_RULES_FILE || row->kind == COLLOPT_MACHINE_FILE;
}

/* An unreadable file counts as absent; only this rank knows. */
static bool may_be_unusable(const struct collopt_setting_row *row, const char *value)
{
    return (may_lie_in_a_default_place(row) || row->kind == COLLOPT_SHAPE)
        && strcmp(value, row->preset) == 0;
}

static void say_value(const struct collopt_setting_row *row, const char *value, char *text,
                      size_t size)
{
    bool doubtful = may_be_unusable(row, value);

    if (*value)
        snprintf(text, size, "has %s=%s%s", row->name, value,
                 doubtful ? " or cannot use what it has" : "");
    else
        snprintf(text, size, "has no %s%s", row->name, doubtful ? " or cannot use it" : "");
}

static bool same(MPI_Comm comm, uint64_t hash)
{
    long long h = (long long)(hash >> 1), mine[2] = { h, -h }, all[2];

    return collopt_host.Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_MIN, comm) == MPI_SUCCESS
        && all[0] == -all[1];
}

void collopt_difference(MPI_Comm comm, char *text, size_t size)
{
    char odd[VALUE] = "", zero[VALUE] = "", has[2][VALUE + 64];
    const struct collopt_setting_row *row;
    int n, rank, which;

    snprintf(text, size, "run different versions of collopt, or builds of different sources");
    if (!same(comm, code_hash()))
        return;
    snprintf(text, size,
             "run builds of collopt that compute predicted times differently (compilers, or their "
             "options)");
    if (!same(comm, collopt_fingerprint()))
        return;
    snprintf(text, size, "run collopt with different COLLOPT_ variables");
    if (find_difference(comm, &rank, &which) || rank < 0)
        return;
    row = &collopt_setting_rows(&n)[which];
    if (tell_value(comm, rank, row, odd) || tell_value(comm, 0, row, zero))
        return;
    say_value(row, odd, has[1], sizeof has[1]);
    say_value(row, zero, has[0], sizeof has[0]);
    if (strcmp(odd, zero) == 0)         /* a name that means different things on different nodes */
        snprintf(
            text, size,
            "have different COLLOPT_ variables: rank %d has another content of %s=%s than rank 0",
            rank, row->name, odd);
    else
        snprintf(text, size, "have different COLLOPT_ variables: rank %d %s, rank 0 %s%s", rank,
                 has[1], has[0],
                 may_lie_in_a_default_place(row) ? " (of a variable or in a default place)" : "");
}

/* MPICH 4.0 takes 128 KiB of stack to combine integers, also in MPI_Comm_split: a program that has
 * less and reduces nothing but doubles works, but nothing can be done for it. */
static bool enough_stack(void)
{
    enum { ENOUGH = 256 << 10 };
    struct rlimit stack;

    return strcmp(collopt_host_name, "mpich") != 0 || getrlimit(RLIMIT_STACK, &stack)
        || stack.rlim_cur >= ENOUGH;
}

/* Called by all ranks right after MPI_Init.  A rank that runs without collopt does not come here:
 * the library has to be preloaded on all ranks or on none. */
void collopt_agree_on_world(bool memory)
{
    bool alike, bundled, on = collopt_settings()->on, stack = enough_stack();
    char difference[768];
    int ranks, rank;

    if (PMPI_Comm_size(MPI_COMM_WORLD, &ranks) || PMPI_Comm_rank(MPI_COMM_WORLD, &rank))
        return;
    collopt_speak_as(rank);
    atomic_store_explicit(&world_asked, true, memory_order_relaxed);
    if (collopt_agree_also(MPI_COMM_WORLD, on && stack && memory, collopt_bundled()->hash, &alike,
                           &bundled)) {
        if (!bundled)
            collopt_say(
                COLLOPT_LOG_DECIDE,
                "measurements that come with collopt are not used: they differ between nodes");
        atomic_store_explicit(&world_bundled, bundled, memory_order_relaxed);
        atomic_store_explicit(&world_alike, true, memory_order_relaxed);
        atomic_store_explicit(&world_agreed, true, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&collopt_switched_on, false, memory_order_relaxed);
    atomic_store_explicit(&world_alike, alike, memory_order_relaxed);
    if (alike && on && collopt_fault_tolerant())
        collopt_warn(
            "the MPI library's fault tolerance is on (mpirun --with-ft, MPIR_CVAR_ENABLE_FT): "
            "reductions are left to it, "
            "since collopt's would not end when a process fails or a communicator is revoked");
    if (alike && on && !stack)
        collopt_warn("reductions are left to the MPI library: it takes more stack for integers "
                     "than this process may have (ulimit -s)");
    if (alike && on && !memory)
        collopt_warn_here("no memory for the placement of %d ranks: reductions are left to the MPI "
                          "library", ranks);
    if (alike)
        return;
    collopt_difference(MPI_COMM_WORLD, difference, sizeof difference);
    collopt_warn("the %d ranks of MPI_COMM_WORLD %s; all use the MPI library's own collectives.  "
                 "Have one build and the same "
                 "variables on all nodes (collopt-info shows them).",
                 ranks, difference);
}
