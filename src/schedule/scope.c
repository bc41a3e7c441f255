/* Words of the algorithm of a phase in terms of the schedule around it. */
#include "config.h"

#include "schedule/scope.h"

int collopt_outer_rank(const struct scope *scope, int rank)
{
    for (; scope; scope = scope->outer)
        rank = scope->phase->member ? scope->phase->member[rank] : rank;
    return rank;
}

int collopt_outer_place(const struct scope *scope, int place)
{
    for (; scope && (place == COLLOPT_IN || place == COLLOPT_OUT); scope = scope->outer)
        place = place == COLLOPT_IN ? scope->phase->in : scope->phase->out;
    return place;
}

struct collopt_block collopt_outer_block(const struct scope *scope, struct collopt_block b)
{
    for (; scope && b.partition == COLLOPT_WHOLE && b.parts > 0; scope = scope->outer)
        b = scope->whole;
    return b;
}
