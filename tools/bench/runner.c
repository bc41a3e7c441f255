#include "config.h"

#include "bench/runner.h"
#include "collopt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bench_any(bool here)
{
    double value = here;

    bench_max(&value, 1);
    return value > 0;
}

/* ---- algorithms ------------------------------------------------------------------------------ */

bool bench_loaded(void)
{
    return collopt_version && collopt_algorithm_count("allreduce") > 0;
}

bool bench_has(const char *collective, const char *name)
{
    for (int i = 0; bench_loaded() && collopt_algorithm_name(collective, i); i++)
        if (strcmp(collopt_algorithm_name(collective, i), name) == 0)
            return true;
    return false;
}

/* The hosts keep no info keys that they do not know, but collopt looks at these.  It takes over
 * after as many calls as it needs. */
static void force(struct runner *r, unsigned collectives)
{
    MPI_Info info;

    MPI_Comm_dup(r->of, &r->comm);
    MPI_Info_create(&info);
    for (int c = 0; c < BENCH_COLLECTIVES; c++) {
        char key[64];

        snprintf(key, sizeof key, "collopt_%s", bench_collective_names[c]);
        if (collectives >> c & 1 && bench_has(bench_collective_names[c], r->name))
            MPI_Info_set(info, key, r->expression);
    }
    MPI_Comm_set_info(r->comm, info);
    MPI_Info_free(&info);
}

static void take_over(MPI_Comm comm)
{
    const char *after = getenv("COLLOPT_AFTER");
    int calls = after && atoi(after) > 0 ? atoi(after) : 3;
    double in = 0, out;

    bench_turn(BENCH_COLLOPT);
    for (int i = 0; i < calls; i++) {
        bench_barrier();
        bench_mpi.allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
    }
}

void runner_open(struct runner *r, MPI_Comm of, const char *expression, unsigned collectives)
{
    r->of = of;
    r->expression = expression;
    snprintf(r->name, sizeof r->name, "%.*s", (int)strcspn(expression, ":"), expression);
    r->comm = of;
    if (strcmp(expression, "auto") != 0)
        force(r, collectives);
    take_over(r->comm);
}

void runner_close(struct runner *r)
{
    if (r->comm != r->of)
        MPI_Comm_free(&r->comm);
}

/* ---- one cell -------------------------------------------------------------------------------- */

/* The first call, checked.  False: what was to be forced did not run. */
static bool first_call(struct cell *c)
{
    const char *collective = bench_collective_names[c->problem.collective];
    struct bench_algorithm ran;
    size_t name = strcspn(c->algorithm, ":");
    bool forced = strcmp(c->algorithm, "auto") != 0, other;

    bench_algorithm_start(&ran, collective);
    bench_problem_make_request(bench_turn(BENCH_COLLOPT), &c->problem);
    c->wrong_collopt = bench_any(!bench_problem_right(bench_turn(BENCH_COLLOPT), &c->problem));
    snprintf(c->ran, sizeof c->ran, "%s", bench_algorithm_ran(&ran));
    other = forced && (strncmp(c->ran, c->algorithm, name) != 0 || c->ran[name]);
    if (forced)
        snprintf(c->ran, sizeof c->ran, "%s", c->algorithm);
    return !bench_any(other);
}

static void measure(struct cell *c, const struct bench_effort *effort)
{
    void (*refresh)(const void *) = bench_problem_is_fresh(&c->problem) ? bench_problem_refresh
                                                                        : NULL;
    struct bench_problem hosts = c->problem;
    struct bench_side host = { BENCH_HOST, bench_problem_call, &hosts, refresh },
                      collopt = { BENCH_COLLOPT, bench_problem_call, &c->problem, refresh };

    bench_problem_make_request(bench_turn(BENCH_HOST), &hosts);
    c->wrong_host = bench_any(!bench_problem_right(bench_turn(BENCH_HOST), &hosts));
    bench_compare(&host, &collopt, effort, &c->figures);
    bench_problem_free_request(bench_turn(BENCH_HOST), &hosts);
    c->wrong_collopt = bench_any(!bench_problem_right(bench_turn(BENCH_COLLOPT), &c->problem))
        || c->wrong_collopt;
    c->state = CELL_MEASURED;
}

bool cell_measure(struct cell *c, const struct bench_effort *effort)
{
    c->state = CELL_LEFT_OUT;
    if (!bench_problem_open(&c->problem))
        return false;
    if (first_call(c))
        measure(c, effort);
    bench_problem_free_request(bench_turn(BENCH_COLLOPT), &c->problem);
    bench_problem_close(&c->problem);
    return true;
}

static void measure_against(struct cell *c, struct cell *plain, bool host,
                            const struct bench_effort *effort)
{
    void (*refresh)(const void *) = bench_problem_is_fresh(&c->problem) ? bench_problem_refresh
                                                                        : NULL;
    enum bench_who who = host ? BENCH_HOST : BENCH_COLLOPT;
    struct bench_side first = { BENCH_COLLOPT, bench_problem_call, &plain->problem, refresh },
                      second = { who, bench_problem_call, &c->problem, refresh };

    bench_compare(&first, &second, effort, &c->figures);
    c->wrong_host = false;
    c->wrong_collopt = bench_any(!bench_problem_right(bench_turn(who), &c->problem))
        || c->wrong_collopt;
    c->state = CELL_MEASURED;
}

bool cell_measure_against(struct cell *c, struct cell *plain, const struct bench_effort *effort)
{
    bool host = strcmp(c->algorithm, "host") == 0, well;

    c->state = CELL_LEFT_OUT;
    if (!bench_problem_open(&c->problem))
        return false;
    well = bench_problem_open(&plain->problem);
    if (well) {
        if (first_call(plain) && (host || first_call(c)))
            measure_against(c, plain, host, effort);
        bench_problem_close(&plain->problem);
    }
    bench_problem_close(&c->problem);
    return well;
}
