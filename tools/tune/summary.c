/* The results, in a table or in JSON: how many times as fast as the MPI library collopt is, by
 * the rules and by its choice without them, and what the user should know of them. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tune/summary.h"
#include "base/json.h"
#include "schedule/problem.h"
#include "settings/search_path.h"
#include "tune/cells.h"
#include "tune/job.h"
#include "tune/machine.h"
#include "tune/options.h"
#include "tune/rules.h"
#include "tune/series.h"

struct sum {
    int points, hosts;                  /* sizes; those that are left to the host */
    double chosen, built_in;            /* sums of logarithms of ratios */
};

static void add(struct sum *sum, const struct tune_series *s)
{
    for (int i = 0; i < s->points; i++) {
        const struct tune_point *p = &s->point[i];

        sum->points++;
        sum->hosts += strcmp(p->chosen.name, "host") == 0;
        sum->chosen += log(p->chosen.ratio);
        sum->built_in += log(p->built_in);
    }
}

/* The geometric mean of as many ratios as SUM has. */
static double mean(const struct sum *sum, double logs)
{
    return exp(logs / (sum->points ? sum->points : 1));
}

/* Figures that are alike but for noise accuse nobody: 5%, as for a rule that is verified. */
static bool is_slower(const struct sum *whole)
{
    return whole->points && mean(whole, whole->chosen - whole->built_in) < 1 / 1.05;
}

/* One line of the table and one object of the JSON. */
static void line(const char *collective, const char *kind, const struct sum *sum,
                 struct collopt_json *json)
{
    double rules = mean(sum, sum->chosen), without = mean(sum, sum->built_in);

    if (!json) {
        printf("%-20s %-14s %6d %6d %8.2f %8.2f\n", collective, kind, sum->points, sum->hosts,
               rules, without);
        return;
    }
    collopt_json_object(json, NULL);
    collopt_json_text(json, "collective", collective);
    collopt_json_text(json, "operations", *kind ? kind : "all");
    collopt_json_count(json, "sizes", (uint64_t)sum->points);
    collopt_json_count(json, "left_to_host", (uint64_t)sum->hosts);
    collopt_json_real(json, "ratio", rules);
    collopt_json_real(json, "ratio_without_rules", without);
    collopt_json_end(json);
}

static void begin_one(const struct tune_cells *one, bool several, struct collopt_json *json)
{
    char ranks[40] = "";

    if (several)
        snprintf(ranks, sizeof ranks, "%d ranks", one->machine.ranks);
    if (!json) {
        printf("%-20s %-14s %6s %6s %8s %8s\n", "times as fast", ranks, "sizes", "native", "rules",
               "without");
        return;
    }
    collopt_json_object(json, NULL);
    collopt_json_count(json, "ranks", (uint64_t)one->machine.ranks);
    collopt_json_count(json, "nodes", (uint64_t)one->machine.nodes);
    collopt_json_array(json, "rows");
}

/* The job of one number of ranks. */
static void sum_up_one(const struct tune_cells *one, const struct tune_options *o, bool several,
                       struct collopt_json *json)
{
    int n;
    struct tune_series *list = tune_series(one, o, &n);
    struct sum whole = { 0 };

    begin_one(one, several, json);
    for (int i = 0; i < n; i++) {
        struct sum sum = { 0 };

        add(&sum, &list[i]);
        add(&whole, &list[i]);
        line(collopt_collective_names[list[i].collective], list[i].kind, &sum, json);
    }
    line("all", "", &whole, json);
    if (json) {
        collopt_json_end(json);
        collopt_json_end(json);
    }
    free(list);
}

bool tune_slower(const struct tune_cells *all, const struct tune_options *o)
{
    bool slower = false;

    for (const struct tune_cells *a = all; a && !slower; a = a->next) {
        struct sum whole = { 0 };
        int n;
        struct tune_series *list = tune_series(a, o, &n);

        for (int i = 0; i < n; i++)
            add(&whole, &list[i]);
        free(list);
        slower = is_slower(&whole);
    }
    return slower;
}

/* Cells that are left to the host because of noise. */
static int doubtful(const struct tune_cells *all)
{
    int n = 0;

    for (; all; all = all->next)
        for (int i = 0; i < all->n; i++)
            n += !tune_cell_open(&all->cell[i]) && tune_doubtful(&all->cell[i]);
    return n;
}

/* The system's and the user's folder, in which jobs find the files without being told of them. */
struct places {
    const char *system, *name;          /* the file's name without its ending */
    char users[TUNE_PATH];              /* "": there is none */
};

static void find_places(struct places *p, const struct tune_cells *all)
{
    enum collopt_mpi mpi = all->machine.mpi;

    p->system = collopt_system_directory();
    p->name = mpi == COLLOPT_OTHER_MPI ? "site" : collopt_mpi_names[mpi];
    if (!collopt_users_directory(environ, p->users, sizeof p->users))
        p->users[0] = '\0';
}

static void sum_up_in_words(const struct tune_cells *all, const struct tune_options *o)
{
    int open = tune_not_measured(all), cells = tune_cells_of(all), left = doubtful(all);
    struct places p;

    puts("How many times as fast as the MPI library, by the rules and without them, and how many "
         "sizes\nare left to it (native):");
    for (const struct tune_cells *a = all; a; a = a->next)
        sum_up_one(a, o, all->next != NULL, NULL);
    printf("%s: %d of %d cells measured\n", o->output, cells - open, cells);
    if (left)
        printf("%d of them are left to the MPI library because figures differ too much to tell: "
               "a busy machine, or too little --time.\n", left);
    if (open)
        printf("The time was not enough; the same command goes on with the rest.\n");
    if (tune_slower(all, o))
        return;
    find_places(&p, all);
    printf("For all jobs, on every node: %s as %s/%s.rules", o->output, p.system, p.name);
    if (tune_knows_costs(all))
        printf(", %s as %s/%s.machine", o->machine, p.system, p.name);
    if (p.users[0])
        printf("; for yours alone, in %s", p.users);
    putchar('\n');
}

static void sum_up_in_json(const struct tune_cells *all, const struct tune_options *o)
{
    struct collopt_json json = { .to = stdout };
    int open = tune_not_measured(all), cells = tune_cells_of(all);
    bool slower = tune_slower(all, o);
    struct places p;

    find_places(&p, all);
    collopt_json_object(&json, NULL);
    collopt_json_text(&json, "collopt", VERSION);
    collopt_json_text(&json, "rules", slower ? NULL : o->output);
    collopt_json_text(&json, "machine", tune_knows_costs(all) && !slower ? o->machine : NULL);
    collopt_json_text(&json, "picture", slower ? NULL : o->picture);
    collopt_json_count(&json, "cells", (uint64_t)cells);
    collopt_json_count(&json, "measured", (uint64_t)(cells - open));
    collopt_json_count(&json, "left_to_host_for_noise", (uint64_t)doubtful(all));
    collopt_json_array(&json, "jobs");
    for (const struct tune_cells *a = all; a; a = a->next)
        sum_up_one(a, o, true, &json);
    collopt_json_end(&json);
    collopt_json_flag(&json, "slower_than_without_rules", slower);
    collopt_json_text(&json, "system_directory", p.system);
    collopt_json_text(&json, "users_directory", p.users[0] ? p.users : NULL);
    collopt_json_text(&json, "name_there", p.name);
    collopt_json_end(&json);
}

void tune_sum_up(const struct tune_cells *all, const struct tune_options *o)
{
    if (o->json)
        sum_up_in_json(all, o);
    else
        sum_up_in_words(all, o);
}
