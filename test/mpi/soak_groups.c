/* Communicators for the soak, made of one another and freed again, and the rest of a program's traffic on them: messages
 * that are taken by wildcards, and nonblocking collectives that stay pending over some reductions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "soak.h"

static struct soak_group groups[SOAK_GROUPS];

struct soak_group *soak_group(size_t i)
{
    return &groups[i % SOAK_GROUPS];
}

/* ---- messages with wildcards ------------------------------------------------------------------------------------- */

enum { INTS = 3000, NONE = -1 };

/* Each rank sends one message and takes one from anywhere, some steps after it has begun to wait for it. */
static struct exchange {
    int slot;                   /* where; NONE: nothing is under way */
    MPI_Request request;
    int shift, n, number, tag;
    int in[INTS], out[INTS];
} exchange = { .slot = NONE };

static int content(int number, int from, int i)
{
    return (int)(mix((uint64_t)number * 1000003 + (uint64_t)from * 10007 + (uint64_t)i) & 0x7fffffff);
}

static void judge_message(const MPI_Status *status, const struct soak_group *g)
{
    int n = 0, from = ((g->rank - exchange.shift) % g->ranks + g->ranks) % g->ranks;

    MPI_Get_count(status, MPI_INT, &n);
    check(n == exchange.n && status->MPI_SOURCE == from && status->MPI_TAG == exchange.tag,
          "a wildcard took %d ints from rank %d with tag %d, sent were %d from rank %d with tag %d", n, status->MPI_SOURCE,
          status->MPI_TAG, exchange.n, from, exchange.tag);
    for (int i = 0; i < exchange.n; i++)
        if (exchange.in[i] != content(exchange.number, from, i)) {
            fail("int %d of %d from rank %d is wrong", i, exchange.n, from);
            return;
        }
}

static void exchange_begin(uint64_t number)
{
    static const int size[] = { 1, 8, 60, 64, 128, 1000, 1024, INTS };
    struct soak_random r = soak_draw(number, 2);
    struct soak_group *g;

    exchange.slot = (int)soak_below(&r, SOAK_GROUPS);
    exchange.number = (int)(number & 0xffffff);
    exchange.shift = 1 + (int)soak_below(&r, 7);
    exchange.n = size[soak_below(&r, sizeof size / sizeof *size)];
    exchange.tag = (int)soak_below(&r, 32768);
    g = &groups[exchange.slot];
    if (g->comm != MPI_COMM_NULL)
        MPI_Irecv(exchange.in, INTS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, g->comm, &exchange.request);
}

/* The barrier keeps the messages of a rank that is ahead from this exchange's wildcards. */
static void exchange_end(void)
{
    const struct soak_group *g = &groups[exchange.slot];
    MPI_Request sent;
    MPI_Status status;

    exchange.slot = NONE;
    if (g->comm == MPI_COMM_NULL)
        return;
    for (int i = 0; i < exchange.n; i++)
        exchange.out[i] = content(exchange.number, g->rank, i);
    MPI_Isend(exchange.out, exchange.n, MPI_INT, (g->rank + exchange.shift) % g->ranks, exchange.tag, g->comm, &sent);
    MPI_Wait(&exchange.request, &status);
    judge_message(&status, g);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Barrier(g->comm);
}

void soak_exchange(uint64_t number)
{
    if (exchange.slot == NONE)
        exchange_begin(number);
    else
        exchange_end();
}

void soak_probe(void)
{
    for (int i = 0; i < SOAK_GROUPS; i++) {
        MPI_Status status;
        int there = 0, n = 0;

        if (groups[i].comm == MPI_COMM_NULL)
            continue;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, groups[i].comm, &there, &status);
        if (there)
            MPI_Get_count(&status, MPI_INT, &n);
        check(!there || exchange.slot == NONE || i != exchange.slot,
              "a probe finds %d ints from rank %d with tag %d, which the wildcard should have taken", n, status.MPI_SOURCE,
              status.MPI_TAG);
    }
}

/* ---- nonblocking collectives ------------------------------------------------------------------------------------- */

enum { PENDING = 500 };

static struct pending {
    int slot;                   /* NONE: nothing is under way */
    MPI_Request request;
    enum { SUM, BROADCAST, BARRIER, SORTS } sort;
    int number, in[PENDING], out[PENDING];
} pending = { .slot = NONE };

static int pending_value(int rank, int i)
{
    return content(pending.number, rank, i) & 0xffff;
}

static void pending_begin(uint64_t number)
{
    struct soak_random r = soak_draw(number, 3);
    const struct soak_group *g;

    pending.slot = (int)soak_below(&r, SOAK_GROUPS);
    pending.sort = (unsigned)soak_below(&r, SORTS);
    pending.number = (int)(number & 0xffffff);
    g = &groups[pending.slot];
    if (g->comm == MPI_COMM_NULL)
        return;
    for (int i = 0; i < PENDING; i++) {
        pending.in[i] = pending_value(g->rank, i);
        pending.out[i] = pending.sort == BROADCAST && g->rank == 0 ? pending.in[i] : -1;
    }
    if (pending.sort == SUM)
        MPI_Iallreduce(pending.in, pending.out, PENDING, MPI_INT, MPI_SUM, g->comm, &pending.request);
    else if (pending.sort == BROADCAST)
        MPI_Ibcast(pending.out, PENDING, MPI_INT, 0, g->comm, &pending.request);
    else
        MPI_Ibarrier(g->comm, &pending.request);
}

static void pending_end(void)
{
    const struct soak_group *g = &groups[pending.slot];

    pending.slot = NONE;
    if (g->comm == MPI_COMM_NULL)
        return;
    MPI_Wait(&pending.request, MPI_STATUS_IGNORE);
    for (int i = 0; i < PENDING && pending.sort != BARRIER; i++) {
        int right = 0;

        for (int r = 0; r < (pending.sort == SUM ? g->ranks : 1); r++)
            right += pending_value(r, i);
        if (pending.out[i] != right) {
            fail("a nonblocking %s that was pending meanwhile: int %d is %d, should be %d",
                 pending.sort == SUM ? "sum" : "broadcast", i, pending.out[i], right);
            return;
        }
    }
}

void soak_pending(uint64_t number)
{
    if (pending.slot == NONE)
        pending_begin(number);
    else
        pending_end();
}

/* ---- making them ------------------------------------------------------------------------------------------------- */

/* A name that its ranks share: who is first in it, and when it was made. */
static void know(struct soak_group *g, uint64_t number)
{
    int first = world_rank;

    if (g->comm == MPI_COMM_NULL)
        return;
    MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(g->comm, &g->rank);
    MPI_Comm_size(g->comm, &g->ranks);
    MPI_Bcast(&first, 1, MPI_INT, 0, g->comm);
    g->id = mix((number + 1) * 4099 + (uint64_t)first);
}

/* Uneven ones, some ranks in none, ranks in any order. */
static void split(struct soak_random *r, uint64_t number, MPI_Comm from, MPI_Comm *made)
{
    struct soak_random mine = soak_draw(number, 1000 + (uint64_t)world_rank);
    size_t colors = 1 + soak_below(r, 3);
    bool reversed = soak_chance(r, 2), not_all = soak_chance(r, 3);
    int color = (int)soak_below(&mine, colors), key = reversed ? -world_rank : (int)soak_below(&mine, 100);

    MPI_Comm_split(from, not_all && soak_chance(&mine, 4) ? MPI_UNDEFINED : color, key, made);
}

/* A grid, or its rows or columns. */
static void grid(struct soak_random *r, MPI_Comm *made)
{
    int dims[2] = { 0, 0 }, periods[2] = { (int)soak_below(r, 2), (int)soak_below(r, 2) }, remain[2] = { 0, 1 };
    bool part = soak_chance(r, 2), columns = soak_chance(r, 2);
    MPI_Comm whole;

    if (columns)
        remain[0] = 1, remain[1] = 0;
    MPI_Dims_create(world_ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &whole);
    *made = whole;
    if (!part)
        return;
    MPI_Cart_sub(whole, remain, made);
    MPI_Comm_free(&whole);
}

static void duplicate(struct soak_random *r, MPI_Comm from, MPI_Comm *made)
{
#ifndef TEST_SIMULATED          /* not there in SimGrid 3.32 */
    MPI_Request request;

    if (soak_chance(r, 2)) {
        MPI_Comm_idup(from, made, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
#endif
    (void)r;
    MPI_Comm_dup(from, made);
}

static void make(struct soak_group *g, uint64_t number)
{
    struct soak_random r = soak_draw(number, 4);
    size_t what = soak_below(&r, 8);
    const struct soak_group *from = soak_group(soak_below(&r, SOAK_GROUPS));

    if (from == g || what == 0)
        from = &groups[0];
    if (what >= 6)
        grid(&r, &g->comm);
    else if (what == 5)
        MPI_Comm_dup(MPI_COMM_SELF, &g->comm);
    else if (from->comm != MPI_COMM_NULL && what <= 1)
        duplicate(&r, from->comm, &g->comm);
    else if (from->comm != MPI_COMM_NULL)
        split(&r, number, from->comm, &g->comm);
    know(g, number);
}

static void release(struct soak_group *g, bool disconnect)
{
    if (g->comm == MPI_COMM_NULL)
        return;
    if (disconnect)
        MPI_Comm_disconnect(&g->comm);
    else
        MPI_Comm_free(&g->comm);
}

/* Not while something of the user's is under way on it, which all ranks know, those that have none too. */
void soak_groups_renew(uint64_t number)
{
    struct soak_random r = soak_draw(number, 5);
    int slot = 1 + (int)soak_below(&r, SOAK_GROUPS - 1);

    if (slot == exchange.slot || slot == pending.slot)
        return;
    release(&groups[slot], soak_chance(&r, 4));
    make(&groups[slot], number);
}

/* Keys of ours are hints to an MPI library that does not know them. */
void soak_groups_inform(uint64_t number)
{
#ifndef TEST_SIMULATED
    struct soak_random r = soak_draw(number, 8);
    const struct soak_group *g = soak_group(soak_below(&r, SOAK_GROUPS));
    int collective = (int)soak_below(&r, COLLOPT_COLLECTIVES);
    char text[SOAK_WORDS], key[64];
    MPI_Info info;

    if (g->comm == MPI_COMM_NULL)
        return;
    soak_algorithm(&r, collective, g->ranks, text);
    snprintf(key, sizeof key, "collopt_%s", collopt_collective_names[collective]);
    MPI_Info_create(&info);
    MPI_Info_set(info, key, text);
    MPI_Comm_set_info(g->comm, info);
    MPI_Info_free(&info);
#else
    (void)number;
#endif
}

void soak_groups_begin(void)
{
    groups[0].comm = MPI_COMM_WORLD;
    know(&groups[0], 0);
    for (int i = 1; i < SOAK_GROUPS; i++)
        groups[i].comm = MPI_COMM_NULL;
    for (int i = 1; i < SOAK_GROUPS; i++)
        make(&groups[i], ((uint64_t)1 << 40) + (uint64_t)i);
}

void soak_groups_end(void)
{
    if (exchange.slot != NONE)
        exchange_end();
    if (pending.slot != NONE)
        pending_end();
    for (int i = 1; i < SOAK_GROUPS; i++)
        release(&groups[i], false);
}
