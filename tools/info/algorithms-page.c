/* Makes doc/algorithms.md: the hand-written parts from doc/algorithms.in, the tables from the
 * descriptors.
 *
 * A line of the template that begins with @ stands for a table:
 *
 *     @table COLLECTIVE...      the algorithms of one collective, or of several that have much in
 *                               common
 *     @parameters               all parameters
 *     @refusals                 what algorithms refuse for */
#include "config.h"

#include "info/catalogue.h"
#include "catalogue/catalogue.h"
#include "schedule/descriptor.h"
#include "schedule/parameters.h"
#include "schedule/problem.h"
#include "shared/output.h"

#include <string.h>

enum { LINE = 1024, NAMES = 4096 };

/* ---- the algorithms of some collectives ------------------------------------------------------ */

struct chapter {
    int collectives;
    enum collopt_collective collective[COLLOPT_COLLECTIVES];
};

static const struct collopt_algorithm *named(enum collopt_collective c, const char *name)
{
    return collopt_algorithm_named(c, name, strlen(name));
}

static bool same_row(const struct collopt_algorithm *a, const struct collopt_algorithm *b)
{
    return a && b && !strcmp(a->summary, b->summary) && !strcmp(a->source, b->source)
        && a->order == b->order;
}

static void put_name(const struct collopt_algorithm *a)
{
    printf("| %s", a->name);
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        printf("%s%s", i ? ", " : " (", a->parameter[i].name);
    printf("%s |", a->parameter[0].name ? ")" : "");
}

/* The collectives for which C has A, in one row; no row if one earlier than A's is among them. */
static void put_row(const struct chapter *c, const struct collopt_algorithm *a)
{
    char rounds[CATALOGUE_TEXT], vectors[CATALOGUE_TEXT];
    bool same[COLLOPT_COLLECTIVES];
    int n = 0;

    for (int i = 0; i < c->collectives; i++) {
        same[i] = same_row(a, named(c->collective[i], a->name));
        if (same[i] && n++ == 0 && c->collective[i] != a->collective)
            return;
    }
    put_name(a);
    catalogue_rounds(a, rounds);
    catalogue_vectors(a, vectors);
    if (c->collectives > 1)
        printf(" %s |",
               n == c->collectives ? n == 2 ? "both" : "all"
                                   : collopt_collective_names[a->collective]);
    printf(" %s | %s | %s | %s | %s |\n", catalogue_order(a), rounds, vectors, a->summary,
           a->source);
}

static void put_chapter(const struct chapter *c)
{
    printf("| name |%s order | rounds | bytes | what and when | source |\n",
           c->collectives > 1 ? " collectives |" : "");
    printf("|---|%s---|---|---|---|---|\n", c->collectives > 1 ? "---|" : "");
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        for (int i = 0; i < c->collectives; i++)
            if ((*a)->collective == c->collective[i])
                put_row(c, *a);
}

static bool read_chapter(struct chapter *c, char *words)
{
    c->collectives = 0;
    for (char *word = strtok(words, " \n"); word; word = strtok(NULL, " \n")) {
        int i = 0;

        while (i < COLLOPT_COLLECTIVES && strcmp(collopt_collective_names[i], word))
            i++;
        if (i == COLLOPT_COLLECTIVES || c->collectives == COLLOPT_COLLECTIVES)
            return false;
        c->collective[c->collectives++] = (enum collopt_collective)i;
    }
    return c->collectives > 0;
}

/* ---- who shares something -------------------------------------------------------------------- */

/* Adds NAME to the list NAMES, once. */
static void add_name(char names[NAMES], const char *name)
{
    size_t n = strlen(names), length = strlen(name);

    for (const char *at = names; (at = strstr(at, name)); at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == ',' || !at[length]))
            return;
    snprintf(names + n, NAMES - n, "%s%s", n ? ", " : "", name);
}

static const struct collopt_parameter *parameter_of(const struct collopt_algorithm *a,
                                                    const char *name)
{
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        if (!strcmp(a->parameter[i].name, name))
            return &a->parameter[i];
    return NULL;
}

static const struct collopt_parameter *first_of(const char *name)
{
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        if (parameter_of(*a, name))
            return parameter_of(*a, name);
    return NULL;
}

static void put_parameter(const struct collopt_parameter *p)
{
    char range[CATALOGUE_TEXT] = "an algorithm, in parentheses", names[NAMES] = "";

    if (!p->algorithm)
        catalogue_range(p, range);
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        if (parameter_of(*a, p->name))
            add_name(names, (*a)->name);
    printf("| %s | %s | %s | %s |\n", p->name, p->help, range, names);
}

static void put_parameters(void)
{
    printf("| name | what | range | which |\n|---|---|---|---|\n");
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        for (int i = 0; i < COLLOPT_PARAMETERS && (*a)->parameter[i].name; i++)
            if (first_of((*a)->parameter[i].name) == &(*a)->parameter[i])
                put_parameter(&(*a)->parameter[i]);
}

static void put_refusals(void)
{
    char told[NAMES] = "";

    printf(
        "| reason | which |\n|---|---|\n| the operation does not commute | all marked comm. |\n");
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++) {
        char names[NAMES] = "";

        if (!(*a)->unfit || strstr(told, (*a)->unfit))
            continue;
        add_name(told, (*a)->unfit);
        for (const struct collopt_algorithm *const *b = a; *b; b++)
            if ((*b)->unfit && !strcmp((*b)->unfit, (*a)->unfit))
                add_name(names, (*b)->name);
        printf("| %s | %s |\n", (*a)->unfit, names);
    }
}

/* ---- the page -------------------------------------------------------------------------------- */

static bool put_line(char *line)
{
    static const char table[] = "@table ";
    struct chapter c;

    if (*line != '@') {
        fputs(line, stdout);
    } else if (!strcmp(line, "@parameters\n")) {
        put_parameters();
    } else if (!strcmp(line, "@refusals\n")) {
        put_refusals();
    } else if (!strncmp(line, table, sizeof table - 1)
               && read_chapter(&c, line + sizeof table - 1)) {
        put_chapter(&c);
    } else {
        fprintf(stderr, "algorithms-page: not understood: %s", line);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    FILE *template = argc == 2 ? fopen(argv[1], "r") : NULL;
    char line[LINE];
    bool good = template != NULL;

    output_guard("algorithms-page", 1);
    if (!template)
        fprintf(stderr, "Usage: algorithms-page TEMPLATE >PAGE\n");
    while (good && fgets(line, sizeof line, template))
        good = put_line(line);
    if (template)
        fclose(template);
    return good ? 0 : 1;
}
