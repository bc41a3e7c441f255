/* Maps the segments of a node; see segments.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/node/segments.h"
#include "base/log.h"
#include "mpi/node/locality.h"
#include "settings/settings.h"
#include "shm/segment.h"

/* [ranks of MPI_COMM_WORLD] as mapped here; NULL: not on this node, or not to be used */
static char **segment;
static int segments, this_rank;
static bool here, everywhere;
static size_t room_behind;      /* bytes behind each segment of this node */

/* ---- segments -------------------------------------------------------------------------------- */

static void say_none(const char *why)
{
    collopt_explain_once("no shared memory on this node, messages are used: %s", why);
}

void collopt_segments_offer(struct collopt_segment_key *key)
{
    char why[160];

    *key = (struct collopt_segment_key){ .descriptor = -1 };
#ifndef COLLOPT_HOST_SMPI       /* its ranks are threads of one process, and time is simulated */
    if (collopt_settings()->shm == COLLOPT_SHM_OFF)
        return;
    collopt_segment_make(collopt_settings()->shm_size, SIZE_MAX, key, why, sizeof why);
    if (key->descriptor < 0)
        say_none(why);
#else
    (void)why;
#endif
}

/* Maps the segments of this rank's node; false: one of them cannot be. */
static bool attach(const struct collopt_locality *seen)
{
    char why[160];

    if (!collopt_segment_base())        /* which has been said */
        return false;
    room_behind = SIZE_MAX;
    for (int r = 0; r < segments; r++) {
        if (seen[r].node != seen[this_rank].node)
            continue;
        segment[r] = r == this_rank ? collopt_segment_base()
                                    : collopt_segment_attach(&seen[r].segment, why, sizeof why);
        if (!segment[r]) {
            say_none(why);
            return false;
        }
        if (collopt_segment_room(segment[r]) < room_behind)
            room_behind = collopt_segment_room(segment[r]);
    }
    return true;
}

static void detach(void)
{
    for (int r = 0; r < segments; r++)
        if (segment[r] && r != this_rank)
            collopt_segment_detach(segment[r]);
    free(segment);
    segment = NULL;
    segments = 0;
    here = everywhere = false;
    collopt_segment_drop();
}

/* Nodes are numbered from 0; *SHARED: some has several ranks. */
static int count_nodes(const struct collopt_locality *seen, int ranks, bool *shared)
{
    int nodes = 0;

    *shared = false;
    for (int r = 0; r < ranks; r++)
        if (seen[r].node >= nodes)
            nodes = seen[r].node + 1;
        else
            *shared = true;
    return nodes;
}

/* Sets OK[node] to its minimum over all ranks of all nodes; false: the host failed. */
static bool agree_on_nodes(MPI_Comm hidden, int *ok, int nodes)
{
    int *all = malloc((size_t)nodes * sizeof *all);
    bool agreed = collopt_host.Allreduce(all ? ok : MPI_IN_PLACE, all ? all : ok, nodes, MPI_INT,
                                         MPI_MIN, hidden)
        == MPI_SUCCESS;

    if (all)
        memcpy(ok, all, (size_t)nodes * sizeof *ok);
    free(all);
    return agreed;
}

/* Every rank takes part in the agreement, whatever it lacks.  COLLOPT_SHM is alike on all. */
void collopt_segments_begin(MPI_Comm hidden, int rank, int ranks,
                            const struct collopt_locality *seen, int *ok)
{
    bool shared;
    int nodes = count_nodes(seen, ranks, &shared);

    if (collopt_settings()->shm == COLLOPT_SHM_OFF || !shared) {
        collopt_segment_drop();
        return;
    }
    this_rank = rank;
    segments = ranks;
    segment = calloc((size_t)ranks, sizeof *segment);
    for (int i = 0; i < nodes; i++)
        ok[i] = 1;
    ok[seen[rank].node] = segment && attach(seen);
    everywhere = agree_on_nodes(hidden, ok, nodes);
    collopt_segment_close_own();
    here = everywhere && ok[seen[rank].node];
    for (int i = 0; i < nodes; i++)
        everywhere = everywhere && ok[i];
    if (!here && segment)
        detach();
}

void collopt_segments_end(void)
{
    if (segment)
        detach();
    else
        collopt_segment_drop();
}

bool collopt_segments_everywhere(void)
{
    return everywhere;
}

bool collopt_segments_here(void)
{
    return here;
}

char *collopt_segment_of(int rank)
{
    return segment[rank];
}

size_t collopt_segments_room(void)
{
    return room_behind;
}
