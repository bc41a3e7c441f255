/* The file of rules, written and checked. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tune/rules.h"
#include "base/text.h"
#include "schedule/problem.h"
#include "shared/rules_check.h"
#include "settings/rules.h"
#include "tune/cells.h"
#include "tune/job.h"
#include "tune/options.h"
#include "tune/series.h"
#include "tune/text.h"

/* ---- lines ----------------------------------------------------------------------------------- */

static void remark(const struct tune_point *p, bool first, FILE *to)
{
    bool host = strcmp(p->chosen.name, "host") == 0;
    const struct tune_choice *c = host ? &p->best : &p->chosen;
    char size[24];

    collopt_size_text(p->bytes, size, sizeof size);
    if (!*c->name)
        fprintf(to, "%s nothing to choose from at %s", first ? "  #" : ",", size);
    else
        fprintf(to, "%s %s%s%.2fx (%.2f-%.2f)%s at %s", first ? "  #" : ",", host ? c->name : "",
                host ? " " : "", c->ratio, c->low, c->high, first ? " of the host" : "", size);
}

/* If SEVERAL numbers of ranks were measured, the results on one node hold for any number of ranks
 * on it, and those on several nodes for several nodes. */
static void write_series(const struct tune_series *s, const struct tune_machine *m, bool several,
                         FILE *to)
{
    for (int from = 0; from < s->points; from = s->point[from].last + 1) {
        int last = s->point[from].last;
        char least[24], most[24], range[64], ranks[64], nodes[24] = "2-", ppn[24] = "*";

        collopt_size_text(s->point[from].least, least, sizeof least);
        collopt_size_text(s->point[last].most, most, sizeof most);
        snprintf(range, sizeof range, "%s-%s", least, most);
        snprintf(ranks, sizeof ranks, m->least < m->most ? "%zu-%zu" : "%zu", m->least, m->most);
        if (m->nodes == 1 || !several)
            snprintf(nodes, sizeof nodes, "%d", m->nodes);
        if (m->nodes > 1 || !several)
            snprintf(ppn, sizeof ppn, "%d", m->largest);
        fprintf(to, "%-20s %6s %6s %5s %-10s %-14s %-20s", collopt_collective_names[s->collective],
                ranks, nodes, ppn, range, s->kind, s->point[from].chosen.name);
        for (int i = from; i <= last; i++)
            remark(&s->point[i], i == from, to);
        fputc('\n', to);
    }
}

int tune_not_measured(const struct tune_cells *all)
{
    int n = 0;

    for (; all; all = all->next)
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
    for (int i = 0; i < command->argc; i++) {
        fputc(' ', to);
        tune_write_word(command->argv[i], to);
    }
    fputc('\n', to);
    for (int i = 0; i < m->abouts; i++)
        fprintf(to, "# %s\n", m->about[i]);
}

int tune_cells_of(const struct tune_cells *all)
{
    int n = 0;

    for (; all; all = all->next)
        n += all->n;
    return n;
}

static void write_head(const struct tune_cells *all, const struct tune_options *o,
                       const struct tune_command *command, FILE *to)
{
    fprintf(to, "# Rules for collopt, COLLOPT_RULES=%s; ", o->output);
    tune_write_origin(&all->machine, command, to);
    for (const struct tune_cells *a = all->next; a; a = a->next)
        fprintf(to, "# %s\n", a->machine.abouts > 1 ? a->machine.about[1] : "");
    if (tune_not_measured(all))
        fprintf(to, "# %d of %d cells were not measured: the time was up\n", tune_not_measured(all),
                tune_cells_of(all));
    if (all->next)
        fputs(
            "# Numbers of ranks between those that were measured go by the nearer one, by ratio.\n",
            to);
    fputs("# How to read this: a call that a line matches is run by the algorithm at its end; the "
          "first line counts.\n"
          "# Behind # is what was measured: \"1.42x (1.38-1.47) of the host at 4K\" would be 1.42 "
          "times as fast as the MPI\n"
          "# library's own at 4 KiB, from 1.38 to 1.47 with 95% confidence.  Algorithm host is the "
          "MPI library's own: there\n"
          "# nothing was faster by more than the noise, and the best that there was is told.  The "
          "last line leaves what was\n"
          "# not measured to collopt's own choice.\n"
          "#\n"
          "# collective          ranks  nodes   ppn bytes      op             algorithm\n",
          to);
}

static void write_all(const struct tune_cells *all, const struct tune_options *o,
                      const struct tune_command *command, FILE *to)
{
    write_head(all, o, command, to);
    for (const struct tune_cells *a = all; a; a = a->next) {
        int n;
        struct tune_series *list = tune_series(a, o, &n);

        for (int i = 0; i < n; i++)
            write_series(&list[i], &a->machine, all->next != NULL, to);
        free(list);
    }
    fputs("*                         *      *     * *          *              auto\n", to);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void tell(void *file, int line, const char *sentence)
{
    tune_say("%s:%d: %s", (const char *)file, line, sentence);
}

/* The reader must understand the file as it was written. */
static bool check(char *file)
{
    struct collopt_rules *rules = collopt_rules_read(file, tell, file);
    bool right = rules && collopt_rules_check(rules, tell, file) == 0;

    collopt_rules_free(rules);
    return right;
}

bool tune_write_rules(const struct tune_cells *all, const struct tune_options *o,
                      const struct tune_command *command)
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
    return true;
}
