/* See clocks.h. */
#include "config.h"

#include <stdio.h>
#include <unistd.h>

#include "mpi/node/clocks.h"
#include "base/clock.h"
#include "base/hash.h"
#include "mpi/host/host.h"

enum { EXCHANGES = 50 };

/* The clock of these ranks, minus rank 0's. */
struct sighting {
    int64_t difference;
    uint64_t at;                /* by these ranks' clock */
    uint64_t error;
};

static bool apart;              /* there are several clocks */
static MPI_Comm mates = MPI_COMM_NULL;          /* the ranks with this rank's clock */
static MPI_Comm firsts = MPI_COMM_NULL;         /* the first ones of each clock */
static struct sighting seen[2];                 /* at the beginning and at the end */

/* ---- whose clock ----------------------------------------------------------------------------- */

/* A kernel has one monotonic clock for each time namespace. */
static uint64_t clock_id(void)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    char boot[64] = "", space[64] = "", host[MPI_MAX_PROCESSOR_NAME] = "";
    int length;

    if (!file || !fgets(boot, sizeof boot, file)) {
        PMPI_Get_processor_name(host, &length);
        boot[0] = '\0';
    }
    if (file)
        fclose(file);
    if (readlink("/proc/self/ns/time", space, sizeof space - 1) < 0)
        space[0] = '\0';
    return collopt_hash_text(collopt_hash_text(collopt_hash_text(COLLOPT_HASH_START, boot), host),
                             space);
}

/* Is ID the same on all ranks of COMM?  False also after an error, which *ERR says. */
static bool is_common(uint64_t id, MPI_Comm comm, int *err)
{
    uint64_t own[2] = { id, ~id }, least[2];

    *err = collopt_host.Allreduce(own, least, 2, MPI_UINT64_T, MPI_MIN, comm);
    return !*err && least[0] == ~least[1];
}

/* The ranks of COMM by their clocks. */
static bool divide(MPI_Comm comm, uint64_t id)
{
    int alike, all_alike = 0, rank, place, err;

    if (PMPI_Comm_rank(comm, &rank)
        || collopt_host.Comm_split(comm, (int)((id ^ id >> 32) & INT32_MAX), rank, &mates))
        return false;
    PMPI_Comm_set_errhandler(mates, MPI_ERRORS_RETURN);
    alike = is_common(id, mates, &err);
    if (collopt_host.Allreduce(&alike, &all_alike, 1, MPI_INT, MPI_MIN, comm) || !all_alike
        || PMPI_Comm_rank(mates, &place)
        || collopt_host.Comm_split(comm, place == 0 ? 0 : MPI_UNDEFINED, rank, &firsts))
        return false;
    if (firsts != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(firsts, MPI_ERRORS_RETURN);
    return true;
}

/* ---- the difference -------------------------------------------------------------------------- */

/* Rank 0 asks RANK what time it is. */
static int ask_once(int rank, struct sighting *best)
{
    uint64_t before = collopt_now(), after, theirs = 0;
    int err = PMPI_Send(NULL, 0, MPI_BYTE, rank, 0, firsts);

    if (!err)
        err = PMPI_Recv(&theirs, 1, MPI_UINT64_T, rank, 0, firsts, MPI_STATUS_IGNORE);
    after = collopt_now();
    if (!err && (after - before) / 2 < best->error)
        *best = (struct sighting){ .difference = (int64_t)(theirs - before - (after - before) / 2),
                                   .at = theirs, .error = (after - before) / 2 };
    return err;
}

static int ask(int rank)
{
    struct sighting best = { .error = UINT64_MAX };
    int err = MPI_SUCCESS;

    for (int i = 0; i < EXCHANGES && !err; i++)
        err = ask_once(rank, &best);
    return err ? err : PMPI_Send(&best, sizeof best, MPI_BYTE, rank, 0, firsts);
}

static int answer(struct sighting *s)
{
    int err = MPI_SUCCESS;

    for (int i = 0; i < EXCHANGES && !err; i++) {
        uint64_t now;

        err = PMPI_Recv(NULL, 0, MPI_BYTE, 0, 0, firsts, MPI_STATUS_IGNORE);
        now = collopt_now();
        if (!err)
            err = PMPI_Send(&now, 1, MPI_UINT64_T, 0, 0, firsts);
    }
    return err ? err
               : PMPI_Recv(s, sizeof *s, MPI_BYTE, 0, 0, firsts, MPI_STATUS_IGNORE);
}

/* One clock after the other, so that none waits while it is asked. */
static int compare(struct sighting *s)
{
    int rank, ranks, err = PMPI_Comm_rank(firsts, &rank);

    if (!err)
        err = PMPI_Comm_size(firsts, &ranks);
    if (err || rank > 0)
        return err ? err : answer(s);
    *s = (struct sighting){ .at = collopt_now() };
    for (int r = 1; r < ranks && !err; r++)
        err = ask(r);
    return err;
}

static bool look(struct sighting *s)
{
    if (firsts != MPI_COMM_NULL && compare(s))
        return false;
    return PMPI_Bcast(s, sizeof *s, MPI_BYTE, 0, mates) == MPI_SUCCESS;
}

/* ---- outside --------------------------------------------------------------------------------- */

bool collopt_clocks_begin(MPI_Comm comm)
{
    uint64_t id = clock_id();
    int err;

    if (is_common(id, comm, &err) || err)
        return !err;
    apart = true;
    return divide(comm, id) && look(&seen[0]);
}

bool collopt_clocks_end(void)
{
    bool done = !apart || look(&seen[1]);

    if (firsts != MPI_COMM_NULL)
        collopt_host.Comm_free(&firsts);
    if (mates != MPI_COMM_NULL)
        collopt_host.Comm_free(&mates);
    return done;
}

/* GROWN times PART, which is at most WHOLE, by WHOLE: with as many bits as the product has room
 * for. */
static int64_t proportion(int64_t grown, uint64_t part, uint64_t whole)
{
    uint64_t size = grown < 0 ? -(uint64_t)grown : (uint64_t)grown;

    while (size > 0 && part > UINT64_MAX / size) {
        part >>= 1;
        whole >>= 1;
    }
    size = size * part / whole;
    return grown < 0 ? -(int64_t)size : (int64_t)size;
}

int64_t collopt_clocks_common(uint64_t time)
{
    int64_t there = (int64_t)time - seen[0].difference;
    uint64_t since = time - seen[0].at, between = seen[1].at - seen[0].at;

    if (!apart || since > between)      /* before the first exchange */
        return there;
    return there - proportion(seen[1].difference - seen[0].difference, since, between);
}

uint64_t collopt_clocks_error(void)
{
    return seen[0].error > seen[1].error ? seen[0].error : seen[1].error;
}
