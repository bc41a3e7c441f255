/* Another collective of all ranks as a part of an algorithm.  See mockup.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "mockup.h"
#include "catalogue/choice.h"
#include "model/model.h"

struct collopt_problem collopt_mockup(const struct collopt_problem *p, enum collopt_collective c)
{
    struct collopt_problem other = *p;

    other.collective = c;
    other.counts = NULL;
    other.root = c == p->collective ? p->root : 0;
    other.segments = 1;
    memset(other.value, 0, sizeof other.value);
    return other;
}

size_t collopt_mockup_value(const struct collopt_problem *p, struct collopt_choice choice)
{
    struct collopt_problem other = collopt_mockup(p, choice.algorithm->collective);

    collopt_set_parameters(&other, &choice);
    memcpy(choice.value, other.value, sizeof choice.value);
    return collopt_choice_number(&choice);
}

/* With the parameters of CHOICE. */
static struct collopt_problem complete(const struct collopt_problem *p,
                                       const struct collopt_choice *choice)
{
    struct collopt_problem other = collopt_mockup(p, choice->algorithm->collective);

    memcpy(other.value, choice->value, sizeof other.value);
    other.segments = p->segments;
    return other;
}

bool collopt_mockup_usable(const struct collopt_problem *p, size_t value)
{
    const struct collopt_choice *choice = collopt_choice_numbered(value);
    struct collopt_problem other;

    if (!choice || choice->algorithm->grouped)
        return false;
    other = complete(p, choice);
    return collopt_usable(choice->algorithm, &other, NULL);
}

int collopt_mockup_segments(const struct collopt_problem *p, size_t value)
{
    const struct collopt_choice *choice = collopt_choice_numbered(value);
    struct collopt_problem other;

    if (!choice || !choice->algorithm->segments)
        return 1;
    other = complete(p, choice);
    return choice->algorithm->segments(&other);
}

void collopt_mockup_build(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                          size_t value, int result)
{
    const struct collopt_choice *choice = collopt_choice_numbered(value);
    struct collopt_inner inner = { .algorithm = choice->algorithm, .segments = p->segments };
    int *member = collopt_workspace(s, (size_t)p->ranks * sizeof *member);
    struct collopt_phase phase = { .ranks = p->ranks, .index = rank, .member = member,
                                   .whole = whole(), .in = COLLOPT_IN, .out = result,
                                   .topology = p->topology };

    memcpy(inner.value, choice->value, sizeof inner.value);
    for (int r = 0; member && r < p->ranks; r++)
        member[r] = r;
    if (member)
        collopt_phase(s, p, &phase, &inner);
    free(member);
}

void collopt_mockup_traffic(const struct collopt_problem *p, size_t value,
                            struct collopt_traffic *t)
{
    const struct collopt_choice *choice = collopt_choice_numbered(value);
    struct collopt_problem other = complete(p, choice);

    collopt_inner_seconds(t, collopt_model(choice->algorithm, &other));
}
