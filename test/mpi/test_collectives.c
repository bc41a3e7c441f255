/* Every collective, by the algorithm that the environment forces, against a serial fold in rank
 * order.
 *
 *     mpirun -n 8 env LD_PRELOAD=libcollopt.so COLLOPT_AFTER=1 COLLOPT_ALLREDUCE=ring ... \
 *         test_collectives [GROUPS]... [WORD]...
 *     test_collectives list
 *
 * All tests are walked through by all ranks together; GROUPS such as 7,1 walk through them again
 * on communicators of 7 and 1 of the 8 ranks, at the same time. A failure says its test in
 * words, and only tests that have all WORDs are run:
 *
 *     mpirun -n 7 ... test_collectives allreduce op=affine type=dense count=17 in_place
 *
 * Inputs are functions of rank and index, so every rank knows what is right by itself, and no test
 * needs more messages than those of the collective it tests. TEST_FORM=persistent has each call
 * made as a persistent one, and started twice where it is not in place; TEST_FORM=nonblocking as a
 * nonblocking one. Where something is forced, the other collectives are left out. "list" says, for
 * each collective, the algorithms to be forced, with parameters other than their own once more
 * where they have any.
 *
 * What is right is right for MPI. With COLLOPT=off the hosts fail here, by mistakes of theirs:
 *
 *     MPICH 4.0.2     MIN and MAX take unsigned integers for signed ones (pmodels/mpich #6083);
 *                     MPI_Reduce in place crashes with a root other than rank 0 where vectors are
 *                     long (#6540)
 *     Open MPI 4.1.4  MIN and MAX take MPI_UNSIGNED_LONG for signed (open-mpi/ompi #10525, #10648),
 *     and MPI_OFFSET for unsigned;
 *                     sums of integers of 8 and 16 bits saturate (#8045)
 *
 * and where MPI allows what they do: in a MPI_Reduce_scatter in place Open MPI writes all of
 * rank 0's receive buffer, as nothing is said of what lies behind the result
 * (mpi-forum/mpi-issues #15); in MPI_Reduce_scatter_block it gives a user's operation operands
 * of which only the gaps overlap. collopt leaves the rest of the buffer as it was and keeps gaps
 * apart, and that is tested. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "common.h"
#include "elements.h"
#include "schedule/descriptor.h"
#include "schedule/parameters.h"
#include "schedule/problem.h"
#include "topology/topology.h"
#include "zones.h"

enum { WORDS = 240, MOST_RANKS = 128 };

/* How Reduce_scatter shares the vector out. */
enum shape { EVEN, FIRST, LAST, RAGGED, SHAPES };
static const char *const shape_names[SHAPES] = { "even", "first", "last", "ragged" };

struct group {
    MPI_Comm comm;
    int rank, ranks;
    int step;                   /* from the world rank of one to that of the next */
};

struct trial {
    enum collopt_collective collective;
    const struct kind *kind;
    size_t count;               /* elements in the vector of one rank */
    int root;
    bool in_place;
    enum shape shape;
    size_t share[MOST_RANKS];          /* Reduce_scatter: of each rank */
};

static char words[WORDS];       /* of the trial at hand */
static char **wanted;           /* words that a trial must have to be run */
static int wanted_n;
static enum form form;          /* TEST_FORM */
static bool thorough;           /* all combinations: TEST_THOROUGH is set */
static int launch;              /* differs with what is forced */
static uint64_t trials;

static const char *const mpi_names[COLLOPT_COLLECTIVES] = {
    [COLLOPT_REDUCE] = "Reduce",
    [COLLOPT_ALLREDUCE] = "Allreduce",
    [COLLOPT_REDUCE_SCATTER] = "Reduce_scatter",
    [COLLOPT_REDUCE_SCATTER_BLOCK] = "Reduce_scatter_block",
    [COLLOPT_SCAN] = "Scan",
    [COLLOPT_EXSCAN] = "Exscan"
};

/* ---- what is forced -------------------------------------------------------------------------- */

static struct collopt_choice forced[COLLOPT_COLLECTIVES];      /* algorithm NULL: none */
/* the forced algorithm could not serve some trial */
static bool refused[COLLOPT_COLLECTIVES];
static bool left_out[COLLOPT_COLLECTIVES];      /* only others are forced */

static void read_forced(void)
{
    bool any = false;

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        char variable[64] = "COLLOPT_", why[300];
        const char *text;

        for (const char *s = collopt_collective_names[c]; *s; s++)
            variable[strlen(variable)] = (char)(*s == '_' ? *s : *s - 'a' + 'A');
        text = getenv(variable);
        check(!text
                  || collopt_parse_choice(text, (enum collopt_collective)c, &forced[c], why,
                                          sizeof why),
              "%s=%s: %s", variable, text, why);
        launch += text ? (int)strlen(text) : 0;
        left_out[c] = !text;
        any |= text != NULL;
    }
    for (int c = 0; c < COLLOPT_COLLECTIVES && !any; c++)
        left_out[c] = false;
}

/* Groups are consecutive ranks of the world, up or down, on nodes by COLLOPT_TOPOLOGY, numbered
 * by their first rank. */
static void place_on_nodes(const struct group *g, struct collopt_topology *t, int node[MOST_RANKS])
{
    const char *said = getenv("COLLOPT_TOPOLOGY");
    const char *text = said && strncmp(said, "nodes:", 6) == 0 ? said + 6 : NULL;
    int first = world_rank - g->step * g->rank, stated[64];

    *t = (struct collopt_topology){ .nodes = 0, .node = node, .oversubscribed = true };
    for (int r = 0; r < g->ranks; r++) {
        int like = 0;

        stated[r] = text ? collopt_stated_node(text, first + g->step * r) : 0;
        while (stated[like] != stated[r])
            like++;
        node[r] = like < r ? node[like] : t->nodes++;
    }
    collopt_topology_measure(t, g->ranks);
}

static bool servable(const struct trial *t, const struct group *g)
{
    struct collopt_topology topology;
    int size = 0, node[MOST_RANKS];

    MPI_Type_size(t->kind->element[0].type, &size);
    place_on_nodes(g, &topology, node);

    struct collopt_problem p = {
        .collective = t->collective,
        .ranks = g->ranks,
        .root = t->root,
        .count = t->count,
        .size = (size_t)size,
        .counts = t->collective == COLLOPT_REDUCE_SCATTER ? t->share : NULL,
        .commutative = t->kind->commutative,
        .exact = t->kind->exact,
        .segments = 1,
        .topology = &topology,
    };

    return !forced[t->collective].algorithm
        || collopt_choice_usable(&forced[t->collective], &p, NULL);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Whatever lies before the vector and in its gaps is poison, another one in each buffer of each
 * rank; behind the vector comes a page that may not be touched. */
struct arena {
    char *pages;
    size_t size;
};

enum { MARGIN = 64 };

static struct arena in_arena, out_arena;
static char *image;             /* what the receive buffer should look like afterwards */
static char *closed;            /* a page that may not be touched */

static void arena_open(struct arena *a, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    a->size = (size + page - 1) / page * page;
    a->pages = mmap(NULL, a->size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (a->pages == MAP_FAILED || mprotect(a->pages, a->size, PROT_READ | PROT_WRITE)) {
        perror("mmap");
        exit(99);
    }
    closed = a->pages + a->size;
}

struct buffer {
    char *start;                /* the poison before the vector */
    char *first;                /* the address of element 0 */
    size_t bytes;               /* with the poison before */
};

/* N elements that end where the arena ends. */
static struct buffer place(const struct arena *a, const struct element *e, size_t n, int poison)
{
    size_t span = n ? (n - 1) * (size_t)e->extent + (size_t)(e->high - e->low) : 0;
    char *from = a->pages + a->size - span;
    struct buffer b = { from - MARGIN, from - e->low, span + MARGIN };

    memset(b.start, poison, b.bytes);
    return b;
}

static void allow(struct buffer b, int access)
{
    size_t into_page = (uintptr_t)b.start % (uintptr_t)sysconf(_SC_PAGESIZE);

    mprotect(b.start - into_page, b.bytes + into_page, access);
}

static void fill(const struct trial *t, const struct element *e, int rank, char *first)
{
    for (size_t i = 0; i < t->count; i++)
        value_store(e, first + (ptrdiff_t)i * e->extent, value_of(t->kind, rank, i));
}

/* ---- what is right --------------------------------------------------------------------------- */

struct expectation {
    size_t from, n;             /* these elements of the vector of results ... */
    int ranks;                  /* ... combined over ranks 0 .. ranks-1; 0: nothing is written */
};

static struct expectation expected(const struct trial *t, const struct group *g)
{
    struct expectation e = { 0, t->count, g->ranks };

    switch (t->collective) {
    case COLLOPT_REDUCE:
        e.ranks = g->rank == t->root ? g->ranks : 0;
        break;
    case COLLOPT_REDUCE_SCATTER:
    case COLLOPT_REDUCE_SCATTER_BLOCK:
        for (int r = 0; r < g->rank; r++)
            e.from += t->share[r];
        e.n = t->share[g->rank];
        break;
    case COLLOPT_SCAN:
        e.ranks = g->rank + 1;
        break;
    case COLLOPT_EXSCAN:
        e.ranks = g->rank;
        break;
    default:
        break;
    }
    return e;
}

/* Folds over the first ranks, of the kind at hand: each element is computed when it is first asked
 * for. */
struct folds {
    const struct kind *kind;
    int ranks;
    size_t known;
    struct value *value;
    long double *weight;        /* sums of magnitudes */
};

enum { LONGEST = 310000 };       /* elements of a vector, at most */

static struct folds folds[3];   /* over all ranks, over those up to this one, over those below it */

static long double weight_of(struct value v)
{
    return v.part[0].r < 0 ? -v.part[0].r : v.part[0].r;
}

static void fold_one(struct folds *f, size_t i)
{
    f->value[i] = value_of(f->kind, 0, i);
    f->weight[i] = weight_of(f->value[i]);
    for (int r = 1; r < f->ranks; r++) {
        struct value next = value_of(f->kind, r, i);

        f->value[i] = value_combine(f->kind, f->value[i], next);
        f->weight[i] += f->kind->rounds ? weight_of(next) : 0;
    }
}

static const struct folds *folds_over(const struct kind *k, const struct group *g, int ranks,
                                      size_t elements)
{
    struct folds *f = &folds[ranks == g->ranks ? 0 : ranks == g->rank + 1 ? 1 : 2];

    if (!f->value) {
        f->value = malloc(LONGEST * sizeof *f->value);
        f->weight = malloc(LONGEST * sizeof *f->weight);
    }
    if (f->kind != k || f->ranks != ranks)
        *f = (struct folds){ k, ranks, 0, f->value, f->weight };
    for (; f->known < elements; f->known++)
        fold_one(f, f->known);
    return f;
}

static void show(char *text, size_t size, const struct element *e, struct value v)
{
    int n = 0;

    for (int i = 0; i < e->parts; i++)
        n += part_is_real(e->part[i])
            ? snprintf(text + n, size - (size_t)n, " %.17Lg", v.part[i].r)
            : snprintf(text + n, size - (size_t)n, " %#llx", (unsigned long long)v.part[i].i);
}

static void accept(const struct trial *t, const struct element *e, char *to, const char *from)
{
/* the simulator's messages carry what lies between the parts of a pair */
#ifdef TEST_SIMULATED
    if (t->kind->class == COLLOPT_CLASS_PAIR)
        memcpy(to, from, (size_t)e->extent);
#endif
    if (t->kind->whole)
        memcpy(to + e->low, from + e->low, (size_t)(e->high - e->low));
    for (int k = 0; k < e->parts; k++)
        memcpy(to + e->at[k], from + e->at[k], part_size(e->part[k]));
}

/* Elements that are right go into the image as they are: where bits may differ, and with what a
 * long double holds beside its value.  So the image and the buffer are then alike if nothing else
 * was touched. */
static bool elements_right(const struct trial *t, const struct group *g, struct buffer out,
                           const struct element *e)
{
    struct expectation x = expected(t, g);
    const struct folds *f = x.ranks ? folds_over(t->kind, g, x.ranks, x.from + x.n) : NULL;
    ptrdiff_t to_image = image - out.start;

    for (size_t i = 0; f && i < x.n; i++) {
        char *address = out.first + (ptrdiff_t)i * e->extent;
        struct value right = f->value[x.from + i], found = value_load(e, address);

        if (!value_right(t->kind, found, right, f->weight[x.from + i], x.ranks)) {
            char is[100], should[100];

            show(is, sizeof is, e, found);
            show(should, sizeof should, e, right);
            fail("%s: element %zu of %zu is%s, should be%s", words, i, x.n, is, should);
            return false;
        }
        accept(t, e, address + to_image, address);
    }
    return true;
}

static void judge(const struct trial *t, const struct group *g, struct buffer out,
                  const struct element *e)
{
    if (!elements_right(t, g, out, e) || memcmp(image, out.start, out.bytes) == 0)
        return;
    for (size_t i = 0; i < out.bytes; i++)
        if (image[i] != out.start[i]) {
            fail("%s: byte %ld from the receive buffer on was overwritten (%02x instead of %02x)",
                 words, (long)(out.start + i - out.first), out.start[i] & 0xff, image[i] & 0xff);
            return;
        }
}

/* ---- identical bits -------------------------------------------------------------------------- */

enum { HASHES = 4096 };

static uint64_t hash[HASHES];
static char *hash_words[HASHES];
static int hashes;

static void remember_bits(struct buffer out)
{
    uint64_t h = 0;

    if (hashes == HASHES)
        return;
    for (size_t i = MARGIN; i < out.bytes; i++)
        h = (h ^ (unsigned char)out.start[i]) * 0x100000001b3u;
    hash[hashes] = h;
    hash_words[hashes++] = strdup(words);
}

static void compare_bits(const struct group *g)
{
    uint64_t (*all)[HASHES] = malloc((size_t)g->ranks * sizeof *all);

    MPI_Allgather(hash, HASHES, MPI_UINT64_T, all, HASHES, MPI_UINT64_T, g->comm);
    for (int i = 0; i < hashes; i++) {
        for (int r = 1; r < g->ranks && g->rank == 0; r++)
            if (all[r][i] != all[0][i]) {
                fail("%s: rank %d has other bits than rank 0", hash_words[i], r);
                break;
            }
        free(hash_words[i]);
    }
    free(all);
    memset(hash, 0, sizeof hash);
    hashes = 0;
}

/* ---- one trial ------------------------------------------------------------------------------- */

static bool has_result(const struct trial *t, const struct group *g)
{
    return t->collective != COLLOPT_REDUCE || g->rank == t->root;
}

/* May the receive buffer be no address at all?  MPICH looks at the one of rank 0 in an Exscan,
 * though it gets nothing. */
static bool out_unused(const struct trial *t, const struct group *g)
{
    if (on_openmpi() && t->collective == COLLOPT_EXSCAN && g->rank == 0)
        return !t->in_place;
    return !has_result(t, g);
}

static bool scatters(const struct trial *t)
{
    return t->collective == COLLOPT_REDUCE_SCATTER || t->collective == COLLOPT_REDUCE_SCATTER_BLOCK;
}

/* COUNTS stay as they are until the call is complete, or its request is freed. */
#define CALLER(function, FORM) \
    static int function(const struct trial *t, const struct group *g, const void *in, void *out, \
                        MPI_Datatype type, int counts[MOST_RANKS], MPI_Request *request) \
    { \
        int n = (int)t->count; \
        MPI_Op op = t->kind->op; \
        \
        switch (t->collective) { \
        case COLLOPT_REDUCE: \
            return FORM(Reduce, reduce, in, out, n, type, op, t->root, g->comm); \
        case COLLOPT_ALLREDUCE: \
            return FORM(Allreduce, allreduce, in, out, n, type, op, g->comm); \
        case COLLOPT_REDUCE_SCATTER: \
            for (int r = 0; r < g->ranks; r++) \
                counts[r] = (int)t->share[r]; \
            return FORM(Reduce_scatter, reduce_scatter, in, out, counts, type, op, g->comm); \
        case COLLOPT_REDUCE_SCATTER_BLOCK: \
            return FORM(Reduce_scatter_block, reduce_scatter_block, in, out, (int)t->share[0], \
                        type, op, g->comm); \
        case COLLOPT_SCAN: \
            return FORM(Scan, scan, in, out, n, type, op, g->comm); \
        default: \
            return FORM(Exscan, exscan, in, out, n, type, op, g->comm); \
        } \
    }
CALLER(call_blocking, CALL_BLOCKING)
CALLER(make, CALL_INIT)
CALLER(begin_nonblocking, CALL_NONBLOCKING)

/* In place, a second start would begin with the result of the first. */
static int starts(const struct trial *t)
{
    return form == PERSISTENT && !t->in_place ? 2 : 1;
}

static int call_persistent(const struct trial *t, const struct group *g, const void *in, void *out,
                           MPI_Datatype type)
{
    MPI_Request request = MPI_REQUEST_NULL, made;
    int counts[MOST_RANKS], err = make(t, g, in, out, type, counts, &request);

    made = request;
    for (int i = 0; i < starts(t) && !err; i++) {
        err = MPI_Start(&request);
        if (!err)
            err = MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(request == made, "%s: the request is another one", words);
    }
    return err ? err : MPI_Request_free(&request);
}

static int call_nonblocking(const struct trial *t, const struct group *g, const void *in, void *out,
                            MPI_Datatype type)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int counts[MOST_RANKS], err = begin_nonblocking(t, g, in, out, type, counts, &request);

    if (!err)
        err = MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(request == MPI_REQUEST_NULL, "%s: the request is not null", words);
    return err;
}

static int call(const struct trial *t, const struct group *g, const void *in, void *out,
                MPI_Datatype type)
{
    switch (form) {
    case PERSISTENT:
        return call_persistent(t, g, in, out, type);
    case NONBLOCKING:
        return call_nonblocking(t, g, in, out, type);
    default:
        return call_blocking(t, g, in, out, type, (int[MOST_RANKS]){ 0 }, NULL);
    }
}

/* The forced algorithm ran if it can serve this at all; else another one, perhaps the same with
 * other parameters, or the MPI library's own by choice.  Was it one of ours? */
static bool check_tally(const struct trial *t, const struct group *g)
{
    static uint64_t by_forced[COLLOPT_COLLECTIVES], by_all[COLLOPT_COLLECTIVES],
        handed_on[COLLOPT_COLLECTIVES];
    int c = t->collective;
    const char *collective = collopt_collective_names[c],
               *name = forced[c].algorithm ? forced[c].algorithm->name : NULL;
    bool can = servable(t, g), ours;
    char called[64];
    uint64_t forced_runs = name ? calls_run(collective, name) : 0,
             passed = calls_passed(form_name(mpi_names[c], form, called));
    uint64_t all = calls_run(collective, algorithm_of_form(form)) + passed;

    if (name && can)
        check(forced_runs == by_forced[c] + 1, "%s: not run by %s but otherwise", words, name);
    check(all == by_all[c] + (uint64_t)starts(t),
          "%s: not run %d times, by collopt or by the MPI library", words, starts(t));
    ours = passed == handed_on[c];
    by_forced[c] = forced_runs;
    by_all[c] = all;
    handed_on[c] = passed;
    refused[c] |= !can;
    return ours;
}

static bool taken_over(void)
{
    return calls_run(NULL, NULL) > 0;
}

/* Where there is nothing to be read or written, sometimes no address at all; where nothing may be
 * touched, sometimes that, sometimes one that cannot. */
static void run(const struct trial *t, const struct group *g)
{
    const struct element *e = &t->kind->element[g->rank % 2];
    bool in_place = t->in_place && has_result(t, g), odd = trials++ % 2;
    size_t results = t->in_place || !scatters(t) ? t->count : t->share[g->rank];
    int poison = 0x21 + 2 * g->rank;
    struct buffer in = place(&in_arena, e, t->count, poison),
                  out = place(&out_arena, e, results, poison + 1);
    const void *give = in_place ? MPI_IN_PLACE : t->count == 0 && odd ? NULL : in.first;
    void *take = out_unused(t, g) ? odd ? NULL : closed : results == 0 && odd ? NULL : out.first;
    unsigned overlapped;
    size_t beyond;
    int err;

    fill(t, e, g->rank, in_place ? out.first : in.first);
    memcpy(image, out.start, out.bytes);
    allow(in, PROT_READ);
    err = call(t, g, give, take, e->type);
    allow(in, PROT_READ | PROT_WRITE);
    check(err == MPI_SUCCESS, "%s: error %d", words, err);
    overlapped = operands_overlapped();
    beyond = zones_overwritten();
    check(beyond == 0, "%s: %zu bytes behind the scratch were overwritten", words, beyond);
    if (!check_tally(t, g) && taken_over())
        return;                 /* chosen, and the MPI library's results are its own: see above */
    check(overlapped == 0, "%s: the user's operation had operands that overlap %u times", words,
          overlapped);
    if (t->kind->rounds && t->collective == COLLOPT_ALLREDUCE)
        remember_bits(out);
    judge(t, g, out, e);
}

static bool has_word(const char *word)
{
    size_t n = strlen(word);

    for (const char *s = words; (s = strstr(s, word)); s++)
        if ((s == words || s[-1] == ' ') && (s[n] == ' ' || s[n] == '\0'))
            return true;
    return false;
}

static void run_if_wanted(const struct trial *t, const struct group *g)
{
    if (left_out[t->collective])
        return;
    snprintf(words, sizeof words, "%s%s %s np=%d op=%s type=%s count=%zu root=%d shape=%s %s",
             form == PERSISTENT        ? "persistent "
                 : form == NONBLOCKING ? "nonblocking "
                                       : "",
             collopt_collective_names[t->collective],
             forced[t->collective].algorithm ? forced[t->collective].algorithm->name : "selected",
             g->ranks, t->kind->op_name, t->kind->type_name, t->count, t->root,
             shape_names[t->shape], t->in_place ? "in_place" : "apart");
    for (int i = 0; i < wanted_n; i++)
        if (!has_word(wanted[i]))
            return;
    at(words);
    run(t, g);
}

/* ---- all trials ------------------------------------------------------------------------------ */

/* Sets the shares of a vector of about COUNT elements, and the count that comes of them. */
static void share_out(struct trial *t, const struct group *g, size_t count)
{
    size_t p = (size_t)g->ranks, left = count;

    t->count = count;
    memset(t->share, 0, sizeof t->share);
    if (t->collective == COLLOPT_REDUCE_SCATTER_BLOCK) {
        for (size_t r = 0; r < p; r++)
            t->share[r] = count <= 17 ? count : count / p;
        t->count = t->share[0] * p;
        return;
    }
    switch (t->shape) {
    case FIRST:
        t->share[0] = count;
        return;
    case LAST:
        t->share[p - 1] = count;
        return;
    case RAGGED:
        for (size_t r = 0; r + 1 < p; r++) {
            t->share[r] = mix(count + 17 * r) % 3 ? mix(count + 31 * r) % (2 * count / p + 1) : 0;
            t->share[r] = t->share[r] < left ? t->share[r] : left;
            left -= t->share[r];
        }
        t->share[p - 1] = left;
        return;
    default:
        for (size_t r = 0; r < p; r++)
            t->share[r] = count / p + (r < count % p);
    }
}

/* Both ways of passing buffers where vectors are short; else the one that is due. */
static void run_counted(struct trial t, const struct group *g, size_t count, int due)
{
    share_out(&t, g, count);
    t.in_place = due % 2;
    run_if_wanted(&t, g);
    if (count > 17 && !thorough)
        return;
    t.in_place = !t.in_place;
    run_if_wanted(&t, g);
}

/* Every root for one count, and each root with some count. */
static void run_rooted(struct trial t, const struct group *g, size_t count, int due)
{
    if (t.collective == COLLOPT_REDUCE && (count == 17 || thorough)) {
        for (t.root = 0; t.root < g->ranks; t.root++)
            run_counted(t, g, count, due);
        return;
    }
    t.root = t.collective == COLLOPT_REDUCE ? due % g->ranks : 0;
    run_counted(t, g, count, due / g->ranks);
}

static void run_shaped(struct trial t, const struct group *g, size_t count, int due)
{
    if (t.collective != COLLOPT_REDUCE_SCATTER) {
        run_rooted(t, g, count, due);
        return;
    }
    for (int s = 0; s < SHAPES; s++)
        if (count == 17 || s == due % SHAPES || (s == RAGGED && count < 5000) || thorough) {
            t.shape = (enum shape)s;
            run_counted(t, g, count, due + s);
        }
}

/* Later kinds differ from the first ones in their layout only, and take fewer counts; where it
 * differs from rank to rank, also one of long messages, which all ranks have to cut alike. */
enum { ALL_COUNTS = 4 };

static bool due_count(const struct kind *k, size_t count, int number, int collective, size_t p)
{
    if (thorough || (count == 1000 && k->element[0].type != k->element[1].type))
        return true;
    if (count > 5000)
        return number < ALL_COUNTS && (number + collective) % 2;
    return number < ALL_COUNTS || count == 1 || count == p || count == 17;
}

/* All counts; of long vectors each second kind with each second collective. */
static void run_counts(const struct kind *k, const struct group *g, int number)
{
    const char *asked = getenv("TEST_LONGEST");
    size_t p = (size_t)g->ranks,
           longest = asked   ? strtoull(asked, NULL, 10)
        : thorough || p <= 2 ? 65537
                             : 20011;
    size_t count[] = { 0, 1, 2, p - 1, p, p + 1, 17, 1000, longest };

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        for (int i = 0; i < (int)(sizeof count / sizeof *count); i++)
            if (due_count(k, count[i], number, c, p))
                run_shaped((struct trial){ .collective = (enum collopt_collective)c, .kind = k }, g,
                           count[i], number + c + i);
}

/* One collective and one count by turns: what is tested here is the operation.  300 pairs of 12
 * bytes are below Open MPI's limit for messages that do not wait, with their gaps above it. */
static void run_once(const struct kind *k, const struct group *g, int number)
{
    static const size_t count[] = { 17, 40, 3, 300 };

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        struct trial t = { .collective = (enum collopt_collective)c,
                           .kind = k,
                           .in_place = (number + c) % 2 };

        if ((number + g->ranks + launch) % COLLOPT_COLLECTIVES != c && wanted_n == 0 && !thorough)
            continue;
        t.root = c == COLLOPT_REDUCE ? number % g->ranks : 0;
        t.shape = c == COLLOPT_REDUCE_SCATTER ? (enum shape)((number / 2 + c) % SHAPES) : EVEN;
        share_out(&t, g, count[(number + c) % 4]);
        run_if_wanted(&t, g);
    }
}

/* Operations and their types are tried on the world only: they are the same for any number of
 * ranks. */
static void run_all(const struct group *g)
{
    bool world = g->ranks == world_ranks;
    int n, with_all_counts;
    const struct kind *k = kinds(&n, &with_all_counts);

    if (form == NONBLOCKING)    /* which does not take communicators over */
        sum_all(g->comm, 1, "a sum that takes the communicator over");
    for (int i = 0; i < with_all_counts; i++)
        run_counts(&k[i], g, i);
    for (int i = with_all_counts; i < n && (world || thorough || wanted_n); i++)
        run_once(&k[i], g, i);
    at("comparing the bits of all ranks");
    compare_bits(g);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* One that is not the first that comes to mind: the last of the collective that serves any call. */
static const char *inner_name(enum collopt_collective c)
{
    const char *name = NULL;

    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        if ((*a)->collective == c && !(*a)->grouped && (*a)->order == COLLOPT_IN_ORDER
            && !(*a)->usable)
            name = (*a)->name;
    return name;
}

static void list_algorithms(void)
{
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++) {
        const struct collopt_parameter *p = (*a)->parameter;

        printf("%s %s\n", collopt_collective_names[(*a)->collective], (*a)->name);
        if (!p->name)
            continue;
        printf("%s %s", collopt_collective_names[(*a)->collective], (*a)->name);
        for (int i = 0; i < COLLOPT_PARAMETERS && p[i].name; i++) {
            size_t value = p[i].bytes ? 1000 : 3;

            value = value < p[i].least ? p[i].least : value > p[i].most ? p[i].most : value;
            printf("%c%s=", i ? ',' : ':', p[i].name);
            if (p[i].algorithm)
                printf("(%s)", inner_name(p[i].of));
            else if (p[i].list_bits)    /* for eight ranks */
                printf("2x2x2");
            else if (p[i].words)        /* the first one, which needs nothing to be known */
                printf("%.*s", (int)strcspn(p[i].words, "|"), p[i].words);
            else
                printf("%zu", value);
        }
        printf("\n");
    }
}

/* Ranks of a group are those of the world in falling order. */
static void run_groups(const char *sizes)
{
    struct group g;
    int mine = -1, before = 0, number = 0;

    for (const char *s = sizes; *s; s += *s == ',', number++) {
        int size = (int)strtol(s, (char **)&s, 10);

        if (world_rank >= before && world_rank < before + size)
            mine = number;
        before += size;
    }
    check(before == world_ranks, "groups %s are not %d ranks", sizes, world_ranks);
    at("splitting");
    MPI_Comm_split(MPI_COMM_WORLD, mine, -world_rank, &g.comm);
    MPI_Comm_rank(g.comm, &g.rank);
    MPI_Comm_size(g.comm, &g.ranks);
    g.step = -1;
    run_all(&g);
    at("freeing a communicator");
    MPI_Comm_free(&g.comm);
}

static bool is_groups(const char *word)
{
    return word[strspn(word, "0123456789,")] == '\0';
}

int main(int argc, char **argv)
{
    struct group world = { .comm = MPI_COMM_WORLD, .step = 1 };
    int number = 0;

    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        begin(&argc, &argv, "list");
        if (world_rank == 0)
            list_algorithms();
        fflush(stdout);
        return end();
    }
    begin(&argc, &argv, "test_collectives");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(with_collopt(), "collopt is not in this process");
    read_forced();
    form = form_named(getenv("TEST_FORM"));
    thorough = getenv("TEST_THOROUGH") != NULL;
    arena_open(&in_arena, LONGEST * 32);
    arena_open(&out_arena, LONGEST * 32);
    image = malloc(LONGEST * 32 + 1000);
    wanted = calloc((size_t)argc, sizeof *wanted);
    for (int i = 1; i < argc; i++)
        if (!is_groups(argv[i]))
            wanted[wanted_n++] = argv[i];

    world.rank = world_rank;
    world.ranks = world_ranks;
    run_all(&world);
    for (int i = 1; i < argc; i++)
        if (is_groups(argv[i]))
            run_groups(argv[i]);

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        char called[64];
        uint64_t passed = calls_passed(form_name(mpi_names[c], form, called));

        number += refused[c];
        check(passed <= (form != BLOCKING ? 0 : calls_run(collopt_collective_names[c], NULL)),
              "MPI_%s was passed to the MPI"
              " library too often, %llu times", called, (unsigned long long)passed);
    }
    if (world_rank == 0)
        printf(
            "test_collectives: %llu trials on rank 0; %d forced algorithms could not serve all\n",
            (unsigned long long)trials, number);
    fflush(stdout);
    kinds_free();
    return end();
}
