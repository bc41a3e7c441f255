/* How much of a nonblocking Allreduce a program hides behind its own computation.
 *
 *     mpirun -n 2 env LD_PRELOAD=libcollopt.so overlap [OPTION]...           overlap --help
 *
 * For each size, the MPI library's MPI_Iallreduce and collopt's in turn, three times in each round:
 *
 *     reduce      MPI_Iallreduce, MPI_Wait
 *     compute     a loop in registers, without MPI, which takes as long as reduce; with --elsewhere
 *                 a sleep, as while a GPU computes
 *     both        MPI_Iallreduce, the same loop, MPI_Wait
 *
 * The hidden share is 1 - (both - compute) / reduce.  1: the reduction costs nothing beside the
 * computation; 0: it takes as long as alone; below 0: it takes longer.  A share above 1 is noise
 * and counts as 1.
 *
 * Runs, their times, the input, and medians with their intervals are as measure.h says.  The share
 * is that of the OSU benchmarks (osu_iallreduce), which print 0 for what is below. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/json.h"
#include "collopt.h"
#include "lib/clock.h"
#include "lib/measure.h"
#include "lib/options.h"
#include "lib/problem.h"
#include "lib/provenance.h"
#include "lib/statistics.h"

enum { MOST_ROUNDS = 10000, SIDES = BENCH_COLLOPT + 1 };
enum phase { REDUCE, COMPUTE, BOTH, PHASES };

static int rank, ranks;
static bool elsewhere;                  /* the processor is idle while the program computes */

/* ---- computation ----------------------------------------------------------------------------- */

static volatile double computed;

/* STEPS steps, each of which waits for the one before. */
static void compute(long steps)
{
    double x = computed;

    for (long i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-6;
    computed = x;
}

static void sleep_for(double seconds)
{
    double end = bench_now() + seconds, left;

    while ((left = end - bench_now()) > 0)
        nanosleep(&(struct timespec){ .tv_sec = (time_t)left,
                                      .tv_nsec = (long)(1e9 * (left - floor(left))) }, NULL);
}

/* The least time of a step, of several tries. */
static double seconds_of_step(void)
{
    enum { TRIES = 20, STEPS = 100000 };
    double least = 1;

    for (int i = 0; i < TRIES; i++) {
        double start = bench_now();

        compute(STEPS);
        least = fmin(least, bench_now() - start);
    }
    return least / STEPS;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* One of the two sides at one size. */
struct side {
    enum bench_who who;
    const struct bench_problem *problem;
    long calls, steps;                  /* in a run; in a computation */
    double seconds;                     /* of a computation elsewhere */
    double (*time)[PHASES];             /* of a call in each round, of the slowest rank */
    double us[PHASES], hidden, low, high;
    char ran[64];                       /* as struct bench_algorithm has it */
    bool wrong;
};

static void one(const struct side *s, const struct bench_functions *f, enum phase phase)
{
    const struct bench_problem *p = s->problem;
    MPI_Request request = MPI_REQUEST_NULL;

    if (phase != COMPUTE)
        f->iallreduce(p->in, p->out, p->count, p->datatype, p->op, p->comm, &request);
    if (phase != REDUCE && elsewhere)
        sleep_for(s->seconds);
    else if (phase != REDUCE)
        compute(s->steps);
    if (phase != COMPUTE)
        f->wait(&request, MPI_STATUS_IGNORE);
}

/* The time of one of the calls of a run, on this rank. */
static double run(const struct side *s, enum phase phase)
{
    const struct bench_functions *f = bench_turn(s->who);
    double sum = 0;

    bench_barrier();
    for (long i = 0; i < s->calls; i++) {
        double start;

        bench_problem_refresh(s->problem);
        start = bench_now();
        one(s, f, phase);
        sum += bench_now() - start;
    }
    return sum / (double)s->calls;
}

/* Does an overlapped reduction have the right result, on all ranks? */
static void check(struct side *s)
{
    double wrong;

    bench_problem_prepare_out(s->problem);
    bench_barrier();
    one(s, bench_turn(s->who), BOTH);
    wrong = !bench_problem_result_is_right(s->problem);
    bench_max(&wrong, 1);
    s->wrong = s->wrong || wrong > 0;
}

/* As many calls as take a millisecond, and as many steps as a reduction takes. */
static void calibrate(struct side *s, double step)
{
    enum { TRIES = 9 };
    double time[TRIES], reduce;

    s->calls = 1;
    s->steps = 0;
    run(s, REDUCE);
    for (int i = 0; i < TRIES; i++)
        time[i] = run(s, REDUCE);
    bench_max(time, TRIES);
    reduce = bench_quantile(time, TRIES, 0.5);
    s->calls = reduce > 1e-3 ? 1 : (long)ceil(1e-3 / (reduce + 1e-9));
    s->steps = (long)(reduce / step);
    s->seconds = reduce;
}

/* ---- figures --------------------------------------------------------------------------------- */

static double share(const double time[PHASES])
{
    return fmin(1, 1 - (time[BOTH] - time[COMPUTE]) / time[REDUCE]);
}

/* SPACE for as many values as there are rounds. */
static void figure(struct side *s, int rounds, double *space)
{
    for (int phase = 0; phase < PHASES; phase++) {
        for (int i = 0; i < rounds; i++)
            space[i] = s->time[i][phase];
        s->us[phase] = 1e6 * bench_quantile(space, rounds, 0.5);
    }
    for (int i = 0; i < rounds; i++)
        space[i] = share(s->time[i]);
    s->hidden = bench_quantile(space, rounds, 0.5);
    bench_median_interval(space, rounds, &s->low, &s->high);
}

/* The sides take turns, and which one is first alternates. */
static void measure(struct side side[SIDES], int rounds)
{
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < SIDES; k++) {
            struct side *s = &side[(i + k) % SIDES];

            for (int phase = 0; phase < PHASES; phase++)
                s->time[i][phase] = run(s, (enum phase)phase);
        }
    for (int k = 0; k < SIDES; k++)
        bench_max(side[k].time[0], PHASES * rounds);
}

static void open_side(struct side *s, int who, const struct bench_problem *p, int rounds,
                      double step)
{
    struct bench_algorithm ran;

    *s = (struct side){ .who = (enum bench_who)who, .problem = p };
    s->time = bench_new((size_t)rounds * sizeof *s->time);
    bench_algorithm_start(&ran, "allreduce");
    calibrate(s, step);
    check(s);
    snprintf(s->ran, sizeof s->ran, "%s", bench_algorithm_ran(&ran));
}

static void measure_size(struct side side[SIDES], struct bench_problem *p, int rounds)
{
    double *space = bench_new((size_t)rounds * sizeof *space), step = seconds_of_step();

    for (int k = 0; k < SIDES; k++)
        open_side(&side[k], k, p, rounds, step);
    measure(side, rounds);
    for (int k = 0; k < SIDES; k++) {
        check(&side[k]);
        figure(&side[k], rounds, space);
        free(side[k].time);
    }
    bench_turn(BENCH_COLLOPT);
    free(space);
}

/* ---- what is told ---------------------------------------------------------------------------- */

struct chosen {
    struct options what;                /* its sizes */
    int rounds;
    const char *setting, *csv;
    bool json, help;
};

struct row {
    size_t bytes;
    struct side side[SIDES];
};

static const char *name_of(const struct side *s, const struct provenance *p)
{
    return s->who == BENCH_HOST ? p->mpi : "collopt";
}

static const char *result_of(const struct side *s)
{
    return s->wrong ? "WRONG" : "correct";
}

static void table_line(const struct row *r, const struct side *s, const struct provenance *p)
{
    char size[24];

    printf("%8s  %-16s %12.2f %12.2f %12.2f %8.2f  %7.2f - %-7.2f  %s%s\n",
           bench_size_text(r->bytes, size, sizeof size), name_of(s, p), s->us[REDUCE],
           s->us[COMPUTE], s->us[BOTH], s->hidden, s->low, s->high, s->ran,
           s->wrong ? "  WRONG" : "");
}

static void table(const struct row *row, int n, const struct provenance *p)
{
    printf("\n# MPI_Iallreduce, sum of double, and a computation of the same time%s (%s)\n",
           elsewhere ? " elsewhere" : "", p->setting);
    printf("#%7s  %-16s %12s %12s %12s %8s  %-17s  %s\n", "bytes", "library", "reduce us",
           "compute us", "both us", "hidden", "95% interval", "algorithm");
    for (int i = 0; i < n; i++)
        for (int k = 0; k < SIDES; k++)
            table_line(&row[i], &row[i].side[k], p);
}

static void csv_line(const struct row *r, const struct side *s, const struct provenance *p,
                     const struct chosen *o, FILE *to)
{
    fprintf(to, strchr(p->setting, ',') ? "\"%s\"," : "%s,", p->setting);
    fprintf(to, "allreduce,sum,double,%d,%zu,%s,%s,%s,", ranks, r->bytes, p->mpi,
            s->who == BENCH_HOST ? "peer" : "collopt", s->ran);
    fprintf(to, "%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%d,%ld,%s\n", s->us[REDUCE], s->us[COMPUTE],
            s->us[BOTH], s->hidden, s->low, s->high, o->rounds, s->calls, result_of(s));
}

static bool csv(const struct row *row, int n, const struct provenance *p, const struct chosen *o)
{
    FILE *to = fopen(o->csv, "w");
    bool well = to != NULL;

    if (to) {
        provenance_lines(p, true, to);
        fputs("setting,collective,operation,type,ranks,bytes,peer,side,algorithm,reduce_us,"
              "compute_us,both_us,hidden,hidden_low,hidden_high,rounds,calls,result\n", to);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < SIDES; k++)
                csv_line(&row[i], &row[i].side[k], p, o, to);
        well = !ferror(to);
        well = fclose(to) == 0 && well;
    }
    if (!well)
        fprintf(stderr, "overlap: --csv: \"%s\" cannot be written: %s\n", o->csv, strerror(errno));
    return well;
}

static void json_cell(const struct row *r, const struct side *s, const struct provenance *p,
                      struct collopt_json *j)
{
    collopt_json_object(j, NULL);
    collopt_json_count(j, "bytes", r->bytes);
    collopt_json_text(j, "library", name_of(s, p));
    collopt_json_text(j, "algorithm", s->ran);
    collopt_json_real(j, "reduce_us", s->us[REDUCE]);
    collopt_json_real(j, "compute_us", s->us[COMPUTE]);
    collopt_json_real(j, "both_us", s->us[BOTH]);
    collopt_json_real(j, "hidden", s->hidden);
    collopt_json_real(j, "hidden_low", s->low);
    collopt_json_real(j, "hidden_high", s->high);
    collopt_json_text(j, "result", result_of(s));
    collopt_json_end(j);
}

static void json(const struct row *row, int n, const struct provenance *p)
{
    struct collopt_json j = { .to = stdout };

    collopt_json_object(&j, NULL);
    provenance_json(p, &j);
    collopt_json_array(&j, "cells");
    for (int i = 0; i < n; i++)
        for (int k = 0; k < SIDES; k++)
            json_cell(&row[i], &row[i].side[k], p, &j);
    collopt_json_end(&j);
    collopt_json_end(&j);
}

/* On rank 0; the exit status. */
static int tell(const struct row *row, int n, const struct chosen *o, const struct provenance *p)
{
    int status = 0;

    if (o->json) {
        json(row, n, p);
    } else {
        provenance_lines(p, false, stdout);
        table(row, n, p);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < SIDES; k++)
            if (row[i].side[k].wrong)
                status = 1;
    return o->csv && !csv(row, n, p, o) ? 1 : status;
}

/* ---- the command line ------------------------------------------------------------------------ */

static void help(void)
{
    puts("usage: mpirun -n RANKS env LD_PRELOAD=libcollopt.so overlap [OPTION]...\n\n"
         "How much of MPI_Iallreduce is hidden by a computation that takes as long, for the MPI\n"
         "library and for collopt in turn.  1: all of it; 0: nothing.\n\n"
         "  --sizes LIST    as collopt-bench takes them; 64K:4M:4 unless given\n"
         "  --rounds N      31 unless given\n"
         "  --elsewhere     the ranks sleep while they compute, as while a GPU does\n"
         "  --setting TEXT  what the files call this machine and way of running\n"
         "  --csv FILE      a line for each size and side\n"
         "  --json          print JSON in place of the table\n"
         "  --help\n\n"
         "Exit status: 0; 1: a result is wrong or a file cannot be written; 2: wrong arguments.");
}

static bool round_number(const char *text, int *rounds, char *message)
{
    char *end;
    long value = strtol(text, &end, 10);

    *rounds = (int)value;
    if (end != text && !*end && value >= 1 && value <= MOST_ROUNDS)
        return true;
    snprintf(message, OPTIONS_MESSAGE, "--rounds: \"%s\" is not a number from 1 to %d", text,
             MOST_ROUNDS);
    return false;
}

static bool choose(struct chosen *o, int argc, char **argv, char *message)
{
    static const struct option names[] = {
        { "sizes", required_argument, NULL, 's' }, { "rounds", required_argument, NULL, 'r' },
        { "setting", required_argument, NULL, 'g' }, { "csv", required_argument, NULL, 'c' },
        { "json", no_argument, NULL, 'j' }, { "elsewhere", no_argument, NULL, 'e' },
        { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
    };
    bool well;
    int letter;

    *o = (struct chosen){ .rounds = 31 };
    well = options_sizes(&o->what, "64K:4M:4", message);
    opterr = 0;
    while (well && (letter = getopt_long(argc, argv, "", names, NULL)) != -1)
        switch (letter) {
        case 's': well = options_sizes(&o->what, optarg, message); break;
        case 'r': well = round_number(optarg, &o->rounds, message); break;
        case 'g': o->setting = optarg; break;
        case 'c': o->csv = optarg; break;
        case 'j': o->json = true; break;
        case 'e': elsewhere = true; break;
        case 'h': o->help = true; break;
        default:
            snprintf(message, OPTIONS_MESSAGE,
                     "%s: no such option, or it needs a value; see --help", argv[optind - 1]);
            well = false;
        }
    if (well && optind < argc)
        snprintf(message, OPTIONS_MESSAGE, "\"%s\" is not an option; see --help", argv[optind]);
    return well && optind == argc;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Nonblocking calls take over no communicator. */
static void take_over(void)
{
    double in = 0, out;

    bench_turn(BENCH_COLLOPT);
    bench_mpi.allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static bool measure_all(struct row *row, const struct chosen *o)
{
    for (int i = 0; i < o->what.sizes; i++) {
        struct bench_problem p = {
            .collective = BENCH_ALLREDUCE, .operation = BENCH_SUM, .type = BENCH_DOUBLE,
            .form = BENCH_NONBLOCKING, .seed = 1, .comm = MPI_COMM_WORLD, .bytes = o->what.size[i]
        };

        if (!bench_problem_open(&p)) {
            if (rank == 0)
                fprintf(stderr, "overlap: %zu bytes: more elements than an int can count\n",
                        p.bytes);
            return false;
        }
        row[i].bytes = p.bytes;
        measure_size(row[i].side, &p, o->rounds);
        bench_problem_close(&p);
    }
    return true;
}

static int overlap(const struct chosen *o, int argc, char **argv)
{
    struct row *row = bench_new((size_t)o->what.sizes * sizeof *row);
    struct provenance p;
    double status = 2;

    bench_find_host();
    bench_problems_begin();
    provenance_gather(&p, o->setting, argc, argv, 1);
    if (!collopt_version && rank == 0)
        fprintf(stderr, "overlap: collopt is not loaded; start with LD_PRELOAD=libcollopt.so\n");
    take_over();
    if (measure_all(row, o))
        status = rank == 0 ? tell(row, o->what.sizes, o, &p) : 0;
    bench_max(&status, 1);
    provenance_free(&p);
    bench_problems_end();
    free(row);
    return (int)status;
}

int main(int argc, char **argv)
{
    char message[OPTIONS_MESSAGE] = "";
    struct chosen o;
    int status = 0;

    prctl(PR_SET_TIMERSLACK, 1L);       /* sleep no longer than asked for */
    setenv("COLLOPT_AFTER", "1", 0);    /* what is measured are calls like those before */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!choose(&o, argc, argv, message) || (!o.help && ranks < 2)) {
        if (rank == 0)
            fprintf(stderr, "overlap: %s\n", *message ? message : "needs two ranks or more");
        status = 2;
    } else if (o.help) {
        if (rank == 0)
            help();
    } else {
        status = overlap(&o, argc, argv);
    }
    MPI_Finalize();
    return status;
}
