/* Phases: the schedule of another algorithm, among some of the ranks, written into the one that is
 * being written.
 *
 * The inner algorithm knows nothing of it: it sees ranks 0 .. n-1, a whole vector, IN and OUT.
 * While it writes, a scope puts its words into those of the schedule around it, which may itself be
 * a phase: its ranks into the members, its whole vector into a block, its places into others. */
#include "config.h"

#include <string.h>

#include "schedule/phase.h"
#include "schedule/descriptor.h"
#include "schedule/parts.h"
#include "schedule/scope.h"
#include "schedule/write.h"
#include "topology/topology.h"

void collopt_build(struct collopt_schedule *s, const struct collopt_algorithm *a,
                   const struct collopt_problem *p, int rank)
{
    const struct collopt_block whole = { COLLOPT_WHOLE, 0, 1 };

    if (p->ranks > 1)
        a->build(s, p, rank);
    else if (p->collective != COLLOPT_EXSCAN)
        collopt_copy(s, (struct collopt_region){ COLLOPT_OUT, 1, whole, NULL },
                     (struct collopt_region){ COLLOPT_IN, 1, whole, NULL });
}

void collopt_phase(struct collopt_schedule *s, const struct collopt_problem *p,
                   const struct collopt_phase *phase, const struct collopt_inner *inner)
{
    static const struct collopt_topology flat = { .nodes = 1 };
    struct collopt_problem problem = {
        .collective = inner->algorithm->collective, .ranks = phase->ranks, .root = phase->root,
        .count = p->count, .size = p->size, .commutative = p->commutative, .exact = p->exact,
        .segments = inner->segments, .topology = phase->topology ? phase->topology : &flat,
    };
    struct scope scope = { .phase = phase, .outer = s->scope, .whole = phase->whole,
                           .before = s->at };

    memcpy(problem.value, inner->value, sizeof problem.value);
    s->scope = &scope;
    s->at = (struct frame){ .strand = s->at.strand, .accumulator = -1, .counts_partition = -1,
                            .has_out = collopt_has_result(&problem, phase->index) };
    if (phase->part)            /* these may be less than the vector around them */
        scope.whole = (struct collopt_block){ collopt_partition_counts(s), 0, phase->ranks };
    collopt_round(s);
    collopt_build(s, inner->algorithm, &problem, phase->index);
    s->scope = scope.outer;
    s->at = scope.before;
    collopt_round(s);
}
