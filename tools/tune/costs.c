/* Costs of messages and of combining, as the job has measured them, for predicted times. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tune/costs.h"
#include "model/machine.h"
#include "topology/topology.h"

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

/* A number that is known to no more than its order of magnitude decides worse than the bundled one.
 * A lower quartile that is nothing is as far from the upper one as can be. */
static bool too_far_apart(const struct collopt_machine_key *k, double low, double high)
{
    return (k->quantity < COLLOPT_LENGTH || k->quantity == COLLOPT_RATIO) && high > TUNE_FAR * low;
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

/* Takes what was not measured from the bundled machine that is most similar. */
void tune_complete_costs(struct tune_costs *c, const struct collopt_topology *t)
{
    struct collopt_machine_file measured = { .machine = c->machine, .given = c->given };
    enum collopt_network likest = t->wired ? COLLOPT_TORUS
        : t->nodes > 1                     ? COLLOPT_FAST_NETWORK
                                           : COLLOPT_SHARED_MEMORY;

    collopt_machine_pick(&c->machine, likest, false, &measured);
}
