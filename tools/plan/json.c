/* A plan as JSON: the problem, its totals, every transfer and every combination by round, and the
 * programs of all ranks. */
#include "config.h"

#include "base/json.h"
#include "catalogue/expression.h"
#include "plan/json.h"
#include "plan/plan.h"
#include "schedule/block.h"
#include "schedule/bound.h"
#include "schedule/problem.h"

enum { SET_TEXT = 1 << 15 };      /* any set of 4096 ranks */

static void put_problem(struct collopt_json *j, const struct plan *plan)
{
    const struct collopt_problem *p = &plan->problem;
    char text[600];

    plan_title(plan, text, sizeof text);
    collopt_json_text(j, "title", text);
    collopt_json_text(j, "collective", collopt_collective_names[p->collective]);
    collopt_choice_text(&plan->choice, text, sizeof text);
    collopt_json_text(j, "algorithm", text);
    collopt_json_count(j, "ranks", (uint64_t)p->ranks);
    collopt_json_count(j, "root", (uint64_t)p->root);
    collopt_json_count(j, "count", p->count);
    collopt_json_count(j, "size", p->size);
    collopt_json_flag(j, "commutative", p->commutative);
    collopt_json_flag(j, "in_place", plan->how & COLLOPT_IN_PLACE);
}

static void put_totals(struct collopt_json *j, const struct plan *plan)
{
    const struct plan_totals *t = &plan->totals;
    size_t size = plan->problem.size;

    collopt_json_object(j, "totals");
    collopt_json_count(j, "rounds", (uint64_t)t->rounds);
    collopt_json_count(j, "messages", t->messages);
    collopt_json_count(j, "bytes", t->moved * size);
    collopt_json_count(j, "combined", t->combined * size);
    collopt_json_count(j, "scratch", t->scratch * size);
    collopt_json_count(j, "copied", t->copied * size);
    collopt_json_real(j, "alpha", plan->machine.alpha);
    collopt_json_real(j, "beta", plan->machine.beta);
    collopt_json_real(j, "gamma", plan->machine.gamma);
    collopt_json_real(j, "seconds", t->seconds);
    collopt_json_end(j);
}

static void put_set(struct collopt_json *j, const char *key, const struct plan *plan, int set)
{
    char text[SET_TEXT];

    plan_set_text(plan, set, text, sizeof text);
    collopt_json_text(j, key, text);
}

static void put_pieces(struct collopt_json *j, const struct plan *plan,
                       const struct plan_pieces *what)
{
    collopt_json_array(j, "what");
    for (size_t i = 0; i < what->n; i++) {
        collopt_json_object(j, NULL);
        collopt_json_count(j, "at", what->list[i].at);
        collopt_json_count(j, "n", what->list[i].n);
        put_set(j, "of", plan, what->list[i].set);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

static void put_transfers(struct collopt_json *j, const struct plan *plan, int rank)
{
    collopt_json_array(j, "transfers");
    for (size_t i = 0; i < plan->transfers; i++) {
        const struct plan_transfer *t = &plan->transfer[i];

        if (rank >= 0 && rank != t->from && rank != t->to)
            continue;
        collopt_json_object(j, NULL);
        collopt_json_count(j, "round", (uint64_t)t->round);
        collopt_json_count(j, "from", (uint64_t)t->from);
        collopt_json_count(j, "to", (uint64_t)t->to);
        collopt_json_count(j, "n", t->n);
        put_pieces(j, plan, &t->what);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

static void put_operands(struct collopt_json *j, const struct plan *plan, const struct plan_work *w)
{
    collopt_json_array(j, "operands");
    for (int k = 0; k < w->operands; k++) {
        collopt_json_array(j, NULL);
        for (size_t i = 0; i < w->what.n; i++)
            put_set(j, NULL, plan, w->operand[k].list[i].set);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

static void put_works(struct collopt_json *j, const struct plan *plan, int rank)
{
    collopt_json_array(j, "work");
    for (size_t i = 0; i < plan->works; i++) {
        const struct plan_work *w = &plan->work[i];

        if (rank >= 0 && rank != w->rank)
            continue;
        collopt_json_object(j, NULL);
        collopt_json_text(j, "kind", w->operands > 1 ? "combine" : "copy");
        collopt_json_count(j, "round", (uint64_t)w->round);
        collopt_json_count(j, "rank", (uint64_t)w->rank);
        put_pieces(j, plan, &w->what);
        put_operands(j, plan, w);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

/* ---- programs -------------------------------------------------------------------------------- */

static void put_runs(struct collopt_json *j, int runs, const struct collopt_run *run)
{
    collopt_json_array(j, "runs");
    for (int i = 0; i < runs; i++) {
        char place[24] = "in";

        if (run[i].place == COLLOPT_OUT)
            snprintf(place, sizeof place, "out");
        else if (run[i].place != COLLOPT_IN)
            snprintf(place, sizeof place, "slot %d", run[i].place - COLLOPT_FIRST_SLOT);
        collopt_json_object(j, NULL);
        collopt_json_text(j, "place", place);
        collopt_json_count(j, "at", run[i].at);
        collopt_json_count(j, "n", run[i].n);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

static void put_messages(struct collopt_json *j, const struct collopt_bound *b)
{
    collopt_json_array(j, "messages");
    for (int i = 0; i < b->messages; i++) {
        const struct collopt_message *m = &b->message[i];

        collopt_json_object(j, NULL);
        collopt_json_text(j, "kind", m->send ? "send" : "receive");
        collopt_json_count(j, "peer", (uint64_t)m->peer);
        collopt_json_count(j, "tag", (uint64_t)m->tag);
        collopt_json_count(j, "n", m->n);
        put_runs(j, m->runs, m->run);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

static void put_step(struct collopt_json *j, const struct collopt_step *step)
{
    static const char *const kind[] = {
        [COLLOPT_POST_RECEIVE] = "post receive",
        [COLLOPT_POST_SEND] = "post send",
        [COLLOPT_WAIT] = "wait",
        [COLLOPT_RECEIVE] = "receive",
        [COLLOPT_SEND] = "send",
        [COLLOPT_FOLD] = "combine",
        [COLLOPT_COPY] = "copy",
        [COLLOPT_PREFIXES] = "prefixes",
        [COLLOPT_AWAIT] = "await strand",
    };

    collopt_json_object(j, NULL);
    collopt_json_text(j, "step", kind[step->kind]);
    if (step->kind == COLLOPT_AWAIT) {
        collopt_json_count(j, "strand", (uint64_t)step->strand);
        collopt_json_count(j, "until", (uint64_t)step->step);
    } else if (step->kind == COLLOPT_FOLD || step->kind == COLLOPT_COPY
               || step->kind == COLLOPT_PREFIXES) {
        put_runs(j, step->runs, step->run);
    } else {
        collopt_json_count(j, "message", (uint64_t)step->message);
    }
    collopt_json_end(j);
}

static void put_program(struct collopt_json *j, int rank, const struct collopt_bound *b)
{
    collopt_json_object(j, NULL);
    collopt_json_count(j, "rank", (uint64_t)rank);
    collopt_json_array(j, "slots");
    for (int i = 0; i < b->slots; i++)
        collopt_json_count(j, NULL, b->slot[i]);
    collopt_json_end(j);
    put_messages(j, b);
    collopt_json_array(j, "strands");
    for (int i = 0; i < b->strands; i++) {
        collopt_json_array(j, NULL);
        for (const struct collopt_step *step = b->strand[i]; step->kind != COLLOPT_END; step++)
            put_step(j, step);
        collopt_json_end(j);
    }
    collopt_json_end(j);
    collopt_json_end(j);
}

bool plan_json(const struct plan *plan, int rank, FILE *to)
{
    struct collopt_json j = { .to = to };

    collopt_json_object(&j, NULL);
    put_problem(&j, plan);
    put_totals(&j, plan);
    collopt_json_array(&j, "blocks");
    for (size_t i = 0; i <= plan->blocks; i++)
        collopt_json_count(&j, NULL, plan->start[i]);
    collopt_json_end(&j);
    put_transfers(&j, plan, rank);
    put_works(&j, plan, rank);
    collopt_json_array(&j, "programs");
    for (int k = 0; k < plan->problem.ranks; k++)
        if (rank < 0 || rank == k)
            put_program(&j, k, plan->program[k]);
    collopt_json_end(&j);
    collopt_json_end(&j);
    return true;
}
