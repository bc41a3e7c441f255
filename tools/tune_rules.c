/* The file of rules, written and checked. */
#if HAVE_CONFIG_H
# include "config.h"
#endif

#include "tune.h"

#include "select/rules.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- lines ---------------------------------------------------------------------------------------------------------- */

static void remark(const struct tune_point *p, bool first, FILE *to)
{
    bool host = strcmp(p->chosen.name, "host") == 0;
    const struct tune_choice *c = host ? &p->best : &p->chosen;
    char size[24];

    collopt_size_text(p->bytes, size, sizeof size);
    if (!*c->name)
        fprintf(to, "%s nothing to choose from at %s", first ? "  #" : ",", size);
    else
        fprintf(to, "%s %s%s%.2fx (%.2f-%.2f)%s at %s", first ? "  #" : ",", host ? c->name : "", host ? " " : "", c->ratio,
                c->low, c->high, first ? " of the host" : "", size);
}

static void write_series(const struct tune_series *s, const struct tune_machine *m, FILE *to)
{
    for (int from = 0; from < s->points; from = s->point[from].last + 1) {
        int last = s->point[from].last;
        char least[24], most[24], range[64];

        collopt_size_text(s->point[from].least, least, sizeof least);
        collopt_size_text(s->point[last].most, most, sizeof most);
        snprintf(range, sizeof range, "%s-%s", least, most);
        fprintf(to, "%-20s %6d %6d %5d %-10s %-14s %-20s", collopt_collective_names[s->collective], m->ranks, m->nodes,
                m->largest, range, s->kind, s->point[from].chosen.name);
        for (int i = from; i <= last; i++)
            remark(&s->point[i], i == from, to);
        fputc('\n', to);
    }
}

static int not_measured(const struct tune_cells *all)
{
    int n = 0;

    for (int i = 0; i < all->n; i++)
        n += tune_cell_open(&all->cell[i]);
    return n;
}

void tune_write_origin(const struct tune_machine *m, const struct tune_command *command, FILE *to)
{
    time_t now = time(NULL);
    char date[32] = "";

    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fprintf(to, "made by collopt-tune %s, %s.\n# command:", VERSION, date);
    for (int i = 0; i < command->argc; i++)
        fprintf(to, " %s", command->argv[i]);
    fputc('\n', to);
    for (int i = 0; i < m->abouts; i++)
        fprintf(to, "# %s\n", m->about[i]);
}

static void write_head(const struct tune_cells *all, const struct tune_options *o, const struct tune_command *command, FILE *to)
{
    fprintf(to, "# Rules for collopt, COLLOPT_RULES=%s; ", o->output);
    tune_write_origin(&all->machine, command, to);
    if (not_measured(all))
        fprintf(to, "# %d of %d cells were not measured: the time was up\n", not_measured(all), all->n);
    fputs("# 1.42x (1.38-1.47) of the host: so many times as fast as the MPI library's own, with the 95% interval.\n"
          "# host stands where nothing is faster by more than the noise, with the best that there was.\n"
          "# collective          ranks  nodes   ppn bytes      op             algorithm\n", to);
}

static void write_all(const struct tune_cells *all, const struct tune_options *o, const struct tune_command *command, FILE *to)
{
    int n;
    struct tune_series *list = tune_series(all, o, &n);

    write_head(all, o, command, to);
    for (int i = 0; i < n; i++)
        write_series(&list[i], &all->machine, to);
    fputs("*                         *      *     * *          *              auto\n", to);
    free(list);
}

/* ---- the file ------------------------------------------------------------------------------------------------------- */

static void tell(void *file, int line, const char *sentence)
{
    tune_say("%s:%d: %s", (const char *)file, line, sentence);
}

/* What has been written must be understood when it is read. */
static bool check(char *file)
{
    struct collopt_rules *rules = collopt_rules_read(file, tell, file);
    bool right = rules && collopt_rules_check(rules, tell, file) == 0;

    collopt_rules_free(rules);
    return right;
}

struct sum {
    int points, hosts;
    double chosen, built_in;            /* of logarithms */
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

static void sum_line(const char *collective, const char *kind, const struct sum *sum)
{
    int n = sum->points ? sum->points : 1;

    printf("%-20s %-14s %6d %6d %8.2f %8.2f\n", collective, kind, sum->points, sum->hosts, exp(sum->chosen / n),
           exp(sum->built_in / n));
}

/* How many times as fast as the host, by these rules and without them. */
static void sum_up(const struct tune_cells *all, const struct tune_options *o)
{
    int n, open = not_measured(all), doubtful = 0;
    struct tune_series *list = tune_series(all, o, &n);
    struct sum whole = { 0 };

    printf("%-20s %-14s %6s %6s %8s %8s\n", "times the host", "", "sizes", "host", "rules", "without");
    for (int i = 0; i < n; i++) {
        struct sum one = { 0 };

        add(&one, &list[i]);
        add(&whole, &list[i]);
        sum_line(collopt_collective_names[list[i].collective], list[i].kind, &one);
    }
    sum_line("all", "", &whole);
    printf("%s: %d of %d cells measured\n", o->output, all->n - open, all->n);
    for (int i = 0; i < all->n; i++)
        doubtful += !tune_cell_open(&all->cell[i]) && tune_doubtful(&all->cell[i]);
    if (doubtful)
        printf("%d of them are left to the host because figures differ too much to tell: a busy machine, or too little --time.\n",
               doubtful);
    if (open)
        printf("The time was not enough; the same command goes on with the rest.\n");
    free(list);
}

bool tune_write_rules(const struct tune_cells *all, const struct tune_options *o, const struct tune_command *command)
{
    char fresh[TUNE_PATH];
    FILE *to;
    bool well;

    snprintf(fresh, sizeof fresh, "%s.new", o->output);
    to = fopen(fresh, "w");
    if (to) {
        write_all(all, o, command, to);
        well = !ferror(to);
        well = fclose(to) == 0 && well;
    }
    if (!to || !well) {
        tune_say("%s cannot be written: %s", fresh, strerror(errno));
        return false;
    }
    if (!check(fresh))
        return false;
    if (rename(fresh, o->output) != 0) {
        tune_say("%s cannot be written: %s", o->output, strerror(errno));
        return false;
    }
    sum_up(all, o);
    return true;
}
