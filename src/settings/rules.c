/* Reads files of rules and finds the one for a problem.  No MPI here; what a line may say is in
 * collopt(7). */
#include "config.h"

#include "settings/rules.h"
#include "base/contents.h"
#include "base/hash.h"
#include "base/lines.h"
#include "base/list.h"
#include "base/text.h"
#include "catalogue/expression.h"
#include "schedule/problem.h"
#include "topology/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 7, RANGES = COLLOPT_BY_BYTES + 1, SHOWN = 60, LARGEST = 16 << 20 };

const char *const collopt_measure_names[COLLOPT_MEASURES] = { "ranks", "nodes", "ppn", "bytes",
                                                              "oversubscribed" };
static const char oversubscribed[] = "oversubscribed";         /* in the place of ppn */

struct reader {
    struct collopt_lines in;    /* first, so that a callback can convert its pointer */
    struct collopt_rules *rules;
};

/* ---- words of a list ------------------------------------------------------------------------- */

static const struct {
    const char *word;
    unsigned kinds;
} kinds[] = {
    { "*", COLLOPT_KINDS },
    { "commutative", COLLOPT_KIND_EXACT | COLLOPT_KIND_ROUNDING },
    { "noncommutative", COLLOPT_KIND_ORDERED },
    { "exact", COLLOPT_KIND_EXACT },
};

enum { KIND_WORDS = sizeof kinds / sizeof *kinds };

static const char *nth_kind(int i, const void *data)
{
    (void)data;
    return kinds[i].word;
}

static const char *nth_collective(int i, const void *data)
{
    (void)data;
    return i == 0 ? "*" : collopt_collective_names[i - 1];
}

/* The number of WORD among N words; -1, after a complaint, if it is none of them. */
static int word_among(struct reader *r, const char *what, const char *word, int n,
                      const char *(*nth)(int i, const void *data))
{
    char message[400];
    int i = collopt_word_among(what, word, n, nth, message, sizeof message);

    if (i < 0)
        collopt_mistake(&r->in, "%s", message);
    return i;
}

static bool set_collective(struct reader *r, struct collopt_rule *rule, const char *word)
{
    int i = word_among(r, "collective", word, COLLOPT_COLLECTIVES + 1, nth_collective);

    if (i < 0)
        return false;
    rule->box.collectives = i == 0 ? (1u << COLLOPT_COLLECTIVES) - 1 : 1u << (i - 1);
    return true;
}

static bool set_kinds(struct reader *r, struct collopt_rule *rule, const char *word)
{
    int i = word_among(r, "kind of operation", word, KIND_WORDS, nth_kind);

    if (i < 0)
        return false;
    rule->box.kinds = kinds[i].kinds;
    return true;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static bool set_range(struct reader *r, struct collopt_rule *rule, enum collopt_measure m,
                      const char *word)
{
    struct collopt_range *range = &rule->box.range[m];

    if (m == COLLOPT_BY_PPN && strcmp(word, oversubscribed) == 0) {
        rule->box.range[COLLOPT_BY_EXCESS].least = 1;
        word = "*";
    }
    if (!collopt_parse_range(word, range))
        return collopt_mistake(&r->in,
                               "%s \"%.*s\" is not a range; it takes *, a number such as 8 or 64K, "
                               "LEAST-MOST such as 2-16, or "
                               "LEAST- such as 64K-%s",
                               collopt_measure_names[m], SHOWN, word,
                               m == COLLOPT_BY_PPN ? ", or oversubscribed" : "");
    if (range->least > range->most)
        return collopt_mistake(&r->in,
                               "%s \"%.*s\" is an empty range; the lesser number comes first",
                               collopt_measure_names[m], SHOWN, word);
    return true;
}

/* ---- a line ---------------------------------------------------------------------------------- */

static bool set_algorithm(struct reader *r, struct collopt_rule *rule, const char *word)
{
    unsigned collectives = rule->box.collectives;
    char message[768];

    rule->automatic = strcmp(word, "auto") == 0;
    if (rule->automatic)
        return true;
    if ((collectives & (collectives - 1)) && strcmp(word, "host") != 0)
        return collopt_mistake(&r->in,
                               "collective * takes auto or host; "
                               "an algorithm such as \"%.*s\" needs a line for each collective",
                               SHOWN, word);
    if (!collopt_parse_choice(word, (enum collopt_collective)__builtin_ctz(collectives),
                              &rule->choice, message, sizeof message))
        return collopt_mistake(&r->in, "%s", message);
    return true;
}

/* The words of LINE, which is cut into them; more than AT MOST are counted, not noted. */
static int cut(char *line, char **word, int at_most)
{
    char *rest, *at;
    int n = 0;

    for (at = strtok_r(line, " \t", &rest); at; at = strtok_r(NULL, " \t", &rest)) {
        if (n < at_most)
            word[n] = at;
        n++;
    }
    return n;
}

static bool understand(struct reader *r, struct collopt_rule *rule, char *const *word)
{
    if (!set_collective(r, rule, word[0]))
        return false;
    rule->box.range[COLLOPT_BY_EXCESS] = (struct collopt_range){ 0, SIZE_MAX };
    for (int m = 0; m < RANGES; m++)
        if (!set_range(r, rule, (enum collopt_measure)m, word[1 + m]))
            return false;
    return set_kinds(r, rule, word[5]) && set_algorithm(r, rule, word[6]);
}

static bool keep(struct reader *r, const struct collopt_rule *rule)
{
    struct collopt_rules *rules = r->rules;

    if (!collopt_room(rules->rule, rules->n))
        return collopt_mistake(&r->in, "no memory");
    rules->rule[rules->n++] = *rule;
    return true;
}

/* Hashes the algorithm as it is written.  Two spellings may decide alike, but one spelling never
 * decides differently. */
static void add_rule_to_hash(struct collopt_rules *rules, const struct collopt_rule *rule,
                             const char *algorithm)
{
    uint64_t numbers[2 + 2 * COLLOPT_MEASURES] = { rule->box.collectives, rule->box.kinds };

    for (int m = 0; m < COLLOPT_MEASURES; m++) {
        numbers[2 + 2 * m] = rule->box.range[m].least;
        numbers[3 + 2 * m] = rule->box.range[m].most;
    }
    if (rules->hash == 0)
        rules->hash = COLLOPT_HASH_START;
    rules->hash = collopt_hash_bytes(rules->hash, numbers, sizeof numbers);
    rules->hash = collopt_hash_bytes(rules->hash, algorithm, strlen(algorithm) + 1);
}

static bool read_rule(struct reader *r, char *line)
{
    char *word[COLUMNS + 1];
    int n = cut(line, word, COLUMNS + 1);
    struct collopt_rule rule = { .line = r->in.line };

    if (n == 0)
        return true;
    if (n == COLUMNS + 1 && strcmp(word[COLUMNS - 1], "->") == 0) {
        word[COLUMNS - 1] = word[COLUMNS];
        n = COLUMNS;
    }
    if (n != COLUMNS)
        return collopt_mistake(
            &r->in,
            "%d column%s; a rule has %d: collective ranks nodes ppn bytes op algorithm, "
            "none of them with spaces in it",
            n, n == 1 ? "" : "s", COLUMNS);
    if (!understand(r, &rule, word) || !keep(r, &rule))
        return false;
    add_rule_to_hash(r->rules, &rule, word[COLUMNS - 1]);
    return true;
}

/* ---- a file ---------------------------------------------------------------------------------- */

static void take_line(struct collopt_lines *in, char *line)
{
    read_rule((struct reader *)in, line);
}

struct collopt_rules *collopt_rules_parse(const char *file, const char *text, size_t size,
                                          collopt_tell_mistake *tell, void *data)
{
    struct reader r = { .in = { .what = "rules", .tell = tell, .data = data },
                        .rules = calloc(1, sizeof *r.rules) };

    if (!r.rules || !(r.rules->file = strdup(file)))
        collopt_mistake(&r.in, "no memory");
    else
        collopt_lines_read(&r.in, text, size, take_line);
    if (r.in.mistakes == 0)
        return r.rules;
    collopt_rules_free(r.rules);
    return NULL;
}

void collopt_rules_free(struct collopt_rules *r)
{
    if (!r)
        return;
    free(r->rule);
    free(r->file);
    free(r);
}

struct collopt_rules *collopt_rules_read(const char *file, collopt_tell_mistake *tell, void *data)
{
    size_t size;
    char *text = collopt_contents(file, LARGEST, &size, tell, data);
    struct collopt_rules *rules = text ? collopt_rules_parse(file, text, size, tell, data) : NULL;

    free(text);
    return rules;
}

/* ---- matching -------------------------------------------------------------------------------- */

static unsigned kind_of(const struct collopt_problem *p)
{
    return !p->commutative ? COLLOPT_KIND_ORDERED
        : p->exact         ? COLLOPT_KIND_EXACT
                           : COLLOPT_KIND_ROUNDING;
}

/* A problem is a box with one problem in it. */
static void measure(const struct collopt_problem *p, size_t measured[COLLOPT_MEASURES])
{
    const struct collopt_topology *t = p->topology;
    bool one_node = t->nodes <= 1 || t->largest == 0;

    measured[COLLOPT_BY_RANKS] = (size_t)p->ranks;
    measured[COLLOPT_BY_NODES] = one_node ? 1 : (size_t)t->nodes;
    measured[COLLOPT_BY_PPN] = (size_t)(one_node ? p->ranks : t->largest);
    measured[COLLOPT_BY_BYTES] = p->count * p->size;
    measured[COLLOPT_BY_EXCESS] = t->oversubscribed;
}

static bool holds(const struct collopt_box *b, unsigned collective, unsigned kind,
                  const size_t measured[COLLOPT_MEASURES])
{
    if (!(b->collectives & collective) || !(b->kinds & kind))
        return false;
    for (int m = 0; m < COLLOPT_MEASURES; m++)
        if (measured[m] < b->range[m].least || measured[m] > b->range[m].most)
            return false;
    return true;
}

const struct collopt_rule *collopt_rules_next(const struct collopt_rules *r,
                                              const struct collopt_problem *p,
                                              const struct collopt_rule *last)
{
    unsigned kind = kind_of(p);
    size_t measured[COLLOPT_MEASURES];

    measure(p, measured);
    for (int i = last ? (int)(last - r->rule) + 1 : 0; i < r->n; i++)
        if (holds(&r->rule[i].box, 1u << p->collective, kind, measured))
            return &r->rule[i];
    return NULL;
}
