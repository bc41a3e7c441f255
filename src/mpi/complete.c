/* The calls that complete requests, some of which may be persistent or nonblocking reductions; see
 * requests.h. */
#include "config.h"

#include "base/clock.h"
#include "mpi/execute.h"
#include "mpi/operation.h"
#include "mpi/requests.h"
#include "mpi/world.h"

typedef struct collopt_operation operation;

/* ---- completing all -------------------------------------------------------------------------- */

static inline bool under_way(const operation *op)
{
    return op && collopt_stage_of(op) == COLLOPT_STARTED;
}

/* Goes on without waiting; true: it is done. */
static bool advance(operation *op)
{
    double start = op->timed ? collopt_now() : 0;
    bool done;

    done = collopt_requests_advance(op);
    if (op->timed && !op->plan)
        op->seconds += collopt_now() - start;
    return done;
}

static void finish(operation *op)
{
    unsigned polls = 0;

    while (!advance(op)) {
        if (op->plan)           /* by messages */
            collopt_nudge(&op->nudge);
        collopt_idle_at(&op->nudge, op->yields, &polls);
    }
}

/* The program is told of its end.  The error code, raised. */
static int end(MPI_Request *request)
{
    operation *op = collopt_requests_find(*request);
    const struct collopt_comm *owner;
    MPI_Comm comm;
    bool raised;
    int err;

    if (!op || collopt_stage_of(op) == COLLOPT_INACTIVE)
        return MPI_SUCCESS;
    collopt_operation_count(op);
    owner = op->owner;
    comm = op->comm;
    err = op->err;
    raised = err != MPI_SUCCESS && op->raised;
    if (op->nonblocking) {
        *request = MPI_REQUEST_NULL;
        collopt_requests_make_idle(op);
        collopt_requests_count(-1);
    } else {
        collopt_set_stage(op, COLLOPT_INACTIVE);
    }
    return __builtin_expect(err != MPI_SUCCESS, 0) && !raised
        ? collopt_requests_complain(owner, comm, err) : err;
}

static int first_of(int ours, int host)
{
    return ours != MPI_SUCCESS ? ours : host;
}

static int wait_for_ours(host_request *request, host_status *status)
{
    operation *op = collopt_requests_find(*request);
    int err;

    if (under_way(op))
        finish(op);
    err = collopt_next.Wait(request, status);
    return first_of(end(request), err);
}

int collopt_entry_Wait(host_request *request, host_status *status)
{
    return collopt_requests_none() || !request ? collopt_next.Wait(request, status)
                                               : wait_for_ours(request, status);
}

/* All that are under way are done; else the host was made to go on. */
static bool all_done(int n, const MPI_Request *requests)
{
    operation *waits = NULL;

    for (int i = 0; i < n; i++) {
        operation *op = collopt_requests_find(requests[i]);

        if (under_way(op) && !advance(op))
            waits = op;
    }
    if (waits)
        collopt_nudge(&waits->nudge);
    return !waits;
}

int collopt_entry_Test(host_request *request, int *flag, host_status *status)
{
    operation *op;
    int err;

    if (collopt_requests_none() || !request)
        return collopt_next.Test(request, flag, status);
    op = collopt_requests_find(*request);
    if (op && !all_done(1, request)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    err = collopt_next.Test(request, flag, status);
    return *flag ? first_of(end(request), err) : err;
}

int collopt_entry_Request_get_status(host_request request, int *flag, host_status *status)
{
    if (!collopt_requests_none() && !all_done(1, &request)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    return collopt_next.Request_get_status(request, flag, status);
}

int collopt_entry_Request_get_status_all(int n, host_requests requests, int *flag,
                                         host_status *statuses)
{
    if (collopt_requests_any(n, requests) && !all_done(n, requests)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    return collopt_next.Request_get_status_all(n, requests, flag, statuses);
}

/* Those of REQUESTS that are ours have ended.  ERR: what the host has said. */
static int end_all(int n, MPI_Request *requests, MPI_Status *statuses, int err)
{
    for (int i = 0; i < n; i++) {
        int ours = end(&requests[i]);

        if (ours == MPI_SUCCESS)
            continue;
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[i].MPI_ERROR = ours;
        err = MPI_ERR_IN_STATUS;
    }
    return err;
}

int collopt_entry_Waitall(int n, host_request *requests, host_status *statuses)
{
    int err;

    if (!collopt_requests_any(n, requests))
        return collopt_next.Waitall(n, requests, statuses);
    for (int i = 0; i < n; i++) {
        operation *op = collopt_requests_find(requests[i]);

        if (under_way(op))
            finish(op);
    }
    err = collopt_next.Waitall(n, requests, statuses);
    return end_all(n, requests, statuses, err);
}

int collopt_entry_Testall(int n, host_request *requests, int *flag, host_status *statuses)
{
    int err;

    if (!collopt_requests_any(n, requests))
        return collopt_next.Testall(n, requests, flag, statuses);
    *flag = 0;
    if (!all_done(n, requests))
        return MPI_SUCCESS;
    err = collopt_next.Testall(n, requests, flag, statuses);
    return *flag ? end_all(n, requests, statuses, err) : err;
}

/* ---- completing some ------------------------------------------------------------------------- */

static void tell(operation *op)
{
    const struct collopt_world *world = collopt_world();
    MPI_Request request = atomic_load(&op->request);
    int err = collopt_host.Start(&request);

    if (!err)
        err = PMPI_Send(NULL, 0, MPI_BYTE, world->rank, COLLOPT_TAG_DONE, world->hidden);
    op->err = first_of(op->err, err);
    collopt_set_stage(op, COLLOPT_TOLD);
}

/* The host is told of all that are done.  One that is still under way, or NULL. */
static operation *tell_host(int n, const MPI_Request *requests)
{
    operation *waits = NULL;

    for (int i = 0; i < n; i++) {
        operation *op = collopt_requests_find(requests[i]);

        if (under_way(op) && !advance(op))
            waits = op;
        else if (op && collopt_stage_of(op) == COLLOPT_DONE)
            tell(op);
    }
    if (waits && waits->plan)           /* by messages: they need the host's progress */
        collopt_nudge(&waits->nudge);
    return waits;
}

/* While one of ours WAITS, the host's "none is active" is wrong. */
int collopt_entry_Testany(int n, host_request *requests, int *index, int *flag, host_status *status)
{
    const operation *waits;
    int err;

    if (!collopt_requests_any(n, requests))
        return collopt_next.Testany(n, requests, index, flag, status);
    waits = tell_host(n, requests);
    err = collopt_next.Testany(n, requests, index, flag, status);
    if (*flag && *index == MPI_UNDEFINED && waits)
        *flag = 0;
    return *flag && *index != MPI_UNDEFINED ? first_of(end(&requests[*index]), err) : err;
}

int collopt_entry_Waitany(int n, host_request *requests, int *index, host_status *status)
{
    int err = MPI_SUCCESS, flag = 0;
    unsigned polls = 0;
    operation *waits;

    if (!collopt_requests_any(n, requests))
        return collopt_next.Waitany(n, requests, index, status);
    while ((waits = tell_host(n, requests))) {
        if ((err = collopt_host.Testany(n, requests, index, &flag, status)))
            return err;
        if (flag && *index != MPI_UNDEFINED)
            break;
        collopt_idle_at(&waits->nudge, waits->yields, &polls);
    }
    if (!waits)
        err = collopt_next.Waitany(n, requests, index, status);
    return *index != MPI_UNDEFINED ? first_of(end(&requests[*index]), err) : err;
}

/* SOME of REQUESTS are complete, those of INDICES. */
static int end_some(MPI_Request *requests, int some, const int *indices, MPI_Status *statuses,
                    int err)
{
    for (int k = 0; k < some; k++) {
        int ours = end(&requests[indices[k]]);

        if (ours == MPI_SUCCESS)
            continue;
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[k].MPI_ERROR = ours;
        err = MPI_ERR_IN_STATUS;
    }
    return err;
}

int collopt_entry_Testsome(int n, host_request *requests, int *some, int *indices,
                           host_status *statuses)
{
    const operation *waits;
    int err;

    if (!collopt_requests_any(n, requests))
        return collopt_next.Testsome(n, requests, some, indices, statuses);
    waits = tell_host(n, requests);
    err = collopt_next.Testsome(n, requests, some, indices, statuses);
    if (*some == MPI_UNDEFINED && waits)
        *some = 0;
    return *some == MPI_UNDEFINED ? err : end_some(requests, *some, indices, statuses, err);
}

int collopt_entry_Waitsome(int n, host_request *requests, int *some, int *indices,
                           host_status *statuses)
{
    int err = MPI_SUCCESS;
    unsigned polls = 0;
    operation *waits;

    if (!collopt_requests_any(n, requests))
        return collopt_next.Waitsome(n, requests, some, indices, statuses);
    while ((waits = tell_host(n, requests))) {
        err = collopt_host.Testsome(n, requests, some, indices, statuses);
        if (err || (*some != 0 && *some != MPI_UNDEFINED))
            break;
        collopt_idle_at(&waits->nudge, waits->yields, &polls);
    }
    if (!waits)
        err = collopt_next.Waitsome(n, requests, some, indices, statuses);
    return *some == MPI_UNDEFINED ? err : end_some(requests, *some, indices, statuses, err);
}

/* ---- looking at some ------------------------------------------------------------------------- */

int collopt_entry_Request_get_status_any(int n, host_requests requests, int *index, int *flag,
                                         host_status *status)
{
    const operation *waits = collopt_requests_any(n, requests) ? tell_host(n, requests) : NULL;
    int err = collopt_next.Request_get_status_any(n, requests, index, flag, status);

    if (*flag && *index == MPI_UNDEFINED && waits)
        *flag = 0;
    return err;
}

int collopt_entry_Request_get_status_some(int n, host_requests requests, int *some,
                                          int *indices, host_status *statuses)
{
    const operation *waits = collopt_requests_any(n, requests) ? tell_host(n, requests) : NULL;
    int err = collopt_next.Request_get_status_some(n, requests, some, indices, statuses);

    if (*some == MPI_UNDEFINED && waits)
        *some = 0;
    return err;
}
