/* The table of requests, which threads walk while others change it, and who advances a request. */
#include "mpi/request/table.c"

enum { REQUESTS = 3 };
static struct collopt_request *request[REQUESTS];
struct collopt_recording_parts *collopt_recording;

/* The handle number N of those that are in one chain. */
static MPI_Request handle_of(int n)
{
    static MPI_Request handles[REQUESTS];
    uintptr_t h = 1;

    for (int found = 0; !handles[n]; h++)
        if (chain_of((MPI_Request)h) == chain_of((MPI_Request)1) && found++ == n)
            handles[n] = (MPI_Request)h;
    return handles[n];
}

static MPI_Request handle_elsewhere(void)
{
    static MPI_Request other = (MPI_Request)2;

    while (chain_of(other) == chain_of((MPI_Request)1))
        other = (MPI_Request)((uintptr_t)other + 1);
    return other;
}

static void set_handle(int n, MPI_Request h)
{
    atomic_store_explicit(&request[n]->handle.request, h, memory_order_relaxed);
}

/* The last two are in the table. */
static void begin(void)
{
    memset(table, 0, sizeof table);
    changes = 0;
    collopt_many_threads = true;
    for (int n = 0; n < REQUESTS; n++) {
        request[n] = explore_memory(sizeof *request[n]);
        set_handle(n, handle_of(n));
        if (n > 0)
            change(request[n], true);
    }
}

/* One is removed and serves with another handle, of another chain. */
static void move_last(void)
{
    change(request[2], false);
    set_handle(2, handle_elsewhere());
    change(request[2], true);
}

static void find_first(void)
{
    explore_check(collopt_requests_find(handle_of(1)) == request[1], "a request is not found");
}

static void enter_new(void)
{
    request[0]->bytes = 1;
    change(request[0], true);
}

/* Whoever finds one may read what was written before it was entered. */
static void find_new(void)
{
    struct collopt_request *r = collopt_requests_find(handle_of(0));

    if (r)
        explore_check(r->bytes == 1, "a request is not whole");
}

/* Another one is removed and serves with that handle, in the same chain. */
static void serve_again(void)
{
    change(request[2], false);
    request[2]->bytes = 1;
    atomic_store(&request[2]->handle.request, handle_of(0));
    change(request[2], true);
}

/* ---- advanced and completed ------------------------------------------------------------------ */

static int advanced;            /* only by who has claimed it */

static void begin_started(void)
{
    begin();
    advanced = 0;
}

static void start_it(void)
{
    request[1]->err = 7;
    collopt_request_is_started(request[1]);
}

static void end_it(void)
{
    advanced++;
    collopt_request_end(request[1]);
}

static void await_end(void)
{
    explore_until(collopt_state_of(request[1]) == COLLOPT_DONE);
    explore_check(advanced == 1, "a result is not there");
}

static void advance_once(void)
{
    if (!collopt_request_under_way(request[1]))
        return;
    explore_until(collopt_request_claim(request[1]));
    explore_check(request[1]->err == 7, "a start is not whole");
    advanced++;
    collopt_request_unclaim(request[1]);
}

int main(void)
{
    static const struct explore_model models[] = {
        { "request moved", begin, { move_last, find_first }, NULL },
        { "request entered", begin, { enter_new, find_new }, NULL },
        { "request serves again", begin, { serve_again, find_new }, NULL },
        { "request ended", begin_started, { end_it, await_end }, NULL },
        { "request started", begin_started, { start_it, advance_once, advance_once }, NULL },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
