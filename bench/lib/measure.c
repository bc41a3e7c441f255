#include "lib/measure.h"
#include "lib/clock.h"
#include "lib/statistics.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST_PAIRS = 6,
    ENOUGH_PAIRS = 20,
    MOST_PAIRS = 2000,
    MOST_CALLS = 2000,
    BATCH = 6,
    PATIENCE = 4
};

/* Long enough for the clock and for the ranks' different starts; shorter where there is little
 * time. */
static double run_seconds(const struct bench_effort *effort)
{
    return effort->seconds < 0.05 ? effort->seconds / 50 + 2e-5 : 1e-3;
}

/* ---- whose turn it is ------------------------------------------------------------------------ */

static bool by_pcontrol(void)
{
    const char *value = getenv("COLLOPT_PCONTROL");

    return value
        && (!strcmp(value, "on") || !strcmp(value, "1") || !strcmp(value, "yes")
            || !strcmp(value, "true"));
}

const struct bench_functions *bench_turn(enum bench_who who)
{
    if (by_pcontrol()) {
        MPI_Pcontrol(who == BENCH_COLLOPT);
        return &bench_mpi;
    }
    return who == BENCH_COLLOPT ? &bench_mpi : &bench_host;
}

const char *bench_turn_text(void)
{
    return by_pcontrol() ? "MPI_Pcontrol" : "address of the MPI library's own function";
}

/* ---- runs ------------------------------------------------------------------------------------ */

static double same_input(const struct bench_side *side, const struct bench_functions *f, long calls)
{
    double start = bench_now();

    for (long i = 0; i < calls; i++)
        side->call(f, side->what);
    return bench_now() - start;
}

static double fresh_input(const struct bench_side *side, const struct bench_functions *f,
                          long calls)
{
    double sum = 0, start;

    for (long i = 0; i < calls; i++) {
        side->refresh(side->what);
        start = bench_now();
        side->call(f, side->what);
        sum += bench_now() - start;
    }
    return sum;
}

/* The time of one of CALLS calls, on this rank. */
static double run(const struct bench_side *side, long calls)
{
    const struct bench_functions *f = bench_turn(side->who);

    bench_barrier();
    return (side->refresh ? fresh_input : same_input)(side, f, calls) / (double)calls;
}

static void run_pair(const struct bench_side *first, const struct bench_side *second, long calls,
                     bool turned, double time[2])
{
    if (turned)
        time[1] = run(second, calls);
    time[0] = run(first, calls);
    if (!turned)
        time[1] = run(second, calls);
}

/* How many calls take long enough; the first ones pay for everything that is made once.  Agreed. */
static long calls_in_run(const struct bench_side *first, const struct bench_side *second,
                         const struct bench_effort *effort)
{
    double time[2], shorter, calls;

    run_pair(first, second, 1, false, time);
    bench_max(time, 2);
    for (int i = 0; i < 2; i++) {
        run_pair(first, second,
                 effort->calls                  ? effort->calls
                     : time[0] + time[1] < 1e-2 ? 5
                                                : 1,
                 i, time);
        bench_max(time, 2);
    }
    shorter = time[0] < time[1] ? time[0] : time[1];
    calls = run_seconds(effort) / (shorter + 1e-9);
    return effort->calls     ? effort->calls
        : calls < 1          ? 1
        : calls > MOST_CALLS ? MOST_CALLS
                             : (long)calls;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* TIME: of both sides, pair by pair.  SPACE for N values. */
static void figure(const double (*time)[2], int n, double *space, struct bench_figures *f)
{
    for (int i = 0; i < n; i++)
        space[i] = time[i][0];
    f->first_us = 1e6 * bench_quantile(space, n, 0.5);
    for (int i = 0; i < n; i++)
        space[i] = time[i][1];
    f->second_us = 1e6 * bench_quantile(space, n, 0.5);
    for (int i = 0; i < n; i++)
        space[i] = time[i][0] / time[i][1];
    f->ratio = bench_quantile(space, n, 0.5);
    bench_median_interval(space, n, &f->low, &f->high);
    f->outliers = bench_outliers(space, n);
    f->pairs = n;
}

static bool narrow(const struct bench_figures *f, double precise)
{
    return f->pairs >= ENOUGH_PAIRS && f->high <= f->ratio * (1 + precise)
        && f->low >= f->ratio * (1 - precise);
}

/* Rank 0's word counts: another processor might round otherwise. */
static bool enough(const struct bench_figures *f, const struct bench_effort *effort, double start)
{
    double stop = -1;
    int rank;

    if (effort->pairs)
        return f->pairs >= effort->pairs;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        double spent = bench_now() - start;

        stop = narrow(f, effort->precise) || f->high < effort->hopeless
            || (spent > effort->seconds && f->pairs >= ENOUGH_PAIRS) || f->pairs >= MOST_PAIRS
            || spent > PATIENCE * effort->seconds;
    }
    bench_max(&stop, 1);
    return stop > 0;
}

static int most_pairs(const struct bench_effort *effort)
{
    return effort->pairs > MOST_PAIRS ? effort->pairs : MOST_PAIRS;
}

void bench_compare(const struct bench_side *first, const struct bench_side *second,
                   const struct bench_effort *effort, struct bench_figures *figures)
{
    size_t room = (size_t)most_pairs(effort) + BATCH;
    double(*time)[2] = bench_new(room * sizeof *time), *space = bench_new(room * sizeof *space),
    start = bench_now();
    int n = 0;

    figures->calls = calls_in_run(first, second, effort);
    do {
        int batch = effort->pairs && effort->pairs - n < BATCH ? effort->pairs - n : BATCH;

        for (int i = 0; i < batch; i++)
            run_pair(first, second, figures->calls, (n + i) % 2, time[n + i]);
        bench_max(time[n], 2 * batch);
        n += batch;
        figure((const double (*)[2])time, n, space, figures);
    } while (!enough(figures, effort, start));
    bench_turn(BENCH_COLLOPT);
    free(time);
    free(space);
}
