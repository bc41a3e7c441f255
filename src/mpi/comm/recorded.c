/* Tells the recorder of the process and of its communicators; see recorded.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "mpi/comm/recorded.h"
#include "base/launcher.h"
#include "base/log.h"
#include "mpi/comm/members.h"
#include "mpi/host/errhandler.h"
#include "mpi/node/agree.h"
#include "mpi/node/world.h"
#include "settings/settings.h"

/* ---- the process ----------------------------------------------------------------------------- */

static uint64_t random_number(void)
{
    uint64_t number;

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
        number = collopt_recorder_clock() ^ (uint64_t)getpid() << 32;
    return number;
}

/* Of all ranks of MPI_COMM_WORLD.  Where they do not agree in MPI_Init, no call may be added that
 * only some of them make, and the launcher's process stands for the job: right on one node. */
static uint64_t job(void)
{
    uint64_t number = random_number();
    MPI_Errhandler handler;
    int err;

    if (!collopt_world_alike())
        return (uint64_t)getppid();
    handler = collopt_save_errhandler(MPI_COMM_WORLD);
    err = PMPI_Bcast(&number, sizeof number, MPI_BYTE, 0, MPI_COMM_WORLD);
    collopt_restore_errhandler(MPI_COMM_WORLD, handler);
    return err ? (uint64_t)getppid() : number;
}

#ifdef COLLOPT_HOST_SMPI        /* its ranks are no processes */
static bool begin(void)
{
    return false;
}
#else
static bool begin(void)
{
    char why[160];

    if (!collopt_settings()->record)
        return false;
    if (collopt_recorder_begin(why, sizeof why))
        return true;
    collopt_say(COLLOPT_LOG_DECIDE, "calls are not recorded: %s", why);
    return false;
}
#endif

void collopt_record_begin(bool threads)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "", mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    struct collopt_recorded_process p = { .job = job(), .host = host, .mpi = mpi,
                                          .local_ranks = collopt_launched_local_ranks() };
    int length;

    collopt_recorder_threads = threads;
    if (!begin())
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
    PMPI_Get_processor_name(host, &length);
    PMPI_Get_library_version(mpi, &length);
    mpi[strcspn(mpi, ",\n")] = '\0';
    collopt_recorder_introduce(&p);
}

/* ---- communicators --------------------------------------------------------------------------- */

static void forget(struct collopt_comm *c)
{
    collopt_recorder_remove_comm(collopt_recorded(c));
    collopt_part_attach(c, COLLOPT_PART_RECORDED, NULL, NULL);
}

static struct collopt_recorded_comm *add(struct collopt_comm *c,
                                         const struct collopt_recorded_comm *about,
                                         const int *member)
{
    static const struct collopt_part_ops ops = { .end = forget };
    struct collopt_recorded_comm *r = collopt_recorder_add_comm(about, member);

    if (r)
        collopt_part_attach(c, COLLOPT_PART_RECORDED, r, &ops);
    return r;
}

static void add_intra(struct collopt_comm *c, struct collopt_recorded_comm *about)
{
    int *member = malloc((size_t)c->ranks * sizeof *member);

    about->rank = c->rank;
    about->ranks = c->ranks;
    if (member && collopt_members_find(collopt_comm_of(c), c->ranks, member)) {
        bool world = collopt_members_are_world(member, c->ranks);

        about->id = collopt_members_hash(member, c->ranks);
        about->flags = (world ? COLLOPT_RECORDED_WORLD : 0)
            | (collopt_comm_of(c) == MPI_COMM_WORLD ? COLLOPT_RECORDED_AGREED : 0);
        add(c, about, world ? NULL : member);
    }
    free(member);
}

struct collopt_recorded_comm *collopt_record_comm(struct collopt_comm *c)
{
    struct collopt_recorded_comm about = { .id = COLLOPT_RECORDED_INTER,
                                           .flags = COLLOPT_RECORDED_INTER };
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;

    if (!collopt_recorder_has_room())
        return NULL;
    PMPI_Comm_get_name(collopt_comm_of(c), name, &length);
    snprintf(about.name, sizeof about.name, "%.*s", COLLOPT_RECORDED_TEXT - 1, name);
    if (c->status == COLLOPT_INTERCOMM)
        return add(c, &about, NULL);
    add_intra(c, &about);
    if (c->status == COLLOPT_TAKEN_OVER)
        collopt_record_agreed(c);
    return collopt_recorded(c);
}

void collopt_record_agreed(const struct collopt_comm *c)
{
    uint64_t id = collopt_comm_id(c);

    if (collopt_recorded(c) && id != 0)
        collopt_recorder_agree_comm(collopt_recorded(c), id);
}
