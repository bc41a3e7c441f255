/* The file for COLLOPT_MACHINE: what messages and combining cost, as the job has measured it. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tune/machine.h"
#include "model/host_times.h"
#include "model/machine.h"
#include "tune/cells.h"
#include "tune/costs.h"
#include "tune/job.h"
#include "tune/options.h"
#include "tune/rules.h"
#include "tune/text.h"

static void tell(void *file, int line, const char *sentence)
{
    tune_say("%s:%d: %s", (const char *)file, line, sentence);
}

static bool check(char *file)
{
    struct collopt_machine_file *read = collopt_machine_read(file, tell, file);
    bool right = read != NULL;

    collopt_machine_free(read);
    return right;
}

enum { FEW = 20 };              /* pairs: the median of fewer is not worth writing down */

/* Of its kind the first one with a time, for every size.  What users' own functions take says
 * nothing of the host. */
static bool speaks(const struct tune_cells *all, const struct tune_cell *c)
{
    const struct tune_operation *o = tune_operations;

    if (c->host_pairs < FEW || !o[c->operation].commutative
        || strcmp(o[c->operation].name, "user") == 0)
        return false;
    for (const struct tune_cell *b = all->cell; b < c; b++)
        if (b->collective == c->collective && b->bytes == c->bytes && b->host_pairs >= FEW
            && strcmp(o[b->operation].kind, o[c->operation].kind) == 0
            && strcmp(o[b->operation].name, "user") != 0)
            return false;
    return true;
}

/* So that predictions have somebody to beat where no rule decides.  Not where ranks had to wait for
 * processors, as for the other figures.  *LINES: how many there are. */
static void write_host(const struct tune_cells *all, int *lines, FILE *to)
{
    const struct tune_machine *m = &all->machine;
    char comment[80];

    for (int i = 0; i < all->n && m->mpi != COLLOPT_OTHER_MPI && !m->topology.oversubscribed; i++) {
        const struct tune_cell *c = &all->cell[i];
        const struct tune_operation *o = &tune_operations[c->operation];
        struct collopt_host_time t = { .mpi = m->mpi,
                                       .collective = c->collective,
                                       .exact = o->exact,
                                       .bytes = c->bytes,
                                       .ranks = (size_t)m->ranks,
                                       .nodes = (size_t)m->nodes,
                                       .ppn = (size_t)m->largest,
                                       .seconds = c->host_us * 1e-6 };

        if (!speaks(all, c))
            continue;
        if ((*lines)++ == 0)
            fputs("\n# What the MPI library's own collectives take.\n"
                  "#            collective           ranks nodes  ppn  bytes op\n", to);
        snprintf(comment, sizeof comment, "%s, median of %d", o->name, c->host_pairs);
        collopt_host_time_write(to, &t, comment);
    }
}

/* The last of the cells with the most keys: it has also what was measured on several nodes. */
static const struct tune_cells *of_most_keys(const struct tune_cells *all)
{
    const struct tune_cells *best = all;

    for (; all; all = all->next)
        if (__builtin_popcount(all->machine.costs.given)
            >= __builtin_popcount(best->machine.costs.given))
            best = all;
    return best;
}

/* Why keys are missing. */
static void write_unsure(const struct tune_costs *c, FILE *to)
{
    for (int i = 0; i < COLLOPT_MACHINE_KEYS; i++)
        if (c->unsure & 1u << i)
            fprintf(to, "# %s is left out, as shipped: %s are too far apart to tell\n",
                    collopt_machine_keys[i].name, c->remark[i]);
}

static bool write_all(const struct tune_cells *all, const struct tune_options *o,
                      const struct tune_command *command, FILE *to)
{
    const struct tune_machine *m = &of_most_keys(all)->machine;
    int lines = 0;
    const char *comment[COLLOPT_MACHINE_KEYS];

    for (int i = 0; i < COLLOPT_MACHINE_KEYS; i++)
        comment[i] = *m->costs.remark[i] ? m->costs.remark[i] : NULL;
    fprintf(to, "# What messages and combining cost, COLLOPT_MACHINE=%s; ", o->machine);
    tune_write_origin(m, command, to);
    collopt_machine_write(to, &m->costs.machine, m->costs.given, comment);
    write_unsure(&m->costs, to);
    for (; all; all = all->next)
        write_host(all, &lines, to);
    return !ferror(to);
}

bool tune_knows_costs(const struct tune_cells *all)
{
    return of_most_keys(all)->machine.costs.complete;
}

bool tune_write_machine(const struct tune_cells *all, const struct tune_options *o,
                        const struct tune_command *command)
{
    char fresh[TUNE_PATH];
    FILE *to;
    bool well;

    if (!tune_knows_costs(all))
        return true;
    snprintf(fresh, sizeof fresh, "%s.new", o->machine);
    to = fopen(fresh, "w");
    if (to) {
        well = write_all(all, o, command, to);
        well = fclose(to) == 0 && well;
    }
    if (!to || !well || rename(fresh, o->machine) != 0) {
        tune_say("%s cannot be written: %s", o->machine, strerror(errno));
        return false;
    }
    if (!check((char *)o->machine))
        return false;
    if (of_most_keys(all)->machine.costs.unsure)
        tune_say("%s: what differed by more than ten times while it was measured is left out (%d "
                 "of its numbers): a busy machine",
                 o->machine, __builtin_popcount(of_most_keys(all)->machine.costs.unsure));
    tune_tell(o, "%s: what messages cost here, for COLLOPT_MACHINE\n", o->machine);
    return true;
}
