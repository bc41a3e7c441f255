/* The MPI library's own collectives and collopt's, in turn, in one run on the same processors.
 *
 *     mpirun -n 2 env LD_PRELOAD=libcollopt.so bench_pairs [-k CALLS] [-n PAIRS] [-s SECONDS] "WORDS" ...
 *
 * WORDS are a collective, an operation, a type, sizes of the vector in bytes, and perhaps inplace:
 *
 *     "allreduce sum double 8 4K 256K 4M"    "reduce max int 64K inplace"
 *
 * Measured in pairs, by measure.h.  A line has the medians of both times, the median of the ratios host/collopt (above 1:
 * collopt is faster) with its 95% confidence interval, and the algorithm. */
#include "measure.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum collective { ALLREDUCE, REDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, COLLECTIVES };

static const char *const collective_names[] = {
    "allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"
};

static const struct { const char *name; MPI_Op op; } ops[] = {
    { "sum", MPI_SUM }, { "prod", MPI_PROD }, { "min", MPI_MIN }, { "max", MPI_MAX }
};

static const struct { const char *name; MPI_Datatype type; size_t size; } types[] = {
    { "double", MPI_DOUBLE, sizeof(double) }, { "float", MPI_FLOAT, sizeof(float) },
    { "int", MPI_INT, sizeof(int) }, { "long", MPI_LONG, sizeof(long) }
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

struct problem {
    enum collective collective;
    MPI_Op op;
    MPI_Datatype type;
    size_t size;                /* of one element */
    int in_place;
    char title[80];             /* the words but the sizes */
    int count;                  /* elements: of the vector; Reduce_scatter_block: of each rank */
    int *counts;                /* Reduce_scatter */
    void *in, *out;
};

static long calls_given;        /* -k; 0: as many as take a millisecond */
static int pairs_given;         /* -n; 0: as many as fit into SECONDS */
static double seconds = 1;      /* -s */
static int rank, ranks;

static void usage(const char *about, const char *word)
{
    if (rank == 0)
        fprintf(stderr, "bench_pairs: %s: %s\n"
                        "usage: bench_pairs [-k CALLS] [-n PAIRS] [-s SECONDS] \"allreduce sum double 8 4K\" ...\n",
                about, word);
    MPI_Finalize();
    exit(2);
}

/* ---- one call ---------------------------------------------------------------------------------------------- */

static void call(const struct bench_functions *f, const struct problem *p)
{
    const void *in = p->in_place ? MPI_IN_PLACE : p->in;

    switch (p->collective) {
    case ALLREDUCE:
        f->allreduce(in, p->out, p->count, p->type, p->op, MPI_COMM_WORLD);
        break;
    case REDUCE:
        f->reduce(rank == 0 ? in : p->in, p->out, p->count, p->type, p->op, 0, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER:
        f->reduce_scatter(in, p->out, p->counts, p->type, p->op, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER_BLOCK:
        f->reduce_scatter_block(in, p->out, p->count, p->type, p->op, MPI_COMM_WORLD);
        break;
    case SCAN:
        f->scan(in, p->out, p->count, p->type, p->op, MPI_COMM_WORLD);
        break;
    default:
        f->exscan(in, p->out, p->count, p->type, p->op, MPI_COMM_WORLD);
    }
}

static void call_side(const struct bench_functions *f, const void *problem)
{
    call(f, problem);
}

/* ---- one line ---------------------------------------------------------------------------------------------- */

static void measure(const struct problem *p, size_t bytes)
{
    struct bench_side host = { BENCH_HOST, call_side, p }, ours = { BENCH_COLLOPT, call_side, p };
    struct bench_effort effort = { .seconds = seconds, .precise = 0.005, .calls = calls_given, .pairs = pairs_given };
    struct bench_algorithm ran;
    struct bench_figures f;
    char size[24];

    bench_algorithm_start(&ran, collective_names[p->collective]);
    bench_compare(&host, &ours, &effort, &f);
    if (rank == 0) {
        printf("%-28s %6s %12.3f %12.3f %8.2f  %5.2f - %-6.2f %s\n", p->title, bench_size_text(bytes, size, sizeof size),
               f.first_us, f.second_us, f.ratio, f.low, f.high, bench_algorithm_ran(&ran));
        fflush(stdout);
    }
}

static void run(struct problem *p, size_t bytes)
{
    size_t elements = bytes / p->size, share = elements / (size_t)ranks;
    char size[24];

    if (bytes % p->size || elements > 0x7fffffff)
        usage("not a size of whole elements", bench_size_text(bytes, size, sizeof size));
    p->count = (int)elements;
    if (p->collective == REDUCE_SCATTER_BLOCK)
        p->count = (int)share;
    p->counts = bench_new((size_t)ranks * sizeof *p->counts);
    for (int r = 0; r < ranks; r++)
        p->counts[r] = (int)(share + ((size_t)r < elements % (size_t)ranks));
    p->in = bench_new(bytes + 1);
    p->out = bench_new(bytes + 1);
    measure(p, bytes);
    free(p->counts);
    free(p->in);
    free(p->out);
}

/* ---- words ------------------------------------------------------------------------------------------------- */

static int is_size(const char *word, size_t *bytes)
{
    char *end;

    if (!isdigit((unsigned char)*word))
        return 0;
    *bytes = strtoull(word, &end, 10);
    switch (*end) {
    case 'G': *bytes <<= 10;    /* fall through */
    case 'M': *bytes <<= 10;    /* fall through */
    case 'K': *bytes <<= 10; end++;
    }
    return *end == '\0';
}

/* Takes one word that is not a size. */
static int take(struct problem *p, const char *word)
{
    for (size_t i = 0; i < COLLECTIVES; i++)
        if (strcmp(word, collective_names[i]) == 0) {
            p->collective = (enum collective)i;
            return 1;
        }
    for (size_t i = 0; i < LENGTH(ops); i++)
        if (strcmp(word, ops[i].name) == 0) {
            p->op = ops[i].op;
            return 1;
        }
    for (size_t i = 0; i < LENGTH(types); i++)
        if (strcmp(word, types[i].name) == 0) {
            p->type = types[i].type;
            p->size = types[i].size;
            return 1;
        }
    if (strcmp(word, "inplace") == 0)
        return p->in_place = 1;
    return 0;
}

static void line(const char *words)
{
    struct problem p = { .op = MPI_SUM, .type = MPI_DOUBLE, .size = sizeof(double) };
    char *copy = bench_new(strlen(words) + 1), *rest;
    size_t bytes;

    strcpy(copy, words);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (is_size(word, &bytes))
            continue;
        if (!take(&p, word))
            usage("not a collective, operation, type or size", word);
        snprintf(p.title + strlen(p.title), sizeof p.title - strlen(p.title), "%s%s", *p.title ? " " : "", word);
    }
    strcpy(copy, words);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (is_size(word, &bytes))
            run(&p, bytes);
    free(copy);
}

int main(int argc, char **argv)
{
    int option;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bench_find_host();
    while ((option = getopt(argc, argv, "k:n:s:")) != -1)
        switch (option) {
        case 'k': calls_given = atol(optarg); break;
        case 'n': pairs_given = atoi(optarg); break;
        case 's': seconds = atof(optarg); break;
        default: usage("not an option", argv[optind - 1]);
        }
    if (optind == argc)
        usage("nothing to measure", "give a collective, an operation, a type and sizes");
    if (rank == 0)
        printf("%-28s %6s %12s %12s %8s  %-14s %s\n", "", "bytes", "host us", "collopt us", "ratio", "95% interval", "");
    for (int i = optind; i < argc; i++)
        line(argv[i]);
    MPI_Finalize();
    return 0;
}
