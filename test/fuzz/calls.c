/* Reductions as programs make them, and what is right.
 *
 * Inputs repeat after a prime number of elements, so that what is right is known without computing
 * every element; nothing is cut at a multiple of these.  What is right is a fold over the ranks in
 * their order, in plain C (elements.c). */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fuzz.h"
#include "schedule/problem.h"

enum { MOST_RANKS = 128, PRIMES = 3, PERIOD = 2003, LOCAL = COLLOPT_COLLECTIVES };

OWN struct fuzz_random mine;    /* of this rank alone */

/* ---- a call ---------------------------------------------------------------------------------- */

/* Some calls in a row, looked at when all have been made. */
struct row {
    uint64_t number;            /* what is drawn for it */
    uint64_t of_burst;          /* which one of a burst it is, from 1 on; 0: of none */
    /* from lower ranks to higher ones only: ranks run ahead of each other as far as they can,
     * ... */
    bool flows;
    size_t slot;                /* ... on this communicator */
    bool host;                  /* the MPI library's own collectives may run */
    bool crowded;               /* long ones, many at once */
};

struct call {
    const struct group *group;
    int collective;             /* enum collopt_collective, or LOCAL */
    struct fuzz_kind what;
    size_t count;               /* elements in the vector of one rank */
    size_t share[MOST_RANKS];   /* of each rank, where results are scattered */
    int root;
    bool in_place, large;
    bool here_and_there;        /* in place on some ranks only */
    size_t salt, period;        /* element i has the value number salt + i % period */
};

static const char *const names[] = { [COLLOPT_REDUCE] = "Reduce",
                                     [COLLOPT_ALLREDUCE] = "Allreduce",
                                     [COLLOPT_REDUCE_SCATTER] = "Reduce_scatter",
                                     [COLLOPT_REDUCE_SCATTER_BLOCK] = "Reduce_scatter_block",
                                     [COLLOPT_SCAN] = "Scan",
                                     [COLLOPT_EXSCAN] = "Exscan",
                                     [LOCAL] = "Reduce_local" };

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
    bool here = !c->here_and_there || mix(c->salt + (size_t)c->group->rank) % 2 == 0;

    return c->in_place && here && has_result(c);
}

static const struct element *element_of(const struct call *c)
{
    return &c->what.kind.element[c->group->rank % 2];
}

/* Elements that the receive buffer has. */
static size_t results(const struct call *c)
{
    return scatters(c) && !is_in_place(c) ? c->share[c->group->rank] : c->count;
}

static void describe(const struct call *c, const struct row *row, int lane, char *text, size_t size)
{
    const struct kind *k = &c->what.kind;
    const struct element *e = element_of(c);

    snprintf(text, size,
             "%s.%llu.%d: %s%s np=%d group=%llx op=%s type=%s at=%ld,%ld of %ld count=%zu "
             "share=%zu root=%d %s",
             fuzz_step_name(), (unsigned long long)row->of_burst, lane, names[c->collective],
             c->large ? "_c" : "", c->group->ranks, (unsigned long long)(c->group->id & 0xffffff),
             k->op_name, k->type_name, (long)e->at[0], (long)e->at[1], (long)e->extent, c->count,
             scatters(c) ? c->share[c->group->rank] : 0, c->root,
             is_in_place(c) ? "in_place" : "apart");
}

/* ---- drawing one ----------------------------------------------------------------------------- */

/* Bytes where the way of a message changes: select/measured.c, the hosts' eager limits and
 * others. */
static size_t threshold(struct fuzz_random *r)
{
    static const size_t bytes[] = { 256,    512,     1024,    2048,    4000,    4096,    8192,
                                    12288,  16384,   32768,   49152,   65536,   131072,  262144,
                                    524288, 1048576, 2097152, 4194304, 8388608, 16777216 };
    enum { N = sizeof bytes / sizeof *bytes };
    size_t most = fuzz_chance(r, 12) ? N : fuzz_chance(r, 4) ? N - 5 : 11;

    return bytes[fuzz_below(r, most)];
}

static size_t draw_short_count(struct fuzz_random *r, const struct call *c)
{
    size_t n = fuzz_chance(r, 32) ? fuzz_below(r, 600) : fuzz_below(r, 1 + fuzz_below(r, 24));

    return n > c->what.most ? c->what.most : n;
}

static size_t draw_count(struct fuzz_random *r, const struct call *c)
{
    const struct element *e = c->what.kind.element;
    size_t extent = (size_t)(e[0].extent > e[1].extent ? e[0].extent : e[1].extent),
           p = (size_t)c->group->ranks, n;
    size_t most = extent ? job.most / extent : 1000,
           size = part_size(e[0].part[0]) * (size_t)e[0].parts;
    size_t unit = fuzz_chance(r, 2) || e[0].extent == 0 ? size : (size_t)e[0].extent;

    unit += unit == 0;          /* elements without data */

    switch (fuzz_below(r, 8)) {
    case 0:
        n = fuzz_below(r, 40);
        break;
    case 1:
        n = p * fuzz_below(r, 8) + fuzz_below(r, 3);
        n -= n > 0;
        break;
    case 2:                     /* parts of that length */
        n = threshold(r) / unit * p + fuzz_below(r, 3);
        n -= n > 0;
        break;
    case 3:
        n = ((size_t)1 << fuzz_below(r, 12)) + fuzz_below(r, 3) - 1;
        break;
    default:
        n = threshold(r) / unit + fuzz_below(r, 3);
        n -= n > 0;
    }
    if (n > most)
        n = most - (most > 2 ? fuzz_below(r, 3) : 0);
    return n > c->what.most ? c->what.most - fuzz_below(r, 2) : n;
}

/* Of one of those that are under way together. */
static size_t draw_long_count(struct fuzz_random *r, const struct call *c)
{
    const struct element *e = c->what.kind.element;
    size_t extent = (size_t)(e[0].extent > e[1].extent ? e[0].extent : e[1].extent),
           bytes = 100000 + fuzz_below(r, 100000),
           n = (bytes < job.pieces ? bytes : job.pieces) / (extent ? extent : 1);

    return n > c->what.most ? c->what.most : n;
}

static void share_evenly(struct call *c)
{
    size_t p = (size_t)c->group->ranks;

    for (size_t i = 0; i < p; i++)
        c->share[i] = c->count / p + (i < c->count % p);
}

/* Evenly, to one rank, or some to some. */
static void share_out(struct fuzz_random *r, struct call *c)
{
    size_t p = (size_t)c->group->ranks, left = c->count, how = fuzz_below(r, 4);

    share_evenly(c);
    if (c->collective == COLLOPT_REDUCE_SCATTER_BLOCK) {
        c->count = c->share[p - 1] * p;
        share_evenly(c);
    } else if (how == 0) {
        memset(c->share, 0, sizeof c->share);
        c->share[fuzz_below(r, p)] = c->count;
    } else if (how == 1) {
        for (size_t i = 0; i < p; i++, left -= c->share[i - 1]) {
            c->share[i] = fuzz_chance(r, 3) ? 0 : fuzz_below(r, 2 * c->count / p + 1);
            c->share[i] = c->share[i] > left || i == p - 1 ? left : c->share[i];
        }
    }
}

static const int flowing[] = { COLLOPT_REDUCE, COLLOPT_SCAN, COLLOPT_EXSCAN };

static struct call draw_shape(const struct group *g, uint64_t number, const struct row *row)
{
    struct fuzz_random random = fuzz_draw(number, g->id), *r = &random;
    struct call c = { .group = g };

    c.collective = row->flows ? flowing[fuzz_below(r, sizeof flowing / sizeof *flowing)]
                              : (int)fuzz_below(r, fuzz_chance(r, 4) ? LOCAL + 1 : LOCAL);
    do
        c.what = kinds_any(r);
    while (row->host && !kinds_trusted(&c.what.kind));
    c.count = row->of_burst ? draw_short_count(r, &c)
        : row->crowded      ? draw_long_count(r, &c)
                            : draw_count(r, &c);
    c.in_place = fuzz_chance(r, 3) && c.collective != LOCAL;
    c.here_and_there = fuzz_chance(r, 4) && !row->host;
    c.root = c.collective != COLLOPT_REDUCE ? 0
        : row->flows                        ? g->ranks - 1
                                            : (int)fuzz_below(r, (size_t)g->ranks);
    c.large = fuzz_chance(r, 4);
#if MPI_VERSION < 4
    c.large = false;
#endif
    share_out(r, &c);
    return c;
}

/* The same in all but one thing that its plan depends on. */
static void vary(struct fuzz_random *r, struct call *c)
{
    if (c->collective == COLLOPT_REDUCE)
        c->root = (int)fuzz_below(r, (size_t)c->group->ranks);
    else if (c->collective == COLLOPT_REDUCE_SCATTER && fuzz_chance(r, 2))
        share_out(r, c);
    else if (c->collective != LOCAL)
        c->in_place = !c->in_place;
}

/* One of this communicator's favourites, or another. */
static struct call draw_call(const struct group *g, const struct row *row, int lane)
{
    static const size_t prime[PRIMES] = { 127, 1009, PERIOD };
    struct fuzz_random r = fuzz_draw(row->number * LANES + (uint64_t)lane, ~g->id);
    bool favourite = fuzz_chance(&r, 2);
    size_t which = fuzz_below(&r, 1 + fuzz_below(&r, 8))
        + (row->flows          ? 600
               : row->of_burst ? 500
                               : 0);
    struct call c = draw_shape(g, favourite ? which : 1000 + row->number * LANES + (uint64_t)lane,
                               row);

    if (favourite && fuzz_chance(&r, 2) && !row->flows)
        vary(&r, &c);
    if (row->host && c.in_place && on_mpich()) {
        /* its MPI_Reduce crashes with another one, as test_collectives.c says */
        c.root = 0;
        c.in_place = !scatters(&c);             /* its memcpy onto the same address ends the job */
    }
    c.salt = (size_t)(fuzz_next(&r) >> 16);
    c.period = prime[fuzz_below(&r, PRIMES)];
    return c;
}

/* ---- what is right --------------------------------------------------------------------------- */

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
static void store(const struct call *c, const struct value *value, size_t from, size_t n,
                  char *first)
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

struct folded {
    struct value value[PERIOD];
    long double weight[PERIOD]; /* sum of the absolute values, where sums are rounded */
};

static long double magnitude(struct value v)
{
    return v.part[0].r < 0 ? -v.part[0].r : v.part[0].r;
}

static void fold(const struct call *c, int ranks, struct folded *f)
{
    for (size_t i = 0; i < c->period && i < c->count; i++) {
        f->value[i] = value_of(&c->what.kind, 0, c->salt + i);
        f->weight[i] = magnitude(f->value[i]);
        for (int r = 1; r < ranks; r++) {
            struct value v = value_of(&c->what.kind, r, c->salt + i);

            f->value[i] = value_combine(&c->what.kind, f->value[i], v);
            f->weight[i] += magnitude(v);
        }
    }
}

/* Values may be equal in other bits, as zeros are, and what a long double holds beside its value is
 * nobody's: such elements are taken over. */
static bool elements_right(const struct call *c, const struct buffer *out, const struct folded *f,
                           const char *words)
{
    const struct element *e = element_of(c);
    struct expectation x = expected(c);

    for (size_t i = 0; i < x.n && x.ranks > 0; i++) {
        char *address = out->first + (ptrdiff_t)i * e->extent, *to = buffers_image_of(out, address);
        size_t at = (x.from + i) % c->period;
        struct value v = f->value[at], found = value_load(e, address);

        if (!value_right(&c->what.kind, found, v, f->weight[at], x.ranks)) {
            fail("%s: element %zu of %zu is %#llx %#llx %.17Lg %.17Lg, should be %#llx %#llx "
                 "%.17Lg %.17Lg",
                 words, i, x.n, (unsigned long long)found.part[0].i,
                 (unsigned long long)found.part[1].i, found.part[0].r, found.part[1].r,
                 (unsigned long long)v.part[0].i, (unsigned long long)v.part[1].i, v.part[0].r,
                 v.part[1].r);
            return false;
        }
        for (int k = 0; k < e->parts; k++)
            memcpy(to + e->at[k], address + e->at[k], part_size(e->part[k]));
/* the simulator's messages carry what lies between the parts of a pair */
#ifdef TEST_SIMULATED
        if (e->parts == 2 && strncmp(c->what.kind.type_name, "MPI_", 4) == 0)
            memcpy(to, address, (size_t)e->extent);
#endif
    }
    return true;
}

static void compare(const struct buffer *b, const char *which, const char *words)
{
    ptrdiff_t at = buffers_differ(b);

    if (at >= 0)
        fail("%s: byte %ld from the %s on was overwritten (%02x instead of %02x)", words,
             (long)(b->start + at - b->first), which, b->start[at] & 0xff,
             *buffers_image_of(b, b->start + at) & 0xff);
}

/* HOST: the call was passed on.  What lies behind the result of a Reduce_scatter in place is then
 * written, and rank 0's buffer in an Exscan may be. */
static void judge_out(const struct call *c, const struct buffer *out, bool host, const char *words)
{
    OWN struct folded f;
    struct expectation x = expected(c);
    char *first = buffers_image(out);

    if (is_in_place(c) || c->collective == LOCAL)
        store_input(c, c->collective == LOCAL ? 1 : c->group->rank, first);
    if (x.ranks > 0) {
        fold(c, x.ranks, &f);
        store(c, f.value, x.from, x.n, first);
    }
    if (buffers_differ(out) < 0 || !elements_right(c, out, &f, words))
        return;
    if (!host || (!(scatters(c) && is_in_place(c)) && c->collective != COLLOPT_EXSCAN))
        compare(out, "receive buffer", words);
}

static void judge_in(const struct call *c, const struct buffer *in, const char *words)
{
    char *first = buffers_image(in);

    if (!is_in_place(c))
        store_input(c, c->collective == LOCAL ? 0 : c->group->rank, first);
    compare(in, "send buffer", words);
}

/* ---- calling --------------------------------------------------------------------------------- */

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

static uint64_t passed_of_all(const struct call *c)
{
    (void)c;
    return calls_passed(NULL);
}

static uint64_t passed(const struct call *c)
{
    char name[40];

    snprintf(name, sizeof name, "%s%s", names[c->collective], c->large ? "_c" : "");
    return calls_passed(name);
}

/* ---- calls in a row -------------------------------------------------------------------------- */

struct lane {
    struct call call;
    struct buffer in, out;
    char words[FUZZ_WORDS];
    uint64_t serial;            /* ranks wait for each other when it has returned; 0: they do not */
    bool few;                   /* its step makes few calls, so each of them is checked alone */
    bool host;                  /* the MPI library ran it, or one of its row if there are many */
};

static atomic_uint_fast64_t calls, by_host;

struct calls_count calls_count(void)
{
    return (struct calls_count){ calls, by_host };
}

void calls_begin(void)
{
    mine = fuzz_draw(1, 5000 + (uint64_t)world_rank);
}

static void prepare(struct lane *l, int i)
{
    const struct call *c = &l->call;
    const struct element *e = element_of(c);

    l->in = buffers_place(i, BUFFER_IN, e, c->count, &mine);
    l->out = buffers_place(i, BUFFER_OUT, e, results(c), &mine);
    if (!is_in_place(c))
        store_input(c, c->collective == LOCAL ? 0 : c->group->rank, l->in.first);
    if (is_in_place(c) || c->collective == LOCAL)
        store_input(c, c->collective == LOCAL ? 1 : c->group->rank, l->out.first);
}

/* Where there is nothing to read or write, sometimes no address. */
static void run(struct lane *l)
{
    const struct call *c = &l->call;
    bool guarded = fuzz_chance(&mine, l->few ? 4 : 256), none = fuzz_chance(&mine, 2);
    const void *in = is_in_place(c) ? MPI_IN_PLACE : c->count == 0 && none ? NULL : l->in.first;
    void *out = c->collective == COLLOPT_REDUCE && !has_result(c) && none ? NULL : l->out.first;
    int err;

    watch_at(l->words);
    kinds_expect(&c->what.kind, element_of(c));
    if (guarded)
        buffers_allow(l->in, PROT_READ);
    err = make_call(c, in, out);
    if (guarded)
        buffers_allow(l->in, PROT_READ | PROT_WRITE);
    check(err == MPI_SUCCESS, "%s: error %d", l->words, err);
    if (l->serial > 0 && err == MPI_SUCCESS)
        apart_wait(c->group, l->serial);
}

/* Other threads' calls may be passed on meanwhile: then one of these may have been. */
static void run_counted(struct lane *lane, int n, uint64_t (*passed_so_far)(const struct call *c))
{
    uint64_t before = passed_so_far(&lane->call), host;

    for (int i = 0; i < n; i++)
        run(&lane[i]);
    host = with_collopt() ? passed_so_far(&lane->call) - before : (uint64_t)n;
    for (int i = 0; i < n; i++) {
        lane[i].host = host > 0;
        strncat(lane[i].words, lane[i].host ? " (host)" : " (collopt)",
                sizeof lane[i].words - strlen(lane[i].words) - 1);
    }
    calls += (unsigned)n;
    by_host += host < (uint64_t)n ? host : (uint64_t)n;
}

static void judge(const struct lane *l)
{
    judge_out(&l->call, &l->out, l->host, l->words);
    judge_in(&l->call, &l->in, l->words);
}

static void make_row(const struct row *row)
{
    OWN struct lane lane[LANES];
    OWN uint64_t serial;
    struct fuzz_random apart = fuzz_draw(row->number, 16);
    bool waits = job.apart && fuzz_chance(&apart, row->of_burst ? 50 : 3);
    struct fuzz_random r = fuzz_draw(row->number, 6);
    size_t slot = row->flows ? row->slot : fuzz_below(&r, GROUPS);
    int n = 1 + (int)fuzz_below(&r, LANES), ready = 0;

    for (int i = 0; i < n; i++) {
        struct group *g = group_of(row->flows || fuzz_chance(&r, 2) ? slot
                                                                    : fuzz_below(&r, GROUPS));
        struct lane *l = &lane[ready];

        serial++;               /* also where this rank is not in it */
        if (g->comm == MPI_COMM_NULL)
            continue;
        l->call = draw_call(g, row, i);
        if (!buffers_fit(i, &l->call.what.kind, l->call.count))
            continue;
        describe(&l->call, row, i, l->words, sizeof l->words);
        prepare(l, i);
        l->few = row->of_burst == 0;
        l->serial = waits && l->call.collective != LOCAL ? serial : 0;
        ready++;
    }
    if (row->of_burst && ready > 0)
        run_counted(lane, ready, passed_of_all);
    for (int i = 0; i < ready && !row->of_burst; i++)
        run_counted(&lane[i], 1, passed);
    for (int i = 0; i < ready; i++)
        judge(&lane[i]);
}

void calls_make(uint64_t number, bool host)
{
    make_row(&(struct row){ .number = number, .host = host });
}

/* MPICH's own collectives wait without yielding, which takes a time slice where processors are
 * few. */
void calls_burst(uint64_t number, bool host)
{
    struct fuzz_random r = fuzz_draw(number, 15);
    struct row row = { .host = host, .flows = !fuzz_chance(&r, 3), .slot = fuzz_below(&r, GROUPS) };
    uint64_t rows = fuzz_below(&r, FUZZ_LONGEST_BURST) * (host ? job.burst / 16 : job.burst)
        / FUZZ_LONGEST_BURST;

    for (row.of_burst = 1; row.of_burst <= rows && failures() == 0; row.of_burst++) {
        row.number = ((number + 1) << 24) + row.of_burst;
        make_row(&row);
    }
}

/* ---- calls that are under way ---------------------------------------------------------------- */

struct later {
    struct call call;
    struct buffer in, out;
    char words[FUZZ_WORDS];
    int counts[MOST_RANKS];     /* MPI reads them until the end */
    bool host;
};

void calls_refill(struct later *l)
{
    const struct call *c = &l->call;

    memset(l->in.start, l->in.poison, l->in.bytes);
    memset(l->out.start, l->out.poison, l->out.bytes);
    store_input(c, c->group->rank, is_in_place(c) ? l->out.first : l->in.first);
}

struct later *calls_later(const struct group *g, uint64_t number, int i, bool crowded, bool host)
{
    struct row row = { .number = ((number + 1) << 20) + (uint64_t)i, .host = host,
                       .crowded = crowded };
    struct later *l = malloc(sizeof *l);
    const struct element *e;

    l->call = draw_call(g, &row, 0);
    if (l->call.collective == LOCAL)
        l->call.collective = COLLOPT_ALLREDUCE;
    l->call.large = false;
    /* elements without data go to the MPI library, and Open MPI 4.1 takes 0 bytes for no memory */
    if (l->call.what.kind.element[0].parts == 0
        || !buffers_fit(1, &l->call.what.kind, l->call.count)) {
        free(l);
        return NULL;
    }
    e = element_of(&l->call);
    l->in = buffers_take(e, l->call.count, &mine);
    l->out = buffers_take(e, results(&l->call), &mine);
    describe(&l->call, &row, 0, l->words, sizeof l->words);
    calls_refill(l);
    kinds_await(&l->call.what.kind, e);
    return l;
}

#define START_AS(FORM) \
    switch (c->collective) { \
    case COLLOPT_REDUCE: \
        return CALL_##FORM(Reduce, reduce, in, out, n, type, op, c->root, comm); \
    case COLLOPT_ALLREDUCE: \
        return CALL_##FORM(Allreduce, allreduce, in, out, n, type, op, comm); \
    case COLLOPT_REDUCE_SCATTER: \
        return CALL_##FORM(Reduce_scatter, reduce_scatter, in, out, l->counts, type, op, comm); \
    case COLLOPT_REDUCE_SCATTER_BLOCK: \
        return CALL_##FORM(Reduce_scatter_block, reduce_scatter_block, in, out, l->counts[0], \
                           type, op, comm); \
    case COLLOPT_SCAN: \
        return CALL_##FORM(Scan, scan, in, out, n, type, op, comm); \
    default: \
        return CALL_##FORM(Exscan, exscan, in, out, n, type, op, comm); \
    }

static int start_as(const struct later *l, enum form form, MPI_Request *request)
{
    const struct call *c = &l->call;
    const void *in = is_in_place(c) ? MPI_IN_PLACE : l->in.first;
    void *out = l->out.first;
    MPI_Datatype type = element_of(c)->type;
    MPI_Op op = c->what.kind.op;
    MPI_Comm comm = c->group->comm;
    int n = (int)c->count;

    if (form == PERSISTENT)
        START_AS(INIT)
    START_AS(NONBLOCKING)
}

void calls_begin_later(struct later *l, bool persistent, MPI_Request *request)
{
    enum form form = persistent ? PERSISTENT : NONBLOCKING;
    char name[64];
    uint64_t before;
    int err;

    form_name(names[l->call.collective], form, name);
    before = calls_passed(name);
    for (int r = 0; r < l->call.group->ranks; r++)
        l->counts[r] = (int)l->call.share[r];
    err = start_as(l, form, request);
    check(err == MPI_SUCCESS, "%s, %s: error %d", l->words, name, err);
    l->host = !with_collopt() || calls_passed(name) != before;
    snprintf(l->words + strlen(l->words), sizeof l->words - strlen(l->words), " %s %s",
             persistent ? "persistent" : "nonblocking", l->host ? "(host)" : "(collopt)");
    calls++;
    by_host += l->host;
}

void calls_judge_later(const struct later *l)
{
    judge_out(&l->call, &l->out, l->host, l->words);
    judge_in(&l->call, &l->in, l->words);
}

void calls_end_later(struct later *l)
{
    kinds_forget(&l->call.what.kind);
    buffers_give_back(l->in);
    buffers_give_back(l->out);
    free(l);
}

const char *calls_words(const struct later *l)
{
    return l->words;
}

bool calls_by_host(const struct later *l)
{
    return l->host;
}
