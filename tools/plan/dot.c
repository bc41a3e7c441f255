/* A plan for graphviz: ranks, and an edge for all that one sends another, with its rounds and
 * bytes. */
#include "config.h"

#include "plan/dot.h"
#include "plan/plan.h"

#include <stdlib.h>

static int by_edge(const void *a, const void *b)
{
    const struct plan_transfer *x = *(const struct plan_transfer *const *)a;
    const struct plan_transfer *y = *(const struct plan_transfer *const *)b;

    if (x->from != y->from)
        return x->from - y->from;
    if (x->to != y->to)
        return x->to - y->to;
    return x->round - y->round;
}

/* "1-3,5" */
static void put_rounds(const struct plan_transfer *const *t, size_t n, FILE *to)
{
    for (size_t i = 0, last; i < n; i = last + 1) {
        last = i;
        while (last + 1 < n && t[last + 1]->round == t[last]->round + 1)
            last++;
        fprintf(to, "%s%d", i ? "," : "", t[i]->round);
        if (last > i)
            fprintf(to, "-%d", t[last]->round);
    }
}

static void put_edge(const struct plan *plan, const struct plan_transfer *const *t, size_t n,
                     FILE *to)
{
    size_t elements = 0;

    for (size_t i = 0; i < n; i++)
        elements += t[i]->n;
    fprintf(to, "    %d -> %d [label=\"", t[0]->from, t[0]->to);
    put_rounds(t, n, to);
    fprintf(to, "\", tooltip=\"%zu messages, %zu bytes\", penwidth=%.2f];\n", n,
            elements * plan->problem.size,
            0.75 + 3.0 * (double)elements / (double)(plan->totals.moved ? plan->totals.moved : 1));
}

bool plan_dot(const struct plan *plan, int rank, FILE *to)
{
    const struct plan_transfer **list = malloc((plan->transfers + 1) * sizeof *list);
    char title[600];

    if (!list)
        return false;
    plan_title(plan, title, sizeof title);
    fprintf(
        to,
        "// Edges bear the rounds in which there is a message; their width follows the bytes.\n");
    fprintf(to, "digraph plan {\n    label=\"%s\";\n    node [shape=circle];\n", title);
    for (int k = 0; k < plan->problem.ranks; k++)
        fprintf(to, "    %d;\n", k);
    for (size_t i = 0; i < plan->transfers; i++)
        list[i] = &plan->transfer[i];
    qsort(list, plan->transfers, sizeof *list, by_edge);
    for (size_t i = 0, n; i < plan->transfers; i += n) {
        n = 1;
        while (i + n < plan->transfers && list[i + n]->from == list[i]->from
               && list[i + n]->to == list[i]->to)
            n++;
        if (rank < 0 || rank == list[i]->from || rank == list[i]->to)
            put_edge(plan, &list[i], n, to);
    }
    fprintf(to, "}\n");
    free(list);
    return true;
}
