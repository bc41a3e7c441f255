/* The list of algorithms, from the descriptors; see catalogue.h. */
#include "config.h"

#include "base/json.h"
#include "base/text.h"
#include "info/catalogue.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "schedule/descriptor.h"
#include "schedule/parameters.h"
#include "schedule/problem.h"
#include "shared/effort.h"
#include "topology/topology.h"

#include <math.h>

const char *catalogue_order(const struct collopt_algorithm *a)
{
    return a->order == COLLOPT_COMMUTATIVE ? "comm." : "any";
}

/* ---- rounds and bytes ------------------------------------------------------------------------ */

enum { LONG = 1 << 20 };        /* bytes */

static struct collopt_effort effort_on(const struct collopt_algorithm *a, int ranks, size_t bytes)
{
    int node[CATALOGUE_RANKS];
    struct collopt_topology nodes = { .nodes = ranks / CATALOGUE_NODE, .node = node },
                            one = { .nodes = 1 };
    struct collopt_problem p = { .collective = a->collective, .ranks = ranks, .size = 8,
                                 .count = bytes / 8, .commutative = true, .segments = 1,
                                 .topology = a->grouped ? &nodes : &one };

    for (int r = 0; r < ranks; r++)
        node[r] = r / CATALOGUE_NODE;
    if (!collopt_topology_measure(&nodes, ranks))
        return (struct collopt_effort){ .rounds = NAN, .vectors = NAN };
    collopt_set_parameters(&p, &(struct collopt_choice){ .algorithm = a });
    return collopt_effort(a, &p);
}

void catalogue_rounds(const struct collopt_algorithm *a, char text[CATALOGUE_TEXT])
{
    snprintf(text, CATALOGUE_TEXT, "%.0f, %.0f", effort_on(a, CATALOGUE_RANKS, 8).rounds,
             effort_on(a, CATALOGUE_OTHER_RANKS, 8).rounds);
}

void catalogue_vectors(const struct collopt_algorithm *a, char text[CATALOGUE_TEXT])
{
    snprintf(text, CATALOGUE_TEXT, "%.3g, %.3g", effort_on(a, CATALOGUE_RANKS, LONG).vectors,
             effort_on(a, CATALOGUE_OTHER_RANKS, LONG).vectors);
}

/* ---- parameters ------------------------------------------------------------------------------ */

const char *catalogue_values(const struct collopt_parameter *p)
{
    return p->words    ? p->words
        : p->algorithm ? "(ALGORITHM)"
        : p->list_bits ? "NxN..."
        : p->bytes     ? "BYTES"
                       : "N";
}

static void limit(const struct collopt_parameter *p, size_t value, char *text, size_t size)
{
    if (p->bytes)
        collopt_size_text(value, text, size);
    else
        snprintf(text, size, "%zu", value);
}

void catalogue_range(const struct collopt_parameter *p, char text[CATALOGUE_TEXT])
{
    char least[24], most[24];

    if (p->words) {
        snprintf(text, CATALOGUE_TEXT, "%s", p->words);
        return;
    }
    if (p->algorithm) {
        snprintf(text, CATALOGUE_TEXT, "%s", collopt_collective_names[p->of]);
        return;
    }
    limit(p, p->least, least, sizeof least);
    limit(p, p->most, most, sizeof most);
    snprintf(text, CATALOGUE_TEXT, "%s%s to %s", p->list_bits ? "each " : "", least, most);
}

/* ---- as text --------------------------------------------------------------------------------- */

static void print_parameter(const struct collopt_parameter *p, FILE *to)
{
    char range[CATALOGUE_TEXT];

    catalogue_range(p, range);
    fprintf(to, "    %s=%s  %s (%s%s)\n", p->name, catalogue_values(p), p->help,
            p->algorithm ? "for " : "", range);
}

static void print_algorithm(const struct collopt_algorithm *a, FILE *to)
{
    char rounds[CATALOGUE_TEXT], vectors[CATALOGUE_TEXT];

    catalogue_rounds(a, rounds);
    catalogue_vectors(a, vectors);
    fprintf(to, "  %-22s %-6s %-10s %s\n", a->name, catalogue_order(a), rounds, vectors);
    fprintf(to, "    %s\n    %s\n", a->summary, a->source);
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        print_parameter(&a->parameter[i], to);
}

void catalogue_print(FILE *to)
{
    fprintf(to,
            "Order: any operation, or those that commute. Rounds: messages one after another on "
            "the critical path of the shortest\n"
            "vector, where a rank sends one and receives one at a time. Bytes: of a long vector on "
            "that path, in vectors of one rank.\n"
            "Both on %d ranks and on %d, with the parameters that collopt chooses; nodes of %d "
            "ranks for what goes by nodes.\n",
            CATALOGUE_RANKS, CATALOGUE_OTHER_RANKS, CATALOGUE_NODE);
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        fprintf(to, "\n%-24s %-6s %-10s %s\n", collopt_collective_names[c], "order", "rounds",
                "bytes");
        for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
            if ((int)(*a)->collective == c)
                print_algorithm(*a, to);
    }
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void json_parameter(struct collopt_json *j, const struct collopt_parameter *p)
{
    collopt_json_object(j, NULL);
    collopt_json_text(j, "name", p->name);
    collopt_json_flag(j, "bytes", p->bytes);
    collopt_json_flag(j, "list", p->list_bits != 0);
    collopt_json_text(j, "algorithm_of", p->algorithm ? collopt_collective_names[p->of] : NULL);
    if (!p->algorithm) {
        collopt_json_count(j, "least", p->least);
        collopt_json_count(j, "most", p->most);
    }
    collopt_json_text(j, "meaning", p->help);
    collopt_json_end(j);
}

void catalogue_json(struct collopt_json *j, const struct collopt_algorithm *a)
{
    char text[CATALOGUE_TEXT];

    collopt_json_object(j, NULL);
    collopt_json_text(j, "collective", collopt_collective_names[a->collective]);
    collopt_json_text(j, "name", a->name);
    collopt_json_text(j, "summary", a->summary);
    collopt_json_flag(j, "commutative_only", a->order == COLLOPT_COMMUTATIVE);
    catalogue_rounds(a, text);
    collopt_json_text(j, "rounds", text);
    catalogue_vectors(a, text);
    collopt_json_text(j, "vectors", text);
    collopt_json_text(j, "source", a->source);
    collopt_json_array(j, "parameters");
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        json_parameter(j, &a->parameter[i]);
    collopt_json_end(j);
    collopt_json_end(j);
}
