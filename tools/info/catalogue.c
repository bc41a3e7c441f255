/* The list of algorithms, from the descriptors; see catalogue.h. */
#include "config.h"

#include "base/json.h"
#include "base/text.h"
#include "info/catalogue.h"
#include "catalogue/catalogue.h"
#include "schedule/descriptor.h"
#include "schedule/parameters.h"
#include "schedule/problem.h"

#include <string.h>

const char *catalogue_order(const struct collopt_algorithm *a)
{
    static const char *const order[2][2] = { { "any, exact", "any" }, { "comm., exact", "comm." } };

    return order[a->order == COLLOPT_COMMUTATIVE][a->identical];
}

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

enum { ROUNDS_WIDTH = 38 };     /* few are wider */

static void print_parameter(const struct collopt_parameter *p, FILE *to)
{
    char range[CATALOGUE_TEXT];

    catalogue_range(p, range);
    fprintf(to, "    %s=%s  %s (%s%s)\n", p->name, catalogue_values(p), p->help,
            p->algorithm ? "for " : "", range);
}

static void print_algorithm(const struct collopt_algorithm *a, FILE *to)
{
    fprintf(to, "  %-22s %-6s %-6s %-*s %s\n", a->name,
            a->order == COLLOPT_COMMUTATIVE ? "comm." : "any", a->identical ? "alike" : "differ",
            ROUNDS_WIDTH, a->rounds, a->bytes);
    fprintf(to, "    %s; %s\n", a->when, a->source);
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        print_parameter(&a->parameter[i], to);
}

void catalogue_print(FILE *to)
{
    fputs("m bytes in the vector of one of p ranks, S segments of it, n blocks of a part, k the "
          "radix, f_i the factors of p or\n"
          "the radices, d_i the D dims, N nodes, r ranks of the largest, L lanes, q = ceil(log2 "
          "p), F = floor(log2 p), folded:\n"
          "where p is not 2^F; node, net, own: what the algorithms in parentheses take; other "
          "words: parameters.\n"
          "Order: any operation, or those that commute.\n"
          "Bits: do those of all ranks' results agree where the operation rounds? Rounds: messages "
          "one behind the other\n"
          "where a rank sends one and receives one at a time. Bytes: of the busiest rank, sent or "
          "received.\n",
          to);
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        fprintf(to, "\n%-24s %-6s %-6s %-*s %s\n", collopt_collective_names[c], "order", "bits",
                ROUNDS_WIDTH, "rounds", "bytes");
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
    collopt_json_object(j, NULL);
    collopt_json_text(j, "collective", collopt_collective_names[a->collective]);
    collopt_json_text(j, "name", a->name);
    collopt_json_text(j, "summary", a->summary);
    collopt_json_flag(j, "commutative_only", a->order == COLLOPT_COMMUTATIVE);
    collopt_json_flag(j, "identical_bits", a->identical);
    collopt_json_text(j, "rounds", a->rounds);
    collopt_json_text(j, "bytes", a->bytes);
    collopt_json_text(j, "when", a->when);
    collopt_json_text(j, "source", a->source);
    collopt_json_array(j, "parameters");
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        json_parameter(j, &a->parameter[i]);
    collopt_json_end(j);
    collopt_json_end(j);
}
