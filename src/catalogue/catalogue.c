/* Questions to the list of algorithms. */
#include "config.h"

#include <string.h>

#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "topology/topology.h"

const struct collopt_algorithm *collopt_algorithm_named(enum collopt_collective c, const char *name,
                                                        size_t length)
{
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        if ((*a)->collective == c && strlen((*a)->name) == length
            && memcmp((*a)->name, name, length) == 0)
            return *a;
    return NULL;
}

int collopt_parameter_named(const struct collopt_algorithm *a, const char *name)
{
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        if (strcmp(a->parameter[i].name, name) == 0)
            return i;
    return -1;
}

/* The value of P's parameter "by", if A has that. */
static size_t grouping(const struct collopt_algorithm *a, const size_t *value)
{
    int by = collopt_parameter_named(a, "by");

    return by < 0 || value[by] == 0 ? COLLOPT_BY_NODE : value[by];
}

static bool knows_groups(const struct collopt_topology *t, size_t by)
{
    return by == COLLOPT_BY_NODE || (t->groups && t->groups[by]);
}

bool collopt_usable(const struct collopt_algorithm *a, const struct collopt_problem *p,
                    const char **why)
{
    const char *reason = NULL;

    if (a->order == COLLOPT_COMMUTATIVE && !p->commutative)
        reason = "it does not keep the order of the ranks and the operation does not commute";
    else if (a->grouped && p->anywhere)
        reason = "it follows the nodes, and COLLOPT_REPRODUCIBLE is set";
    else if (!a->once && p->once)
        reason = "it combines partial sums, and COLLOPT_REPRODUCIBLE=exact rounds once";
    else if (!knows_groups(p->topology, grouping(a, p->value)))
        reason = "it is to go by groups that are not known of these ranks";
    else if (a->usable && !a->usable(p))
        reason = a->unfit ? a->unfit : "it has no form for these ranks";
    if (why)
        *why = reason;
    return reason == NULL;
}

void collopt_set_parameters(struct collopt_problem *p, const struct collopt_choice *choice)
{
    const struct collopt_algorithm *a = choice->algorithm;

    memcpy(p->value, choice->value, sizeof p->value);
    if (p->topology->groups && p->topology->groups[grouping(a, p->value)])
        p->topology = p->topology->groups[grouping(a, p->value)];
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        if (p->value[i] == 0 || a->parameter[i].algorithm)
            p->value[i] = a->parameter[i].preset(p);
    p->segments = a->segments ? a->segments(p) : 1;
}

bool collopt_choice_usable(const struct collopt_choice *choice, const struct collopt_problem *p,
                           const char **why)
{
    struct collopt_problem with = *p;
    bool reproducible = p->anywhere || p->once || p->rows;

    if (!choice->algorithm) {
        if (why)
            *why = reproducible
                ? "the MPI library has an order of its own, and COLLOPT_REPRODUCIBLE is set"
                : NULL;
        return !reproducible;
    }
    collopt_set_parameters(&with, choice);
    return collopt_usable(choice->algorithm, &with, why);
}
