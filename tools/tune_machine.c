/* What messages and combining cost, as the job has measured it: for predicted times, and as a file
 * for COLLOPT_MACHINE. */
#if HAVE_CONFIG_H
# include "config.h"
#endif

#include "model/host_times.h"
#include "model/machine.h"
#include "topology/topology.h"
#include "tune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static double *field(struct collopt_machine *m, int key)
{
    return (double *)((char *)m + collopt_machine_keys[key].field);
}

static int key_named(const char *name)
{
    for (int i = 0; i < COLLOPT_MACHINE_KEYS; i++)
        if (strcmp(collopt_machine_keys[i].name, name) == 0)
            return i;
    return -1;
}

/* Lengths and the nodes of a group have no quartiles: they are found by search. */
static void remark(struct tune_costs *c, int key, double low, double high)
{
    static const struct { double factor; const char *name;
    } units[COLLOPT_LENGTH][2] = {
        [COLLOPT_TIME] = { { 1e-6, "us" }, { 1e-3, "ms" } },
        [COLLOPT_RATE] = { { 1e6, "MB/s" }, { 1e9, "GB/s" } },
    };
    enum collopt_quantity q = collopt_machine_keys[key].quantity;

    if (q == COLLOPT_RATIO && low < high)
        snprintf(c->remark[key], sizeof c->remark[key], "quartiles %.3g and %.3g", low, high);
    if (q < COLLOPT_LENGTH) {
        bool large = high >= units[q][1].factor;

        snprintf(c->remark[key], sizeof c->remark[key], "quartiles %.3g and %.3g %s",
                 low / units[q][large].factor, high / units[q][large].factor, units[q][large].name);
    }
}

/* A number that is known to no more than its order of magnitude decides worse than the shipped one.
 * A lower quartile that is nothing is as far from the upper one as can be. */
static bool too_far_apart(const struct collopt_machine_key *k, double low, double high)
{
    enum { FAR = 10 };

    return (k->quantity < COLLOPT_LENGTH || k->quantity == COLLOPT_RATIO) && high > FAR * low;
}

bool tune_take_cost(struct tune_costs *c, const char *answer)
{
    const struct collopt_machine_key *k;
    double value, low, high;
    char name[40];
    int key;

    if (strcmp(answer, "machine end") == 0)
        return c->complete = true;
    if (sscanf(answer, "machine %39s %lf %lf %lf", name, &value, &low, &high) != 4
        || (key = key_named(name)) < 0)
        return false;
    k = &collopt_machine_keys[key];
    remark(c, key, low, high);
    c->unsure &= ~(1u << key);
    if (too_far_apart(k, low, high)) {
        c->unsure |= 1u << key;
        return true;
    }
    if (!(value >= k->least && value <= k->most))
        return false;
    *field(&c->machine, key) = k->quantity == COLLOPT_RATE ? 1 / value : value;
    c->given |= 1u << key;
    return true;
}

/* What was not measured is as in the shipped machine that is likest. */
void tune_complete_costs(struct tune_costs *c, const struct collopt_topology *t)
{
    struct collopt_machine_file measured = { .machine = c->machine, .given = c->given };
    enum collopt_network likest = t->wired ? COLLOPT_TORUS
        : t->nodes > 1                     ? COLLOPT_FAST_NETWORK
                                           : COLLOPT_SHARED_MEMORY;

    collopt_machine_pick(&c->machine, likest, false, &measured);
}

/* ---- the file -------------------------------------------------------------------------------- */

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

/* The last one that has most: what was found on several nodes is there too. */
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
