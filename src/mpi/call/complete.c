/* The calls that complete requests, including persistent and nonblocking reductions.
 *
 * The host never sees the handles of these: in its array they are null requests, so it fills in the
 * statuses that such requests have, and counts them neither as active nor as complete. */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/call/entry.h"
#include "base/clock.h"
#include "mpi/comm/comm.h"
#include "mpi/host/poll.h"
#include "mpi/node/process.h"
#include "mpi/request/request.h"
#include "mpi/request/table.h"
#include "mpi/request/watched.h"
#include "recorder/recorder.h"
#include "report/timing.h"

/* A call without room for its results is the host's to refuse, so it gets the call as it is.  Where
 * MPI_STATUS_IGNORE is no null pointer, a null one is wrong. */
static bool lacks_status(const MPI_Status *status)
{
    return !status && MPI_STATUS_IGNORE;
}

/* ---- one request ----------------------------------------------------------------------------- */

static inline bool is_done(const struct collopt_request *r)
{
    return collopt_state_of(r) == COLLOPT_DONE;
}

/* A persistent request may have been started past collopt. */
static void find_start(struct collopt_request *r)
{
    collopt_request_claim_surely(r);
    if (!collopt_request_under_way(r) && collopt_handle_was_started(&r->handle))
        collopt_requests_adopt(r);
    collopt_request_unclaim(r);
}

/* Is it under way, without waiting for it? */
static bool still_under_way(struct collopt_request *r)
{
    if (__builtin_expect(collopt_handle_is_idle(&r->handle), 0))
        find_start(r);
    return collopt_request_under_way(r) && !collopt_request_advance(r);
}

static void wait_for(struct collopt_request *r)
{
    enum { LONG = 64 };         /* looks before it is written down that we wait */
    unsigned polls = 0, looks = 0;

    while (still_under_way(r)) {
        if (++looks == LONG && collopt_recording)
            collopt_recorder_await(r->measured.recorded);
        if (collopt_request_in_progress(r))
            collopt_poke_progress(&r->poke);
        collopt_idle_at(&r->poke, r->yields, &polls);
    }
}

static void finish(struct collopt_request *r)
{
    uint64_t begun;

    if (!r->measured.timed) {
        wait_for(r);
        return;
    }
    begun = collopt_timing_begin();
    wait_for(r);
    collopt_request_awaited(r, begun, collopt_timing_end(begun));
}

/* A call may wait for one of several until the first of them ends, which is what counts as waited
 * for.  When it begins; 0: nobody wants to know. */
static uint64_t begin_to_wait(void)
{
    return atomic_load_explicit(&collopt_reporting, memory_order_relaxed) ? collopt_now() : 0;
}

/* R was the first to end of what a call has waited for since BEGUN; 0: it has not. */
static void end_of_wait(struct collopt_request *r, uint64_t begun)
{
    uint64_t time;

    if (!r->measured.timed || begun == 0)
        return;
    time = collopt_now() - begun;
    collopt_timing_cover(time);
    collopt_request_awaited(r, begun, time);
}

/* ---- the end of a request -------------------------------------------------------------------- */

struct ended {                  /* of the first of a call's requests that has failed */
    int err;                    /* MPI_SUCCESS: none has */
    bool raised;                /* by the host */
    const struct collopt_comm *owner;
    MPI_Comm comm;
};

/* The handle becomes that of an inactive request, or null.  Returns the request's error. */
static int end(struct collopt_request *r, MPI_Request *handle, struct ended *failed)
{
    int err = r->err;

    *handle = r->nonblocking ? MPI_REQUEST_NULL : atomic_load(&r->handle.request);
    if (collopt_state_of(r) == COLLOPT_INACTIVE)
        return MPI_SUCCESS;
    if (err && !failed->err)
        *failed = (struct ended){ err, r->raised, r->owner, r->comm };
    collopt_request_claim_surely(r);
    if (!r->nonblocking) {
        collopt_request_count(r);
        collopt_handle_settle(&r->handle);
        collopt_set_state(r, COLLOPT_INACTIVE);
    } else if (collopt_handle_settle(&r->handle)) {
        collopt_request_count(r);
        collopt_requests_make_idle(r);
        collopt_requests_count(-1);
    }
    collopt_request_unclaim(r);
    return err;
}

/* The user's error handler may leave by longjmp, so this comes last. */
static int raise(const struct ended *failed)
{
    return failed->err == MPI_SUCCESS || failed->raised
        ? failed->err
        : collopt_requests_complain(failed->owner, failed->comm, failed->err);
}

static int end_one(struct collopt_request *r, MPI_Request *handle, int host_err)
{
    struct ended failed = { .err = MPI_SUCCESS };

    end(r, handle, &failed);
    return failed.err ? raise(&failed) : host_err;
}

/* Sets the status of a completed request of ours to that of a null request. */
static void fill_in(MPI_Status *status)
{
    MPI_Request null = MPI_REQUEST_NULL;

    if (status != MPI_STATUS_IGNORE)
        collopt_host.Wait(&null, status);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* The handle of an inactive persistent request may stand in an array several times. */
struct collopt_again {
    int position;
    struct collopt_again *next;
};

/* Without memory the handle there becomes null. */
static void add_again(struct collopt_request *r, int position)
{
    struct collopt_again *a = r->nonblocking ? NULL : malloc(sizeof *a);

    if (!a)
        return;
    *a = (struct collopt_again){ position, r->array.again };
    r->array.again = a;
}

static void put_again(struct collopt_request *r, MPI_Request *requests)
{
    for (struct collopt_again *a = r->array.again, *next; a; a = next) {
        next = a->next;
        requests[a->position] = atomic_load(&r->handle.request);
        free(a);
    }
    r->array.again = NULL;
}

/* Removes the handles of our requests from REQUESTS and leaves null ones there.  Returns the first
 * of these requests. */
static struct collopt_request *take_out(int n, MPI_Request *requests)
{
    static _Atomic uint64_t calls;
    uint64_t call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
    struct collopt_request *first = NULL, **end = &first;

    for (int i = 0; i < n; i++) {
        struct collopt_request *r = collopt_requests_find(requests[i]);

        if (!r)
            continue;
        requests[i] = MPI_REQUEST_NULL;
        if (r->array.call == call) {
            add_again(r, i);
            continue;
        }
        r->array.call = call;
        r->array.position = i;
        r->array.again = NULL;
        *end = r;
        end = &r->array.next;
    }
    *end = NULL;
    return first;
}

static void put_back(struct collopt_request *ours, MPI_Request *requests)
{
    for (struct collopt_request *r = ours; r; r = r->array.next) {
        requests[r->array.position] = atomic_load(&r->handle.request);
        put_again(r, requests);
    }
}

/* Each goes on; one that is under way still, or NULL. */
static struct collopt_request *advance_all(struct collopt_request *ours)
{
    struct collopt_request *waits = NULL;

    for (struct collopt_request *r = ours; r; r = r->array.next)
        if (still_under_way(r))
            waits = r;
    return waits;
}

static struct collopt_request *first_done(struct collopt_request *ours)
{
    while (ours && !is_done(ours))
        ours = ours->array.next;
    return ours;
}

/* If one status has an error, the error fields of all others count too, so they are set. */
static int set_errors(int n, MPI_Status *statuses, int host_err)
{
    for (int i = 0; i < n && statuses != MPI_STATUSES_IGNORE && host_err == MPI_SUCCESS; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    return MPI_ERR_IN_STATUS;
}

/* ---- refused by the host --------------------------------------------------------------------- */

/* A request that is as wrong to complete without room for results, and of the communicator whose
 * error handler hosts call then: handles of ours are of another, or of none.  A host's nonblocking
 * reduction of one rank is complete at once, and of none. */
static MPI_Request stand_in(const struct collopt_request *r, MPI_Request request)
{
    MPI_Request other;

    if (collopt_comm_of(r->owner) != r->comm || (r->nonblocking && r->owner->ranks == 1)
        || PMPI_Recv_init(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, r->comm, &other))
        return request;
    return other;
}

static void free_stand_in(MPI_Request other, MPI_Request request)
{
    if (other != request)
        collopt_host.Request_free(&other);
}

static int wait_without_status(const struct collopt_request *r, MPI_Request request)
{
    MPI_Request other = stand_in(r, request);
    int err = collopt_next.Wait(&other, NULL);

    free_stand_in(other, request);
    return err;
}

static int test_without_results(const struct collopt_request *r, MPI_Request request, int *flag,
                                MPI_Status *status)
{
    MPI_Request other = stand_in(r, request);
    int err = collopt_next.Test(&other, flag, status);

    free_stand_in(other, request);
    return err;
}

/* ---- completing all -------------------------------------------------------------------------- */

static int wait_for_ours(struct collopt_request *r, MPI_Request *request, MPI_Status *status)
{
    MPI_Request null = MPI_REQUEST_NULL;

    finish(r);
    return end_one(r, request, collopt_next.Wait(&null, status));
}

static int wait_for_hosts(MPI_Request *request, MPI_Status *status)
{
    struct collopt_watching w;

    collopt_watching_begin(&w, 1, request, true);
    return collopt_watching_end(&w, request, collopt_next.Wait(request, status));
}

int collopt_entry_Wait(host_request *request, host_status *status)
{
    struct collopt_request *r = collopt_requests_find_at(request);

    if (!r)
        return wait_for_hosts(request, status);
    return lacks_status(status) ? wait_without_status(r, *request)
                                : wait_for_ours(r, request, status);
}

static int test_hosts(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct collopt_watching w;

    collopt_watching_begin(&w, 1, request, false);
    return collopt_watching_end(&w, request, collopt_next.Test(request, flag, status));
}

int collopt_entry_Test(host_request *request, int *flag, host_status *status)
{
    MPI_Request null = MPI_REQUEST_NULL;
    struct collopt_request *r = collopt_requests_find_at(request);

    if (!r)
        return test_hosts(request, flag, status);
    if (!flag || lacks_status(status))
        return test_without_results(r, *request, flag, status);
    if (still_under_way(r)) {
        collopt_poke_progress(&r->poke);
        *flag = 0;
        return MPI_SUCCESS;
    }
    return end_one(r, request, collopt_next.Test(&null, flag, status));
}

static int end_all(struct collopt_request *ours, int n, MPI_Request *requests,
                   MPI_Status *statuses, int err)
{
    struct ended failed = { .err = MPI_SUCCESS };

    for (struct collopt_request *r = ours, *next; r; r = next) {
        int position = r->array.position, own;

        next = r->array.next;
        put_again(r, requests);
        own = end(r, &requests[position], &failed);
        if (own == MPI_SUCCESS)
            continue;
        err = set_errors(n, statuses, err);
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[position].MPI_ERROR = own;
    }
    raise(&failed);
    return err;
}

static int wait_for_all_hosts(int n, MPI_Request *requests, MPI_Status *statuses)
{
    struct collopt_watching w;

    collopt_watching_begin(&w, n, requests, true);
    collopt_watching_each(&w, n, requests);
    return collopt_watching_end(&w, requests, collopt_next.Waitall(n, requests, statuses));
}

int collopt_entry_Waitall(int n, host_request *requests, host_status *statuses)
{
    struct collopt_request *ours;
    int err;

    if (!collopt_requests_any(n, requests))
        return wait_for_all_hosts(n, requests, statuses);
    if (lacks_status(statuses))
        return collopt_next.Waitall(n, requests, statuses);
    ours = take_out(n, requests);
    for (struct collopt_request *r = ours; r; r = r->array.next)
        finish(r);
    err = wait_for_all_hosts(n, requests, statuses);
    return end_all(ours, n, requests, statuses, err);
}

static int test_all_hosts(int n, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    struct collopt_watching w;

    collopt_watching_begin(&w, n, requests, false);
    return collopt_watching_end(&w, requests, collopt_next.Testall(n, requests, flag, statuses));
}

int collopt_entry_Testall(int n, host_request *requests, int *flag, host_status *statuses)
{
    struct collopt_request *ours, *waits;
    int err = MPI_SUCCESS;

    if (!collopt_requests_any(n, requests))
        return test_all_hosts(n, requests, flag, statuses);
    if (!flag || lacks_status(statuses))
        return collopt_next.Testall(n, requests, flag, statuses);
    *flag = 0;
    ours = take_out(n, requests);
    if ((waits = advance_all(ours)))
        collopt_poke_progress(&waits->poke);
    else
        err = test_all_hosts(n, requests, flag, statuses);
    if (*flag)
        return end_all(ours, n, requests, statuses, err);
    put_back(ours, requests);
    return err;
}

/* ---- completing one of several --------------------------------------------------------------- */

/* R is done: the result of the call, which has waited since BEGUN; 0: it has not. */
static int pick(struct collopt_request *ours, struct collopt_request *r, uint64_t begun,
                MPI_Request *requests, int *index, MPI_Status *status)
{
    end_of_wait(r, begun);
    put_back(ours, requests);
    *index = r->array.position;
    fill_in(status);
    return end_one(r, &requests[*index], MPI_SUCCESS);
}

static int test_any_hosts(int n, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    struct collopt_watching w;

    collopt_watching_begin(&w, n, requests, false);
    return collopt_watching_end(&w, requests,
                                collopt_next.Testany(n, requests, index, flag, status));
}

int collopt_entry_Testany(int n, host_request *requests, int *index, int *flag, host_status *status)
{
    struct collopt_request *ours, *waits, *done;
    int err;

    if (!collopt_requests_any(n, requests))
        return test_any_hosts(n, requests, index, flag, status);
    if (!index || !flag || lacks_status(status))
        return collopt_next.Testany(n, requests, index, flag, status);
    ours = take_out(n, requests);
    waits = advance_all(ours);
    err = test_any_hosts(n, requests, index, flag, status);
    if (!err && (!*flag || *index == MPI_UNDEFINED) && (done = first_done(ours))) {
        *flag = 1;
        return pick(ours, done, 0, requests, index, status);
    }
    put_back(ours, requests);
    if (err || !waits || (*flag && *index != MPI_UNDEFINED))
        return err;
    collopt_poke_progress(&waits->poke);       /* the host makes no progress for null requests */
    *flag = 0;
    *index = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* Waits until one of OURS is done, which it returns, or the host has completed a request, or only
 * requests of the host are active.  In the latter two cases *FLAG and *INDEX are as MPI_Testany
 * sets them. */
static struct collopt_request *wait_for_any(struct collopt_request *ours, int n,
                                            MPI_Request *requests, int *index, int *flag,
                                            MPI_Status *status, int *err)
{
    struct collopt_request *waits, *done;
    unsigned polls = 0;

    for (;;) {
        waits = advance_all(ours);
        *err = collopt_host.Testany(n, requests, index, flag, status);
        if (*err || (*flag && *index != MPI_UNDEFINED))
            return NULL;
        if ((done = first_done(ours)) || !waits)
            return done;
        collopt_idle_at(&waits->poke, waits->yields, &polls);
    }
}

static int wait_for_any_hosts(int n, MPI_Request *requests, int *index, MPI_Status *status)
{
    struct collopt_watching w;

    collopt_watching_begin(&w, n, requests, true);
    return collopt_watching_end(&w, requests, collopt_next.Waitany(n, requests, index, status));
}

int collopt_entry_Waitany(int n, host_request *requests, int *index, host_status *status)
{
    struct collopt_request *ours, *done;
    struct collopt_watching w;
    uint64_t begun = begin_to_wait();
    int err, flag = 0;

    if (!collopt_requests_any(n, requests))
        return wait_for_any_hosts(n, requests, index, status);
    if (!index || lacks_status(status))
        return collopt_next.Waitany(n, requests, index, status);
    ours = take_out(n, requests);
    collopt_watching_begin(&w, n, requests, true);
    done = wait_for_any(ours, n, requests, index, &flag, status, &err);
    if (done) {
        w.begun = 0;            /* it has waited for this one */
        collopt_watching_end(&w, requests, MPI_SUCCESS);
        return pick(ours, done, begun, requests, index, status);
    }
    if (!err && (!flag || *index == MPI_UNDEFINED))
        err = collopt_next.Waitany(n, requests, index, status);
    collopt_watching_end(&w, requests, err);
    put_back(ours, requests);
    return err;
}

/* ---- completing some ------------------------------------------------------------------------- */

static MPI_Status *nth(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* The host has completed *SOME of REQUESTS; those of ours that are done are added.  BEGUN: since
 * when the call has waited; 0: it has not. */
static int add_done(struct collopt_request *ours, uint64_t begun, MPI_Request *requests, int *some,
                    int *indices, MPI_Status *statuses, int err)
{
    struct ended failed = { .err = MPI_SUCCESS };
    int n = *some == MPI_UNDEFINED ? 0 : *some;

    put_back(ours, requests);
    for (struct collopt_request *r = ours, *next; r; r = next) {
        int own;

        next = r->array.next;
        if (!is_done(r))
            continue;
        indices[n] = r->array.position;
        fill_in(nth(statuses, n));
        end_of_wait(r, begun);
        begun = 0;
        own = end(r, &requests[r->array.position], &failed);
        if (own)
            err = set_errors(n, statuses, err);
        if (statuses != MPI_STATUSES_IGNORE && err == MPI_ERR_IN_STATUS)
            statuses[n].MPI_ERROR = own;
        n++;
    }
    if (n > 0)
        *some = n;
    raise(&failed);
    return err;
}

static int test_some_hosts(int n, MPI_Request *requests, int *some, int *indices,
                           MPI_Status *statuses)
{
    struct collopt_watching w;

    collopt_watching_begin(&w, n, requests, false);
    return collopt_watching_end(&w, requests,
                                collopt_next.Testsome(n, requests, some, indices, statuses));
}

int collopt_entry_Testsome(int n, host_request *requests, int *some, int *indices,
                           host_status *statuses)
{
    struct collopt_request *ours, *waits;
    int err;

    if (!collopt_requests_any(n, requests))
        return test_some_hosts(n, requests, some, indices, statuses);
    if (!some || !indices || lacks_status(statuses))
        return collopt_next.Testsome(n, requests, some, indices, statuses);
    ours = take_out(n, requests);
    waits = advance_all(ours);
    *some = 0;                  /* an error may leave it as it is */
    err = test_some_hosts(n, requests, some, indices, statuses);
    err = add_done(ours, 0, requests, some, indices, statuses, err);
    if (waits && (*some == MPI_UNDEFINED || *some == 0)) {
        collopt_poke_progress(&waits->poke);
        *some = 0;
    }
    return err;
}

static int wait_for_some_hosts(int n, MPI_Request *requests, int *some, int *indices,
                               MPI_Status *statuses)
{
    struct collopt_watching w;

    collopt_watching_begin(&w, n, requests, true);
    return collopt_watching_end(&w, requests,
                                collopt_next.Waitsome(n, requests, some, indices, statuses));
}

int collopt_entry_Waitsome(int n, host_request *requests, int *some, int *indices,
                           host_status *statuses)
{
    struct collopt_request *ours, *waits;
    struct collopt_watching w;
    uint64_t begun = begin_to_wait();
    unsigned polls = 0;
    int err;

    if (!collopt_requests_any(n, requests))
        return wait_for_some_hosts(n, requests, some, indices, statuses);
    if (!some || !indices || lacks_status(statuses))
        return collopt_next.Waitsome(n, requests, some, indices, statuses);
    ours = take_out(n, requests);
    collopt_watching_begin(&w, n, requests, true);
    for (;;) {
        waits = advance_all(ours);
        *some = 0;
        err = collopt_host.Testsome(n, requests, some, indices, statuses);
        if (err || (*some != 0 && *some != MPI_UNDEFINED) || first_done(ours) || !waits)
            break;
        collopt_idle_at(&waits->poke, waits->yields, &polls);
    }
    if (!err && *some == 0 && !first_done(ours))        /* only the host's are active */
        err = collopt_next.Waitsome(n, requests, some, indices, statuses);
    collopt_watching_end(&w, requests, err);
    return add_done(ours, begun, requests, some, indices, statuses, err);
}

/* ---- looking --------------------------------------------------------------------------------- */

/* Is REQUEST complete, inactive or null?  *OURS: it is collopt's and not inactive. */
static int look(MPI_Request request, int *flag, struct collopt_request **ours, MPI_Status *status)
{
    struct collopt_request *r = *ours = collopt_requests_find_at(&request);

    if (!r || !flag || lacks_status(status)) {
        *ours = NULL;
        return collopt_next.Request_get_status(request, flag, status);
    }
    *flag = !still_under_way(r);
    if (*flag)
        fill_in(status);
    else
        collopt_poke_progress(&r->poke);
    if (collopt_state_of(r) == COLLOPT_INACTIVE)
        *ours = NULL;
    return MPI_SUCCESS;
}

int collopt_entry_Request_get_status(host_request request, int *flag, host_status *status)
{
    struct collopt_request *r;

    return look(request, flag, &r, status);
}

int collopt_entry_Request_get_status_all(int n, host_requests requests, int *flag,
                                         host_status *statuses)
{
    int err = MPI_SUCCESS;

    if (!collopt_requests_any(n, requests) || !flag || lacks_status(statuses))
        return collopt_next.Request_get_status_all(n, requests, flag, statuses);
    *flag = 1;
    for (int i = 0; i < n && *flag && !err; i++) {
        struct collopt_request *r;

        err = look(requests[i], flag, &r, nth(statuses, i));
    }
    return err;
}

/* *INDEX is 0 or MPI_UNDEFINED, as MPI_Request_get_status_any sets it for REQUEST alone. */
static int look_whether_active(host_requests request, int *index, int *flag, MPI_Status *status)
{
    struct collopt_request *r = collopt_requests_find_at(request);
    int err;

    if (!r)
        return collopt_next.Request_get_status_any(1, request, index, flag, status);
    err = look(*request, flag, &r, status);
    *index = *flag && r ? 0 : MPI_UNDEFINED;
    return err;
}

int collopt_entry_Request_get_status_any(int n, host_requests requests, int *index, int *flag,
                                         host_status *status)
{
    bool active = false;

    if (!collopt_requests_any(n, requests) || !index || !flag || lacks_status(status))
        return collopt_next.Request_get_status_any(n, requests, index, flag, status);
    for (int i = 0; i < n; i++) {
        int err = look_whether_active(&requests[i], index, flag, status);

        if (err || (*flag && *index != MPI_UNDEFINED)) {
            *index = i;
            return err;
        }
        active = active || !*flag;
    }
    *flag = !active;
    *index = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int collopt_entry_Request_get_status_some(int n, host_requests requests, int *some,
                                          int *indices, host_status *statuses)
{
    bool active = false;

    if (!collopt_requests_any(n, requests) || !some || !indices || lacks_status(statuses))
        return collopt_next.Request_get_status_some(n, requests, some, indices, statuses);
    *some = 0;
    for (int i = 0; i < n; i++) {
        int index, flag, err = look_whether_active(&requests[i], &index, &flag,
                                                   nth(statuses, *some));

        if (err)
            return err;
        active = active || !flag || index != MPI_UNDEFINED;
        if (flag && index != MPI_UNDEFINED)
            indices[(*some)++] = i;
    }
    if (!active)
        *some = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* MPICH's MPIX_Request_is_complete() is for programs that leave progress to others.  It makes no
 * progress, and may be called inside the host's progress, where none may be made.  So the host is
 * not called here.  Messages advance in the host's progress.  Requests by shared memory advance
 * only in calls of collopt, so they are advanced here. */
int collopt_entry_X_Request_is_complete(host_request request)
{
    struct collopt_request *r = collopt_requests_none() ? NULL : collopt_requests_find(request);

    if (!r)
        return collopt_next.X_Request_is_complete(request);
    return !collopt_request_under_way(r)
        || (!collopt_request_in_progress(r) && collopt_request_advance(r));
}
