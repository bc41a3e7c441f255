/* A whole schedule: what surrounds build(). */
#include "config.h"

#include <stdlib.h>

#include "schedule/schedule.h"
#include "schedule/compile.h"
#include "schedule/descriptor.h"
#include "schedule/in_place.h"
#include "schedule/lower.h"
#include "schedule/parts.h"
#include "schedule/phase.h"
#include "schedule/problem.h"
#include "schedule/write.h"

struct collopt_schedule *collopt_schedule_new(const struct collopt_algorithm *a,
                                              const struct collopt_problem *p, int rank,
                                              unsigned how)
{
    struct collopt_schedule *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->algorithm = a;
    s->collective = p->collective;
    s->ranks = p->ranks;
    s->rank = rank;
    s->how = how;
    s->either_order = a->order == COLLOPT_COMMUTATIVE && !p->anywhere;
    collopt_write_start(s, p);
    if (!s->failed)
        collopt_build(s, a, p, rank);
    if (!s->failed && (how & (COLLOPT_IN_PLACE | COLLOPT_VIA_SCRATCH)))
        collopt_pass_in_place(s);
    if (!s->failed && (how & COLLOPT_TWO_OPERANDS))
        collopt_pass_two_operands(s);
    if (!s->failed)
        collopt_pass_compile(s);
    if (s->failed) {
        collopt_schedule_free(s);
        return NULL;
    }
    return s;
}

void collopt_schedule_free(struct collopt_schedule *s)
{
    if (!s)
        return;
    for (int i = 0; s->program && i < s->strands; i++)
        free(s->program[i].list);
    free(s->program);
    free(s->partition);
    free(s->place);
    free(s->piece);
    free(s->region);
    free(s->action);
    free(s->follow);
    free(s->member);
    free(s->lists.block);
    free(s->lists.start);
    free(s);
}
