/* A plan as text: per round who sends what to whom and what is combined, then what it comes to. */
#include "config.h"

#include "shared/replay.h"
#include "plan/text.h"
#include "plan/plan.h"

enum { SET_TEXT = 64 };

static void put_blocks_of_vector(const struct plan *plan, FILE *to)
{
    size_t least = SIZE_MAX, most = 0;

    for (size_t i = 0; i < plan->blocks; i++) {
        size_t n = plan->start[i + 1] - plan->start[i];

        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    if (plan->blocks > 1)
        fprintf(to, "Blocks 0 to %zu of the vector have ", plan->blocks - 1);
    else
        return;
    if (least == most)
        fprintf(to, "%zu elements each\n", least);
    else
        fprintf(to, "%zu to %zu elements\n", least, most);
}

/* "block 3", "blocks 0-3,7"; "all" where the vector is one block. */
static void put_blocks(const struct plan *plan, const struct plan_pieces *what, size_t from,
                       size_t to_piece, FILE *to)
{
    size_t first, n, open = 0, end = 0;
    bool some = false,
         several = to_piece - from > 1 || plan_blocks(plan, &what->list[from], &first) > 1;

    if (plan->blocks == 1) {
        fputs("all", to);
        return;
    }
    fputs(several ? "blocks " : "block ", to);
    for (size_t i = from; i <= to_piece; i++) {
        n = i < to_piece ? plan_blocks(plan, &what->list[i], &first) : 0;
        if (n && some && first == end) {
            end += n;
            continue;
        }
        if (some)
            fprintf(to, end - open > 1 ? "%zu-%zu%s" : "%zu", open, end - 1, n ? "," : "");
        if (some && end - open == 1 && n)
            fputc(',', to);
        open = first;
        end = first + n;
        some = true;
    }
}

static void put_set(const struct plan *plan, int set, FILE *to)
{
    char text[SET_TEXT];

    plan_set_text(plan, set, text, sizeof text);
    fputs(text, to);
}

/* Pieces from FROM on that are summed up over the same ranks. */
static size_t same_sets(const struct plan_pieces *what, size_t from)
{
    size_t to = from + 1;

    while (to < what->n && what->list[to].set == what->list[from].set)
        to++;
    return to;
}

static void put_transfer(const struct plan *plan, const struct plan_transfer *t, FILE *to)
{
    fprintf(to, "  %3d -> %-3d  ", t->from, t->to);
    for (size_t i = 0, end; i < t->what.n; i = end) {
        end = same_sets(&t->what, i);
        if (i > 0)
            fputs("; ", to);
        put_blocks(plan, &t->what, i, end, to);
        fputs(plan_size(plan, t->what.list[i].set) > 1 ? " of ranks " : " of rank ", to);
        put_set(plan, t->what.list[i].set, to);
    }
    fprintf(to, " (%zu element%s)\n", t->n, t->n == 1 ? "" : "s");
}

/* The end of the pieces from FROM on that have the same operands. */
static size_t same_operands(const struct plan_work *w, size_t from)
{
    size_t end = w->what.n;

    for (int k = 0; k < w->operands; k++) {
        size_t same = same_sets(&w->operand[k], from);

        end = same < end ? same : end;
    }
    return end;
}

static void put_work(const struct plan *plan, const struct plan_work *w, FILE *to)
{
    fprintf(to, "  %3d %s  ", w->rank, w->operands > 1 ? "combines" : "copies  ");
    for (size_t i = 0, end; i < w->what.n; i = end) {
        end = same_operands(w, i);
        if (i > 0)
            fputs("; ", to);
        put_blocks(plan, &w->what, i, end, to);
        fputs(w->operands > 1 ? ": " : " of ", to);
        for (int k = 0; k < w->operands; k++) {
            if (k > 0)
                fputs(" with ", to);
            put_set(plan, w->operand[k].list[i].set, to);
        }
    }
    fputc('\n', to);
}

static void put_round(const struct plan *plan, int round, int rank, size_t *transfer, size_t *work,
                      FILE *to)
{
    fprintf(to, round > 0 ? "\nround %d\n" : "\nbefore the first round\n", round);
    for (; *transfer < plan->transfers && plan->transfer[*transfer].round == round; ++*transfer) {
        const struct plan_transfer *t = &plan->transfer[*transfer];

        if (rank < 0 || rank == t->from || rank == t->to)
            put_transfer(plan, t, to);
    }
    for (; *work < plan->works && plan->work[*work].round == round; ++*work)
        if (rank < 0 || rank == plan->work[*work].rank)
            put_work(plan, &plan->work[*work], to);
}

static void put_totals(const struct plan *plan, FILE *to)
{
    const struct plan_totals *t = &plan->totals;
    const struct collopt_clock *m = &plan->machine;
    size_t size = plan->problem.size;
    char seconds[32];

    plan_seconds_text(t->seconds, seconds, sizeof seconds);
    fprintf(to, "\nrounds    %d\nmessages  %zu in all\n", t->rounds, t->messages);
    fprintf(to, "bytes     %zu sent or received by the busiest rank\n", t->moved * size);
    fprintf(to, "combined  %zu bytes by the busiest rank\n", t->combined * size);
    fprintf(to, "scratch   %zu bytes on the neediest rank\n", t->scratch * size);
    fprintf(to, "copied    %zu bytes by the busiest rank\n", t->copied * size);
    fprintf(to,
            "time      %s, where a message of n bytes takes %g s + %g s n and combining one byte "
            "%g s\n",
            seconds, m->alpha, m->beta, m->gamma);
}

bool plan_text(const struct plan *plan, int rank, FILE *to)
{
    size_t transfer = 0, work = 0;
    char title[600];

    plan_title(plan, title, sizeof title);
    fprintf(to, "%s\n", title);
    put_blocks_of_vector(plan, to);
    for (int round = plan->works && plan->work[0].round == 0 ? 0 : 1; round <= plan->totals.rounds;
         round++)
        put_round(plan, round, rank, &transfer, &work, to);
    put_totals(plan, to);
    return true;
}
