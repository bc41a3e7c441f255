/* From actions to steps: when each receive is posted, and when each message is waited for.
 *
 * A schedule means data dependences on buffers. So a receive is posted as soon as its buffer is
 * free (at most a few rounds ahead), a message is waited for only when its buffer is next read or
 * written, and nothing else orders the messages.  Waiting for a message at the end of its own round
 * is always safe, as rounds are what the algorithm proved itself with; every wait placed here comes
 * at that point or later, or is one that data dependence demands.  Where a schedule keeps its
 * rounds, nothing is posted earlier or waited for later.
 *
 * Strands do not wait for one another, except where an action touches what an earlier one of
 * another strand did. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/compile.h"
#include "schedule/bound.h"
#include "schedule/depend.h"
#include "schedule/memory.h"
#include "schedule/parts.h"
#include "schedule/storage.h"

enum {
    AHEAD = 3,                  /* a receive is posted at most so many rounds before its own */
    BEHIND = 7                  /* a message may be under way for so many rounds after its own */
};

struct access {                 /* an access of an action to a place */
    int action, region;
    int before;                 /* the access before this one to the same memory, or -1 */
    bool write;
};

struct pass {
    struct collopt_schedule *s;
    struct access *access;
    size_t accesses;
    int *last;                  /* [places] latest access */
    int *position;              /* [actions] in its strand */
    int *done;                  /* [actions] the position by which it is complete */
    int *strand_first;          /* [strands + 1] where the strand's actions begin in ORDER */
    int *order;                 /* actions strand by strand */
    int *post;                  /* [actions] receives: position before which it is posted */
    bool *settle;               /* [actions] messages: wait at the end of the round, another strand
                                 * depends on it */
};

static bool is_message(const struct action *a)
{
    return a->kind == ACTION_SEND || a->kind == ACTION_RECEIVE;
}

/* IN and OUT share one chain: in place they are the same memory, and elsewhere they never
 * overlap. */
static int chain_of(int place)
{
    return place == COLLOPT_IN ? COLLOPT_OUT : place;
}

/* ---- the order within strands ---------------------------------------------------------------- */

static void sort_by_strand(struct pass *w)
{
    struct collopt_schedule *s = w->s;

    for (size_t i = 0; i < s->actions; i++)
        w->strand_first[s->action[i].strand + 1]++;
    for (int t = 0; t < s->strands; t++)
        w->strand_first[t + 1] += w->strand_first[t];

    int next[s->strands];

    memcpy(next, w->strand_first, sizeof next);
    for (size_t i = 0; i < s->actions; i++) {
        int t = s->action[i].strand;

        w->position[i] = next[t] - w->strand_first[t];
        w->order[next[t]++] = (int)i;
    }
}

static int length(const struct pass *w, int strand)
{
    return w->strand_first[strand + 1] - w->strand_first[strand];
}

static int action_at(const struct pass *w, int strand, int position)
{
    return w->order[w->strand_first[strand] + position];
}

/* The first position of the strand that belongs to a later round than action I. */
static int next_round(const struct pass *w, int i)
{
    const struct action *a = &w->s->action[i];
    int k = w->position[i] + 1;

    while (k < length(w, a->strand) && w->s->action[action_at(w, a->strand, k)].round == a->round)
        k++;
    return k;
}

/* How many rounds before its own a message may be posted, and how many after it may be under
 * way. */
static int ahead(const struct action *a)
{
    return a->in_round ? 0 : AHEAD;
}

static int behind(const struct action *a)
{
    return a->in_round ? 0 : BEHIND;
}

static int round_start(const struct pass *w, int i, int rounds)
{
    const struct action *a = &w->s->action[i];
    int k = w->position[i];

    while (k > 0 && w->s->action[action_at(w, a->strand, k - 1)].round >= a->round - rounds)
        k--;
    return k;
}

/* ---- dependences ----------------------------------------------------------------------------- */

static bool conflict(const struct pass *w, const struct access *a, int action, int region)
{
    const struct collopt_schedule *s = w->s;
    const struct action *b = &s->action[action];

    return (a->write || collopt_writes(b, region))
        && collopt_spans_overlap(s, *collopt_region_of(s, &s->action[a->action], a->region),
                                 *collopt_region_of(s, b, region));
}

/* The position after which strands that depend on action A may go on: a local action is done
 * with its step, a message with its round. */
static int done_at(const struct pass *w, int action)
{
    return is_message(&w->s->action[action]) ? next_round(w, action) : w->position[action] + 1;
}

/* The next piece of SPAN from K on whose accesses lie in another chain than those of the piece
 * before it. */
static int next_chain(const struct collopt_schedule *s, struct span span, int k)
{
    while (k > 0 && k < span.n
           && chain_of(s->piece[span.first + k].place)
               == chain_of(s->piece[span.first + k - 1].place))
        k++;
    return k;
}

/* The earliest position at which receive I may be posted. */
static int earliest_post(const struct pass *w, int i)
{
    const struct collopt_schedule *s = w->s;
    const struct action *a = &s->action[i];
    struct span to = *collopt_region_of(s, a, 0);
    int first = round_start(w, i, ahead(a)), own = round_start(w, i, 0);

    for (int k = 0; k < to.n; k = next_chain(s, to, k + 1))
        for (int x = w->last[chain_of(s->piece[to.first + k].place)]; x >= 0;
             x = w->access[x].before) {
            const struct action *b = &s->action[w->access[x].action];

            if (b->strand != a->strand)
                continue;
            if (b->round < a->round - ahead(a))
                break;
            if (!conflict(w, &w->access[x], i, 0))
                continue;

            int after = b->kind == ACTION_SEND && b->round < a->round
                ? next_round(w, w->access[x].action)
                : w->position[w->access[x].action] + 1;

            if (after > first)
                first = after;
            if (first >= own && s->strands == 1)
                break;
        }
    return first;
}

/* Receives from one peer match in the order in which they are posted. */
static int after_same_peer(const struct pass *w, int i, int first)
{
    const struct action *a = &w->s->action[i];

    for (int k = w->position[i] - 1; k >= 0; k--) {
        const struct action *b = &w->s->action[action_at(w, a->strand, k)];

        if (b->round < a->round - 2 * AHEAD)
            break;
        if (b->kind == ACTION_RECEIVE && b->peer == a->peer) {
            int post = w->post[action_at(w, a->strand, k)];

            return post > first ? post : first;
        }
    }
    return first;
}

static void record(struct pass *w, int i)
{
    struct collopt_schedule *s = w->s;

    for (int r = 0; r < s->action[i].regions; r++) {
        struct span span = *collopt_region_of(s, &s->action[i], r);

        for (int k = 0; k < span.n; k = next_chain(s, span, k + 1)) {
            int chain = chain_of(s->piece[span.first + k].place);

            if (!collopt_grow(s, (void **)&w->access, w->accesses, sizeof *w->access))
                return;
            w->access[w->accesses] = (struct access){ i, r, w->last[chain],
                                                      collopt_writes(&s->action[i], r) };
            w->last[chain] = (int)w->accesses++;
        }
    }
}

static bool waits(const struct collopt_depends *d, int i)
{
    return d->first && d->first[i + 1] > d->first[i];
}

static void analyse(struct pass *w, struct collopt_depends *d)
{
    struct collopt_schedule *s = w->s;

    for (int i = 0; i < (int)s->actions; i++)
        w->done[i] = done_at(w, i);
    if (s->strands > 1)
        collopt_depends_find(s, w->done, w->settle, d);
    for (size_t p = 0; p < s->places; p++)
        w->last[p] = -1;
    for (int i = 0; i < (int)s->actions && !s->failed; i++) {
        if (s->action[i].kind == ACTION_RECEIVE) {
            w->post[i] = waits(d, i) ? w->position[i] : after_same_peer(w, i, earliest_post(w, i));
            if (w->post[i] > w->position[i])
                w->post[i] = w->position[i];
        }
        record(w, i);
    }
}

/* ---- writing the programs -------------------------------------------------------------------- */

struct writer {
    struct pass *w;
    const struct collopt_depends *d;
    int strand;
    struct program *program;
    int *open;                  /* messages posted and not waited for, oldest first */
    int opens;
    int *mark;                  /* [length + 1] instruction at which a position begins */
};

static void emit(struct writer *x, struct instruction q)
{
    struct program *p = x->program;

    if (collopt_grow(x->w->s, (void **)&p->list, p->n, sizeof *p->list))
        p->list[p->n++] = q;
}

static void wait_for(struct writer *x, int k)
{
    emit(x, (struct instruction){ .kind = COLLOPT_WAIT, .action = x->open[k] });
    memmove(&x->open[k], &x->open[k + 1], (size_t)(x->opens - k - 1) * sizeof *x->open);
    x->opens--;
}

/* Is message B under way in memory that region REGION of action I is about to read or write? */
static bool in_the_way(const struct writer *x, int b, int i, int region)
{
    const struct collopt_schedule *s = x->w->s;
    const struct action *a = &s->action[i], *other = &s->action[b];

    return (collopt_writes(a, region) || other->kind == ACTION_RECEIVE)
        && collopt_spans_overlap(s, *collopt_region_of(s, a, region),
                                 *collopt_region_of(s, other, 0));
}

/* Waits for the messages that block regions FROM and up of action I, the oldest first: it is
 * likely to complete first, and the host's work for it overlaps with the others. */
static void wait_for_regions(struct writer *x, int i, int from)
{
    int regions = x->w->s->action[i].regions;

    for (int k = 0; k < x->opens;) {
        int r = from;

        while (r < regions && !in_the_way(x, x->open[k], i, r))
            r++;
        if (r < regions)
            wait_for(x, k);
        else
            k++;
    }
}

static void wait_for_old(struct writer *x, int round)
{
    const struct pass *w = x->w;

    for (int k = 0; k < x->opens;) {
        const struct action *a = &w->s->action[x->open[k]];

        if (a->round < round - (w->settle[x->open[k]] ? 0 : behind(a)))
            wait_for(x, k);
        else
            k++;
    }
}

static void post(struct writer *x, int i)
{
    bool send = x->w->s->action[i].kind == ACTION_SEND;

    wait_for_regions(x, i, 0);
    emit(x, (struct instruction){ .kind = send ? COLLOPT_POST_SEND : COLLOPT_POST_RECEIVE,
                                  .action = i });
    x->open[x->opens++] = i;
}

static void await(struct writer *x, int i, int *coming)
{
    const struct collopt_depends *d = x->d;

    for (size_t k = d->first ? d->first[i] : 0; d->first && k < d->first[i + 1]; k++) {
        struct collopt_depend on = d->list[k];

        if (coming[on.strand] >= on.position)
            continue;
        coming[on.strand] = on.position;
        emit(x, (struct instruction){ .kind = COLLOPT_AWAIT, .strand = on.strand,
                                      .instruction = on.position });
    }
}

/* The first position of STRAND behind ROUND. */
static int behind_round(const struct pass *w, int strand, int round)
{
    int k = 0;

    while (k < length(w, strand) && w->s->action[action_at(w, strand, k)].round <= round)
        k++;
    return k;
}

/* At position K, the strands that this one is to follow from its round on; *NEXT: those up to there
 * have been seen. */
static void follow(struct writer *x, int k, size_t *next, int *coming)
{
    const struct pass *w = x->w;
    int round = w->s->action[action_at(w, x->strand, k)].round;

    for (; *next < w->s->follows && w->s->follow[*next].round <= round; ++*next) {
        const struct follow *f = &w->s->follow[*next];
        int position = f->strand == x->strand ? behind_round(w, f->ahead, f->done) : 0;

        if (position > coming[f->ahead]) {
            coming[f->ahead] = position;
            emit(x, (struct instruction){ .kind = COLLOPT_AWAIT, .strand = f->ahead,
                                          .instruction = position });
        }
    }
}

static void perform(struct writer *x, int i)
{
    static const enum collopt_step_kind step_of[] = {
        [ACTION_FOLD] = COLLOPT_FOLD, [ACTION_COPY] = COLLOPT_COPY,
        [ACTION_PREFIXES] = COLLOPT_PREFIXES,
    };
    const struct action *a = &x->w->s->action[i];

    if (a->kind == ACTION_SEND) {
        post(x, i);
        return;
    }
    wait_for_regions(x, i, 1);      /* receives, before sends from what is overwritten */
    wait_for_regions(x, i, 0);
    emit(x, (struct instruction){ .kind = step_of[a->kind], .action = i });
}

/* Receives by the position at which they are posted; among equals in program order, so that peers
 * match. */
static void receives_by_post(const struct writer *x, int *first, int *list)
{
    const struct pass *w = x->w;
    int n = length(w, x->strand);

    memset(first, 0, (size_t)(n + 2) * sizeof *first);
    for (int k = 0; k < n; k++)
        if (w->s->action[action_at(w, x->strand, k)].kind == ACTION_RECEIVE)
            first[w->post[action_at(w, x->strand, k)] + 2]++;
    for (int k = 0; k <= n; k++)
        first[k + 1] += first[k];
    for (int k = 0; k < n; k++) {
        int i = action_at(w, x->strand, k);

        if (w->s->action[i].kind == ACTION_RECEIVE)
            list[first[w->post[i] + 1]++] = i;
    }
}

static void write_strand(struct writer *x, int *first, int *list, int *coming)
{
    const struct pass *w = x->w;
    int n = length(w, x->strand);
    size_t followed = 0;

    receives_by_post(x, first, list);
    for (int k = 0; k < n; k++) {
        int i = action_at(w, x->strand, k);
        const struct action *a = &w->s->action[i];

        if (k > 0 && a->round != w->s->action[action_at(w, x->strand, k - 1)].round)
            wait_for_old(x, a->round);
        x->mark[k] = (int)x->program->n;
        follow(x, k, &followed, coming);
        await(x, i, coming);
        for (int r = first[k]; r < first[k + 1]; r++)
            post(x, list[r]);
        if (a->kind != ACTION_RECEIVE)
            perform(x, i);
    }
    while (x->opens > 0)
        wait_for(x, 0);
    x->mark[n] = (int)x->program->n;
    emit(x, (struct instruction){ .kind = COLLOPT_END });
}

/* Fuses a post with its wait into one step: for a send if the wait follows at once, for a receive
 * if there are only sends between the two.  The host has shorter paths for such steps. */
static void fuse(struct program *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->n; i++) {
        size_t j = i + 1;

        if (p->list[i].kind == COLLOPT_POST_RECEIVE) {
            while (p->list[j].kind == COLLOPT_POST_SEND)
                j++;
            if (p->list[j].kind == COLLOPT_WAIT && p->list[j].action == p->list[i].action) {
                p->list[j].kind = COLLOPT_RECEIVE;
                continue;
            }
        }
        if (p->list[i].kind == COLLOPT_POST_SEND && p->list[j].kind == COLLOPT_WAIT
            && p->list[j].action == p->list[i].action) {
            p->list[j].kind = COLLOPT_SEND;
            continue;
        }
        p->list[kept++] = p->list[i];
    }
    p->n = kept;
}

static void write_programs(struct pass *w, const struct collopt_depends *d)
{
    struct collopt_schedule *s = w->s;
    size_t n = s->actions + 2;
    int *room = calloc(4 * n + (size_t)s->strands * (n + 1), sizeof *room);
    int coming[s->strands];

    if (!room) {
        s->failed = true;
        return;
    }
    for (int t = 0; t < s->strands; t++) {
        struct writer x = { .w = w, .d = d, .strand = t, .program = &s->program[t],
                            .open = room + 3 * n, .mark = room + 4 * n + (size_t)t * (n + 1) };

        memset(coming, 0, sizeof coming);
        write_strand(&x, room, room + n + 1, coming);
    }
    for (int t = 0; t < s->strands && !s->failed; t++)
        for (size_t k = 0; k < s->program[t].n; k++) {
            struct instruction *q = &s->program[t].list[k];

            if (q->kind == COLLOPT_AWAIT)
                q->instruction = room[4 * n + (size_t)q->strand * (n + 1) + (size_t)q->instruction];
        }
    if (s->strands == 1 && !s->failed)
        fuse(&s->program[0]);
    free(room);
}

void collopt_pass_compile(struct collopt_schedule *s)
{
    size_t n = s->actions + 1;
    struct pass w = { .s = s };
    struct collopt_depends d = { 0 };
    int *room = calloc(s->places + 4 * n + (size_t)s->strands + 1, sizeof *room);

    s->program = calloc((size_t)s->strands, sizeof *s->program);
    w.settle = calloc(n, sizeof *w.settle);
    if (!room || !s->program || !w.settle) {
        s->failed = true;
    } else {
        w.last = room;
        w.position = room + s->places;
        w.order = w.position + n;
        w.post = w.order + n;
        w.done = w.post + n;
        w.strand_first = w.done + n;
        sort_by_strand(&w);
        analyse(&w, &d);
        if (!s->failed)
            write_programs(&w, &d);
    }
    free(w.access);
    collopt_depends_free(&d);
    free(w.settle);
    free(room);
}
