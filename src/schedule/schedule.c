/* A whole schedule: what surrounds build(). */
#include "config.h"

#include <stdlib.h>

#include "schedule/schedule.h"
#include "schedule/compile.h"
#include "schedule/descriptor.h"
#include "schedule/in_place.h"
#include "schedule/lower.h"
#include "schedule/parts.h"
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
        a->build(s, p, rank);
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

/* ---- for people ------------------------------------------------------------------------------ */

static void print_region(const struct collopt_schedule *s, struct span r, FILE *to)
{
    for (int i = 0; i < r.n; i++) {
        struct piece q = s->piece[r.first + i];

        fprintf(to, i ? "+" : " ");
        if (q.place == COLLOPT_IN || q.place == COLLOPT_OUT)
            fprintf(to, q.place == COLLOPT_IN ? "IN" : "OUT");
        else
            fprintf(to, "TMP%d", q.place - COLLOPT_FIRST_SLOT);
        if (q.block.partition != COLLOPT_WHOLE)
            fprintf(to, "[%d:%d/%d]", q.block.first, q.block.first + q.block.parts,
                    s->partition[q.block.partition].parts);
    }
}

void collopt_schedule_print(const struct collopt_schedule *s, FILE *to)
{
    static const char *const verb[] = { "send", "receive", "fold", "copy", "prefixes" };

    for (size_t i = 0; i < s->actions; i++) {
        const struct action *a = &s->action[i];

        fprintf(to, "%d: round %d", s->rank, a->round);
        if (s->strands > 1)
            fprintf(to, " strand %d", a->strand);
        fprintf(to, " %s", verb[a->kind]);
        if (a->peer >= 0)
            fprintf(to, " %s %d", a->kind == ACTION_SEND ? "to" : "from", a->peer);
        for (int r = 0; r < a->regions; r++) {
            print_region(s, *collopt_region_of(s, a, r), to);
            if (r == 0 && a->regions > 1 && a->kind != ACTION_PREFIXES)
                fprintf(to, " <-");
        }
        fprintf(to, "\n");
    }
}
