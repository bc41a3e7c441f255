/* Results of trials, summed over communicators and ranks, and written as rules. */
#include "config.h"

#include "select/tuning_results.h"
#include "base/list.h"
#include "base/text.h"
#include "schedule/problem.h"
#include "settings/rules.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const char *collopt_kind_name(unsigned kind)
{
    return kind == COLLOPT_KIND_EXACT   ? "exact"
        : kind == COLLOPT_KIND_ROUNDING ? "commutative"
                                        : "noncommutative";
}

/* ---- lists ----------------------------------------------------------------------------------- */

#define DIFFER(field)   ((x->field > y->field) - (x->field < y->field))

/* Exact operations before others that commute: in a rule the word for these matches those too. */
static int by_problem(const struct collopt_tuning_result *x, const struct collopt_tuning_result *y)
{
    int order;

    if ((order = DIFFER(collective)) || (order = DIFFER(ranks)) || (order = DIFFER(nodes))
        || (order = DIFFER(ppn)) || (order = DIFFER(uneven)) || (order = DIFFER(kind)))
        return order;
    return DIFFER(size_class);
}

static int by_problem_and_worth(const void *a, const void *b)
{
    const struct collopt_tuning_result *x = a, *y = b;
    double mean_x = (double)x->time / (double)x->samples,
           mean_y = (double)y->time / (double)y->samples;
    int order = by_problem(x, y);

    if (order == 0)
        order = -DIFFER(chosen);
    if (order == 0)
        order = (mean_x > mean_y) - (mean_x < mean_y);
    return order ? order : strcmp(x->algorithm, y->algorithm);
}

bool collopt_same_problem(const struct collopt_tuning_result *a,
                          const struct collopt_tuning_result *b)
{
    return by_problem(a, b) == 0;
}

void collopt_tuning_results_sort(struct collopt_tuning_results *l)
{
    if (l->n > 0)
        qsort(l->list, l->n, sizeof *l->list, by_problem_and_worth);
}

static struct collopt_tuning_result *find(const struct collopt_tuning_results *l,
                                          const struct collopt_tuning_result *key)
{
    for (size_t i = 0; i < l->n; i++)
        if (collopt_same_problem(&l->list[i], key)
            && strcmp(l->list[i].algorithm, key->algorithm) == 0)
            return &l->list[i];
    return NULL;
}

bool collopt_tuning_results_room(struct collopt_tuning_results *results, size_t more)
{
    return collopt_room_for(results->list, results->n, more);
}

void collopt_tuning_results_free(struct collopt_tuning_results *results)
{
    free(results->list);
}

void collopt_tuning_results_add(struct collopt_tuning_results *results,
                                const struct collopt_tuning_result *l)
{
    struct collopt_tuning_result *sum = find(results, l);

    if (sum) {
        sum->samples += l->samples;
        sum->chosen += l->chosen;
        sum->time += l->time;
        return;
    }
    results->list[results->n++] = *l;
}

/* ---- of this process ------------------------------------------------------------------------- */

static struct collopt_tuning_results learnt;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* One that is forgotten for want of memory is learnt again by the next job. */
void collopt_tuning_result_add(const struct collopt_tuning_result *l)
{
    pthread_mutex_lock(&lock);
    if (collopt_tuning_results_room(&learnt, 1))
        collopt_tuning_results_add(&learnt, l);
    pthread_mutex_unlock(&lock);
}

bool collopt_tuning_results_copy(struct collopt_tuning_results *results)
{
    bool room;

    pthread_mutex_lock(&lock);
    room = collopt_tuning_results_room(results, learnt.n);
    for (size_t i = 0; room && i < learnt.n; i++)
        collopt_tuning_results_add(results, &learnt.list[i]);
    pthread_mutex_unlock(&lock);
    return room;
}

/* ---- as rules -------------------------------------------------------------------------------- */

static const char columns[] = "%-20s  %-6s  %-5s  %-4s  %-16s  %-14s  %s";

/* Vectors of class k have 2^(k-1)+1 to 2^k bytes, of class 0 one byte or none. */
static void write_range(int from, int to, char *text, size_t size)
{
    char end[24];

    collopt_size_text((size_t)1 << (to < 63 ? to : 63), end, sizeof end);
    snprintf(text, size, "%zu-%s", from ? ((size_t)1 << (from - 1)) + 1 : 0, end);
}

static const char *microseconds(const struct collopt_tuning_result *l, char text[48])
{
    collopt_fixed_text(1e-3 * (double)l->time / (double)l->samples, 2, text, 48);
    return text;
}

/* For vectors in the last of the classes: the time, and the MPI library's, which follows L in
 * the list. */
static void write_times(const struct collopt_tuning_result *l,
                        const struct collopt_tuning_result *end, FILE *to)
{
    char text[48];

    fprintf(to, "  # %s us", microseconds(l, text));
    for (const struct collopt_tuning_result *other = l + 1;
         other < end && collopt_same_problem(l, other); other++)
        if (strcmp(other->algorithm, "host") == 0)
            fprintf(to, ", host %s us", microseconds(other, text));
    fputc('\n', to);
}

static void write_rule(const struct collopt_tuning_result *first,
                       const struct collopt_tuning_result *last,
                       const struct collopt_tuning_result *end, FILE *to)
{
    char ranks[16], nodes[16], ppn[16], bytes[64];

    snprintf(ranks, sizeof ranks, "%d", (int)first->ranks);
    snprintf(nodes, sizeof nodes, "%d", (int)first->nodes);
    snprintf(ppn, sizeof ppn, "%d", (int)first->ppn);
    write_range(first->size_class, last->size_class, bytes, sizeof bytes);
    fprintf(to, columns, collopt_collective_names[first->collective], ranks, nodes, ppn, bytes,
            collopt_kind_name(first->kind), first->algorithm);
    write_times(last, end, to);
}

static const struct collopt_tuning_result *next_problem(const struct collopt_tuning_result *l,
                                                        const struct collopt_tuning_result *end)
{
    const struct collopt_tuning_result *next = l;

    while (next < end && collopt_same_problem(l, next))
        next++;
    return next;
}

/* Does NEXT say of the size class behind L's what L says of its own? */
static bool goes_on(const struct collopt_tuning_result *l, const struct collopt_tuning_result *next)
{
    struct collopt_tuning_result same = *next;

    same.size_class = l->size_class;
    return next->size_class == l->size_class + 1 && next->chosen > 0
        && collopt_same_problem(l, &same) && strcmp(l->algorithm, next->algorithm) == 0;
}

void collopt_tuning_results_write(const struct collopt_tuning_results *results, FILE *to)
{
    const struct collopt_tuning_result *end = results->list + results->n, *last, *next;

    fprintf(to,
            "# learnt by COLLOPT_ADAPT=on; behind # is the time of one call, at the longest "
            "vectors of the range\n");
    fprintf(to, columns, "# collective", "ranks", "nodes", "ppn", "bytes", "op", "algorithm\n");
    for (const struct collopt_tuning_result *l = results->list; l < end; l = next) {
        last = l;
        next = next_problem(l, end);
        if (l->uneven || l->chosen == 0)
            continue;
        for (; next < end && goes_on(last, next); next = next_problem(next, end))
            last = next;
        write_rule(l, last, end, to);
    }
    fprintf(to, columns, "*", "*", "*", "*", "*", "*", "auto\n");
}
