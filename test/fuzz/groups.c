/* Communicators, made of one another and freed again: also while a receive on them is pending, and
 * with attributes whose delete callbacks reduce. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz.h"
#include "schedule/problem.h"

OWN struct group groups[GROUPS];
OWN MPI_Comm world;             /* the thread's own, of all ranks */

struct group *group_of(size_t slot)
{
    return &groups[slot % GROUPS];
}

static void done(int err, const char *what)
{
    check(err == MPI_SUCCESS, "%s: %s: error %d", fuzz_step_name(), what, err);
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* As libraries do that keep a communicator of their own with the user's. */
struct kept {
    MPI_Comm inner;
    int count;
};

static int keyval = MPI_KEYVAL_INVALID;

static struct kept *keep(MPI_Comm inner, int count)
{
    struct kept *k = malloc(sizeof *k);

    *k = (struct kept){ inner, count };
    return k;
}

static int copied(MPI_Comm comm, int key, void *extra, void *value, void *to, int *flag)
{
    const struct kept *k = value;

    (void)comm, (void)key, (void)extra;
    *(void **)to = keep(MPI_COMM_NULL, k->count + 1);
    *flag = 1;
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    struct kept *k = value;

    (void)key, (void)extra;
    if (k->inner != MPI_COMM_NULL) {
        sum_all(k->inner, k->count, "a delete callback, on a communicator of its own");
        MPI_Comm_free(&k->inner);
    }
    for (int i = 0; i < 3; i++)
        sum_all(comm, k->count + i, "a delete callback");
    free(k);
    return MPI_SUCCESS;
}

/* Open MPI calls callbacks while no other thread can have to do with attributes, so no other thread
 * must be needed there.  SimGrid 3.32 calls them when the communicator is none any more. */
void groups_attach(uint64_t number)
{
    struct fuzz_random r = fuzz_draw(number, 12);
    struct group *g = group_of(1 + fuzz_below(&r, GROUPS - 1));
    int count = (int)fuzz_below(&r, 2000);
    bool with_inner = fuzz_chance(&r, 2);
    MPI_Comm inner = MPI_COMM_NULL;

#ifdef TEST_SIMULATED
    return;
#endif
    if (job.threads > 1)
        return;
    g->attribute = true;
    if (g->comm == MPI_COMM_NULL)
        return;
    if (with_inner)
        done(MPI_Comm_split(g->comm, 0, g->rank, &inner), "MPI_Comm_split");
    done(MPI_Comm_set_attr(g->comm, keyval, keep(inner, count)), "MPI_Comm_set_attr");
}

/* ---- making them ----------------------------------------------------------------------------- */

static void find_in_world(struct group *g)
{
    enum { MOST = sizeof g->world / sizeof *g->world };
    MPI_Group all, here;
    int rank[MOST];

    if (g->ranks > MOST)
        return;
    for (int i = 0; i < g->ranks; i++)
        rank[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(g->comm, &here);
    MPI_Group_translate_ranks(here, g->ranks, rank, all, g->world);
    MPI_Group_free(&here);
    MPI_Group_free(&all);
}

/* A name that its ranks share: who is first in it, and when it was made. */
static void know(struct group *g, uint64_t number)
{
    int first = world_rank;

    if (g->comm == MPI_COMM_NULL)
        return;
    MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(g->comm, &g->rank);
    MPI_Comm_size(g->comm, &g->ranks);
    done(MPI_Bcast(&first, 1, MPI_INT, 0, g->comm), "MPI_Bcast on a new communicator");
    find_in_world(g);
    g->id = mix(((number + 1) * FUZZ_THREADS + (uint64_t)fuzz_thread()) * 4099 + (uint64_t)first);
}

/* Uneven ones, some ranks in none, ranks in any order. */
static void split(struct fuzz_random *r, uint64_t number, MPI_Comm from, MPI_Comm *made)
{
    struct fuzz_random mine = fuzz_draw(number, 1000 + (uint64_t)world_rank);
    size_t colors = 1 + fuzz_below(r, 3);
    bool reversed = fuzz_chance(r, 2), not_all = fuzz_chance(r, 3);
    int color = (int)fuzz_below(&mine, colors),
        key = reversed ? -world_rank : (int)fuzz_below(&mine, 100);

    done(MPI_Comm_split(from, not_all && fuzz_chance(&mine, 4) ? MPI_UNDEFINED : color, key, made),
         "MPI_Comm_split");
}

/* A grid, or its rows or columns. */
static void grid(struct fuzz_random *r, MPI_Comm *made)
{
    int dims[2] = { 0, 0 }, periods[2] = { (int)fuzz_below(r, 2), (int)fuzz_below(r, 2) },
        remain[2] = { 0, 1 };
    bool part = fuzz_chance(r, 2), columns = fuzz_chance(r, 2);
    MPI_Comm whole;

    if (columns)
        remain[0] = 1, remain[1] = 0;
    MPI_Dims_create(world_ranks, 2, dims);
    done(MPI_Cart_create(world, 2, dims, periods, 1, &whole), "MPI_Cart_create");
    *made = whole;
    if (!part)
        return;
    done(MPI_Cart_sub(whole, remain, made), "MPI_Cart_sub");
    done(MPI_Comm_free(&whole), "MPI_Comm_free");
}

#ifndef TEST_SIMULATED          /* not there in SimGrid 3.32 */
static MPI_Info draw_key(struct fuzz_random *r, int ranks)
{
    int collective = (int)fuzz_below(r, COLLOPT_COLLECTIVES);
    char text[JOB_WORDS], key[64];
    MPI_Info info;

    job_algorithm(r, collective, ranks, text);
    snprintf(key, sizeof key, "collopt_%s", collopt_collective_names[collective]);
    MPI_Info_create(&info);
    MPI_Info_set(info, key, text);
    return info;
}

static int size_of(MPI_Comm comm)
{
    int ranks = 1;

    MPI_Comm_size(comm, &ranks);
    return ranks;
}

static void duplicate(struct fuzz_random *r, MPI_Comm from, MPI_Comm *made)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Request request;

    if (job.threads > 1 && on_openmpi()) {
        done(MPI_Comm_dup(from, made), "MPI_Comm_dup");
        return;
    }
    switch (fuzz_below(r, 3)) {
    case 0:
        done(MPI_Comm_idup(from, made, &request), "MPI_Comm_idup");
        done(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait for MPI_Comm_idup");
        return;
    case 1:
        info = draw_key(r, size_of(from));
        done(MPI_Comm_dup_with_info(from, info, made), "MPI_Comm_dup_with_info");
        MPI_Info_free(&info);
        return;
    default:
        done(MPI_Comm_dup(from, made), "MPI_Comm_dup");
    }
}

/* Some of FROM's ranks.  ALONE: the others need not call; then Open MPI 4.1 sends messages with the
 * program's tag, which a wildcard of the program's would take. */
static void subset(struct fuzz_random *r, uint64_t number, MPI_Comm from, bool alone,
                   MPI_Comm *made)
{
    int ranks = size_of(from), n = 0, rank[256], me;
    uint64_t bits = fuzz_next(r);
    bool in = false;
    MPI_Group all, some;

    MPI_Comm_rank(from, &me);
    for (int i = 0; i < ranks && n < 256; i++)
        if (mix(bits + (uint64_t)i) % 3 != 0) {
            in = in || i == me;
            rank[n++] = i;
        }
    MPI_Comm_group(from, &all);
    MPI_Group_incl(all, n, rank, &some);
    if (!alone)
        done(MPI_Comm_create(from, some, made), "MPI_Comm_create");
    else if (in)
        done(MPI_Comm_create_group(from, some, (int)(number % 32768), made),
             "MPI_Comm_create_group");
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

/* A ring. */
static void graph(struct fuzz_random *r, MPI_Comm from, MPI_Comm *made)
{
    int ranks = size_of(from), me, index[256], edge[512], left, right, weight = 1;

    MPI_Comm_rank(from, &me);
    left = (me + ranks - 1) % ranks;
    right = (me + 1) % ranks;
    if (fuzz_chance(r, 2)) {
        done(MPI_Dist_graph_create_adjacent(from, 1, &left, &weight, 1, &right, &weight,
                                            MPI_INFO_NULL, 1, made),
             "MPI_Dist_graph_create_adjacent");
        return;
    }
    for (int i = 0; i < ranks && i < 256; i++) {
        index[i] = 2 * (i + 1);
        edge[2 * i] = (i + ranks - 1) % ranks;
        edge[2 * i + 1] = (i + 1) % ranks;
    }
    done(MPI_Graph_create(from, ranks, index, edge, 1, made), "MPI_Graph_create");
}

/* Two halves, merged in either order. */
static void merge(struct fuzz_random *r, uint64_t number, MPI_Comm *made)
{
    int lower = 1 + (int)fuzz_below(r, (size_t)world_ranks - 1), me;
    bool swapped = fuzz_chance(r, 2), low;
    MPI_Comm half, between;

    MPI_Comm_rank(world, &me);
    low = me < lower;
    done(MPI_Comm_split(world, low, me, &half), "MPI_Comm_split");
    done(MPI_Intercomm_create(half, 0, world, low ? lower : 0, (int)(number % 32768), &between),
         "MPI_Intercomm_create");
    done(MPI_Intercomm_merge(between, low == swapped, made), "MPI_Intercomm_merge");
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}
#endif

enum {
    MAKE_DUP,
    MAKE_SPLIT = 3,
    MAKE_GRID = 6,
    MAKE_SELF = 8,
    MAKE_SUBSET,
    MAKE_GRAPH,
    MAKE_MERGED,
    MAKE_TYPE,
    MAKES
};

/* Those that are not in FROM have none of the new one either, but know of it what all know. */
static void make(struct group *g, uint64_t number)
{
    struct fuzz_random r = fuzz_draw(number, 4);
    size_t what = fuzz_below(&r, MAKES);
    const struct group *from = group_of(fuzz_below(&r, GROUPS));

    if (from == g)
        from = &groups[0];
#ifdef TEST_SIMULATED
    what %= MAKE_SUBSET;
#else
    /* 4.1 hangs where threads make others at the same time, or from communicators with different
     * ranks (doc/hosts.md) */
    if (job.threads > 1 && on_openmpi()) {
        what = what % 2 ? MAKE_SPLIT : MAKE_DUP;
        from = &groups[0];
    }
#endif
    g->attribute = what < MAKE_SPLIT && from->attribute;
    if (what >= MAKE_GRID && what < MAKE_SELF)
        grid(&r, &g->comm);
    else if (what == MAKE_SELF)
        done(MPI_Comm_dup(MPI_COMM_SELF, &g->comm), "MPI_Comm_dup of MPI_COMM_SELF");
#ifdef TEST_SIMULATED
    else if (from->comm != MPI_COMM_NULL && what < MAKE_SPLIT)
        MPI_Comm_dup(from->comm, &g->comm);
#else
    /* leaders send messages with the program's tag */
    else if (what == MAKE_MERGED && world_ranks > 1 && groups[0].users == 0)
        merge(&r, number, &g->comm);
    else if (from->comm == MPI_COMM_NULL)
        return;
    else if (what < MAKE_SPLIT)
        duplicate(&r, from->comm, &g->comm);
    else if (what == MAKE_SUBSET)
        subset(&r, number, from->comm, from->users == 0 && fuzz_chance(&r, 2), &g->comm);
    else if (what == MAKE_GRAPH)
        graph(&r, from->comm, &g->comm);
    else if (what == MAKE_TYPE)
        done(MPI_Comm_split_type(from->comm, MPI_COMM_TYPE_SHARED, -world_rank, MPI_INFO_NULL,
                                 &g->comm),
             "MPI_Comm_split_type");
#endif
    else if (from->comm != MPI_COMM_NULL)
        split(&r, number, from->comm, &g->comm);
    know(g, number);
}

static void release(struct group *g, bool disconnect)
{
    g->attribute = false;
    if (g->comm == MPI_COMM_NULL)
        return;
    done(disconnect ? MPI_Comm_disconnect(&g->comm) : MPI_Comm_free(&g->comm),
         disconnect ? "MPI_Comm_disconnect" : "MPI_Comm_free");
}

/* Not while something of the user's is under way on it, which all ranks know, those that have none
 * too. */
void groups_renew(uint64_t number)
{
    struct fuzz_random r = fuzz_draw(number, 5);
    struct group *g = group_of(1 + fuzz_below(&r, GROUPS - 1));

    if (g->users > 0)
        return;
    release(g, fuzz_chance(&r, 4));
    make(g, number);
}

/* Keys of ours are hints to an MPI library that does not know them. */
void groups_inform(uint64_t number)
{
#ifndef TEST_SIMULATED
    struct fuzz_random r = fuzz_draw(number, 8);
    const struct group *g = group_of(fuzz_below(&r, GROUPS));
    MPI_Info info;

    if (g->comm == MPI_COMM_NULL)
        return;
    info = draw_key(&r, g->ranks);
    done(MPI_Comm_set_info(g->comm, info), "MPI_Comm_set_info");
    MPI_Info_free(&info);
#else
    (void)number;
#endif
}

/* ---- freed while a receive is pending -------------------------------------------------------- */

enum { INTS = 20000, ORPHANS = 3, NOBODY = -1 };

OWN struct orphan {
    bool under_way, cancelled;
    MPI_Request received, sent; /* MPI_REQUEST_NULL: not by this rank */
    int n, number, *in, *out;
} orphans[ORPHANS];

#ifndef TEST_SIMULATED
static void dawdle(struct fuzz_random *mine)
{
    struct timespec t = { 0, (long)fuzz_below(mine, 2000000) };

    if (fuzz_chance(mine, 2))
        nanosleep(&t, NULL);
}

/* All ranks to the next one, or one rank to another; some receives are never to be served, but
 * cancelled. */
static void begin_orphan(struct orphan *o, struct group *g, uint64_t number, struct fuzz_random *r)
{
    struct fuzz_random mine = fuzz_draw(number, 2000 + (uint64_t)world_rank);
    int to = fuzz_chance(r, 2) ? (int)fuzz_below(r, 1000) % g->ranks : NOBODY, from,
        next = (g->rank + 1) % g->ranks;
    int tag = (int)fuzz_below(r, 32768);

    *o = (struct orphan){ .under_way = true,
                          .cancelled = fuzz_chance(r, 3),
                          .received = MPI_REQUEST_NULL,
                          .sent = MPI_REQUEST_NULL,
                          .n = (int)fuzz_below(r, fuzz_chance(r, 2) ? INTS : 100),
                          .number = (int)(number & 0xffffff) };
    o->in = calloc(2 * (size_t)INTS, sizeof *o->in);
    o->out = o->in + INTS;
    from = (g->rank + g->ranks - 1) % g->ranks;
    if (to == NOBODY || to == g->rank)
        MPI_Irecv(o->in, INTS, MPI_INT, from, tag, g->comm, &o->received);
    if (o->cancelled || (to != NOBODY && to != next))
        return;
    for (int i = 0; i < o->n; i++)
        o->out[i] = o->number + i;
    dawdle(&mine);
    MPI_Isend(o->out, o->n, MPI_INT, next, tag, g->comm, &o->sent);
}
#endif

static void end_orphan(struct orphan *o)
{
    MPI_Status status;
    int n = 0;

    o->under_way = false;
    if (!o->in)                 /* not in that communicator */
        return;
    if (o->received != MPI_REQUEST_NULL) {
        if (o->cancelled)
            MPI_Cancel(&o->received);
        MPI_Wait(&o->received, &status);
        if (!o->cancelled) {
            MPI_Get_count(&status, MPI_INT, &n);
            check(n == o->n
                      && (n == 0 || (o->in[0] == o->number && o->in[n - 1] == o->number + n - 1)),
                  "%s: %d ints of %d, on a communicator that was freed meanwhile, or wrong ones",
                  fuzz_step_name(), n, o->n);
        }
    }
    MPI_Wait(&o->sent, MPI_STATUS_IGNORE);
    free(o->in);
}

void groups_orphan(uint64_t number)
{
#ifndef TEST_SIMULATED
    struct fuzz_random r = fuzz_draw(number, 13);
    struct orphan *o = &orphans[fuzz_below(&r, ORPHANS)];
    struct group *g = group_of(1 + fuzz_below(&r, GROUPS - 1));
    bool again = fuzz_chance(&r, 2);

    if (o->under_way) {
        end_orphan(o);
        return;
    }
    if (g->users > 0 || g->attribute)
        return;
    *o = (struct orphan){ .under_way = true };
    if (g->comm != MPI_COMM_NULL)
        begin_orphan(o, g, number, &r);
    release(g, false);
    if (again)
        make(g, number);
#else
    (void)number;
#endif
}

/* ---- beginning and ending -------------------------------------------------------------------- */

/* Open MPI 4.1 crashes where two threads at once make the first communicator with a topology. */
void groups_create(void)
{
    int all = world_ranks, no = 0;
    MPI_Comm grid;

    MPI_Comm_create_keyval(copied, deleted, &keyval, NULL);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &all, &no, 0, &grid);
    MPI_Comm_free(&grid);
}

void groups_begin(MPI_Comm all)
{
    world = all;
    groups[0].comm = world;
    know(&groups[0], 0);
    for (int i = 1; i < GROUPS; i++)
        groups[i].comm = MPI_COMM_NULL;
    for (int i = 1; i < GROUPS; i++)
        make(&groups[i], ((uint64_t)1 << 40) + (uint64_t)i);
}

void groups_end(void)
{
    for (int i = 0; i < ORPHANS; i++)
        if (orphans[i].under_way)
            end_orphan(&orphans[i]);
    for (int i = 1; i < GROUPS; i++)
        release(&groups[i], false);
}
