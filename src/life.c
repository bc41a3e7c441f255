/* From MPI_Init to MPI_Finalize: the first agreement, switching by MPI_Pcontrol, the report at the end. */
#include "config.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "call.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void)
{
    char message[256] = "";

    if (collopt_kernels_init(collopt_settings()->isa, message, sizeof message))
        collopt_warn("COLLOPT_ISA: %s", message);
    if (!collopt_settings()->on)
        atomic_store_explicit(&collopt_switched_on, false, memory_order_relaxed);
}

void collopt_prepare(void)
{
    pthread_once(&once, prepare);
}

void collopt_begin(void)
{
    collopt_prepare();
    collopt_agree_on_world();
}

/* Programs make this call for other tools, so it means something to us only where the user says so, alike on all ranks. */
void collopt_control(int level)
{
    if (!collopt_settings()->pcontrol || level < 0 || level > 2 || (level > 0 && !collopt_settings()->on))
        return;
    if (level > 0 && !collopt_world_agreed())
        return;
    if (level == 2)
        collopt_reset_sums();
    atomic_store_explicit(&collopt_switched_on, level > 0, memory_order_relaxed);
}

/* ---- the report ---------------------------------------------------------------------------------------------------------- */

static void merge_child(struct collopt_report *r, int child)
{
    MPI_Status status;
    int bytes = 0;
    char *packed;

    if (PMPI_Probe(child, 0, MPI_COMM_WORLD, &status) || PMPI_Get_count(&status, MPI_BYTE, &bytes))
        return;
    packed = malloc((size_t)bytes + 1);
    if (!packed)
        return;
    if (!PMPI_Recv(packed, bytes, MPI_BYTE, child, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
        collopt_report_merge(r, packed, (size_t)bytes);
    free(packed);
}

static void send_up(const struct collopt_report *r, int parent)
{
    size_t size = collopt_report_pack(r, NULL, 0);
    char *packed = malloc(size + 1);

    if (!packed)
        size = 0;
    else
        collopt_report_pack(r, packed, size);
    PMPI_Send(packed, size > INT_MAX ? 0 : (int)size, MPI_BYTE, parent, 0, MPI_COMM_WORLD);
    free(packed);
}

/* Up a binomial tree; the messages cannot meet the user's, who has completed all of them before MPI_Finalize. */
static void combine_reports(struct collopt_report *r, int rank, int ranks)
{
    for (int step = 1; step < ranks; step *= 2) {
        if (rank & step) {
            send_up(r, rank - step);
            return;
        }
        if (rank + step < ranks)
            merge_child(r, rank + step);
    }
}

static void report(const char *where)
{
    bool together = collopt_world_agreed();
    struct collopt_report *r = collopt_report_gather();
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int rank = 0, ranks = 1, length;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Get_library_version(version, &length);
    if (r && together)
        combine_reports(r, rank, ranks);
    if (r && (rank == 0 || !together))
        collopt_report_write(r, where, version, ranks, together ? -1 : rank);
    collopt_report_free(r);
}

void collopt_end(void)
{
    const char *where = collopt_settings()->report;
    int finalized = 0;

    if (PMPI_Finalized(&finalized) || finalized)
        return;
    if (where)
        report(where);
    collopt_comm_shut_down();
}
