/* Communicators of all sorts: made, used, freed.
 *
 *     test_communicators SUBJECT [N]
 *
 * The subjects are the rows at the end of this file. */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE 1     /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
# include <malloc.h>
#endif

#include "common.h"

static int size_of(MPI_Comm comm)
{
    int ranks;

    MPI_Comm_size(comm, &ranks);
    return ranks;
}

/* A few calls on COMM, all of which collopt runs. */
static void use(MPI_Comm comm, const char *what)
{
    uint64_t run = calls_run(NULL, NULL), passed = calls_passed(NULL);

    at(what);
    sum_all(comm, 3, what);
    sum_all(comm, 3000, what);
    for (int root = 0; root < size_of(comm); root++)
        sum_to(comm, 10, root, what);
    if (!with_collopt())
        return;
    check(calls_run(NULL, NULL) - run == 2 + (uint64_t)size_of(comm),
          "%s: collopt ran %llu calls, not %d", what,
          (unsigned long long)(calls_run(NULL, NULL) - run), 2 + size_of(comm));
    check(calls_passed(NULL) == passed, "%s: calls were passed on", what);
}

/* ---- sorts ----------------------------------------------------------------------------------- */

static int copied, deleted;

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *value, void *to, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copied++;
    *(void **)to = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

/* The user's attribute callbacks are run for what the user does, and for nothing else. */
static void attributes(int n)
{
    MPI_Comm first, second;
    int key;

    (void)n;
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_set_attr(first, key, NULL);
    use(first, "a communicator with attributes");
    check(copied == 0 && deleted == 0,
          "using a communicator ran the user's callbacks %d and %d times", copied, deleted);
    MPI_Comm_dup(first, &second);
    check(copied == 1, "MPI_Comm_dup ran the copy callback %d times", copied);
    use(second, "its duplicate");
    MPI_Comm_free(&first);
    check(deleted == 1, "MPI_Comm_free ran the delete callback %d times", deleted);
    use(second, "the duplicate of a communicator that was freed");
    MPI_Comm_free(&second);
    check(copied == 1 && deleted == 2, "the user's callbacks ran %d and %d times", copied, deleted);
    MPI_Comm_free_keyval(&key);
}

/* In MPI_Finalize, behind what collopt does there. */
static int look_at_handler(MPI_Comm comm, int key, void *value, void *extra)
{
    MPI_Errhandler handler;

    (void)comm, (void)key, (void)extra;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    check(handler == *(MPI_Errhandler *)value,
          "MPI_COMM_WORLD has another error handler in MPI_Finalize");
    return MPI_SUCCESS;
}

static void hear(MPI_Comm *comm, int *err, ...)
{
    (void)comm, (void)err;
}

static void handler_at_end(int n)
{
    static MPI_Errhandler handler;
    int key;

    (void)n;
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, look_at_handler, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &handler);
    use(MPI_COMM_WORLD, "with an error handler");
}

static void cartesian(void)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 0 }, remain[2] = { 0, 1 };
    MPI_Comm grid, row;

    MPI_Dims_create(world_ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    use(grid, "a Cartesian communicator");
    MPI_Cart_sub(grid, remain, &row);
    use(row, "a row of a Cartesian communicator");
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}

enum { MOST_RANKS = 16 };

/* Each group gets what the other has: LOWER ranks in this one's, or else UPPER.  Nobody runs this
 * but the MPI library. */
static void exchange(MPI_Comm between, bool in_lower, int lower, int upper)
{
    int mine = in_lower ? lower : upper, others = in_lower ? upper : lower, total = lower * upper,
        share = total / mine;
    int in[MOST_RANKS * MOST_RANKS], out[MOST_RANKS], counts[MOST_RANKS], right = 0, rank, sum = -1;
    MPI_Request request;

    MPI_Comm_rank(between, &rank);
    for (int i = 0; i < total; i++)
        in[i] = 100 * world_rank + i;
    for (int r = 0; r < mine; r++)
        counts[r] = share;
    for (int r = 0; r < others; r++)
        right += 100 * (in_lower ? lower + r : r);

    MPI_Allreduce(in, &sum, 1, MPI_INT, MPI_SUM, between);
    check(sum == right, "MPI_Allreduce on an intercommunicator gives %d, should be %d", sum, right);
    sum = -1;
    MPI_Reduce(in, in_lower && rank == 0 ? &sum : NULL, 1, MPI_INT, MPI_SUM,
               !in_lower       ? 0
                   : rank == 0 ? MPI_ROOT
                               : MPI_PROC_NULL,
               between);
    check(sum == (in_lower && rank == 0 ? right : -1),
          "MPI_Reduce on an intercommunicator gives %d", sum);
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, between);
    for (int i = 0; i < share; i++)
        check(out[i] == right + others * (rank * share + i),
              "MPI_Reduce_scatter on an intercommunicator: element %d is %d", i, out[i]);
    memset(out, 0, sizeof out);
    MPI_Reduce_scatter_block(in, out, share, MPI_INT, MPI_SUM, between);
    for (int i = 0; i < share; i++)
        check(out[i] == right + others * (rank * share + i),
              "MPI_Reduce_scatter_block on an intercommunicator: element %d is %d", i, out[i]);
    MPI_Iallreduce(in, &sum, 1, MPI_INT, MPI_SUM, between, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sum == right, "MPI_Iallreduce on an intercommunicator gives %d, should be %d", sum,
          right);
}

/* Intercommunicators are the MPI library's own affair, merged ones are ours. */
static void inter(void)
{
    static const char *const name[] = { "Allreduce", "Reduce", "Reduce_scatter",
                                        "Reduce_scatter_block", "Iallreduce" };
    enum { NAMES = sizeof name / sizeof *name };
    uint64_t run = calls_run(NULL, NULL), passed[NAMES];
    int lower = world_ranks / 2;
    bool in_lower = world_rank < lower;
    MPI_Comm half, between, merged;

    for (int i = 0; i < NAMES; i++)
        passed[i] = calls_passed(name[i]);
    MPI_Comm_split(MPI_COMM_WORLD, in_lower, world_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, in_lower ? lower : 0, 5, &between);
    at("an intercommunicator");
    exchange(between, in_lower, lower, world_ranks - lower);
    check(calls_run(NULL, NULL) == run, "collopt ran calls on an intercommunicator");
    for (int i = 0; i < NAMES && with_collopt(); i++)
        check(calls_passed(name[i]) == passed[i] + 1,
              "collopt did not count MPI_%s on an intercommunicator", name[i]);
    MPI_Intercomm_merge(between, !in_lower, &merged);
    use(merged, "a merged intercommunicator");
    MPI_Comm_free(&merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

static void sorts(int n)
{
    MPI_Comm comm;
    MPI_Group group, odd;
    int range[1][3] = { { 0, world_ranks - 1, 2 } };

    (void)n;
    use(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    use(MPI_COMM_SELF, "MPI_COMM_SELF");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, "a duplicate");
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &comm);
    use(comm, "half of the world, upside down");
    MPI_Comm_free(&comm);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_range_incl(group, 1, range, &odd);
    MPI_Comm_create(MPI_COMM_WORLD, odd, &comm);
    if (comm != MPI_COMM_NULL) {
        use(comm, "every other rank");
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&odd);
    cartesian();
    if (world_ranks > 1 && world_ranks <= MOST_RANKS)
        inter();
    use(MPI_COMM_WORLD, "MPI_COMM_WORLD again");
}

/* ---- switched off ---------------------------------------------------------------------------- */

static int groups_asked;

/* In the place of the MPI library's, for collopt too. */
__attribute__((visibility("default")))
int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    int (*next)(MPI_Comm comm, MPI_Group *group);

    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Comm_group");
    groups_asked++;
    return next(comm, group);
}

/* N calls, for which nothing is looked up but where the ranks of the communicator are, once. */
static void off(int n)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    groups_asked = 0;
    at("calls while collopt is off");
    for (int i = 0; i < n; i++)
        sum_all(comm, 1, "switched off");
    check(groups_asked <= 2, "for %d calls while it is off, collopt has asked for %d groups", n,
          groups_asked);
    check(calls_run(NULL, NULL) == 0, "collopt ran calls while it was off");
    MPI_Comm_free(&comm);
}

/* ---- messages of the user's own -------------------------------------------------------------- */

/* Receives from anyone with any tag are posted before the reductions, and their messages sent
 * after. */
static void wildcards(int n)
{
    enum { RECEIVES = 4 };
    int got[RECEIVES], given[RECEIVES];
    MPI_Request request[RECEIVES];
    int above = (world_rank + 1) % world_ranks,
        below = (world_rank + world_ranks - 1) % world_ranks;

    for (int i = 0; i < RECEIVES; i++) {
        got[i] = -1;
        MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[i]);
    }
    for (int i = 0; i < n; i++)
        use(MPI_COMM_WORLD, "with wildcard receives posted");
    for (int i = 0; i < RECEIVES; i++) {
        given[i] = 1000 * world_rank + i;
        MPI_Send(&given[i], 1, MPI_INT, above, i, MPI_COMM_WORLD);
    }
    at("the user's receives");
    for (int i = 0; i < RECEIVES; i++) {
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
        check(got[i] == 1000 * below + i, "a receive of the user's got %d instead of %d", got[i],
              1000 * below + i);
    }
}

/* ---- many ------------------------------------------------------------------------------------ */

static void one_life(int i)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sum_all(comm, 1 + i % 3000, "a communicator of many");
    sum_to(comm, 5, i % world_ranks, "a communicator of many");
    MPI_Comm_free(&comm);
}

/* Made, used and freed N times in flat memory. */
static void churn(int n)
{
    long before, after;

    at("making and freeing communicators");
    for (int i = 0; i < n / 4; i++)
        one_life(i);
    before = resident();
    for (int i = n / 4; i < n; i++)
        one_life(i);
    after = resident();
    check(n < 1000 || after - before < 2048,
          "%d communicators later, %ld KiB more are resident (%ld before)", n - n / 4,
          after - before, before);
    check(calls_run(NULL, NULL) == 2 * (uint64_t)n || !with_collopt(),
          "collopt ran %llu of %d calls", (unsigned long long)calls_run(NULL, NULL), 2 * n);
    if (world_rank == 0)
        printf("%d communicators: %ld KiB, then %ld\n", n, before, after);
    fflush(stdout);
}

/* Bytes that the process has allocated; 0: not known. */
static size_t allocated(void)
{
#if defined __GLIBC__ && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
#else
    return 0;
#endif
}

/* What N communicators cost that are alive at once, each with a plan: the same without collopt is
 * the MPI library's part. */
static void memory(int n)
{
    MPI_Comm *comm = malloc((size_t)n * sizeof *comm);
    long before, mine, most;

    for (int i = 0; i < 4; i++)
        one_life(i);
    before = (long)allocated();
    for (int i = 0; i < n; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        sum_all(comm[i], 1, "a communicator of those that are weighed");
    }
    mine = ((long)allocated() - before) / n;
    MPI_Reduce(&mine, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&comm[i]);
    if (world_rank == 0)
        printf("bytes per communicator: %ld\n", allocated() ? most : 0L);
    fflush(stdout);
    free(comm);
}

/* N alive at once, more than COLLOPT_COMMUNICATORS allows on some rank: each is taken over on all
 * ranks or on none. */
static void cap(int n)
{
    MPI_Comm *comm = malloc((size_t)n * sizeof *comm);
    int *taken = calloc((size_t)n, sizeof *taken),
        *all = calloc((size_t)(n * world_ranks), sizeof *all), taken_n = 0;

    for (int i = 0; i < n; i++) {
        uint64_t run = calls_run(NULL, NULL);

        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        sum_all(comm[i], 7, "a communicator within the cap, or beyond");
        taken_n += taken[i] = calls_run(NULL, NULL) > run;
    }
    MPI_Allgather(taken, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < world_ranks; r++)
        check(memcmp(&all[r * n], taken, (size_t)n * sizeof *taken) == 0,
              "rank %d took over other communicators", r);
    for (int i = 0; i < n; i++) {
        sum_all(comm[i], 9, "the same again");
        MPI_Comm_free(&comm[i]);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);     /* what was freed may be used again */
    if (taken_n > 0)
        use(comm[0], "one after the others were freed");
    MPI_Comm_free(&comm[0]);
    if (world_rank == 0)
        printf("%d of %d communicators taken over\n", taken_n, n);
    fflush(stdout);
    free(comm);
    free(taken);
    free(all);
}

/* The count and the root change from call to call; N of them. */
static void repeats(int n)
{
    static const int count[] = { 1, 8, 513, 2, 4099, 0, 64, 17, 1000, 3 };

    at("many calls");
    for (int i = 0; i < n; i++) {
        sum_to(MPI_COMM_WORLD, count[i % 10], i % world_ranks, "one of many reduces");
        sum_all(MPI_COMM_WORLD, count[(i + i / 10) % 10], "one of many allreduces");
    }
    check(calls_run(NULL, NULL) == 2 * (uint64_t)n, "collopt ran %llu calls of %d",
          (unsigned long long)calls_run(NULL, NULL), 2 * n);
}

/* ---- other ways to have ranks ---------------------------------------------------------------- */

static char self[4096];

/* Beyond a world that agreed in MPI_Init, the first two calls are always left to the MPI
 * library. */
static void two_first_calls(MPI_Comm comm)
{
    sum_all(comm, 1, "the first call");
    sum_all(comm, 1, "the second call");
}

static MPI_Comm parent(void)
{
    MPI_Comm comm;

    MPI_Comm_get_parent(&comm);
    return comm;
}

/* The parents in FROM and N children by COMMAND, together, where either of them calls this. */
static MPI_Comm spawn_by(const char *command, char **words, MPI_Comm from, int n, MPI_Comm *between)
{
    MPI_Comm merged;

    *between = parent();
    if (*between == MPI_COMM_NULL)
        MPI_Comm_spawn(command, words, n, MPI_INFO_NULL, 0, from, between, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(*between, parent() != MPI_COMM_NULL, &merged);
    return merged;
}

/* The children begin with WORD. */
static MPI_Comm spawn_from(MPI_Comm from, char *word, int n, MPI_Comm *between)
{
    char *child[] = { word, NULL };

    return spawn_by(self, child, from, n, between);
}

static void spawn(int n)
{
    char word[] = "spawned";
    MPI_Comm between, merged;

    at("MPI_Comm_spawn");
    merged = spawn_from(MPI_COMM_WORLD, word, n, &between);
    two_first_calls(merged);
    use(merged, "parents and children together");
    MPI_Comm_free(&merged);
    use(MPI_COMM_WORLD, "parents or children alone");
    MPI_Comm_disconnect(&between);
}

/* N children without collopt.  Nothing that the parents call on a communicator with them may differ
 * from what they call. */
static void spawn_without(int n)
{
    char unset[] = "-u", preload[] = "LD_PRELOAD", word[] = "spawned_without";
    char *child[] = { unset, preload, self, word, NULL };
    MPI_Comm between, merged, copy;
    uint64_t run;

    at("MPI_Comm_spawn of a program without collopt");
    check(with_collopt() == (parent() == MPI_COMM_NULL), "collopt is %sthere",
          with_collopt() ? "" : "not ");
    merged = spawn_by("/usr/bin/env", child, MPI_COMM_WORLD, n, &between);
    MPI_Comm_dup(merged, &copy);
    run = calls_run(NULL, NULL);
    for (int i = 0; i < 6; i++) {
        sum_all(merged, 1000, "parents, and children without collopt");
        sum_to(copy, 1, i % 2, "parents, and children without collopt, a duplicate");
    }
    check(calls_run(NULL, NULL) == run, "collopt ran calls where some ranks lack it");
    MPI_Comm_free(&copy);
    MPI_Comm_free(&merged);
    sum_all(MPI_COMM_WORLD, 5, "parents or children alone");
    MPI_Comm_disconnect(&between);
}

/* The parents' world does not agree, and so uses nothing of collopt; rank 0 of it and its children
 * would. */
static void spawn_alone(int n)
{
    char word[] = "spawned_alone";
    MPI_Comm between, merged;
    uint64_t run;

    if (parent() == MPI_COMM_NULL && world_rank > 0)
        return;
    at("MPI_Comm_spawn by one rank");
    merged = spawn_from(MPI_COMM_SELF, word, n, &between);
    run = calls_run(NULL, NULL);
    for (int i = 0; i < 6; i++)
        sum_all(merged, 5, "a parent whose world does not agree, and children");
    check(calls_run(NULL, NULL) == run, "collopt ran calls where a rank is switched off");
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&between);
}

#if COLLOPT_HAVE_SESSION
/* A session with a communicator of all ranks, whose first two calls are made. */
struct session {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
};

static struct session open_session(void)
{
    struct session s;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s.session);
    MPI_Group_from_session_pset(s.session, "mpi://WORLD", &s.group);
    MPI_Comm_create_from_group(s.group, "collopt-test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                               &s.comm);
    MPI_Comm_rank(s.comm, &world_rank);
    MPI_Comm_size(s.comm, &world_ranks);
    two_first_calls(s.comm);
    return s;
}

static void close_session(struct session *s)
{
    MPI_Comm_free(&s->comm);
    MPI_Group_free(&s->group);
    MPI_Session_finalize(&s->session);
}

static void in_session(void)
{
    struct session s = open_session();

    use(s.comm, "a communicator of a session");
    if (getenv("COLLOPT_PCONTROL")) {
        MPI_Pcontrol(0);
        sum_all(s.comm, 3, "switched off in a session");
        MPI_Pcontrol(1);
        use(s.comm, "switched on again in a session");
    }
    close_session(&s);
}

static int delete_nothing(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return MPI_SUCCESS;
}

/* MPI ends with the last session and begins anew with the next one.  The host may then give keys of
 * the program's the numbers that collopt's had. */
static int session_again(int n)
{
    enum { KEYS = 4 };
    static int value[KEYS];

    for (int i = 0; i < n; i++) {
        struct session s = open_session();
        int key[KEYS], found;
        void *at;

        for (int k = 0; k < KEYS && i > 0; k++) {
            MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_nothing, &key[k], NULL);
            MPI_Comm_set_attr(s.comm, key[k], &value[k]);
        }
        use(s.comm, "a communicator of a session after another");
        for (int k = 0; k < KEYS && i > 0; k++) {
            MPI_Comm_get_attr(s.comm, key[k], &at, &found);
            check(found && at == &value[k], "an attribute is lost");
            MPI_Comm_delete_attr(s.comm, key[k]);
            MPI_Comm_free_keyval(&key[k]);
        }
        close_session(&s);
    }
    return failures() != 0;
}

static void start_and_wait(MPI_Request *request, const int *sum)
{
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    check(*sum == world_ranks, "a persistent reduction gives %d", *sum);
}

/* Of so many communicators that are freed after MPI_Finalize, one after the other, no more than
 * COLLOPT_COMMUNICATORS are there at a time.  A persistent request serves before and after it. */
static int session_goes_on(int n)
{
    struct session s = open_session();
    MPI_Request request;
    int one = 1, sum;

    use(s.comm, "a communicator of a session, before MPI_Finalize");
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, s.comm, MPI_INFO_NULL, &request);
    start_and_wait(&request, &sum);
    MPI_Finalize();
    start_and_wait(&request, &sum);
    MPI_Request_free(&request);
    use(s.comm, "a communicator of a session, after MPI_Finalize");
    for (int i = 0; i < n; i++) {
        MPI_Comm copy;

        MPI_Comm_dup(s.comm, &copy);
        two_first_calls(copy);
        use(copy, "one made after MPI_Finalize");
        MPI_Comm_free(&copy);
    }
    close_session(&s);
    return failures() != 0;
}

/* Rank 0 alone has a session, which outlives MPI_Finalize. */
static int session_of_one(void)
{
    MPI_Session session;

    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    if (world_rank == 0)
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    for (int i = 0; i < 3; i++)
        sum_all(MPI_COMM_WORLD, 5, "a session on rank 0");
    MPI_Finalize();
    if (world_rank == 0)
        MPI_Session_finalize(&session);
    return failures() != 0;
}
#endif

/* Without MPI_Init and MPI_Finalize. */
static int session_alone(void)
{
#if COLLOPT_HAVE_SESSION
    in_session();
#else
    printf("no sessions\n");
#endif
    return failures() != 0;
}

static const struct subject {
    const char *name;
    void (*run)(int n);
} subjects[] = {
    { "sorts", sorts },
    { "attributes", attributes },
    { "wildcards", wildcards },
    { "churn", churn },
    { "cap", cap },
    { "repeats", repeats },
    { "off", off },
    { "memory", memory },
    { "handler_at_end", handler_at_end },
    { "spawn", spawn },
    { "spawned", spawn },
    { "spawn_without", spawn_without },
    { "spawned_without", spawn_without },
    { "spawn_alone", spawn_alone },
    { "spawned_alone", spawn_alone },
};

int main(int argc, char **argv)
{
    const char *subject = argc > 1 ? argv[1] : "sorts";
    bool known = false;

    if (strcmp(subject, "has_sessions") == 0)
        return !COLLOPT_HAVE_SESSION;
    if (strcmp(subject, "session") == 0)
        return session_alone();
#if COLLOPT_HAVE_SESSION
    if (strcmp(subject, "session_again") == 0)
        return session_again(argc > 2 ? atoi(argv[2]) : 3);
    if (strcmp(subject, "session_goes_on") == 0) {
        MPI_Init(&argc, &argv);
        return session_goes_on(argc > 2 ? atoi(argv[2]) : 1);
    }
    if (strcmp(subject, "session_of_one") == 0) {
        MPI_Init(&argc, &argv);
        return session_of_one();
    }
#endif
    snprintf(self, sizeof self, "%s", argv[0]);
    begin(&argc, &argv, "test_communicators");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (strcmp(subjects[i].name, subject) == 0) {
            subjects[i].run(argc > 2 ? atoi(argv[2]) : 2);
            known = true;
        }
    check(known, "there is no subject %s", subject);
    return end();
}
