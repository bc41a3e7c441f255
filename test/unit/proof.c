/* The symbolic proof; proof.h says what is proved. */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "shared/replay.h"
#include "proof.h"
#include "schedule/block.h"
#include "schedule/bound.h"
#include "schedule/problem.h"

/* ---- elements -------------------------------------------------------------------------------- */

/* What an element is made of. */
struct element {
    /* contributions of the ranks lo .. hi-1 in this order; lo == hi: in some other order */
    uint32_t lo, hi;
    uint32_t index;             /* in the vector */
    uint32_t count;             /* of contributions; 0: undefined */
    /* of the contributors' weights: tells who contributed, and how often */
    uint64_t sum;
    uint64_t bracket;           /* hash of the expression */
};

static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t weight(int rank)
{
    return scramble((uint64_t)rank * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u);
}

static struct element contribution(int rank, size_t index)
{
    return (struct element){ (uint32_t)rank, (uint32_t)rank + 1, (uint32_t)index, 1,
                             weight(rank),   weight(rank) ^ 1 };
}

static bool same(const struct element *a, const struct element *b)
{
    return a->lo == b->lo && a->hi == b->hi && a->index == b->index && a->count == b->count
        && a->sum == b->sum && a->bracket == b->bracket;
}

static void describe(const struct element *e, char *text, size_t size)
{
    if (e->count == 0)
        snprintf(text, size, "undefined");
    else if (e->lo < e->hi)
        snprintf(text, size, "element %u of ranks [%u,%u)", e->index, e->lo, e->hi);
    else
        snprintf(text, size, "element %u of %u contributions out of order", e->index, e->count);
}

/* ---- places as memory ------------------------------------------------------------------------ */

/* The places of one rank lie one behind the other; in place, IN and OUT begin at the same
 * element. */
struct memory {
    size_t *base;               /* [places] */
    size_t *capacity;           /* [places] */
    int places;
    size_t n;
};

struct look {                   /* a proof under way */
    const struct proof *p;
    struct collopt_pairs pairs;
    struct memory *memory;      /* [ranks] */
    char *why;
};

static bool refuse(struct look *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(struct look *l, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(l->why, PROOF_WHY, format, list);
    va_end(list);
    return false;
}

static bool scatters(const struct collopt_problem *p)
{
    return p->collective == COLLOPT_REDUCE_SCATTER || p->collective == COLLOPT_REDUCE_SCATTER_BLOCK;
}

static size_t part_of(const struct collopt_problem *p, int rank)
{
    return p->counts ? p->counts[rank] : p->count / (size_t)p->ranks;
}

size_t proof_out(const struct collopt_problem *p, int rank)
{
    if (scatters(p))
        return part_of(p, rank);
    if ((p->collective == COLLOPT_REDUCE && rank != p->root)
        || (p->collective == COLLOPT_EXSCAN && rank == 0))
        return 0;
    return p->count;
}

static bool in_place(const struct look *l, int rank)
{
    return (l->p->how[rank] & COLLOPT_IN_PLACE) != 0;
}

static bool lay_out(struct look *l, int rank)
{
    const struct collopt_bound *b = l->p->program[rank];
    struct memory *m = &l->memory[rank];

    m->places = COLLOPT_FIRST_SLOT + b->slots;
    m->base = calloc(2 * (size_t)m->places, sizeof *m->base);
    if (!m->base)
        return false;
    m->capacity = m->base + m->places;
    m->capacity[COLLOPT_IN] = l->p->problem->count;
    m->capacity[COLLOPT_OUT] = proof_out(l->p->problem, rank);
    for (int i = 0; i < b->slots; i++)
        m->capacity[COLLOPT_FIRST_SLOT + i] = b->slot[i];
    for (int i = 0; i < m->places; i++) {
        m->base[i] = i == COLLOPT_OUT && in_place(l, rank) ? m->base[COLLOPT_IN] : m->n;
        if (i != COLLOPT_OUT || !in_place(l, rank))
            m->n += m->capacity[i];
    }
    return true;
}

static size_t address(const struct memory *m, const struct collopt_run *r)
{
    return m->base[r->place] + r->at;
}

/* ---- printing -------------------------------------------------------------------------------- */

static const char *const step_names[] = {
    [COLLOPT_POST_RECEIVE] = "post receive",
    [COLLOPT_POST_SEND] = "post send",
    [COLLOPT_WAIT] = "wait",
    [COLLOPT_RECEIVE] = "receive",
    [COLLOPT_SEND] = "send",
    [COLLOPT_FOLD] = "fold",
    [COLLOPT_COPY] = "copy",
    [COLLOPT_PREFIXES] = "prefixes",
    [COLLOPT_AWAIT] = "await",
    [COLLOPT_END] = "end",
};

static void print_run(const struct collopt_run *r, FILE *to)
{
    if (r->place >= COLLOPT_FIRST_SLOT)
        fprintf(to, " TMP%d", r->place - COLLOPT_FIRST_SLOT);
    else
        fprintf(to, r->place == COLLOPT_IN ? " IN" : " OUT");
    fprintf(to, "[%zu,%zu)", r->at, r->at + r->n);
}

void proof_print_step(const struct collopt_bound *b, int strand, int number, FILE *to)
{
    const struct collopt_step *step = &b->strand[strand][number];

    fprintf(to, "%s", step_names[step->kind]);
    switch (step->kind) {
    case COLLOPT_POST_RECEIVE:
    case COLLOPT_POST_SEND:
    case COLLOPT_WAIT:
    case COLLOPT_SEND:
    case COLLOPT_RECEIVE: {
        const struct collopt_message *m = &b->message[step->message];

        fprintf(to, " #%d %s %d tag %d", step->message, m->send ? "to" : "from", m->peer, m->tag);
        for (int i = 0; i < m->runs; i++)
            print_run(&m->run[i], to);
        break;
    }
    case COLLOPT_PREFIXES:
        for (int i = 0; i < step->runs; i++)
            print_run(&step->run[i], to);
        break;
    case COLLOPT_FOLD:
    case COLLOPT_COPY:
        for (int i = 0; i < step->runs; i++) {
            print_run(&step->run[i], to);
            fprintf(to, i == 0 ? " =" : i + 1 < step->runs ? " op" : "");
        }
        break;
    case COLLOPT_AWAIT:
        fprintf(to, " strand %d step %d", step->strand, step->step);
        break;
    case COLLOPT_END:
        break;
    }
}

void proof_print(const struct collopt_bound *b, int rank, FILE *to)
{
    fprintf(to, "rank %d:", rank);
    for (int i = 0; i < b->slots; i++)
        fprintf(to, " TMP%d holds %zu", i, b->slot[i]);
    fprintf(to, "\n");
    for (int s = 0; s < b->strands; s++)
        for (int k = 0; k == 0 || b->strand[s][k - 1].kind != COLLOPT_END; k++) {
            fprintf(to, "  %d.%d ", s, k);
            proof_print_step(b, s, k, to);
            fprintf(to, "\n");
        }
}

/* ---- 1. one rank by itself ------------------------------------------------------------------- */

/* in held[]: else the number of sends under way. To MAY_MOVE a view may move that is here. */
enum { RECEIVING = 1u << 31, MAY_MOVE = 1u << 30 };

struct epoch {                  /* a step of a strand; step -1: before the start */
    int strand, step;
};

struct posted {
    bool posted, waited;
    struct epoch by;
};

struct solo {
    struct look *look;
    int rank;
    const struct collopt_bound *b;
    const struct memory *m;
    int *at;                    /* [strands] next step */
    int *length;                /* [strands] steps with END */
    /* [strands] when there are several: [step][strands] how far the others were known to be */
    int **known;
    struct posted *message;
    /* [views] SPOILT: here, but something else was written to the memory that it stands for, where
     * it may have to move to at any time */
    enum { AWAY, HERE, SPOILT, GONE } *view;
    uint32_t *held;             /* [n] elements */
    struct epoch *written;      /* [n], several strands only: last write */
    int *read;                  /* [n][strands] step of the last read */
    struct epoch now;
};

static bool wrong(struct solo *x, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(struct solo *x, const char *format, ...)
{
    char what[300], *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    va_list list;

    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    if (to) {
        proof_print_step(x->b, x->now.strand, x->now.step, to);
        fclose(to);
    }
    refuse(x->look, "rank %d step %d.%d (%.900s): %s", x->rank, x->now.strand, x->now.step,
           text ? text : "", what);
    free(text);
    return false;
}

/* Has the step of epoch E certainly been done when the step at hand is? */
static bool before(const struct solo *x, struct epoch e)
{
    return e.step < 0 || e.strand == x->now.strand ||
           x->known[x->now.strand][x->now.step * x->b->strands + e.strand] > e.step;
}

/* The number of a place that is a view; negative: it is none. */
static int view_of(const struct solo *x, int place)
{
    return place - (COLLOPT_FIRST_SLOT + x->b->slots - x->b->views);
}

static bool check_view(struct solo *x, const struct collopt_run *r, bool write)
{
    int v = view_of(x, r->place);

    if (r->last && (v < 0 || write))
        return wrong(x, "gives back what is no view");
    if (v >= 0 && write)
        return wrong(x, "writes a view");
    if (v >= 0 && x->view[v] != HERE)
        return wrong(x, "reads view %d, which %s", v,
                     x->view[v] == GONE      ? "was given back"
                         : x->view[v] == AWAY ? "has not come"
                                              : "stands for memory that was written");
    return true;
}

/* R is written: views that stand for a part of it cannot move there any more. */
static void spoil_views(struct solo *x, const struct collopt_run *r)
{
    for (int v = 0; v < x->b->views; v++) {
        const struct collopt_view *view = &x->b->view[v];

        if (x->view[v] == HERE && view->place == r->place
            && view->at < r->at + r->n && r->at < view->at + x->b->message[view->message].n)
            x->view[v] = SPOILT;
    }
}

/* The memory that view V stands for. */
static struct collopt_run memory_of(const struct solo *x, int v)
{
    const struct collopt_view *view = &x->b->view[v];

    return (struct collopt_run){ .place = view->place, .at = view->at,
                                 .n = x->b->message[view->message].n };
}

static void mark(struct solo *x, struct collopt_run r, uint32_t from, uint32_t to)
{
    for (size_t i = address(x->m, &r), end = i + r.n; i < end; i++)
        x->held[i] = (x->held[i] & ~from) | to;
}

/* Messages of a channel are taken in their order, so one is read where it is only until the next
 * one comes. */
static bool view_comes(struct solo *x, const struct collopt_message *m)
{
    int v = view_of(x, m->run[0].place), held = 1;

    for (int w = 0; w < x->b->views; w++) {
        const struct collopt_message *other = &x->b->message[x->b->view[w].message];

        held += (x->view[w] == HERE || x->view[w] == SPOILT) && other->peer == m->peer
            && other->tag == m->tag;
    }
    if (held > 1)
        return wrong(x, "another message of the channel is still read where it is");
    if (v >= 0) {
        x->view[v] = HERE;
        mark(x, memory_of(x, v), RECEIVING, MAY_MOVE);
    }
    return true;
}

static bool views_go(struct solo *x, const struct collopt_step *step)
{
    bool any = false;

    for (int k = 1; k < step->runs; k++) {
        int v = view_of(x, step->run[k].place);

        if (!step->run[k].last)
            continue;
        any = true;
        x->view[v] = GONE;
        mark(x, memory_of(x, v), MAY_MOVE, 0);
    }
    return any == step->last || wrong(x, "does not say whether it gives views back");
}

static bool check_run(struct solo *x, const struct collopt_run *r, bool write)
{
    if (r->place < 0 || r->place >= x->m->places)
        return wrong(x, "there is no place %d", r->place);
    if (r->n == 0)
        return wrong(x, "an empty run");
    if (r->n > x->m->capacity[r->place] || r->at > x->m->capacity[r->place] - r->n)
        return wrong(x, "outside its place, which holds %zu", x->m->capacity[r->place]);
    if (write && r->place == COLLOPT_IN)
        return wrong(x, "writes IN");
    return true;
}

static bool check_element(struct solo *x, size_t i, bool write)
{
    if (x->held[i] & RECEIVING)
        return wrong(x, "%s an element that is being received", write ? "writes" : "reads");
    if (!write && x->held[i] & MAY_MOVE)
        return wrong(x, "reads memory that a view stands for");
    if (write && x->held[i] & ~MAY_MOVE)
        return wrong(x, "writes an element that is being sent");
    if (x->b->strands == 1)
        return true;
    if (!before(x, x->written[i]))
        return wrong(x, "%s what strand %d step %d writes, not knowing whether it has",
                     write ? "writes" : "reads", x->written[i].strand, x->written[i].step);
    for (int s = 0; write && s < x->b->strands; s++)
        if (!before(x, (struct epoch){ s, x->read[i * (size_t)x->b->strands + (size_t)s] }))
            return wrong(x, "writes what strand %d step %d reads, not knowing whether it has", s,
                         x->read[i * (size_t)x->b->strands + (size_t)s]);
    return true;
}

static void note(struct solo *x, size_t i, bool write)
{
    if (x->b->strands == 1)
        return;
    if (write)
        x->written[i] = x->now;
    else
        x->read[i * (size_t)x->b->strands + (size_t)x->now.strand] = x->now.step;
}

static bool access(struct solo *x, const struct collopt_run *r, bool write)
{
    size_t from = address(x->m, r);

    for (size_t i = from; i < from + r->n; i++) {
        if (!check_element(x, i, write))
            return false;
        note(x, i, write);
    }
    return true;
}

static bool may_receive(const struct solo *x, int place)
{
    int v = view_of(x, place);

    return (v < 0 ? place : x->b->view[v].place) != COLLOPT_OUT
        || !(x->look->p->how[x->rank] & COLLOPT_VIA_SCRATCH);
}

/* Between a receive's post and its wait, the message may be stored in the memory that the view
 * stands for. */
static bool view_posted(struct solo *x, int place)
{
    int v = view_of(x, place);
    struct collopt_run memory;

    if (v < 0)
        return true;
    memory = memory_of(x, v);
    if (!check_run(x, &memory, true) || !access(x, &memory, true))
        return false;
    mark(x, memory, 0, RECEIVING);
    return true;
}

static bool solo_post(struct solo *x, const struct collopt_step *step)
{
    const struct collopt_message *m = &x->b->message[step->message];
    size_t n = 0;

    if (x->message[step->message].posted)
        return wrong(x, "the message has been posted before");
    if (m->send != (step->kind == COLLOPT_POST_SEND || step->kind == COLLOPT_SEND))
        return wrong(x, "the message goes the other way");
    x->message[step->message] = (struct posted){ .posted = true, .by = x->now };
    for (int k = 0; k < m->runs; k++) {
        if (!m->send && !may_receive(x, m->run[k].place))
            return wrong(x, "receives into OUT");
        if (!check_run(x, &m->run[k], !m->send) || !access(x, &m->run[k], !m->send))
            return false;
        if (m->send && view_of(x, m->run[k].place) >= 0)
            return wrong(x, "sends a view");
        if (!view_posted(x, m->run[k].place))
            return false;
        for (size_t i = address(x->m, &m->run[k]), end = i + m->run[k].n; i < end; i++)
            x->held[i] = m->send ? x->held[i] + 1 : RECEIVING;
        if (!m->send)
            spoil_views(x, &m->run[k]);
        n += m->run[k].n;
    }
    if (n != m->n || n == 0)
        return wrong(x, "%zu elements in the runs, %zu in the message", n, m->n);
    return true;
}

static bool solo_wait(struct solo *x, const struct collopt_step *step)
{
    const struct collopt_message *m = &x->b->message[step->message];
    struct posted *posted = &x->message[step->message];

    if (!posted->posted || !before(x, posted->by))
        return wrong(x, "the message has not been posted");
    if (posted->waited)
        return wrong(x, "the message has been waited for before");
    posted->waited = true;
    if (!m->send && x->b->views > 0 && !view_comes(x, m))
        return false;
    for (int k = 0; k < m->runs; k++)
        for (size_t i = address(x->m, &m->run[k]), end = i + m->run[k].n; i < end; i++) {
            x->held[i] = m->send ? x->held[i] - 1 : 0;
            note(x, i, !m->send);
        }
    return true;
}

static bool disjoint(const struct solo *x, const struct collopt_run *a, const struct collopt_run *b)
{
    size_t i = address(x->m, a), j = address(x->m, b);

    return i + a->n <= j || j + b->n <= i;
}

static bool same_memory(const struct solo *x, const struct collopt_run *a,
                        const struct collopt_run *b)
{
    return address(x->m, a) == address(x->m, b) && a->n == b->n;
}

static bool check_forms(struct solo *x, const struct collopt_step *step)
{
    const struct collopt_run *run = step->run;

    if (step->kind == COLLOPT_COPY ? step->runs != 2 : step->runs < 3)
        return wrong(x, "%d runs", step->runs);
    for (int k = 1; k < step->runs; k++) {
        if (run[k].n != run[0].n)
            return wrong(x, "runs of different lengths");
        if (!disjoint(x, &run[0], &run[k])
            && (step->kind == COLLOPT_COPY || !same_memory(x, &run[0], &run[k])))
            return wrong(x, "the result overlaps operand %d", k);
    }
    if (step->kind == COLLOPT_COPY || !(x->look->p->how[x->rank] & COLLOPT_TWO_OPERANDS))
        return true;
    if (step->runs != 3 || !same_memory(x, &run[0], &run[2]))
        return wrong(x, "not of the form right = left op right");
    if (!disjoint(x, &run[1], &run[2]))
        return wrong(x, "left overlaps right");
    return true;
}

static bool solo_local(struct solo *x, const struct collopt_step *step)
{
    for (int k = 0; k < step->runs; k++)
        if (!check_run(x, &step->run[k], k == 0) || !check_view(x, &step->run[k], k == 0))
            return false;
    if (!check_forms(x, step))
        return false;
    for (int k = step->runs; k-- > 0;)
        if (!access(x, &step->run[k], k == 0))
            return false;
    spoil_views(x, &step->run[0]);
    return views_go(x, step);
}

/* All but the first are written, so none may overlap another. */
static bool solo_prefixes(struct solo *x, const struct collopt_step *step)
{
    const struct collopt_run *run = step->run;

    if (x->look->p->how[x->rank] & COLLOPT_TWO_OPERANDS)
        return wrong(x, "not of the form right = left op right");
    if (step->runs < 2)
        return wrong(x, "%d runs", step->runs);
    for (int k = 0; k < step->runs; k++) {
        if (!check_run(x, &run[k], k > 0))
            return false;
        if (run[k].n != run[0].n)
            return wrong(x, "runs of different lengths");
        for (int j = 0; j < k; j++)
            if (!disjoint(x, &run[j], &run[k]))
                return wrong(x, "operands %d and %d overlap", j, k);
    }
    for (int k = 0; k < step->runs; k++)
        if (!access(x, &run[k], k > 0))
            return false;
    return true;
}

/* What is known after an AWAIT: all that was known there. */
static void learn(struct solo *x, const struct collopt_step *step)
{
    int n = x->b->strands, *mine = &x->known[x->now.strand][x->now.step * n];
    const int *theirs = &x->known[step->strand][(step->step > 0 ? step->step - 1 : 0) * n];

    for (int s = 0; s < n; s++)
        if (step->step > 0 && mine[s] < theirs[s])
            mine[s] = theirs[s];
    if (mine[step->strand] < step->step)
        mine[step->strand] = step->step;
}

static bool valid(struct solo *x, const struct collopt_step *step)
{
    bool message = step->kind == COLLOPT_POST_RECEIVE || step->kind == COLLOPT_POST_SEND
        || step->kind == COLLOPT_WAIT || step->kind == COLLOPT_RECEIVE
        || step->kind == COLLOPT_SEND;

    if (message && (step->message < 0 || step->message >= x->b->messages))
        return wrong(x, "there is no message %d", step->message);
    if (step->kind == COLLOPT_AWAIT
        && (step->strand < 0 || step->strand >= x->b->strands || step->strand == x->now.strand
            || step->step < 0 || step->step >= x->length[step->strand]))
        return wrong(x, "there is no such step");
    return true;
}

static bool solo_step(struct solo *x, const struct collopt_step *step)
{
    int n = x->b->strands,
        *mine = x->known[x->now.strand] ? &x->known[x->now.strand][x->now.step * n] : NULL;

    if (mine && x->now.step > 0)
        memcpy(mine, mine - n, (size_t)n * sizeof *mine);
    if (mine)
        mine[x->now.strand] = x->now.step;
    switch (step->kind) {
    case COLLOPT_POST_RECEIVE:
    case COLLOPT_POST_SEND:
        return solo_post(x, step);
    case COLLOPT_WAIT:
        return solo_wait(x, step);
    case COLLOPT_SEND:
    case COLLOPT_RECEIVE:
        return solo_post(x, step) && solo_wait(x, step);
    case COLLOPT_FOLD:
    case COLLOPT_COPY:
        return solo_local(x, step);
    case COLLOPT_PREFIXES:
        return solo_prefixes(x, step);
    case COLLOPT_AWAIT:
        learn(x, step);
        return true;
    case COLLOPT_END:
        break;
    }
    return true;
}

/* Strands in any order that their AWAITs allow; message waits never hold here. */
static bool solo_run(struct solo *x)
{
    bool moved = true;

    while (moved) {
        moved = false;
        for (int s = 0; s < x->b->strands; s++)
            for (const struct collopt_step *step = x->b->strand[s] + x->at[s];
                 step->kind != COLLOPT_END; step++) {
                x->now = (struct epoch){ s, x->at[s] };
                if (!valid(x, step))
                    return false;
                if (step->kind == COLLOPT_AWAIT && x->at[step->strand] < step->step)
                    break;
                if (!solo_step(x, step))
                    return false;
                x->at[s]++;
                moved = true;
            }
    }
    for (int s = 0; s < x->b->strands; s++) {
        x->now = (struct epoch){ s, x->at[s] };
        if (x->b->strand[s][x->at[s]].kind != COLLOPT_END)
            return wrong(x, "the strands wait for one another");
    }
    return true;
}

static bool all_waited(struct solo *x)
{
    for (int v = 0; v < x->b->views; v++)
        if (x->view[v] != GONE)
            return refuse(x->look, "rank %d: view %d is never given back", x->rank, v);
    for (int m = 0; m < x->b->messages; m++)
        if (!x->message[m].posted || !x->message[m].waited)
            return refuse(x->look, "rank %d: message %d is never %s", x->rank, m,
                          x->message[m].posted ? "waited for" : "posted");
    return true;
}

static bool solo_room(struct solo *x)
{
    size_t strands = (size_t)x->b->strands, n = x->m->n + 1;

    x->at = calloc(2 * strands, sizeof *x->at);
    x->known = calloc(strands, sizeof *x->known);
    x->message = calloc((size_t)x->b->messages + 1, sizeof *x->message);
    x->held = calloc(n, sizeof *x->held);
    x->view = calloc((size_t)x->b->views + 1, sizeof *x->view);
    if (!x->view || !x->at || !x->known || !x->message || !x->held)
        return false;
    x->length = x->at + strands;
    for (size_t s = 0; s < strands; s++) {
        while (x->b->strand[s][x->length[s]++].kind != COLLOPT_END)
            ;
        if (strands > 1
            && !(x->known[s] = calloc((size_t)x->length[s] * strands, sizeof **x->known)))
            return false;
    }
    if (strands == 1)
        return true;
    x->written = malloc(n * sizeof *x->written);
    x->read = malloc(n * strands * sizeof *x->read);
    if (!x->written || !x->read)
        return false;
    for (size_t i = 0; i < n; i++)
        x->written[i].step = -1;
    for (size_t i = 0; i < n * strands; i++)
        x->read[i] = -1;
    return true;
}

static bool holds_alone(struct look *l, int rank)
{
    struct solo x = { .look = l, .rank = rank, .b = l->p->program[rank], .m = &l->memory[rank] };
    bool good = solo_room(&x) ? solo_run(&x) && all_waited(&x) : refuse(l, "no memory");

    for (int s = 0; x.known && s < x.b->strands; s++)
        free(x.known[s]);
    free(x.at);
    free(x.known);
    free(x.message);
    free(x.held);
    free(x.view);
    free(x.written);
    free(x.read);
    return good;
}

/* ---- 3. all ranks together ------------------------------------------------------------------- */

struct player {
    int *at;                    /* [strands] */
    bool queued;
};

/* The multicasts of one rank to the same members with the same tag. */
struct channel {
    const struct collopt_message *message;      /* one of them */
    int sender;
    struct cell *oldest, **end;
    int *sent, written;         /* messages; SENT[members]: to each */
    struct channel *next;
};

struct cell {                   /* a message as it was written */
    struct cell *next;
    size_t n;
    struct element element[];
};

struct play {
    struct look *look;
    struct element **element;   /* [ranks] */
    struct player *player;      /* [ranks] */
    uint8_t *posted, *done;     /* by message number */
    struct channel *channels;
    int *queue;                 /* ranks that may be able to go on; as many as [ranks] */
    int queued, head;
    int order;
    uint64_t random;
};

static uint32_t draw(struct play *y, uint32_t below)
{
    y->random = y->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(y->random >> 33) % below;
}

static bool failed(struct play *y, int rank, int strand, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool failed(struct play *y, int rank, int strand, const char *format, ...)
{
    struct solo x = { .look = y->look, .rank = rank, .b = y->look->p->program[rank],
                      .now = { strand, y->player[rank].at[strand] } };
    char what[300];
    va_list list;

    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return wrong(&x, "%s", what);
}

static void may_go_on(struct play *y, int rank)
{
    if (y->player[rank].queued)
        return;
    y->player[rank].queued = true;
    y->queue[(y->head + y->queued++) % y->look->p->problem->ranks] = rank;
}

/* The next rank to move: the one that has waited longest, the last to come, or any. */
static int next_rank(struct play *y)
{
    int ranks = y->look->p->problem->ranks, last = (y->head + y->queued - 1) % ranks,
        chosen = y->head;

    if (y->order == PROOF_REVERSED)
        chosen = last;
    if (y->order >= PROOF_RANDOM)
        chosen = (y->head + (int)draw(y, (uint32_t)y->queued)) % ranks;

    int rank = y->queue[chosen];

    if (chosen == y->head)
        y->head = (y->head + 1) % ranks;
    else
        y->queue[chosen] = y->queue[last];
    y->queued--;
    y->player[rank].queued = false;
    return rank;
}

/* Copies what one side sends to where the other side receives it, runs cut as they are. */
static bool transfer(struct play *y, int from, int strand, int sender, int send, int receiver,
                     int receive)
{
    const struct look *l = y->look;
    const struct collopt_message *s = &l->p->program[sender]->message[send];
    const struct collopt_message *r = &l->p->program[receiver]->message[receive];
    size_t i = 0, j = 0;

    for (int a = 0, b = 0; a < s->runs && b < r->runs;) {
        size_t n = s->run[a].n - i < r->run[b].n - j ? s->run[a].n - i : r->run[b].n - j;
        const struct element *source =
            &y->element[sender][address(&l->memory[sender], &s->run[a]) + i];

        for (size_t k = 0; k < n; k++)
            if (source[k].count == 0)
                return failed(y, from, strand, "rank %d sends an undefined element", sender);
        memcpy(&y->element[receiver][address(&l->memory[receiver], &r->run[b]) + j], source,
               n * sizeof *source);
        if ((i += n) == s->run[a].n)
            a++, i = 0;
        if ((j += n) == r->run[b].n)
            b++, j = 0;
    }
    return true;
}

/* ---- multicasts ------------------------------------------------------------------------------ */

static bool same_members(const struct collopt_message *a, const struct collopt_message *b)
{
    return a->members == b->members
        && (a->members == 0
            || memcmp(a->member, b->member, (size_t)a->members * sizeof *a->member) == 0);
}

/* Where RANK is among the members; -1: nowhere, or more than once. */
static int place_of(const struct collopt_message *m, int rank)
{
    int place = -1;

    for (int i = 0; i < m->members; i++)
        if (m->member[i] == rank)
            place = place < 0 ? i : m->members;
    return place < m->members ? place : -1;
}

/* Multicasts of a strand share one tag of the host.  So two channels of RANK with that tag must not
 * have a receiver in common. */
static bool is_alone(const struct play *y, int rank, const struct collopt_message *m)
{
    for (const struct channel *c = y->channels; c; c = c->next)
        for (int i = 0; i < m->members; i++)
            if (c->sender == rank && c->message->tag == m->tag && !same_members(c->message, m)
                && m->member[i] != rank && place_of(c->message, m->member[i]) >= 0)
                return false;
    return true;
}

static struct channel *channel_of(struct play *y, int rank, const struct collopt_message *m)
{
    struct channel *c = y->channels;

    while (c && (c->sender != rank || c->message->tag != m->tag || !same_members(c->message, m)))
        c = c->next;
    if (c || !(c = malloc(sizeof *c)))
        return c;
    *c = (struct channel){ .message = m, .sender = rank, .next = y->channels,
                           .sent = calloc((size_t)m->members, sizeof *c->sent) };
    c->end = &c->oldest;
    return y->channels = c;
}

static void free_channels(struct play *y)
{
    struct channel *c;
    struct cell *cell;

    while ((c = y->channels)) {
        y->channels = c->next;
        while ((cell = c->oldest)) {
            c->oldest = cell->next;
            free(cell);
        }
        free(c->sent);
        free(c);
    }
}

/* What M holds now. */
static struct cell *cell_of(const struct play *y, int rank, const struct collopt_message *m)
{
    struct cell *cell = malloc(sizeof *cell + m->n * sizeof *cell->element);
    size_t n = 0;

    if (!cell)
        return NULL;
    for (int k = 0; k < m->runs; n += m->run[k++].n)
        memcpy(&cell->element[n], &y->element[rank][address(&y->look->memory[rank], &m->run[k])],
               m->run[k].n * sizeof *cell->element);
    cell->n = n;
    cell->next = NULL;
    return cell;
}

static bool equals(const struct cell *a, const struct cell *b)
{
    bool equal = a->n == b->n;

    for (size_t i = 0; equal && i < a->n; i++)
        equal = same(&a->element[i], &b->element[i]);
    return equal;
}

/* The k-th message to a receiver must equal the k-th that was written. */
static bool is_written(struct play *y, int rank, int strand, struct channel *c,
                       const struct collopt_message *m)
{
    int turn = c->sent[place_of(m, m->peer)]++;
    struct cell *now = cell_of(y, rank, m), *then;

    if (!m->repeats && c->written == COLLOPT_MULTICAST_PIECES)
        return failed(y, rank, strand, "multicasts more than there is room for");
    if (!m->repeats) {
        *c->end = now;
        c->end = &now->next;
        c->written++;
    }
    then = c->oldest;
    for (int i = 0; then && i < turn; i++)
        then = then->next;

    bool equal = then && equals(then, now);

    if (m->repeats)
        free(now);
    return equal || failed(y, rank, strand, "repeats what has not been multicast");
}

static bool multicasts(struct play *y, int rank, int strand, const struct collopt_message *m)
{
    if (m->members == 0)
        return !m->repeats || failed(y, rank, strand, "repeats no multicast");
    if (m->peer == rank || place_of(m, rank) < 0 || place_of(m, m->peer) < 0)
        return failed(y, rank, strand, "multicasts among others");
    if (!is_alone(y, rank, m))
        return failed(y, rank, strand, "multicasts to a rank by two channels");
    return !m->send || is_written(y, rank, strand, channel_of(y, rank, m), m);
}

/* Has every member got everything? */
static bool all_multicast(const struct play *y)
{
    for (const struct channel *c = y->channels; c; c = c->next)
        for (int i = 0; i < c->message->members; i++)
            if (c->message->member[i] != c->sender && c->sent[i] != c->written)
                return refuse(y->look, "rank %d multicasts %d messages, rank %d gets %d",
                              c->sender, c->written, c->message->member[i], c->sent[i]);
    return true;
}

static bool post(struct play *y, int rank, int strand, int message)
{
    const struct collopt_pairs *pairs = &y->look->pairs;
    const struct collopt_message *m = &y->look->p->program[rank]->message[message];
    size_t number = pairs->first[rank] + (size_t)message, mate = pairs->mate[number];
    int other = (int)(mate - pairs->first[m->peer]);

    if (!multicasts(y, rank, strand, m))
        return false;
    if (!same_members(m, &y->look->p->program[m->peer]->message[other]))
        return failed(y, rank, strand, "knows other members than its peer");
    y->posted[number] = 1;
    if (!y->posted[mate])
        return true;
    y->done[number] = y->done[mate] = 1;
    may_go_on(y, m->peer);
    return m->send ? transfer(y, rank, strand, rank, message, m->peer, other)
                   : transfer(y, rank, strand, m->peer, other, rank, message);
}

static bool combine(struct play *y, int rank, int strand, struct element *to,
                    const struct element *left, const struct element *right)
{
    bool adjacent = left->lo < left->hi && right->lo < right->hi && left->hi == right->lo;
    char l[100], r[100];

    if (left->count > 0 && right->count > 0 && left->index == right->index
        && (adjacent || !y->look->p->in_order)) {
        uint64_t bracket = scramble(left->bracket * 3
                                    + scramble(right->bracket + 0x9e3779b97f4a7c15u));

        *to = (struct element){ adjacent ? left->lo : 0, adjacent ? right->hi : 0, left->index,
                                left->count + right->count, left->sum + right->sum, bracket };
        return true;
    }
    describe(left, l, sizeof l);
    describe(right, r, sizeof r);
    return failed(y, rank, strand, "combines %s with %s", l, r);
}

/* Where nothing may be combined twice: has none of the operands from FIRST on been? */
static bool fresh(struct play *y, int rank, int strand, const struct collopt_step *step, int first)
{
    const struct memory *m = &y->look->memory[rank];
    bool once = y->look->p->once && !(y->look->p->how[rank] & COLLOPT_TWO_OPERANDS);

    for (size_t i = 0; i < step->run[0].n && once; i++)
        for (int k = first; k < step->runs; k++)
            if (y->element[rank][address(m, &step->run[k]) + i].count > 1)
                return failed(y, rank, strand, "combines what has been combined before, operand %d",
                              k);
    return true;
}

static bool prefixes(struct play *y, int rank, int strand, const struct collopt_step *step)
{
    const struct memory *m = &y->look->memory[rank];

    if (!fresh(y, rank, strand, step, 0))
        return false;
    for (int k = 1; k < step->runs; k++)
        for (size_t i = 0; i < step->run[0].n; i++) {
            struct element *to = &y->element[rank][address(m, &step->run[k]) + i];

            if (!combine(y, rank, strand, to, &y->element[rank][address(m, &step->run[k - 1]) + i],
                         to))
                return false;
        }
    return true;
}

static bool fold(struct play *y, int rank, int strand, const struct collopt_step *step)
{
    const struct memory *m = &y->look->memory[rank];
    struct element *element = y->element[rank], *to = element + address(m, &step->run[0]);
    const struct element *operand[step->runs];

    if (!fresh(y, rank, strand, step, 1))
        return false;
    for (int k = 1; k < step->runs; k++)
        operand[k] = element + address(m, &step->run[k]);
    for (size_t i = 0; i < step->run[0].n; i++) {
        struct element result = operand[1][i];

        for (int k = 2; k < step->runs; k++)
            if (!combine(y, rank, strand, &result, &result, &operand[k][i]))
                return false;
        to[i] = result;
    }
    return true;
}

static bool copy(struct play *y, int rank, int strand, const struct collopt_step *step)
{
    const struct memory *m = &y->look->memory[rank];
    struct element *to = y->element[rank] + address(m, &step->run[0]);
    const struct element *from = y->element[rank] + address(m, &step->run[1]);

    for (size_t i = 0; i < step->run[0].n; i++)
        if (from[i].count == 0)
            return failed(y, rank, strand, "copies an undefined element");
    memcpy(to, from, step->run[0].n * sizeof *to);
    return true;
}

enum progress { MOVED, STUCK, WRONG };

static enum progress play_step(struct play *y, int rank, int strand)
{
    const struct collopt_step *step =
        &y->look->p->program[rank]->strand[strand][y->player[rank].at[strand]];
    size_t number = y->look->pairs.first[rank] + (size_t)step->message;
    bool good = true;

    switch (step->kind) {
    case COLLOPT_POST_RECEIVE:
    case COLLOPT_POST_SEND:
        good = post(y, rank, strand, step->message);
        break;
    case COLLOPT_SEND:
    case COLLOPT_RECEIVE:
        if (!y->posted[number] && !post(y, rank, strand, step->message))
            return WRONG;
        if (!y->done[number])
            return STUCK;
        break;
    case COLLOPT_WAIT:
        if (!y->done[number])
            return STUCK;
        break;
    case COLLOPT_FOLD:
        good = fold(y, rank, strand, step);
        break;
    case COLLOPT_COPY:
        good = copy(y, rank, strand, step);
        break;
    case COLLOPT_PREFIXES:
        good = prefixes(y, rank, strand, step);
        break;
    case COLLOPT_AWAIT:
        if (y->player[rank].at[step->strand] < step->step)
            return STUCK;
        break;
    case COLLOPT_END:
        return STUCK;
    }
    y->player[rank].at[strand] += good;
    return good ? MOVED : WRONG;
}

/* A rank moves: every strand as far as it can, until none can; in random orders a few steps of one
 * strand. */
static bool move(struct play *y, int rank)
{
    int strands = y->look->p->program[rank]->strands;
    enum progress progress = STUCK;
    bool moved = true, whole = y->order < PROOF_RANDOM || draw(y, 4) == 0;

    if (!whole) {
        int steps = 1 + (int)draw(y, 6), strand = (int)draw(y, (uint32_t)strands);

        while (steps-- > 0 && (progress = play_step(y, rank, strand)) == MOVED)
            ;
        may_go_on(y, rank);     /* until a whole move has found nothing left to do */
        return progress != WRONG;
    }
    while (moved) {
        moved = false;
        for (int s = 0; s < strands; s++) {
            int strand = y->order == PROOF_REVERSED ? strands - 1 - s : s;

            while ((progress = play_step(y, rank, strand)) == MOVED)
                moved = strands > 1;
            if (progress == WRONG)
                return false;
        }
    }
    return true;
}

/* ---- what must come out ---------------------------------------------------------------------- */

static bool all_ended(struct play *y)
{
    const struct proof *p = y->look->p;
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    int stuck = 0;

    if (!to)
        return refuse(y->look, "no memory");
    for (int r = 0; r < p->problem->ranks; r++)
        for (int s = 0; s < p->program[r]->strands; s++) {
            if (p->program[r]->strand[s][y->player[r].at[s]].kind == COLLOPT_END || stuck++ >= 12)
                continue;
            fprintf(to, "%s rank %d at %d.%d ", stuck > 1 ? ";" : "", r, s, y->player[r].at[s]);
            proof_print_step(p->program[r], s, y->player[r].at[s], to);
        }
    fclose(to);
    if (stuck)
        refuse(y->look, "deadlock, %d strands wait:%.1800s", stuck, text);
    free(text);
    return stuck == 0;
}

struct expected {               /* of all elements of OUT on one rank */
    size_t first, n;            /* index of OUT's first element in the vector */
    uint32_t count;             /* contributions: ranks 0 .. count-1 */
    uint64_t sum;
};

static struct expected expected(const struct look *l, int rank)
{
    const struct collopt_problem *p = l->p->problem;
    struct expected e = { .n = proof_out(p, rank), .count = (uint32_t)p->ranks };

    if (scatters(p))
        for (int r = 0; r < rank; r++)
            e.first += part_of(p, r);
    if (p->collective == COLLOPT_SCAN)
        e.count = (uint32_t)rank + 1;
    if (p->collective == COLLOPT_EXSCAN)
        e.count = (uint32_t)rank;
    for (uint32_t r = 0; r < e.count; r++)
        e.sum += weight((int)r);
    return e;
}

static bool check_out(struct play *y, int rank)
{
    const struct look *l = y->look;
    struct expected e = expected(l, rank);
    const struct element *out = y->element[rank] + l->memory[rank].base[COLLOPT_OUT];
    const struct element *first = y->element[0] + l->memory[0].base[COLLOPT_OUT];
    char text[100];

    for (size_t i = 0; i < e.n; i++) {
        bool ordered = out[i].lo == 0 && out[i].hi == e.count;

        if (out[i].index != e.first + i || out[i].count != e.count || out[i].sum != e.sum
            || (l->p->in_order && !ordered)) {
            describe(&out[i], text, sizeof text);
            return refuse(
                y->look,
                "rank %d ends with OUT[%zu] = %s where element %zu of ranks [0,%u) should be", rank,
                i, text, e.first + i, e.count);
        }
        if (l->p->problem->collective == COLLOPT_ALLREDUCE
            && out[i].bracket != first[i].bracket)
            return refuse(y->look, "rank %d ends with OUT[%zu] bracketed otherwise than on rank 0",
                          rank, i);
    }
    return true;
}

static bool check_in(struct play *y, int rank)
{
    const struct look *l = y->look;
    const struct element *in = y->element[rank];

    for (size_t i = in_place(l, rank) ? proof_out(l->p->problem, rank) : 0;
         i < l->p->problem->count; i++) {
        struct element as_it_was = contribution(rank, i);

        if (!same(&in[i], &as_it_was))
            return refuse(y->look, "rank %d ends with IN[%zu] changed", rank, i);
    }
    return true;
}

static void start(struct play *y)
{
    const struct look *l = y->look;
    int ranks = l->p->problem->ranks;

    memset(y->posted, 0, l->pairs.first[ranks]);
    memset(y->done, 0, l->pairs.first[ranks]);
    y->head = y->queued = 0;
    free_channels(y);
    for (int r = 0; r < ranks; r++) {
        memset(y->element[r], 0, l->memory[r].n * sizeof **y->element);
        for (size_t i = 0; i < l->p->problem->count; i++)
            y->element[r][i] = contribution(r, i);
        memset(y->player[r].at, 0, (size_t)l->p->program[r]->strands * sizeof *y->player[r].at);
        y->player[r].queued = false;
        may_go_on(y, r);
    }
}

static bool play(struct play *y, int order)
{
    y->order = order;
    y->random = (uint64_t)order;
    start(y);
    while (y->queued)
        if (!move(y, next_rank(y)))
            return false;
    if (!all_ended(y) || !all_multicast(y))
        return false;
    for (int r = 0; r < y->look->p->problem->ranks; r++)
        if (!check_out(y, r) || !check_in(y, r))
            return false;
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool play_room(struct play *y)
{
    const struct look *l = y->look;
    size_t ranks = (size_t)l->p->problem->ranks, messages = l->pairs.first[ranks];

    y->element = calloc(ranks, sizeof *y->element);
    y->player = calloc(ranks, sizeof *y->player);
    y->posted = calloc(messages + 1, 1);
    y->done = calloc(messages + 1, 1);
    y->queue = calloc(ranks, sizeof *y->queue);
    if (!y->element || !y->player || !y->posted || !y->done || !y->queue)
        return false;
    for (size_t r = 0; r < ranks; r++) {
        y->element[r] = malloc((l->memory[r].n + 1) * sizeof **y->element);
        y->player[r].at = malloc((size_t)l->p->program[r]->strands * sizeof *y->player[r].at);
        if (!y->element[r] || !y->player[r].at)
            return false;
    }
    return true;
}

static bool holds_together(struct look *l, int interleavings)
{
    struct play y = { .look = l };
    int ranks = l->p->problem->ranks;
    bool good = play_room(&y) || refuse(l, "no memory");

    for (int i = 0; good && i < interleavings; i++)
        good = play(&y, PROOF_FORWARD + i);
    free_channels(&y);
    for (int r = 0; r < ranks; r++) {
        if (y.element)
            free(y.element[r]);
        if (y.player)
            free(y.player[r].at);
    }
    free(y.element);
    free(y.player);
    free(y.posted);
    free(y.done);
    free(y.queue);
    return good;
}

bool proof_holds(const struct proof *p, int interleavings, char why[PROOF_WHY])
{
    int ranks = p->problem->ranks;
    struct look l = { .p = p, .memory = calloc((size_t)ranks, sizeof *l.memory), .why = why };
    bool good = l.memory || refuse(&l, "no memory");

    for (int r = 0; good && r < ranks; r++)
        good = (lay_out(&l, r) || refuse(&l, "no memory")) && holds_alone(&l, r);
    if (good && collopt_pair(&l.pairs, ranks, p->program, why, PROOF_WHY)) {
        good = holds_together(&l, interleavings);
        collopt_unpair(&l.pairs);
    } else {
        good = false;
    }
    for (int r = 0; l.memory && r < ranks; r++)
        free(l.memory[r].base);
    free(l.memory);
    return good;
}
