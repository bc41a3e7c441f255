/* The proof of the proof: correct programs of every algorithm are spoilt in every way that cannot
 * be harmless, one change at a time, and each must be refused.
 *
 * Changes that may leave a program correct are not made: exchanging independent steps, repeating a
 * step that may be repeated (a fold or copy whose result lies apart from its operands), exchanging
 * the operands of a commutative algorithm (which is wrong only where another rank computes the same
 * bits), exchanging messages that may carry the same value, dropping an AWAIT that another one
 * implies. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "schedule/block.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "share.h"
#include "suite.h"
#include "trial.h"

/* ---- programs that can be changed ------------------------------------------------------------ */

struct mutant {                 /* a copy of one rank's program */
    struct collopt_bound bound;
    struct collopt_message *message;
    struct collopt_step **step; /* [strands], with room for one more */
    struct collopt_run *run;
    size_t *slot;
    int ranks, rank;
    bool in_place, in_order;
};

static int length(const struct collopt_bound *b, int strand)
{
    int n = 0;

    while (b->strand[strand][n].kind != COLLOPT_END)
        n++;
    return n;
}

static size_t all_runs(const struct collopt_bound *b)
{
    size_t n = 0;

    for (int m = 0; m < b->messages; m++)
        n += (size_t)b->message[m].runs;
    for (int s = 0; s < b->strands; s++)
        for (int k = 0; k < length(b, s); k++)
            n += (size_t)b->strand[s][k].runs;
    return n;
}

static const struct collopt_run *copy_runs(struct mutant *m, size_t *used,
                                           const struct collopt_run *run, int runs)
{
    struct collopt_run *to = m->run + *used;

    if (runs > 0)
        memcpy(to, run, (size_t)runs * sizeof *to);
    *used += (size_t)runs;
    return to;
}

static void make_mutant(struct mutant *m, const struct collopt_bound *b)
{
    size_t used = 0;

    m->bound = *b;
    m->run = malloc((all_runs(b) + 1) * sizeof *m->run);
    m->message = malloc(((size_t)b->messages + 1) * sizeof *m->message);
    m->step = malloc((size_t)b->strands * sizeof *m->step);
    ck_assert(m->run && m->message && m->step);
    for (int i = 0; i < b->messages; i++) {
        m->message[i] = b->message[i];
        m->message[i].run = copy_runs(m, &used, b->message[i].run, b->message[i].runs);
    }
    for (int s = 0; s < b->strands; s++) {
        int n = length(b, s) + 1;

        m->step[s] = malloc(((size_t)n + 1) * sizeof *m->step[s]);
        ck_assert(m->step[s]);
        memcpy(m->step[s], b->strand[s], (size_t)n * sizeof *m->step[s]);
        for (int k = 0; k < n; k++)
            m->step[s][k].run = copy_runs(m, &used, b->strand[s][k].run, b->strand[s][k].runs);
    }
    m->bound.message = m->message;
    m->bound.strand = (const struct collopt_step *const *)m->step;
}

static void free_mutant(struct mutant *m)
{
    for (int s = 0; s < m->bound.strands; s++)
        free(m->step[s]);
    free(m->step);
    free(m->message);
    free(m->run);
}

/* ---- what a step touches --------------------------------------------------------------------- */

static bool posts(const struct collopt_step *k)
{
    return k->kind == COLLOPT_POST_SEND || k->kind == COLLOPT_POST_RECEIVE
        || k->kind == COLLOPT_RECEIVE || k->kind == COLLOPT_SEND;
}

static bool computes(const struct collopt_step *k)
{
    return k->kind == COLLOPT_FOLD || k->kind == COLLOPT_COPY;
}

static bool is_local(const struct collopt_step *k)
{
    return computes(k) || k->kind == COLLOPT_PREFIXES;
}

static struct collopt_run *runs_of(const struct collopt_step *k)
{
    return (struct collopt_run *)k->run;        /* a mutant's own */
}

/* The first operand of a step that combines, else NULL. */
static struct collopt_run *operands_of(const struct collopt_step *k)
{
    return k->kind == COLLOPT_PREFIXES ? runs_of(k)
        : k->kind == COLLOPT_FOLD      ? runs_of(k) + 1
                                       : NULL;
}

/* The first one that is written. */
static struct collopt_run *results_of(const struct collopt_step *k)
{
    return runs_of(k) + (k->kind == COLLOPT_PREFIXES);
}

static int results(const struct collopt_step *k)
{
    return k->kind == COLLOPT_PREFIXES ? k->runs - 1 : 1;
}

/* The place, with IN and OUT one place where they are the same memory. */
static int memory_of(const struct mutant *m, const struct collopt_run *r)
{
    return m->in_place && r->place == COLLOPT_OUT ? COLLOPT_IN : r->place;
}

static bool overlap(const struct mutant *m, const struct collopt_run *a,
                    const struct collopt_run *b)
{
    return memory_of(m, a) == memory_of(m, b) && a->at < b->at + b->n && b->at < a->at + a->n;
}

static bool same_run(const struct mutant *m, const struct collopt_run *a,
                     const struct collopt_run *b)
{
    return memory_of(m, a) == memory_of(m, b) && a->at == b->at && a->n == b->n;
}

static bool touches(const struct mutant *m, const struct collopt_run *a,
                    const struct collopt_run *list, int runs)
{
    for (int i = 0; i < runs; i++)
        if (overlap(m, a, &list[i]))
            return true;
    return false;
}

static bool message_touches(const struct mutant *m, const struct collopt_message *q,
                            const struct collopt_run *list, int runs)
{
    for (int i = 0; i < q->runs; i++)
        if (touches(m, &q->run[i], list, runs))
            return true;
    return false;
}

static bool into_operand(const struct mutant *m, const struct collopt_step *k)
{
    for (int i = 1; i < k->runs; i++)
        if (same_run(m, &k->run[0], &k->run[i]))
            return true;
    return false;
}

/* ---- the changes: true if made at step K of strand S ----------------------------------------- */

static bool peer(struct mutant *m, int s, int k)
{
    struct collopt_message *q = &m->message[m->step[s][k].message];

    if (!posts(&m->step[s][k]) || m->ranks < 3)
        return false;
    do {
        q->peer = (q->peer + 1) % m->ranks;
    } while (q->peer == m->rank);
    return true;
}

static bool tag(struct mutant *m, int s, int k)
{
    if (!posts(&m->step[s][k]))
        return false;
    m->message[m->step[s][k].message].tag++;
    return true;
}

static bool direction(struct mutant *m, int s, int k)
{
    struct collopt_message *q = &m->message[m->step[s][k].message];

    if (!posts(&m->step[s][k]))
        return false;
    q->send = !q->send;
    return true;
}

static bool message_offset(struct mutant *m, int s, int k)
{
    if (!posts(&m->step[s][k]))
        return false;
    ((struct collopt_run *)m->message[m->step[s][k].message].run)[0].at++;
    return true;
}

static bool message_length(struct mutant *m, int s, int k)
{
    struct collopt_message *q = &m->message[m->step[s][k].message];

    if (!posts(&m->step[s][k]) || q->run[q->runs - 1].n < 2)
        return false;
    ((struct collopt_run *)q->run)[q->runs - 1].n--;
    q->n--;
    return true;
}

static bool multicast_again(struct mutant *m, int s, int k)
{
    struct collopt_message *q = &m->message[m->step[s][k].message];

    if (!posts(&m->step[s][k]) || !q->send)
        return false;
    q->repeats = !q->repeats;
    return true;
}

static bool multicast_members(struct mutant *m, int s, int k)
{
    struct collopt_message *q = &m->message[m->step[s][k].message];

    if (!posts(&m->step[s][k]) || q->members == 0)
        return false;
    q->members--;
    return true;
}

static bool message_last_run(struct mutant *m, int s, int k)
{
    struct collopt_message *q = &m->message[m->step[s][k].message];

    if (!posts(&m->step[s][k]))
        return false;
    q->n -= q->run[--q->runs].n;
    return true;
}

static bool operand_offset(struct mutant *m, int s, int k)
{
    if (!is_local(&m->step[s][k]))
        return false;
    runs_of(&m->step[s][k])[m->step[s][k].runs - 1].at++;
    return true;
}

static bool result_offset(struct mutant *m, int s, int k)
{
    if (!is_local(&m->step[s][k]))
        return false;
    results_of(&m->step[s][k])->at++;
    return true;
}

static bool shorter(struct mutant *m, int s, int k)
{
    if (!is_local(&m->step[s][k]) || m->step[s][k].run[0].n < 2)
        return false;
    for (int i = 0; i < m->step[s][k].runs; i++)
        runs_of(&m->step[s][k])[i].n--;
    return true;
}

static bool left_and_right(struct mutant *m, int s, int k)
{
    struct collopt_run *operand = operands_of(&m->step[s][k]), left;

    if (!operand || !m->in_order)
        return false;
    left = operand[0];
    operand[0] = operand[1];
    operand[1] = left;
    return true;
}

static bool operand_twice(struct mutant *m, int s, int k)
{
    struct collopt_run *operand = operands_of(&m->step[s][k]);

    if (!operand)
        return false;
    operand[0] = operand[1];
    return true;
}

static bool operand_less(struct mutant *m, int s, int k)
{
    const struct collopt_run *operand = operands_of(&m->step[s][k]);

    if (!operand
        || &m->step[s][k].run[m->step[s][k].runs] - operand
            < (m->step[s][k].kind == COLLOPT_FOLD ? 3 : 2))
        return false;
    m->step[s][k].runs--;
    return true;
}

static bool writes_in(struct mutant *m, int s, int k)
{
    if (!is_local(&m->step[s][k]))
        return false;
    results_of(&m->step[s][k])->place = COLLOPT_IN;
    return true;
}

static void drop(struct mutant *m, int s, int k)
{
    memmove(&m->step[s][k], &m->step[s][k + 1],
            (size_t)(length(&m->bound, s) - k) * sizeof **m->step);
}

static bool dropped(struct mutant *m, int s, int k)
{
    if (m->step[s][k].kind == COLLOPT_AWAIT)
        return false;
    drop(m, s, k);
    return true;
}

/* Folds that accumulate count twice; a message can be posted and waited for once. */
static bool repeated(struct mutant *m, int s, int k)
{
    const struct collopt_step *q = &m->step[s][k];

    if (q->kind == COLLOPT_AWAIT || q->kind == COLLOPT_COPY
        || (q->kind == COLLOPT_FOLD && !into_operand(m, q)))
        return false;
    memmove(&m->step[s][k + 1], &m->step[s][k],
            (size_t)(length(&m->bound, s) + 1 - k) * sizeof **m->step);
    return true;
}

/* Does FIRST have to come before SECOND, the step after it?  True only where the other order is
 * certainly wrong. */
static bool must_precede(const struct mutant *m, const struct collopt_step *first,
                         const struct collopt_step *second)
{
    const struct collopt_message *p = first->message >= 0 ? &m->message[first->message] : NULL;
    const struct collopt_message *q = second->message >= 0 ? &m->message[second->message] : NULL;

    if (is_local(first) && second->kind == COLLOPT_POST_SEND)           /* computed, then sent */
        return message_touches(m, q, results_of(first), results(first));
    if (first->kind == COLLOPT_WAIT && second->kind == COLLOPT_PREFIXES)
        return message_touches(m, p, second->run, second->runs);
    if (computes(first) && second->kind == COLLOPT_PREFIXES)            /* computed, then read */
        return touches(m, &first->run[0], second->run, second->runs);
    if (first->kind == COLLOPT_PREFIXES && computes(second))
        return touches(m, &second->run[1], results_of(first), results(first));
    /* computed apart from its operands, then read */
    if (computes(first) && computes(second))
        return !into_operand(m, first)
            && touches(m, &first->run[0], second->run + 1, second->runs - 1)
            && !touches(m, &second->run[0], first->run, first->runs);
    /* freed, then written; received, then read */
    if (first->kind == COLLOPT_WAIT && computes(second))
        return message_touches(m, p, second->run, p->send ? 1 : second->runs);
    if (first->kind == COLLOPT_WAIT && second->kind == COLLOPT_POST_RECEIVE)
        return message_touches(m, p, q->run, q->runs);
    if (first->kind == COLLOPT_WAIT && !p->send && second->kind == COLLOPT_POST_SEND)
        return message_touches(m, p, q->run, q->runs);
    if (posts(first) && second->kind == COLLOPT_WAIT)
        return p == q;
    return false;
}

static bool exchanged(struct mutant *m, int s, int k)
{
    struct collopt_step first = m->step[s][k];

    if (m->step[s][k + 1].kind == COLLOPT_END || !must_precede(m, &first, &m->step[s][k + 1]))
        return false;
    m->step[s][k] = m->step[s][k + 1];
    m->step[s][k + 1] = first;
    return true;
}

/* Certainly different: of different lengths, or of different elements of the vector. */
static bool different(const struct collopt_message *p, const struct collopt_message *q)
{
    return p->n != q->n
        || (p->run[0].place < COLLOPT_FIRST_SLOT && q->run[0].place < COLLOPT_FIRST_SLOT
            && p->run[0].at != q->run[0].at);
}

/* The contents of a message and of the next one in the same direction, to the same peer or to
 * another. */
static bool messages_exchanged(struct mutant *m, int s, int k)
{
    struct collopt_message *p = &m->message[m->step[s][k].message], first;

    if (!posts(&m->step[s][k]))
        return false;
    first = *p;
    for (int i = k + 1; i < length(&m->bound, s); i++) {
        struct collopt_message *q = &m->message[m->step[s][i].message];

        if (!posts(&m->step[s][i]) || q->send != p->send || !different(p, q))
            continue;
        p->runs = q->runs, p->run = q->run, p->n = q->n;
        q->runs = first.runs, q->run = first.run, q->n = first.n;
        return true;
    }
    return false;
}

/* What a step touches, and does it write? */
static int accesses(const struct mutant *m, const struct collopt_step *k,
                    const struct collopt_run **run, bool *writes)
{
    const struct collopt_message *q = k->message >= 0 && !is_local(k) ? &m->message[k->message]
                                                                      : NULL;

    if (k->kind == COLLOPT_AWAIT || k->kind == COLLOPT_END)
        return 0;
    *run = q ? q->run : k->run;
    *writes = !q || !q->send;
    return q ? q->runs : k->runs;
}

/* Of a step that writes, does it write its run I? */
static bool written(const struct collopt_step *k, int i)
{
    return posts(k) || (k->kind == COLLOPT_PREFIXES ? i > 0 : i == 0);
}

static bool conflict(const struct mutant *m, const struct collopt_step *a,
                     const struct collopt_step *b)
{
    const struct collopt_run *p = NULL, *q = NULL;
    bool write_p = false, write_q = false;
    int n = accesses(m, a, &p, &write_p), k = accesses(m, b, &q, &write_q);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++)
            if (overlap(m, &p[i], &q[j])
                && ((write_p && written(a, i)) || (write_q && written(b, j))))
                return true;
    return false;
}

/* An AWAIT of the only other strand that keeps the next step from what the other strand does, and
 * that no AWAIT before it implies.  (Compilation may also place some where it cannot know that
 * places are apart.) */
static bool await_dropped(struct mutant *m, int s, int k)
{
    const struct collopt_step *q = &m->step[s][k], *next = q + 1;
    int known = 0;
    bool needed = false;

    if (q->kind != COLLOPT_AWAIT || m->bound.strands > 2)
        return false;
    for (int i = 0; i < k; i++)
        if (m->step[s][i].kind == COLLOPT_AWAIT && m->step[s][i].step > known)
            known = m->step[s][i].step;
    for (int j = known; j < q->step; j++)
        needed |= conflict(m, &m->step[q->strand][j], next);
    if (!needed)
        return false;
    drop(m, s, k);
    return true;
}

/* The first operand that is a view, or NULL. */
static struct collopt_run *view_among(const struct mutant *m, const struct collopt_step *q,
                                      int *view)
{
    int first = COLLOPT_FIRST_SLOT + m->bound.slots - m->bound.views;

    for (int i = 1; i < q->runs && computes(q); i++)
        if ((*view = q->run[i].place - first) >= 0)
            return &runs_of(q)[i];
    return NULL;
}

static bool view_kept(struct mutant *m, int s, int k)
{
    int view;
    struct collopt_run *r = view_among(m, &m->step[s][k], &view);

    if (!r || !r->last)
        return false;
    r->last = false;
    return true;
}

static bool view_missed(struct mutant *m, int s, int k)
{
    int view;
    struct collopt_run *r = view_among(m, &m->step[s][k], &view);

    if (!r)
        return false;
    r->place = m->bound.view[view].place;
    r->at += m->bound.view[view].at;
    return true;
}

static const struct change {
    const char *name;
    bool (*make)(struct mutant *m, int strand, int step);
} changes[] = {
    { "another peer", peer },
    { "another tag", tag },
    { "the other direction", direction },
    { "a message's offset", message_offset },
    { "a message's length", message_length },
    { "a message without its last run", message_last_run },
    { "a message of a multicast written again, or not", multicast_again },
    { "a member less", multicast_members },
    { "an operand's offset", operand_offset },
    { "a result's offset", result_offset },
    { "a fold or copy too short", shorter },
    { "left and right exchanged", left_and_right },
    { "one operand twice", operand_twice },
    { "one operand less", operand_less },
    { "a result in IN", writes_in },
    { "a step dropped", dropped },
    { "a step repeated", repeated },
    { "two steps exchanged", exchanged },
    { "two messages exchanged", messages_exchanged },
    { "an await dropped", await_dropped },
    { "a view never given back", view_kept },
    { "read where a view would be copied to", view_missed },
};

enum { CHANGES = sizeof changes / sizeof *changes };

/* ---- all of them ----------------------------------------------------------------------------- */

struct hunt {
    struct workshop shop;
    struct proof proof;
    const struct collopt_bound **program;
    char words[TRIAL_WORDS];
    unsigned long made[CHANGES];
};

static void must_be_refused(struct hunt *h, const char *change, int rank, int strand, int step)
{
    char why[PROOF_WHY];

    if (proof_holds(&h->proof, 1, why)) {
        proof_print(h->program[rank], rank, stderr);
        ck_abort_msg("%s: the proof accepts %s, rank %d step %d.%d", h->words, change, rank, strand,
                     step);
    }
}

static void spoil(struct hunt *h, int change, int rank, int strand, int step)
{
    struct mutant m = {
        .ranks = h->shop.problem.ranks,
        .rank = rank,
        .in_place = h->shop.how[rank] & COLLOPT_IN_PLACE,
        .in_order = h->proof.in_order,
    };

    make_mutant(&m, h->shop.program[rank]);
    if (changes[change].make(&m, strand, step)) {
        h->made[change]++;
        h->program[rank] = &m.bound;
        must_be_refused(h, changes[change].name, rank, strand, step);
        h->program[rank] = h->shop.program[rank];
    }
    free_mutant(&m);
}

static const struct collopt_step *post_of(const struct collopt_bound *b, int message, int *strand,
                                          int *step)
{
    for (*strand = 0; *strand < b->strands; ++*strand)
        for (*step = 0; b->strand[*strand][*step].kind != COLLOPT_END; ++*step)
            if (posts(&b->strand[*strand][*step]) && b->strand[*strand][*step].message == message)
                return &b->strand[*strand][*step];
    return NULL;
}

/* The last element is not sent, nor received: both ends agree, and still something is missing. */
static void shorten_both_ends(struct hunt *h, int rank, int strand, int step)
{
    const struct collopt_message *q =
        &h->program[rank]->message[h->program[rank]->strand[strand][step].message];
    struct mutant one = { 0 }, other = { 0 };
    int peer = q->peer, k = 0, met = 0, wanted = 0, s, t;

    if (!q->send || q->run[q->runs - 1].n < 2)
        return;
    for (int i = 0; i < strand + 1; i++)
        for (int j = 0; j < (i < strand ? length(h->program[rank], i) : step); j++) {
            const struct collopt_step *at = &h->program[rank]->strand[i][j];

            if (posts(at)) {
                const struct collopt_message *before = &h->program[rank]->message[at->message];

                wanted += before->send && before->peer == peer && before->tag == q->tag;
            }
        }
    make_mutant(&one, h->shop.program[rank]);
    make_mutant(&other, h->shop.program[peer]);
    for (s = 0; s < other.bound.strands; s++)
        for (t = 0; other.step[s][t].kind != COLLOPT_END; t++) {
            if (!posts(&other.step[s][t]))
                continue;
            k = other.step[s][t].message;
            if (!other.message[k].send && other.message[k].peer == rank
                && other.message[k].tag == q->tag && met++ == wanted)
                goto found;
        }
    ck_abort_msg("%s: a message has no other end", h->words);
found:
    ck_assert_ptr_nonnull(post_of(h->shop.program[peer], k, &s, &t));
    if (message_length(&one, strand, step) && message_length(&other, s, t)) {
        h->program[rank] = &one.bound;
        h->program[peer] = &other.bound;
        must_be_refused(h, "a message too short at both ends", rank, strand, step);
        h->program[rank] = h->shop.program[rank];
        h->program[peer] = h->shop.program[peer];
    }
    free_mutant(&one);
    free_mutant(&other);
}

static void spoil_all(struct hunt *h, int every)
{
    int turn = 0;

    for (int r = 0; r < h->shop.problem.ranks; r++)
        for (int s = 0; s < h->shop.program[r]->strands; s++)
            for (int k = 0; k < length(h->shop.program[r], s); k++) {
                for (int c = 0; c < CHANGES; c++)
                    if (turn++ % every == 0)
                        spoil(h, c, r, s, k);
                if (posts(&h->shop.program[r]->strand[s][k]) && turn++ % every == 0)
                    shorten_both_ends(h, r, s, k);
            }
}

static void hunt(struct hunt *h, const struct trial *t, int every)
{
    char why[PROOF_WHY];

    trial_words(t, h->words);
    if (!workshop_open(&h->shop, t, why))
        ck_abort_msg("%s: %s", h->words, why);
    h->proof = workshop_proof(&h->shop);
    if (!proof_holds(&h->proof, 1, why))
        ck_abort_msg("%s: %s", h->words, why);
    h->program = malloc((size_t)t->ranks * sizeof *h->program);
    ck_assert_ptr_nonnull(h->program);
    memcpy(h->program, h->shop.program, (size_t)t->ranks * sizeof *h->program);
    h->proof.program = h->program;
    spoil_all(h, every);
    free(h->program);
}

/* An Allreduce, of which a rank keeps its part: nobody misses the rest.  The same programs are
 * spoilt as Allreduces. */
static bool keeps_a_part(const struct collopt_algorithm *a)
{
    return a->collective != COLLOPT_ALLREDUCE
        && (!strcmp(a->name, "allreduce")
            || (!strcmp(a->name, "node_aware") && a->collective != COLLOPT_REDUCE));
}

TESTS(spoilt_programs_are_refused, 0, trial_algorithms())
{
    static const int ranks[] = { 2, 3, 4, 5, 7, 8 };
    const struct collopt_algorithm *a = collopt_algorithms[_i];
    size_t variant[TRIAL_VARIANTS][COLLOPT_PARAMETERS];
    struct hunt h = { 0 };

    if (keeps_a_part(a))
        return;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        int variants = trial_variants(a, ranks[i], variant);

        for (int form = 0; form < 2 * TRIAL_FORMS && variants > 0; form++) {
            struct trial t = {
                .algorithm = a,
                .ranks = ranks[i],
                .root = (form + 1) % ranks[i],
                .count = (size_t)(3 * ranks[i] + 2),
                .shape = form % 3 == 2 ? TRIAL_RAGGED : TRIAL_NEARLY,
                .in_place = form % 2,
                .two_operands = form / 2,
                .cut = form == 5 ? 3 : 0,
                .in_turn = i % 2,
                .near = form % 4,
            };

            memcpy(t.value, variant[(form + (int)i) % variants], sizeof t.value);
            if (a->collective != COLLOPT_REDUCE)
                t.root = 0;
            hunt(&h, &t, test_share() * (ranks[i] <= 3 ? 1 : ranks[i] <= 5 ? 3 : 11));
        }
    }
    workshop_close(&h.shop);
    for (int c = 0; c < CHANGES; c++)
        if (h.made[c] > 0)
            fprintf(stderr, "%lu spoilt programs refused: %s %s: %s\n", h.made[c],
                    collopt_collective_names[a->collective], a->name, changes[c].name);
}

int main(void)
{
    return suite_run("mutations");
}
