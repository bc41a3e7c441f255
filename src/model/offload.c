/* Which of the MPI library's ways to the network is in use; see offload.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/offload.h"
#include "schedule/problem.h"

/* Open MPI calls the component of the highest priority; coll/tuned is the one that sends messages.
 *
 * HCOLL: of NVIDIA's HPC-X, with SHARP where HCOLL_ENABLE_SHARP says so; opened by Open MPI, MPICH
 * and Intel MPI.  MVAPICH2 calls SHARP itself, for up to 512 bytes on three nodes and more.
 * Portals 4: BXI.  DMAPP: the collective engine of Cray's Aries, for one word. */
const struct collopt_offload collopt_offloads[] = {
    { "HCOLL", "libhcoll.so", "coll_hcoll_enable", "coll_hcoll_priority", "coll_tuned_priority",
      true, 0 },
    { "HCOLL", "libhcoll.so", "MPIR_CVAR_ENABLE_HCOLL", NULL, NULL, true, 0 },
    { "HCOLL", "libhcoll.so", "I_MPI_COLL_EXTERNAL", NULL, NULL, true, 0 },
    { "UCC", "libucc.so", "coll_ucc_enable", "coll_ucc_priority", "coll_tuned_priority", true, 0 },
    { "SHARP", "libsharp_coll.so", "MV2_ENABLE_SHARP", NULL, NULL, true, 512 },
    { "Portals 4", "libportals.so", NULL, "coll_portals4_priority", "coll_tuned_priority", true,
      0 },
    { "DMAPP", "libdmapp.so", "MPICH_USE_DMAPP_COLL", NULL, NULL, false, 8 },
    { NULL, NULL, NULL, NULL, NULL, false, 0 },
};

const struct collopt_offload collopt_offload_stated = { "COLLOPT_OFFLOAD=host", NULL, NULL, NULL,
                                                        NULL, true, 0 };

static bool is_on(const struct collopt_offload_asked *ask, const char *name)
{
    static const char *const off[] = { "", "0", "no", "off", "false", "disable" };
    char value[32];

    if (!ask->setting(name, value, sizeof value))
        return false;
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (strcasecmp(value, off[i]) == 0)
            return false;
    return true;
}

static bool is_preferred(const struct collopt_offload_asked *ask, const struct collopt_offload *o)
{
    char own[32], rival[32];

    if (!o->priority || !ask->setting(o->priority, own, sizeof own))
        return !o->priority || o->enable;
    return !ask->setting(o->rival, rival, sizeof rival) || atol(own) > atol(rival);
}

int collopt_offload_find(const struct collopt_offload_asked *ask)
{
    for (int i = 0; collopt_offloads[i].name; i++) {
        const struct collopt_offload *o = &collopt_offloads[i];

        if (ask->loaded(o->library) && (!o->enable || is_on(ask, o->enable))
            && is_preferred(ask, o))
            return i + 1;
    }
    return 0;
}

bool collopt_offload_serves(const struct collopt_offload *o, const struct collopt_problem *p)
{
    return (p->collective == COLLOPT_ALLREDUCE || (p->collective == COLLOPT_REDUCE && o->reduce))
        && !p->users && (o->bytes == 0 || p->count * p->size <= o->bytes);
}
