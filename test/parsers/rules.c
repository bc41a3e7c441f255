/* Files of rules: taken or refused with a message; what is taken is found again in its order, and
 * its algorithms mean the same when they are written out. */
#include "config.h"

#include "parsers.h"
#include "catalogue/catalogue.h"
#include "catalogue/expression.h"
#include "settings/rules.h"
#include "shared/rules_check.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

static void decide(const struct collopt_rules *rules, const struct collopt_problem *p)
{
    const struct collopt_rule *r = NULL;
    const char *why;
    int line = 0;

    while ((r = collopt_rules_next(rules, p, r)) != NULL) {
        if (r->line <= line)
            wrong("line %d comes behind line %d", r->line, line);
        line = r->line;
        if (!r->automatic)
            collopt_choice_usable(&r->choice, p, &why);
    }
}

static void decide_some(const struct collopt_rules *rules)
{
    static const size_t bytes[] = { 0, 8, 65536, SIZE_MAX };
    static const int node[] = { 0, 0, 0, 0, 1, 1, 1, 1 };
    const struct collopt_topology t = { .nodes = 2, .node = node, .largest = 4, .least = 4,
                                        .grain = 4 };

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        for (int i = 0; i < 4; i++)
            decide(rules, &(struct collopt_problem){
                .collective = (enum collopt_collective)c, .ranks = 8, .count = bytes[i], .size = 1,
                .commutative = i != 1, .exact = i == 2, .segments = 1, .topology = &t });
}

static void is_written_back(const struct collopt_rule *r)
{
    char text[COLLOPT_CHOICE_TEXT], message[640];
    struct collopt_choice again;

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        if (!(r->box.collectives & 1u << c) || r->automatic)
            continue;
        collopt_choice_text(&r->choice, text, sizeof text);
        if (!collopt_parse_choice(text, (enum collopt_collective)c, &again, message, sizeof message)
            || (r->choice.algorithm && memcmp(again.value, r->choice.value, sizeof again.value)))
            wrong("line %d is written as %s, which means something else", r->line, text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct told told = nothing_told(data, size);
    char *bytes = bytes_of(data, size);
    struct collopt_rules *rules = collopt_rules_parse("input", bytes, size, hear, &told);

    free(bytes);
    if (!rules != (told.n > 0))
        wrong("%s with %d messages", rules ? "taken" : "refused", told.n);
    if (!rules)
        return 0;
    decide_some(rules);
    for (int i = 0; i < rules->n; i++)
        is_written_back(&rules->rule[i]);
    told.n = 0;
    if (collopt_rules_check(rules, hear, &told) != told.n)
        wrong("%d mistakes are told", told.n);
    collopt_rules_free(rules);
    return 0;
}
