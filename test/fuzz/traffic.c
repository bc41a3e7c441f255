/* What a program does beside reductions, on the same communicators: messages that are taken by
 * wildcards or by their tags, and nonblocking and persistent collectives that stay pending over
 * some reductions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static int content(int number, int from, int i)
{
    return (int)(mix((uint64_t)number * 1000003 + (uint64_t)from * 10007 + (uint64_t)i)
                 & 0x7fffffff);
}

/* ---- messages -------------------------------------------------------------------------------- */

enum { INTS = 3000, UNDER_WAY = 3 };

/* Each rank sends one message and takes one, some steps after it has begun to wait for it. */
OWN struct exchange {
    struct group *group;        /* NULL: nothing is under way */
    MPI_Request request;
    int shift, n, number, tag;
    bool wild;
    int in[INTS], out[INTS];
} exchanges[UNDER_WAY];

static void judge_message(const struct exchange *x, const MPI_Status *status)
{
    const struct group *g = x->group;
    int n = 0, from = ((g->rank - x->shift) % g->ranks + g->ranks) % g->ranks;

    MPI_Get_count(status, MPI_INT, &n);
    check(n == x->n && status->MPI_SOURCE == from && status->MPI_TAG == x->tag,
          "%s: %s took %d ints from rank %d with tag %d, sent were %d from rank %d with tag %d",
          fuzz_step_name(), x->wild ? "a wildcard" : "a receive", n, status->MPI_SOURCE,
          status->MPI_TAG, x->n, from, x->tag);
    for (int i = 0; i < x->n; i++)
        if (x->in[i] != content(x->number, from, i)) {
            fail("%s: int %d of %d from rank %d is wrong", fuzz_step_name(), i, x->n, from);
            return;
        }
}

/* Two exchanges on one communicator would take each other's messages. */
static bool is_free(const struct group *g)
{
    for (int i = 0; i < UNDER_WAY; i++)
        if (exchanges[i].group == g)
            return false;
    return true;
}

/* Some tags are those that calls of collopt have, or might have. */
static int draw_tag(struct fuzz_random *r)
{
    return fuzz_chance(r, 2) ? (int)fuzz_below(r, 512)
        : fuzz_chance(r, 2)  ? (int)fuzz_below(r, 32768)
                             : (int)fuzz_below(r, (size_t)1 << 28);
}

static void begin_exchange(struct exchange *x, uint64_t number)
{
    static const int size[] = { 0, 1, 8, 60, 64, 128, 1000, 1024, INTS };
    struct fuzz_random r = fuzz_draw(number, 2);
    struct group *g = group_of(fuzz_below(&r, GROUPS));

    if (!is_free(g))
        return;
    x->group = g;
    x->number = (int)(number & 0xffffff);
    x->shift = 1 + (int)fuzz_below(&r, 7);
    x->n = size[fuzz_below(&r, sizeof size / sizeof *size)];
    x->tag = draw_tag(&r);
    x->wild = !fuzz_chance(&r, 4);
    g->users++;
    if (g->comm == MPI_COMM_NULL)
        return;
    if (x->wild)
        MPI_Irecv(x->in, INTS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, g->comm, &x->request);
    else
        MPI_Irecv(x->in, INTS, MPI_INT, ((g->rank - x->shift) % g->ranks + g->ranks) % g->ranks,
                  x->tag, g->comm, &x->request);
}

/* The barrier keeps the messages of a rank that is ahead from this exchange's wildcards. */
static void end_exchange(struct exchange *x)
{
    struct group *g = x->group;
    MPI_Request sent;
    MPI_Status status;

    g->users--;
    if (g->comm != MPI_COMM_NULL) {
        for (int i = 0; i < x->n; i++)
            x->out[i] = content(x->number, g->rank, i);
        MPI_Isend(x->out, x->n, MPI_INT, (g->rank + x->shift) % g->ranks, x->tag, g->comm, &sent);
        MPI_Wait(&x->request, &status);
        judge_message(x, &status);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        MPI_Barrier(g->comm);
    }
    x->group = NULL;
}

void traffic_exchange(uint64_t number)
{
    struct fuzz_random r = fuzz_draw(number, 9);
    struct exchange *x = &exchanges[fuzz_below(&r, UNDER_WAY)];

    if (x->group)
        end_exchange(x);
    else
        begin_exchange(x, number);
}

void traffic_probe(uint64_t number)
{
    (void)number;
    for (size_t i = 0; i < GROUPS; i++) {
        const struct group *g = group_of(i);
        MPI_Status status;
        int there = 0, n = 0;

        if (g->comm == MPI_COMM_NULL)
            continue;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, g->comm, &there, &status);
        if (there)
            MPI_Get_count(&status, MPI_INT, &n);
        for (int k = 0; k < UNDER_WAY; k++)
            check(!there || exchanges[k].group != g || !exchanges[k].wild,
                  "%s: a probe finds %d ints from rank %d with tag %d, which the wildcard should "
                  "have taken",
                  fuzz_step_name(), n, status.MPI_SOURCE, status.MPI_TAG);
    }
}

/* ---- nonblocking and persistent collectives -------------------------------------------------- */

enum { PENDING = 500 };
#ifdef TEST_SIMULATED           /* SimGrid 3.32 takes messages of one for those of another */
enum { SORTS_THERE = 3 };
#else
enum { SORTS_THERE = 7 };
#endif
enum sort { SUM, BROADCAST, BARRIER, REDUCE, SCAN, EXSCAN, SCATTER, SORTS };

OWN struct pending {
    struct group *group;        /* NULL: nothing is under way */
    MPI_Request request;
    enum sort sort;
    bool persistent;
    int number, root, n;        /* N ints; of each rank, where they are scattered */
    int *in, *out;
} pending[UNDER_WAY];

static const char *const sort_names[SORTS] = {
    "sum", "broadcast", "barrier", "sum at one rank", "scan", "exclusive scan", "scattered sum"
};

static int pending_value(const struct pending *p, int rank, int i)
{
    return content(p->number, rank, i) & 0xffff;
}

#if COLLOPT_HAVE_PERSISTENT
# define INIT(name) MPI_##name##_init
#elif COLLOPT_HAVE_PERSISTENT_X
# include <mpi-ext.h>
# define INIT(name) MPIX_##name##_init
#endif

/* A reduction; others are not persistent here. */
static void make_persistent(struct pending *p, MPI_Comm comm)
{
#ifdef INIT
    const MPI_Info none = MPI_INFO_NULL;

    switch (p->sort) {
    case SUM:
        INIT(Allreduce)(p->in, p->out, p->n, MPI_INT, MPI_SUM, comm, none, &p->request);
        break;
    case REDUCE:
        INIT(Reduce)(p->in, p->out, p->n, MPI_INT, MPI_SUM, p->root, comm, none, &p->request);
        break;
    case SCAN:
        INIT(Scan)(p->in, p->out, p->n, MPI_INT, MPI_SUM, comm, none, &p->request);
        break;
    case EXSCAN:
        INIT(Exscan)(p->in, p->out, p->n, MPI_INT, MPI_SUM, comm, none, &p->request);
        break;
    case SCATTER:
        INIT(Reduce_scatter_block)(p->in, p->out, p->n, MPI_INT, MPI_SUM, comm, none, &p->request);
        break;
    default:
        p->persistent = false;
    }
#else
    (void)comm;
    p->persistent = false;
#endif
}

static void start(struct pending *p, MPI_Comm comm)
{
    if (p->persistent)
        make_persistent(p, comm);
    if (p->persistent) {
        MPI_Start(&p->request);
        return;
    }
    switch (p->sort) {
    case SUM:
        MPI_Iallreduce(p->in, p->out, p->n, MPI_INT, MPI_SUM, comm, &p->request);
        return;
    case BROADCAST:
        MPI_Ibcast(p->out, p->n, MPI_INT, p->root, comm, &p->request);
        return;
    case REDUCE:
        MPI_Ireduce(p->in, p->out, p->n, MPI_INT, MPI_SUM, p->root, comm, &p->request);
        return;
    case SCAN:
        MPI_Iscan(p->in, p->out, p->n, MPI_INT, MPI_SUM, comm, &p->request);
        return;
    case EXSCAN:
        MPI_Iexscan(p->in, p->out, p->n, MPI_INT, MPI_SUM, comm, &p->request);
        return;
    case SCATTER:
        MPI_Ireduce_scatter_block(p->in, p->out, p->n, MPI_INT, MPI_SUM, comm, &p->request);
        return;
    default:
        MPI_Ibarrier(comm, &p->request);
    }
}

/* One of them at a time on a communicator is enough. */
static bool none_on(const struct group *g)
{
    for (int i = 0; i < UNDER_WAY; i++)
        if (pending[i].group == g)
            return false;
    return true;
}

static void begin_pending(struct pending *p, uint64_t number)
{
    struct fuzz_random r = fuzz_draw(number, 3);
    struct group *g = group_of(fuzz_below(&r, GROUPS));
    size_t all;

    if (!none_on(g))
        return;
    p->group = g;
    p->sort = (enum sort)fuzz_below(&r, SORTS_THERE);
    p->number = (int)(number & 0xffffff);
    p->n = (int)fuzz_below(&r, PENDING);
    p->root = (int)(fuzz_next(&r) >> 33);
    p->persistent = fuzz_below(&r, 2) == 0;
    g->users++;
    if (g->comm == MPI_COMM_NULL)
        return;
    p->root %= g->ranks;
    all = (size_t)p->n * (p->sort == SCATTER ? (size_t)g->ranks : 1);
    p->in = malloc(2 * (all + 1) * sizeof *p->in);
    p->out = p->in + all + 1;
    for (size_t i = 0; i < all; i++) {
        p->in[i] = pending_value(p, g->rank, (int)i);
        p->out[i] = p->sort == BROADCAST && g->rank == p->root ? p->in[i] : -1;
    }
    start(p, g->comm);
}

/* What element I should be here; -1: nothing was written. */
static int right(const struct pending *p, int i)
{
    const struct group *g = p->group;
    int ranks = p->sort == SCAN ? g->rank + 1 : p->sort == EXSCAN ? g->rank : g->ranks, sum = 0;

    if (p->sort == BROADCAST)
        return pending_value(p, p->root, i);
    if ((p->sort == REDUCE && g->rank != p->root) || (p->sort == EXSCAN && g->rank == 0))
        return -1;
    for (int r = 0; r < ranks; r++)
        sum += pending_value(p, r, p->sort == SCATTER ? g->rank * p->n + i : i);
    return sum;
}

static void judge_pending(const struct pending *p)
{
    for (int i = 0; i < p->n && p->sort != BARRIER; i++) {
        int r = right(p, i);

        if (p->out[i] != r && !(p->sort == EXSCAN && p->group->rank == 0)) {
            fail("%s: a %s %s that was pending meanwhile: int %d of %d is %d, should be %d",
                 fuzz_step_name(),
                 p->persistent ? "persistent" : "nonblocking", sort_names[p->sort], i, p->n,
                     p->out[i], r);
            return;
        }
    }
}

static void end_pending(struct pending *p)
{
    struct group *g = p->group;

    g->users--;
    if (g->comm != MPI_COMM_NULL) {
        MPI_Wait(&p->request, MPI_STATUS_IGNORE);
        judge_pending(p);
        if (p->persistent)
            MPI_Request_free(&p->request);
        free(p->in);
    }
    p->group = NULL;
}

void traffic_collective(uint64_t number)
{
    struct fuzz_random r = fuzz_draw(number, 10);
    struct pending *p = &pending[fuzz_below(&r, UNDER_WAY)];

    if (p->group)
        end_pending(p);
    else
        begin_pending(p, number);
}

void traffic_end(void)
{
    for (int i = 0; i < UNDER_WAY; i++) {
        if (exchanges[i].group)
            end_exchange(&exchanges[i]);
        if (pending[i].group)
            end_pending(&pending[i]);
    }
}
