/* Maxima over the ranks of a communicator; see greatest.h.
 *
 * In round k each rank sends what it has to the rank 2^k above it, around the end, and receives
 * from the one as far below.  It then knows the maximum of twice as many ranks; that some are
 * counted twice changes no maximum.  The number of the agreement is part of the tag, since an error
 * may leave messages behind. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/comm/greatest.h"
#include "mpi/comm/comm.h"
#include "mpi/node/context.h"
#include "mpi/comm/failure.h"
#include "mpi/comm/wait.h"
#include "mpi/host/host.h"

/* TO must not be written any more when this returns. */
static void give_up(MPI_Request *request)
{
    if (*request == MPI_REQUEST_NULL)
        return;
    collopt_host.Cancel(request);
    collopt_host.Wait(request, MPI_STATUS_IGNORE);
}

/* Sends FROM to the rank DISTANCE above and receives TO from the one DISTANCE below. */
static int exchange(struct collopt_comm *c, int distance, int tag, const long long *from,
                    long long *to, int n)
{
    struct collopt_peer above = collopt_peer(c, (c->rank + distance) % c->ranks),
                        below = collopt_peer(c, (c->rank - distance + c->ranks) % c->ranks),
                        self = collopt_peer(c, c->rank);
    MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
    int err = PMPI_Irecv(to, n, MPI_LONG_LONG, below.rank, self.tags + tag, c->hidden, &receive);

    if (!err)
        err = PMPI_Isend(from, n, MPI_LONG_LONG, above.rank, above.tags + tag, c->hidden, &send);
    if (!err)
        err = collopt_wait(c, &receive);
    if (!err)
        err = collopt_wait(c, &send);
    if (err) {
        give_up(&receive);
        give_up(&send);
    }
    return err;
}

static int in_rounds(struct collopt_comm *c, long long *greatest, long long *others, int n)
{
    int tag = COLLOPT_AGREEMENT_ROW * COLLOPT_STRAND_TAGS
        + (int)(c->agreements % COLLOPT_STRAND_TAGS);

    for (int distance = 1; distance < c->ranks; distance *= 2) {
        int err = exchange(c, distance, tag, greatest, others, n);

        if (err)
            return err;
        for (int i = 0; i < n; i++)
            if (greatest[i] < others[i])
                greatest[i] = others[i];
    }
    return MPI_SUCCESS;
}

int collopt_greatest(struct collopt_comm *c, const long long *mine, long long *greatest, int n)
{
    long long here[128], *others = n <= 128 ? here : malloc((size_t)n * sizeof *others);
    int err = MPI_ERR_NO_MEM;

    c->agreements++;
    c->agreeing = c->busy = true;
    memcpy(greatest, mine, (size_t)n * sizeof *mine);
    if (others)
        err = in_rounds(c, greatest, others, n);
    if (err)
        collopt_give_up(c, collopt_agreement_code(c->agreements));
    c->agreeing = c->busy = false;
    if (others != here)
        free(others);
    return err;
}
