/* Long sequences of calls as programs make them, drawn at random from a seed that all ranks share.
 *
 *     mpirun -n 8 env LD_PRELOAD=libcollopt.so $(test_soak settings 17 8) test_soak SEED [STEPS [FROM [MOST]]]
 *     test_soak settings SEED RANKS
 *
 * STEPS (400): how many there are, one to four calls each.  FROM (0): calls and messages before this step are left out,
 * but communicators, datatypes and operations are made as ever, so that a failure can be looked at without what led to it,
 * if it still happens then.  MOST (4 MiB): bytes of a vector.  "settings" prints settings of collopt that go with the seed.
 *
 * The other tests make one call at a time, and know what to expect of it.  This is about what one call may do to another,
 * and nobody would notice:
 *
 *     a message of one call is taken by another   tags come round, ranks run ahead, a communicator is freed while messages
 *                                                 of its hidden one are under way; so inputs are others in every call and
 *                                                 on every communicator, and calls follow one another without a barrier
 *     a message of ours is taken by the user      wildcards are posted meanwhile, and probes look
 *     a plan or a schedule serves another call    favourite calls come again, on each communicator others, with another
 *                                                 root or shares, with handles that mean something else by now
 *     scratch is used again too early             long calls between short ones, scratch kept or not
 *     a message is cut at the wrong place         lengths around all thresholds, in elements of all sizes
 *     ranks choose differently                    layouts, alignment and what is in place differ by rank
 *     operands change places                      operations that do not commute
 *     what is not ours is written                 everything around results is poison, which is looked at; and inputs
 *     a call is never ours, and so always right   how many were is counted
 *
 * Inputs repeat after a prime number of elements, so that what is right is known without computing every element; nothing is
 * cut at a multiple of these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"
#include "soak.h"

uint64_t soak_seed;

enum { MOST_RANKS = 128, LANES = 4, PRIMES = 3, PERIOD = 2003, MARGIN = 192, LOCAL = COLLOPT_COLLECTIVES };

static size_t most_bytes = (size_t)4 << 20;

/* ---- a call ------------------------------------------------------------------------------------------------------ */

struct call {
    const struct soak_group *group;
    int collective;             /* enum collopt_collective, or LOCAL */
    struct soak_kind what;
    size_t count;               /* elements in the vector of one rank */
    size_t share[MOST_RANKS];   /* of each rank, where results are scattered */
    int root;
    bool in_place, large;
    size_t salt, period;        /* element i has the value number salt + i % period */
};

static const char *const names[] = {
    [COLLOPT_REDUCE] = "Reduce", [COLLOPT_ALLREDUCE] = "Allreduce", [COLLOPT_REDUCE_SCATTER] = "Reduce_scatter",
    [COLLOPT_REDUCE_SCATTER_BLOCK] = "Reduce_scatter_block", [COLLOPT_SCAN] = "Scan", [COLLOPT_EXSCAN] = "Exscan",
    [LOCAL] = "Reduce_local"
};

static bool scatters(const struct call *c)
{
    return c->collective == COLLOPT_REDUCE_SCATTER || c->collective == COLLOPT_REDUCE_SCATTER_BLOCK;
}

static bool has_result(const struct call *c)
{
    return c->collective != COLLOPT_REDUCE || c->group->rank == c->root;
}

static bool is_in_place(const struct call *c)
{
    return c->in_place && has_result(c);
}

static const struct element *element_of(const struct call *c)
{
    return &c->what.kind.element[c->group->rank % 2];
}

/* Elements that the receive buffer has. */
static size_t results(const struct call *c)
{
    return scatters(c) && !c->in_place ? c->share[c->group->rank] : c->count;
}

static void describe(const struct call *c, uint64_t number, int lane, char *text, size_t size)
{
    const struct kind *k = &c->what.kind;
    const struct element *e = element_of(c);

    snprintf(text, size, "seed %llu step %llu.%d: %s%s np=%d group=%llx op=%s type=%s at=%ld,%ld of %ld count=%zu share=%zu "
             "root=%d %s", (unsigned long long)soak_seed, (unsigned long long)number, lane, names[c->collective],
             c->large ? "_c" : "", c->group->ranks, (unsigned long long)(c->group->id & 0xffffff), k->op_name, k->type_name,
             (long)e->at[0], (long)e->at[1], (long)e->extent, c->count, scatters(c) ? c->share[c->group->rank] : 0, c->root,
             c->in_place ? "in_place" : "apart");
}

/* ---- drawing one ------------------------------------------------------------------------------------------------- */

/* Bytes where the way of a message changes: select/cuts.c, select/measured.c, the hosts' eager limits. */
static size_t threshold(struct soak_random *r)
{
    static const size_t bytes[] = { 256, 512, 1024, 2048, 4000, 4096, 8192, 12288, 16384, 32768, 49152, 65536, 131072, 262144,
                                    524288, 1048576, 2097152, 4194304, 8388608, 16777216 };
    enum { N = sizeof bytes / sizeof *bytes };
    size_t most = soak_chance(r, 12) ? N : soak_chance(r, 4) ? N - 5 : 11;

    return bytes[soak_below(r, most)];
}

static size_t draw_count(struct soak_random *r, const struct call *c)
{
    const struct element *e = c->what.kind.element;
    size_t p = (size_t)c->group->ranks, n, most = most_bytes / (size_t)(e[0].extent > e[1].extent ? e[0].extent : e[1].extent);
    size_t size = part_size(e[0].part[0]) * (size_t)e[0].parts, unit = soak_chance(r, 2) ? size : (size_t)e[0].extent;

    switch (soak_below(r, 6)) {
    case 0:
        n = soak_below(r, 40);
        break;
    case 1:
        n = p * soak_below(r, 8) + soak_below(r, 3);
        n -= n > 0;
        break;
    case 2:                     /* parts of that length */
        n = threshold(r) / unit * p + soak_below(r, 3) - 1;
        break;
    default:
        n = threshold(r) / unit + soak_below(r, 3) - 1;
    }
    if (n > most)
        n = most - soak_below(r, 3);
    return n > c->what.most ? c->what.most - soak_below(r, 2) : n;
}

static void share_evenly(struct call *c)
{
    size_t p = (size_t)c->group->ranks;

    for (size_t i = 0; i < p; i++)
        c->share[i] = c->count / p + (i < c->count % p);
}

/* Evenly, to one rank, or some to some. */
static void share_out(struct soak_random *r, struct call *c)
{
    size_t p = (size_t)c->group->ranks, left = c->count, how = soak_below(r, 4);

    share_evenly(c);
    if (c->collective == COLLOPT_REDUCE_SCATTER_BLOCK) {
        c->count = c->share[p - 1] * p;
        share_evenly(c);
    } else if (how == 0) {
        memset(c->share, 0, sizeof c->share);
        c->share[soak_below(r, p)] = c->count;
    } else if (how == 1) {
        for (size_t i = 0; i < p; i++, left -= c->share[i - 1]) {
            c->share[i] = soak_chance(r, 3) ? 0 : soak_below(r, 2 * c->count / p + 1);
            c->share[i] = c->share[i] > left || i == p - 1 ? left : c->share[i];
        }
    }
}

/* HOST: the MPI library's own collective may run. */
static struct call draw_shape(const struct soak_group *g, uint64_t number, bool host)
{
    struct soak_random random = soak_draw(number, g->id), *r = &random;
    struct call c = { .group = g };

    c.collective = (int)soak_below(r, soak_chance(r, 20) ? LOCAL + 1 : LOCAL);
    do
        c.what = soak_kind(r);
    while (host && !soak_kind_trusted(&c.what.kind));
    c.count = draw_count(r, &c);
    c.in_place = soak_chance(r, 3) && c.collective != LOCAL;
    c.root = c.collective == COLLOPT_REDUCE ? (int)soak_below(r, (size_t)g->ranks) : 0;
    c.large = soak_chance(r, 4);
#if MPI_VERSION < 4
    c.large = false;
#endif
    share_out(r, &c);
    return c;
}

/* The same in all but one thing that its plan depends on. */
static void vary(struct soak_random *r, struct call *c)
{
    if (c->collective == COLLOPT_REDUCE)
        c->root = (int)soak_below(r, (size_t)c->group->ranks);
    else if (c->collective == COLLOPT_REDUCE_SCATTER && soak_chance(r, 2))
        share_out(r, c);
    else if (c->collective != LOCAL)
        c->in_place = !c->in_place;
}

/* One of this communicator's favourites, or another. */
static struct call draw_call(const struct soak_group *g, uint64_t number, int lane, bool host)
{
    static const size_t prime[PRIMES] = { 127, 1009, PERIOD };
    struct soak_random r = soak_draw(number * LANES + (uint64_t)lane, ~g->id);
    bool favourite = soak_chance(&r, 2);
    size_t which = soak_below(&r, 1 + soak_below(&r, 8));
    struct call c = draw_shape(g, favourite ? which : 1000 + number * LANES + (uint64_t)lane, host);

    if (favourite && soak_chance(&r, 2))
        vary(&r, &c);
#ifdef MPICH                    /* whose MPI_Reduce in place crashes with another root, as test_collectives.c says */
    c.root = host && c.in_place ? 0 : c.root;
#endif
    c.salt = (size_t)(soak_next(&r) >> 16);
    c.period = prime[soak_below(&r, PRIMES)];
    return c;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Behind a vector, and before it, is poison; behind that a page that may not be touched. */
struct arena {
    char *pages;
    size_t size;
};

struct buffer {
    char *start;                /* of the poison before the vector */
    char *first;                /* the address of element 0 */
    size_t bytes;               /* all */
    int poison;
};

static struct arena arenas[LANES][2];
static char *image;             /* what a buffer should look like */
static struct soak_random mine; /* of this rank alone */

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Of the lanes only the first has room for long vectors. */
static size_t room_of(int lane)
{
    return lane == 0 ? most_bytes + most_bytes / 2 + 65536 : 262144;
}

static void open_arenas(void)
{
    size_t page = page_size();

    for (int i = 0; i < 2 * LANES; i++) {
        struct arena *a = &arenas[i / 2][i % 2];

        a->size = (room_of(i / 2) + page - 1) / page * page;
        a->pages = mmap(NULL, a->size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (a->pages == MAP_FAILED || mprotect(a->pages, a->size, PROT_READ | PROT_WRITE)) {
            perror("mmap");
            exit(99);
        }
    }
    image = malloc(room_of(0) + page);
}

static size_t span_of(const struct element *e, size_t n)
{
    return n ? (n - 1) * (size_t)e->extent + (size_t)(e->high - e->low) : 0;
}

/* N elements, at the end of the arena or somewhat before it: as aligned as an element must be. */
static struct buffer place(const struct arena *a, const struct element *e, size_t n)
{
    size_t behind = soak_chance(&mine, 2) ? 0 : 16 * (1 + soak_below(&mine, 6)), span = span_of(e, n);
    size_t over = span % 16;
    char *from = a->pages + a->size - behind - span - (e->part[0] == FL && over ? 16 - over : 0);
    struct buffer b = { from - MARGIN, from - e->low, 0, 0x21 + (int)soak_below(&mine, 90) };

    b.bytes = (size_t)(a->pages + a->size - b.start);
    memset(b.start, b.poison, b.bytes);
    return b;
}

static void allow(struct buffer b, int access)
{
    size_t into_page = (uintptr_t)b.start % page_size();

    mprotect(b.start - into_page, b.bytes + into_page, access);
}

/* ---- what is right ----------------------------------------------------------------------------------------------- */

struct expectation {
    size_t from, n;             /* these elements of the vector of results ... */
    int first, ranks;           /* ... combined over so many ranks; 0: nothing is written */
};

static struct expectation expected(const struct call *c)
{
    struct expectation e = { 0, c->count, 0, c->group->ranks };

    if (scatters(c)) {
        for (int r = 0; r < c->group->rank; r++)
            e.from += c->share[r];
        e.n = c->share[c->group->rank];
    } else if (c->collective == COLLOPT_REDUCE && !has_result(c))
        e.ranks = 0;
    else if (c->collective == COLLOPT_SCAN)
        e.ranks = c->group->rank + 1;
    else if (c->collective == COLLOPT_EXSCAN)
        e.ranks = c->group->rank;
    else if (c->collective == LOCAL)
        e.ranks = 2;
    return e;
}

/* N elements, the first of them number FROM of the vector. */
static void store(const struct call *c, const struct value *value, size_t from, size_t n, char *first)
{
    const struct element *e = element_of(c);

    for (size_t i = 0; i < n; i++)
        value_store(e, first + (ptrdiff_t)i * e->extent, value[(from + i) % c->period]);
}

static void store_input(const struct call *c, int rank, char *first)
{
    struct value value[PERIOD];

    for (size_t i = 0; i < c->period && i < c->count; i++)
        value[i] = value_of(&c->what.kind, rank, c->salt + i);
    store(c, value, 0, c->count, first);
}

static void fold(const struct call *c, int ranks, struct value *value)
{
    for (size_t i = 0; i < c->period && i < c->count; i++) {
        value[i] = value_of(&c->what.kind, 0, c->salt + i);
        for (int r = 1; r < ranks; r++)
            value[i] = value_combine(&c->what.kind, value[i], value_of(&c->what.kind, r, c->salt + i));
    }
}

/* A buffer like B in which nothing has been written yet; the address of its element 0. */
static char *image_of(const struct buffer *b)
{
    memset(image, b->poison, b->bytes);
    return image + (b->first - b->start);
}

/* Values may be equal in other bits, as zeros are, and what a long double holds beside its value is nobody's: such
 * elements are taken over. */
static bool elements_right(const struct call *c, const struct buffer *out, const struct value *right, const char *words)
{
    const struct element *e = element_of(c);
    struct expectation x = expected(c);

    for (size_t i = 0; i < x.n && x.ranks > 0; i++) {
        char *address = out->first + (ptrdiff_t)i * e->extent, *to = image + (address - out->start);
        struct value v = right[(x.from + i) % c->period], found = value_load(e, address);

        if (!value_right(&c->what.kind, found, v, 0, x.ranks)) {
            fail("%s: element %zu of %zu is %#llx %#llx %.17Lg %.17Lg, should be %#llx %#llx %.17Lg %.17Lg", words, i, x.n,
                 (unsigned long long)found.part[0].i, (unsigned long long)found.part[1].i, found.part[0].r, found.part[1].r,
                 (unsigned long long)v.part[0].i, (unsigned long long)v.part[1].i, v.part[0].r, v.part[1].r);
            return false;
        }
        for (int k = 0; k < e->parts; k++)
            memcpy(to + e->at[k], address + e->at[k], part_size(e->part[k]));
#ifdef TEST_SIMULATED           /* the simulator's messages carry what lies between the parts of a pair */
        if (e->parts == 2 && strncmp(c->what.kind.type_name, "MPI_", 4) == 0)
            memcpy(to, address, (size_t)e->extent);
#endif
    }
    return true;
}

static void compare(const struct buffer *b, const char *which, const char *words)
{
    if (memcmp(image, b->start, b->bytes) == 0)
        return;
    for (size_t i = 0; i < b->bytes; i++)
        if (image[i] != b->start[i]) {
            fail("%s: byte %ld from the %s on was overwritten (%02x instead of %02x)", words,
                 (long)(b->start + i - b->first), which, b->start[i] & 0xff, image[i] & 0xff);
            return;
        }
}

/* HOST: the call was passed on.  What lies behind the result of a Reduce_scatter in place is then written, and rank 0's
 * buffer in an Exscan may be. */
static void judge_out(const struct call *c, const struct buffer *out, bool host, const char *words)
{
    struct value value[PERIOD];
    struct expectation x = expected(c);
    char *first = image_of(out);

    if (is_in_place(c) || c->collective == LOCAL)
        store_input(c, c->collective == LOCAL ? 1 : c->group->rank, first);
    if (x.ranks > 0) {
        fold(c, x.ranks, value);
        store(c, value, x.from, x.n, first);
    }
    if (memcmp(image, out->start, out->bytes) == 0 || !elements_right(c, out, value, words))
        return;
    if (!host || (!(scatters(c) && c->in_place) && c->collective != COLLOPT_EXSCAN))
        compare(out, "receive buffer", words);
}

static void judge_in(const struct call *c, const struct buffer *in, const char *words)
{
    char *first = image_of(in);

    if (!is_in_place(c))
        store_input(c, c->collective == LOCAL ? 0 : c->group->rank, first);
    compare(in, "send buffer", words);
}

/* ---- calling ----------------------------------------------------------------------------------------------------- */

#if MPI_VERSION >= 4
static int call_large(const struct call *c, const void *in, void *out)
{
    const struct kind *k = &c->what.kind;
    MPI_Datatype type = element_of(c)->type;
    MPI_Comm comm = c->group->comm;
    MPI_Count n = (MPI_Count)c->count, counts[MOST_RANKS];

    switch (c->collective) {
    case COLLOPT_REDUCE:
        return MPI_Reduce_c(in, out, n, type, k->op, c->root, comm);
    case COLLOPT_ALLREDUCE:
        return MPI_Allreduce_c(in, out, n, type, k->op, comm);
    case COLLOPT_REDUCE_SCATTER:
        for (int r = 0; r < c->group->ranks; r++)
            counts[r] = (MPI_Count)c->share[r];
        return MPI_Reduce_scatter_c(in, out, counts, type, k->op, comm);
    case COLLOPT_REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block_c(in, out, (MPI_Count)c->share[0], type, k->op, comm);
    case COLLOPT_SCAN:
        return MPI_Scan_c(in, out, n, type, k->op, comm);
    case COLLOPT_EXSCAN:
        return MPI_Exscan_c(in, out, n, type, k->op, comm);
    default:
        return MPI_Reduce_local_c(in, out, n, type, k->op);
    }
}
#endif

static int call_plain(const struct call *c, const void *in, void *out)
{
    const struct kind *k = &c->what.kind;
    MPI_Datatype type = element_of(c)->type;
    MPI_Comm comm = c->group->comm;
    int n = (int)c->count, counts[MOST_RANKS];

    switch (c->collective) {
    case COLLOPT_REDUCE:
        return MPI_Reduce(in, out, n, type, k->op, c->root, comm);
    case COLLOPT_ALLREDUCE:
        return MPI_Allreduce(in, out, n, type, k->op, comm);
    case COLLOPT_REDUCE_SCATTER:
        for (int r = 0; r < c->group->ranks; r++)
            counts[r] = (int)c->share[r];
        return MPI_Reduce_scatter(in, out, counts, type, k->op, comm);
    case COLLOPT_REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block(in, out, (int)c->share[0], type, k->op, comm);
    case COLLOPT_SCAN:
        return MPI_Scan(in, out, n, type, k->op, comm);
    case COLLOPT_EXSCAN:
        return MPI_Exscan(in, out, n, type, k->op, comm);
    default:
        return MPI_Reduce_local(in, out, n, type, k->op);
    }
}

static int make_call(const struct call *c, const void *in, void *out)
{
#if MPI_VERSION >= 4
    if (c->large)
        return call_large(c, in, out);
#endif
    return call_plain(c, in, out);
}

static uint64_t passed(const struct call *c)
{
    char name[40];

    snprintf(name, sizeof name, "%s%s", names[c->collective], c->large ? "_c" : "");
    return calls_passed(name);
}

/* ---- calls in a row ---------------------------------------------------------------------------------------------- */

struct lane {
    struct call call;
    struct buffer in, out;
    char words[300];
    bool host;                  /* the MPI library ran it */
};

static uint64_t calls, calls_by_host;
static char doing[300];
static unsigned patience = 120; /* seconds for a call */

/* Is there room in lane I? On all ranks or on none. */
static bool fits(const struct call *c, int i)
{
    const struct element *e = c->what.kind.element;
    size_t even = span_of(&e[0], c->count), odd = span_of(&e[1], c->count);

    return (even > odd ? even : odd) + 4096 <= room_of(i);
}

static void prepare(struct lane *l, int i)
{
    const struct call *c = &l->call;
    const struct element *e = element_of(c);

    l->in = place(&arenas[i][0], e, c->count);
    l->out = place(&arenas[i][1], e, results(c));
    if (!is_in_place(c))
        store_input(c, c->collective == LOCAL ? 0 : c->group->rank, l->in.first);
    if (is_in_place(c) || c->collective == LOCAL)
        store_input(c, c->collective == LOCAL ? 1 : c->group->rank, l->out.first);
}

/* Where there is nothing to read or write, sometimes no address. */
static void run(struct lane *l)
{
    const struct call *c = &l->call;
    bool guarded = soak_chance(&mine, 4), none = soak_chance(&mine, 2);
    const void *in = is_in_place(c) ? MPI_IN_PLACE : c->count == 0 && none ? NULL : l->in.first;
    void *out = c->collective == COLLOPT_REDUCE && !has_result(c) && none ? NULL : l->out.first;
    uint64_t before = passed(c);
    int err;

    memcpy(doing, l->words, sizeof doing);
    at(doing, patience);
    soak_kind_expect(&c->what.kind, element_of(c));
    if (guarded)
        allow(l->in, PROT_READ);
    err = make_call(c, in, out);
    if (guarded)
        allow(l->in, PROT_READ | PROT_WRITE);
    check(err == MPI_SUCCESS, "%s: error %d", l->words, err);
    l->host = !with_collopt() || passed(c) > before;
    calls++;
    calls_by_host += l->host;
}

static void judge(const struct lane *l)
{
    judge_out(&l->call, &l->out, l->host, l->words);
    judge_in(&l->call, &l->in, l->words);
}

/* Up to LANES calls one behind the other, looked at when all have been made.  HOST: the MPI library may run them. */
static void run_calls(uint64_t number, bool host)
{
    static struct lane lane[LANES];
    struct soak_random r = soak_draw(number, 6);
    size_t slot = soak_below(&r, SOAK_GROUPS);
    int n = 1 + (int)soak_below(&r, LANES), ready = 0;

    for (int i = 0; i < n; i++) {
        struct soak_group *g = soak_group(soak_chance(&r, 2) ? slot : soak_below(&r, SOAK_GROUPS));
        struct lane *l = &lane[ready];

        if (g->comm == MPI_COMM_NULL)
            continue;
        l->call = draw_call(g, number, i, host);
        if (!fits(&l->call, i))
            continue;
        describe(&l->call, number, i, l->words, sizeof l->words);
        prepare(l, i);
        ready++;
    }
    for (int i = 0; i < ready; i++)
        run(&lane[i]);
    for (int i = 0; i < ready; i++)
        judge(&lane[i]);
}

/* ---- the sequence ------------------------------------------------------------------------------------------------ */

static void dawdle(void)
{
#ifndef TEST_SIMULATED
    struct timespec t = { 0, (long)soak_below(&mine, 1500000) };

    if (soak_chance(&mine, 20))
        nanosleep(&t, NULL);
#endif
}

/* Switches collopt off for a while; by the setting, or this does nothing. */
static bool switch_over(struct soak_random *r)
{
    static bool off;

    off = off ? !soak_chance(r, 3) : soak_chance(r, 15);
    MPI_Pcontrol(off ? 0 : 1);
    return off;
}

static void step(uint64_t number, bool leave_out)
{
    struct soak_random r = soak_draw(number, 7);
    bool groups = soak_chance(&r, 12), kinds_anew = soak_chance(&r, 8), messages = soak_chance(&r, 6);
    bool collective = soak_chance(&r, 8), keys = soak_chance(&r, 25), off = switch_over(&r);

    snprintf(doing, sizeof doing, "seed %llu step %llu: communicators, datatypes, messages", (unsigned long long)soak_seed,
             (unsigned long long)number);
    at(doing, patience);
    if (groups)
        soak_groups_renew(number);
    if (kinds_anew)
        soak_kinds_renew(&r);
    if (keys)
        soak_groups_inform(number);
    if (leave_out)
        return;
    if (messages)
        soak_exchange(number);
    if (collective)
        soak_pending(number);
    soak_probe();
    dawdle();
    run_calls(number, off || soak_settings_host());
}

/* Very many messages take very long. */
static size_t most_for_cut(size_t most)
{
    const char *text = getenv("COLLOPT_CUT");
    size_t cut = text ? strtoull(text, NULL, 10) * (strchr(text, 'K') ? 1024 : 1) : 0;

    return cut > 0 && cut * 2000 < most ? cut * 2000 : most;
}

static uint64_t argument(int argc, char **argv, int i, uint64_t otherwise)
{
    return argc > i ? strtoull(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    uint64_t steps, from;

    if (argc == 4 && strcmp(argv[1], "settings") == 0) {
        soak_seed = argument(argc, argv, 2, 0);
        soak_settings(atoi(argv[3]));
        return 0;
    }
    begin(&argc, &argv, "test_soak");
    soak_seed = argument(argc, argv, 1, 1);
    steps = argument(argc, argv, 2, 400);
    from = argument(argc, argv, 3, 0);
    most_bytes = most_for_cut(argument(argc, argv, 4, most_bytes));
    patience = (unsigned)strtoul(getenv("TEST_PATIENCE") ? getenv("TEST_PATIENCE") : "120", NULL, 10);
    mine = soak_draw(1, 5000 + (uint64_t)world_rank);
    open_arenas();
    soak_groups_begin();
    soak_kinds_begin();
    for (uint64_t i = 0; i < steps && failures() == 0; i++)
        step(i, i < from);
    at("the end", patience);
    if (failures() > 0)         /* others may be in calls that this rank does not make any more */
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Pcontrol(1);
    soak_groups_end();
    soak_kinds_end();
    if (world_rank == 0)
        printf("test_soak: seed %llu: %llu calls of rank 0, %llu of them by the MPI library\n", (unsigned long long)soak_seed,
               (unsigned long long)calls, (unsigned long long)calls_by_host);
    fflush(stdout);
    return end();
}
