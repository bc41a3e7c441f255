/* Self-consistent performance guidelines: no reduction should be slower than the same result made
 * of others.
 *
 *     mpirun -n 4 env LD_PRELOAD=libcollopt.so guidelines [OPTION]...          guidelines --help
 *
 * A guideline says  LEFT <= RIGHT:  the collective on the left can be replaced by what is on the
 * right, so a library in which it is slower would gain by doing just that.  The host's functions
 * are held against the host's, and collopt's against collopt's.  Both sides are measured in pairs
 * (measure.h), in shuffled order; one is violated where the 95% interval of LEFT / RIGHT lies
 * beyond the tolerance.
 *
 * J. L. Traff, W. D. Gropp, R. Thakur, Self-Consistent MPI Performance Guidelines, IEEE TPDS 21,
 * 2010; S. Hunold, A. Carpen-Amarie, F. D. Lubbe, J. L. Traff, Automatic Verification of
 * Self-Consistent MPI Performance Guidelines, Euro-Par 2016. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cells.h"
#include "lib/clock.h"
#include "collopt.h"
#include "lib/options.h"

static int rank, ranks;

/* The data of one guideline. */
struct work {
    int n, block;               /* elements of the vector; of a rank's even part, rounded up */
    int *even, *parts, *at_root, *starts;       /* counts of a Reduce_scatter; starts of parts */
    double *in, *out, *other;   /* with room for n, and for block on each rank */
    void (*call)(const struct bench_functions *, const void *);
    const struct work *half, *second_half, *twice;
};

/* ---- the collectives ------------------------------------------------------------------------- */

#define CALL(name) static void name(const struct bench_functions *f, const void *what)
#define WORK const struct work *w = what

CALL(allreduce)
{
    WORK;
    f->allreduce(w->in, w->out, w->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

CALL(reduce)
{
    WORK;
    f->reduce(w->in, w->out, w->n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

CALL(reduce_to_last)
{
    WORK;
    f->reduce(w->in, w->out, w->n, MPI_DOUBLE, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
}

CALL(reduce_scatter_block)
{
    WORK;
    f->reduce_scatter_block(w->in, w->out, w->block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

CALL(reduce_scatter)
{
    WORK;
    f->reduce_scatter(w->in, w->out, w->parts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

CALL(scan)
{
    WORK;
    f->scan(w->in, w->out, w->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

CALL(exscan)
{
    WORK;
    f->exscan(w->in, w->out, w->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* ---- what can replace them ------------------------------------------------------------------- */

CALL(reduce_bcast)
{
    WORK;
    reduce(f, w);
    f->bcast(w->out, w->n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

CALL(scan_bcast)
{
    WORK;
    scan(f, w);
    f->bcast(w->out, w->n, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
}

CALL(block_allgather)
{
    WORK;
    f->reduce_scatter_block(w->in, w->other, w->block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(w->other, w->block, MPI_DOUBLE, w->out, w->block, MPI_DOUBLE, MPI_COMM_WORLD);
}

CALL(parts_allgatherv)
{
    WORK;
    f->reduce_scatter(w->in, w->other, w->parts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgatherv(w->other, w->parts[rank], MPI_DOUBLE, w->out, w->parts, w->starts, MPI_DOUBLE,
                   MPI_COMM_WORLD);
}

CALL(block_gather)
{
    WORK;
    f->reduce_scatter_block(w->in, w->other, w->block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(w->other, w->block, MPI_DOUBLE, w->out, w->block, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

CALL(parts_gatherv)
{
    WORK;
    f->reduce_scatter(w->in, w->other, w->parts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gatherv(w->other, w->parts[rank], MPI_DOUBLE, w->out, w->parts, w->starts, MPI_DOUBLE, 0,
                MPI_COMM_WORLD);
}

CALL(scatter_all_to_root)
{
    WORK;
    f->reduce_scatter(w->in, w->out, w->at_root, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

CALL(reduce_send)
{
    WORK;
    f->reduce(w->in, rank > 0 ? w->other : w->out, w->n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && ranks > 1)
        MPI_Send(w->out, w->n, MPI_DOUBLE, ranks - 1, 0, MPI_COMM_WORLD);
    else if (rank == ranks - 1 && ranks > 1)
        MPI_Recv(w->out, w->n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

CALL(scatter_evenly)
{
    WORK;
    f->reduce_scatter(w->in, w->out, w->even, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

CALL(reduce_then_scatter)
{
    WORK;
    f->reduce(w->in, w->other, w->block * ranks, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Scatter(w->other, w->block, MPI_DOUBLE, w->out, w->block, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

CALL(reduce_then_scatterv)
{
    WORK;
    f->reduce(w->in, w->other, w->n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Scatterv(w->other, w->parts, w->starts, MPI_DOUBLE, w->out, w->parts[rank], MPI_DOUBLE, 0,
                 MPI_COMM_WORLD);
}

CALL(allreduce_keep_block)
{
    WORK;
    f->allreduce(w->in, w->other, w->block * ranks, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    memcpy(w->out, w->other + (size_t)rank * (size_t)w->block, (size_t)w->block * sizeof *w->out);
}

CALL(allreduce_keep_part)
{
    WORK;
    f->allreduce(w->in, w->other, w->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    memcpy(w->out, w->other + w->starts[rank], (size_t)w->parts[rank] * sizeof *w->out);
}

CALL(exscan_local)
{
    WORK;
    exscan(f, w);
    if (rank == 0)
        memcpy(w->out, w->in, (size_t)w->n * sizeof *w->out);
    else
        f->reduce_local(w->in, w->out, w->n, MPI_DOUBLE, MPI_SUM);
}

/* Rank 0 has zeros to begin with. */
CALL(shift_scan)
{
    WORK;
    int above = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL,
        below = rank > 0 ? rank - 1 : MPI_PROC_NULL;

    MPI_Sendrecv(w->in, w->n, MPI_DOUBLE, above, 0, w->other, w->n, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        memset(w->other, 0, (size_t)w->n * sizeof *w->other);
    f->scan(w->other, w->out, w->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* On two ranks this is all that an Allreduce has to do: one message each way, and the sum. */
CALL(all_to_all_ranks)
{
    WORK;
    memcpy(w->out, w->in, (size_t)w->n * sizeof *w->out);
    for (int k = 1; k < ranks; k++) {
        MPI_Sendrecv(w->in, w->n, MPI_DOUBLE, (rank + k) % ranks, 0, w->other, w->n, MPI_DOUBLE,
                     (rank + ranks - k) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        f->reduce_local(w->other, w->out, w->n, MPI_DOUBLE, MPI_SUM);
    }
}

CALL(all_to_root)
{
    WORK;
    if (rank > 0) {
        MPI_Send(w->in, w->n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        return;
    }
    for (int k = 1; k < ranks; k++) {
        MPI_Recv(k == 1 ? w->out : w->other, w->n, MPI_DOUBLE, k, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        f->reduce_local(k == 1 ? w->in : w->other, w->out, w->n, MPI_DOUBLE, MPI_SUM);
    }
}

CALL(chain_scan)
{
    WORK;
    if (rank == 0) {
        memcpy(w->out, w->in, (size_t)w->n * sizeof *w->out);
    } else {
        MPI_Recv(w->out, w->n, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        f->reduce_local(w->in, w->out, w->n, MPI_DOUBLE, MPI_SUM);
    }
    if (rank + 1 < ranks)
        MPI_Send(w->out, w->n, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
}

CALL(chain_exscan)
{
    WORK;
    memcpy(w->other, w->in, (size_t)w->n * sizeof *w->other);
    if (rank > 0) {
        MPI_Recv(w->out, w->n, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        f->reduce_local(w->out, w->other, w->n, MPI_DOUBLE, MPI_SUM);
    }
    if (rank + 1 < ranks)
        MPI_Send(w->other, w->n, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
}

CALL(two_halves)
{
    WORK;
    w->call(f, w->half);
    w->call(f, w->second_half);
}

CALL(twice_as_long)
{
    WORK;
    w->call(f, w->twice);
}

/* ---- their inputs ---------------------------------------------------------------------------- */

static double element(int i)
{
    return i % 97 + 1;
}

static void write_input(double *in, int n)
{
    for (int i = 0; i < n; i++)
        in[i] = (rank + 1) * element(i);
}

/* Writes the inputs of a side, but not that of twice the length. */
static void refresh(const void *what)
{
    WORK;
    write_input(w->in, w->n);
}

static void refresh_twice(const void *what)
{
    WORK;
    refresh(w->twice);
}

/* ---- the guidelines -------------------------------------------------------------------------- */

/* Which ranks must have what: sums over all ranks, up to this one, or up to the one below. */
enum gives { ALL, AT_FIRST, AT_LAST, BLOCK, PART, PREFIX, BEFORE };

struct guideline {
    enum bench_collective collective;
    void (*left)(const struct bench_functions *, const void *);
    enum gives gives;
    const char *right_name;
    void (*right)(const struct bench_functions *, const void *);
    bool same;                  /* does the right side leave the same in out? */
};

#define EACH_LENGTH(collective, left, gives) \
    { collective, left, gives, "two of half the length", two_halves, false }, \
    { collective, left, gives, "twice the length", twice_as_long, false }

static const struct guideline guidelines[] = {
    { BENCH_ALLREDUCE, allreduce, ALL, "reduce + bcast", reduce_bcast, true },
    { BENCH_ALLREDUCE, allreduce, ALL, "scan + bcast", scan_bcast, true },
    { BENCH_ALLREDUCE, allreduce, ALL, "reduce_scatter_block + allgather", block_allgather, true },
    { BENCH_ALLREDUCE, allreduce, ALL, "reduce_scatter + allgatherv", parts_allgatherv, true },
    { BENCH_ALLREDUCE, allreduce, ALL, "a message from each rank to each", all_to_all_ranks, true },
    EACH_LENGTH(BENCH_ALLREDUCE, allreduce, ALL),
    { BENCH_REDUCE, reduce, AT_FIRST, "allreduce", allreduce, true },
    { BENCH_REDUCE, reduce, AT_FIRST, "reduce_scatter_block + gather", block_gather, true },
    { BENCH_REDUCE, reduce, AT_FIRST, "reduce_scatter + gatherv", parts_gatherv, true },
    { BENCH_REDUCE, reduce, AT_FIRST, "reduce_scatter of all to the root", scatter_all_to_root,
      true },
    { BENCH_REDUCE, reduce, AT_FIRST, "a message from each rank", all_to_root, true },
    { BENCH_REDUCE, reduce_to_last, AT_LAST, "reduce to another root + send", reduce_send, true },
    EACH_LENGTH(BENCH_REDUCE, reduce, AT_FIRST),
    { BENCH_REDUCE_SCATTER_BLOCK, reduce_scatter_block, BLOCK, "reduce_scatter", scatter_evenly,
      true },
    { BENCH_REDUCE_SCATTER_BLOCK, reduce_scatter_block, BLOCK, "reduce + scatter",
      reduce_then_scatter, true },
    { BENCH_REDUCE_SCATTER_BLOCK, reduce_scatter_block, BLOCK, "allreduce", allreduce_keep_block,
      true },
    EACH_LENGTH(BENCH_REDUCE_SCATTER_BLOCK, reduce_scatter_block, BLOCK),
    { BENCH_REDUCE_SCATTER, reduce_scatter, PART, "reduce + scatterv", reduce_then_scatterv, true },
    { BENCH_REDUCE_SCATTER, reduce_scatter, PART, "allreduce", allreduce_keep_part, true },
    EACH_LENGTH(BENCH_REDUCE_SCATTER, reduce_scatter, PART),
    { BENCH_SCAN, scan, PREFIX, "exscan + reduce_local", exscan_local, true },
    { BENCH_SCAN, scan, PREFIX, "a chain of messages", chain_scan, true },
    EACH_LENGTH(BENCH_SCAN, scan, PREFIX),
    { BENCH_EXSCAN, exscan, BEFORE, "shift + scan", shift_scan, true },
    { BENCH_EXSCAN, exscan, BEFORE, "a chain of messages", chain_exscan, true },
    EACH_LENGTH(BENCH_EXSCAN, exscan, BEFORE),
};

enum { GUIDELINES = sizeof guidelines / sizeof *guidelines };

/* ---- vectors and their sums ------------------------------------------------------------------ */

/* Vectors in which all those of a guideline lie, of up to BYTES and an element more for each
 * rank. */
static void make_room(struct work *w, size_t bytes)
{
    size_t n = bytes / sizeof(double) + (size_t)ranks + 1;

    w->in = bench_new(n * sizeof *w->in);
    w->out = bench_new(n * sizeof *w->out);
    w->other = bench_new(n * sizeof *w->other);
    write_input(w->in, (int)n);
}

/* A vector of BYTES, from element FROM of the room. */
static void prepare(struct work *w, size_t bytes, const struct work *room, int from)
{
    w->n = (int)(bytes / sizeof(double) > 1 ? bytes / sizeof(double) : 1);
    w->block = (w->n + ranks - 1) / ranks;
    w->even = bench_new(4 * (size_t)ranks * sizeof *w->even);
    w->parts = w->even + ranks;
    w->at_root = w->parts + ranks;
    w->starts = w->at_root + ranks;
    for (int r = 0; r < ranks; r++) {
        w->even[r] = w->block;
        w->parts[r] = w->n / ranks + (r < w->n % ranks);
        w->at_root[r] = r == 0 ? w->n : 0;
        w->starts[r] = r == 0 ? 0 : w->starts[r - 1] + w->parts[r - 1];
    }
    w->in = room->in + from;
    w->out = room->out + from;
    w->other = room->other + from;
}

/* Is there in out what GIVES says? */
static bool right_here(const struct work *w, enum gives gives)
{
    int last = gives == PREFIX ? rank : gives == BEFORE ? rank - 1 : ranks - 1, n = w->n, from = 0;

    if ((gives == AT_FIRST && rank > 0) || (gives == AT_LAST && rank < ranks - 1) || last < 0)
        return true;
    if (gives == BLOCK) {
        n = w->block;
        from = rank * n;
    } else if (gives == PART) {
        n = w->parts[rank];
        from = w->starts[rank];
    }
    for (int i = 0; i < n; i++)
        if (w->out[i] != (last + 1) * (last + 2) / 2 * element(from + i))
            return false;
    return true;
}

/* One call of a side; collective. */
static bool right_everywhere(const struct bench_side *side, const struct work *w, enum gives gives)
{
    double wrong;

    memset(w->out, 0x7f, (size_t)w->n * sizeof *w->out);
    side->call(bench_turn(side->who), side->what);
    wrong = !right_here(w, gives);
    bench_max(&wrong, 1);
    return wrong == 0;
}

/* ---- one measurement ------------------------------------------------------------------------- */

struct trial {
    const struct guideline *guideline;
    enum bench_who who;
    size_t bytes;
    char algorithm[256];        /* of the left side */
    struct bench_figures figures;       /* first: the right side; second: the left */
    bool wrong;
};

static void run(struct trial *t, const struct bench_effort *effort)
{
    const struct guideline *g = t->guideline;
    struct work room, w, half, second_half, twice;
    bool fresh = t->bytes >= BENCH_FRESH;
    struct bench_side left = { t->who, g->left, &w, fresh ? refresh : NULL },
                      right = { t->who, g->right, &w,
                                !fresh                          ? NULL
                                    : g->right == twice_as_long ? refresh_twice
                                                                : refresh };
    struct bench_algorithm ran;
    bool ok;

    make_room(&room, 2 * t->bytes);
    prepare(&w, t->bytes, &room, 0);
    prepare(&half, t->bytes / 2, &room, 0);
    prepare(&second_half, t->bytes / 2, &room, w.n / 2);
    prepare(&twice, 2 * t->bytes, &room, 0);
    w.call = g->left;
    w.half = &half;
    w.second_half = &second_half;
    w.twice = &twice;

    for (int i = 0; i < 3; i++)         /* communicators are taken over at the third call */
        g->left(bench_turn(t->who), &w);
    bench_algorithm_start(&ran, bench_collective_names[g->collective]);
    ok = right_everywhere(&left, &w, g->gives);
    snprintf(t->algorithm, sizeof t->algorithm, "%s",
             t->who == BENCH_COLLOPT ? bench_algorithm_ran(&ran) : "host");
    t->wrong = !ok || (g->same && !right_everywhere(&right, &w, g->gives));
    bench_compare(&right, &left, effort, &t->figures);
    t->bytes = (size_t)(g->gives == BLOCK ? w.block * ranks : w.n) * sizeof(double);
    free(w.even);
    free(half.even);
    free(second_half.even);
    free(twice.even);
    free(room.in);
    free(room.out);
    free(room.other);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static double factor(const struct trial *t)     /* left / right */
{
    return 1 / t->figures.ratio;
}

enum verdict { KEPT, PERHAPS, VIOLATED };

static enum verdict verdict(const struct trial *t, double tolerance)
{
    return 1 / t->figures.high > 1 + tolerance ? VIOLATED
        : factor(t) > 1 + tolerance            ? PERHAPS
                                               : KEPT;
}

static int by_factor(const void *a, const void *b)
{
    double x = factor(a), y = factor(b);

    return (x < y) - (x > y);
}

/* TRIALS sorted by factor. */
static void table(const struct trial *trials, int n, enum bench_who who, const char *of,
                  double tolerance)
{
    int all = 0, violated = 0, perhaps = 0;
    char size[24];

    for (int i = 0; i < n; i++)
        if (trials[i].who == who) {
            all++;
            violated += verdict(&trials[i], tolerance) == VIOLATED;
            perhaps += verdict(&trials[i], tolerance) == PERHAPS;
        }
    printf("\n%s: %d of %d guidelines violated, %d more perhaps (within the noise)\n", of, violated,
           all, perhaps);
    for (int i = 0; i < n; i++) {
        const struct trial *t = &trials[i];

        if (t->who != who || (verdict(t, tolerance) != VIOLATED && !t->wrong))
            continue;
        printf("%7s %5s %12.3f %12.3f  %6.2f [%.2f, %.2f]  %s <= %s%s%s%s\n",
               t->wrong ? "WRONG" : "", bench_size_text(t->bytes, size, sizeof size),
               t->figures.second_us, t->figures.first_us, factor(t), 1 / t->figures.high,
               1 / t->figures.low, bench_collective_names[t->guideline->collective],
               t->guideline->right_name, who == BENCH_COLLOPT ? " (" : "",
               who == BENCH_COLLOPT ? t->algorithm : "", who == BENCH_COLLOPT ? ")" : "");
    }
}

static void csv_line(const struct provenance *p, const struct trial *t, double tolerance, FILE *to)
{
    static const char *const verdicts[] = { "kept", "perhaps", "violated" };
    const struct bench_figures *f = &t->figures;
    const char *who = t->who == BENCH_HOST ? p->mpi : "collopt";
    char text[300];

    snprintf(text, sizeof text, "%s; guidelines of %s", p->setting, who);
    cells_csv_field(text, to);
    fprintf(to, "%s,sum,double,%d,%zu,", bench_collective_names[t->guideline->collective], p->ranks,
            t->bytes);
    cells_csv_field(t->algorithm, to);
    cells_csv_field(t->guideline->right_name, to);
    fprintf(to, "%.4f,%.4f,%.4f,%.4f,%.4f,%d,%d,%s,", f->first_us, f->second_us, f->ratio, f->low,
            f->high, f->pairs, f->outliers,
            t->wrong                 ? "WRONG"
                : t->guideline->same ? "correct"
                                     : "unchecked");
    cells_csv_field(who, to);
    fprintf(to, "%s\n", verdicts[verdict(t, tolerance)]);
}

static bool csv(const char *file, const struct provenance *p, const struct trial *trials, int n,
                double tolerance)
{
    FILE *to = fopen(file, "w");

    if (!to) {
        perror(file);
        return false;
    }
    provenance_lines(p, true, to);
    fputs("setting,collective,operation,type,ranks,bytes,algorithm,peer,peer_us,collopt_us,ratio,"
          "ratio_low,ratio_high,pairs,outliers,"
          "result,of,verdict\n",
          to);
    for (int i = 0; i < n; i++)
        csv_line(p, &trials[i], tolerance, to);
    return fclose(to) == 0;
}

/* ---- options --------------------------------------------------------------------------------- */

struct chosen {
    struct options what;        /* of these only collectives and sizes */
    bool host, collopt, strict, help;
    double tolerance, seed;
    const char *setting, *csv;
    struct bench_effort effort;
};

static void help(void)
{
    puts(
        "usage: mpirun -n RANKS env LD_PRELOAD=libcollopt.so guidelines [OPTION]...\n\n"
        "Is any reduction slower than others that give the same result?\n\n"
        "  --of host|collopt|both  whose reductions; both unless given, collopt's if it is loaded\n"
        "  --collectives LIST      all unless given: "
        "allreduce,reduce,reduce_scatter_block,reduce_scatter,scan,exscan\n"
        "  --sizes LIST            bytes of one rank's vector, as for collopt-bench; 8,1K,32K,1M "
        "unless given\n"
        "  --time SECONDS          for one comparison, at most; 0.2 unless given\n"
        "  --calls N               calls in a run; unless given, as many as take a millisecond\n"
        "  --pairs N               exactly so many pairs of runs for each comparison, whatever "
        "--time says\n"
        "  --tolerance PERCENT     a guideline is violated by more than this; 5 unless given\n"
        "  --strict                exit status 3 if collopt violates a guideline\n"
        "  --seed N                order of the comparisons\n"
        "  --setting TEXT          what the CSV file calls this machine and way of running\n"
        "  --csv FILE              one line for each comparison: collopt_us is the collective, "
        "whosever it is, peer_us what\n"
        "                          can replace it (peer), ratio their quotient, above 1 where the "
        "guideline is kept\n"
        "  --help\n\n"
        "Printed are the guidelines that are violated, the worst first: bytes, time of the "
        "collective and of what can replace\n"
        "it in us, how many times slower it is with the 95% interval, and the guideline.\n\n"
        "Exit status: 0; 1 if a result is wrong or a file cannot be written; 2 for wrong "
        "arguments; 3 by --strict.");
}

static bool number(const char *option, const char *text, double least, double most, double *value,
                   char *message)
{
    char *end;

    *value = strtod(text, &end);
    if (end != text && !*end && *value >= least && *value <= most)
        return true;
    snprintf(message, OPTIONS_MESSAGE, "%s: \"%s\" is not a number from %g to %g", option, text,
             least, most);
    return false;
}

static bool side_word(struct chosen *o, const char *word, char *message)
{
    o->host = strcmp(word, "collopt") != 0;
    o->collopt = strcmp(word, "host") != 0;
    if (!strcmp(word, "host") || !strcmp(word, "collopt") || !strcmp(word, "both"))
        return true;
    snprintf(message, OPTIONS_MESSAGE, "--of: \"%s\" is not host, collopt or both", word);
    return false;
}

static bool choose(struct chosen *o, int argc, char **argv, char *message)
{
    static const struct option names[] = { { "of", 1, NULL, 'o' },
                                           { "collectives", 1, NULL, 'i' },
                                           { "sizes", 1, NULL, 's' },
                                           { "time", 1, NULL, 't' },
                                           { "calls", 1, NULL, 'a' },
                                           { "pairs", 1, NULL, 'p' },
                                           { "tolerance", 1, NULL, 'l' },
                                           { "strict", 0, NULL, 'x' },
                                           { "seed", 1, NULL, 'e' },
                                           { "setting", 1, NULL, 'g' },
                                           { "csv", 1, NULL, 'c' },
                                           { "help", 0, NULL, 'h' },
                                           { 0 } };
    double percent = 5, calls = 0, pairs = 0;
    int letter;

    *o = (struct chosen){ .host = true, .collopt = true, .seed = -1,
                          .effort = { .seconds = 0.2, .precise = 0.01 } };
    if (!options_collectives(&o->what, "all", message)
        || !options_sizes(&o->what, "8,1K,32K,1M", message))
        return false;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        bool ok = true;

        switch (letter) {
        case 'o': ok = side_word(o, optarg, message); break;
        case 'i': ok = options_collectives(&o->what, optarg, message); break;
        case 's': ok = options_sizes(&o->what, optarg, message); break;
        case 't': ok = number("--time", optarg, 1e-3, 3600, &o->effort.seconds, message); break;
        case 'a': ok = number("--calls", optarg, 1, 1e6, &calls, message); break;
        case 'p': ok = number("--pairs", optarg, 1, 1e6, &pairs, message); break;
        case 'l': ok = number("--tolerance", optarg, 0, 1000, &percent, message); break;
        case 'e': ok = number("--seed", optarg, 0, 1e9, &o->seed, message); break;
        case 'x': o->strict = true; break;
        case 'g': o->setting = optarg; break;
        case 'c': o->csv = optarg; break;
        case 'h': o->help = true; break;
        default:
            snprintf(message, OPTIONS_MESSAGE,
                     "%s: no such option, or it needs a value; see --help", argv[optind - 1]);
            return false;
        }
        if (!ok)
            return false;
    }
    if (optind < argc)
        snprintf(message, OPTIONS_MESSAGE, "\"%s\" is not an option; see --help", argv[optind]);
    o->tolerance = percent / 100;
    o->effort.calls = (long)calls;
    o->effort.pairs = (int)pairs;
    return optind == argc;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int list_trials(struct trial *trials, const struct chosen *o)
{
    int n = 0;

    for (int who = BENCH_HOST; who <= BENCH_COLLOPT; who++)
        for (int s = 0; s < o->what.sizes; s++)
            for (int g = 0; g < GUIDELINES; g++)
                if ((who == BENCH_HOST ? o->host : o->collopt)
                    && o->what.collective[guidelines[g].collective])
                    trials[n++] = (struct trial){ .guideline = &guidelines[g],
                                                  .who = (enum bench_who)who,
                                                  .bytes = o->what.size[s] };
    return n;
}

/* The same on all ranks: Fisher and Yates, with a congruential generator. */
static void shuffle(struct trial *trials, int n, double seed)
{
    uint64_t state = (uint64_t)seed * 2654435761u + 1;

    for (int i = n - 1; i > 0; i--) {
        struct trial t = trials[i];
        int j;

        state = state * 6364136223846793005u + 1442695040888963407u;
        j = (int)((state >> 33) % (uint64_t)(i + 1));
        trials[i] = trials[j];
        trials[j] = t;
    }
}

static int tell(struct trial *trials, int n, const struct chosen *o, const struct provenance *p)
{
    int status = 0;

    provenance_lines(p, false, stdout);
    qsort(trials, (size_t)n, sizeof *trials, by_factor);
    if (o->host)
        table(trials, n, BENCH_HOST, p->mpi, o->tolerance);
    if (o->collopt)
        table(trials, n, BENCH_COLLOPT, "collopt", o->tolerance);
    for (int i = 0; i < n; i++)
        if (o->strict && status == 0 && trials[i].who == BENCH_COLLOPT
            && verdict(&trials[i], o->tolerance) == VIOLATED)
            status = 3;
    for (int i = 0; i < n; i++)
        if (trials[i].wrong)
            status = 1;
    return o->csv && !csv(o->csv, p, trials, n, o->tolerance) ? 1 : status;
}

static int check(struct chosen *o, int argc, char **argv)
{
    struct trial *trials = bench_new(2 * GUIDELINES * OPTIONS_SIZES * sizeof *trials);
    struct provenance p;
    double status = 0;
    int n;

    bench_find_host();
    if (o->seed < 0)
        o->seed = rank == 0 ? floor(fmod(bench_now() * 1e6, 1e6)) : -1;
    bench_max(&o->seed, 1);
    if (o->collopt && !collopt_version) {
        o->collopt = false;
        if (rank == 0)
            fprintf(stderr,
                    "guidelines: collopt is not loaded; start with LD_PRELOAD=libcollopt.so\n");
    }
    provenance_gather(&p, o->setting, argc, argv, o->seed);
    n = list_trials(trials, o);
    shuffle(trials, n, o->seed);
    for (int i = 0; i < n; i++)
        run(&trials[i], &o->effort);
    if (rank == 0)
        status = tell(trials, n, o, &p);
    bench_max(&status, 1);
    provenance_free(&p);
    free(trials);
    return (int)status;
}

int main(int argc, char **argv)
{
    char message[OPTIONS_MESSAGE] = "";
    struct chosen o;
    int status = 0;

    setenv("COLLOPT_AFTER", "1", 0);    /* what is measured are calls like those before */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!choose(&o, argc, argv, message)) {
        if (rank == 0)
            fprintf(stderr, "guidelines: %s\n", message);
        status = 2;
    } else if (o.help) {
        if (rank == 0)
            help();
    } else {
        status = check(&o, argc, argv);
    }
    MPI_Finalize();
    return status;
}
