/* Making a plan: schedules and programs of all ranks, and their replay; see plan.h. */
#include "config.h"

#include "catalogue/expression.h"
#include "shared/replay.h"
#include "plan/plan.h"
#include "schedule/bind.h"
#include "schedule/block.h"
#include "schedule/bound.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory)
{
    if (!memory) {
        fputs("collopt-plan: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void *grown(void *list, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return list;
    *room = *room ? 2 * *room : 8;
    return must(realloc(list, *room * size));
}

/* ---- sets of ranks, each kept once ----------------------------------------------------------- */

struct plan_sets {
    size_t words;               /* of one set */
    uint64_t *list;
    size_t n, room;
    int *table;                 /* numbers of sets by hash; -1: free */
    size_t mask;
};

static const uint64_t *words_of(const struct plan_sets *s, int set)
{
    return &s->list[(size_t)set * s->words];
}

static size_t hash(const uint64_t *words, size_t n)
{
    uint64_t h = 0;

    for (size_t i = 0; i < n; i++) {
        h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return (size_t)h;
}

/* Where WORDS are in the table, or belong. */
static size_t slot_of(const struct plan_sets *s, const uint64_t *words)
{
    size_t i = hash(words, s->words) & s->mask;

    while (s->table[i] >= 0 && memcmp(words_of(s, s->table[i]), words, s->words * sizeof *words))
        i = (i + 1) & s->mask;
    return i;
}

static void make_table(struct plan_sets *s, size_t slots)
{
    free(s->table);
    s->table = must(malloc(slots * sizeof *s->table));
    s->mask = slots - 1;
    for (size_t i = 0; i < slots; i++)
        s->table[i] = -1;
    for (size_t i = 0; i < s->n; i++)
        s->table[slot_of(s, words_of(s, (int)i))] = (int)i;
}

static int kept(struct plan_sets *s, const uint64_t *words)
{
    size_t slot;

    if (2 * s->n >= s->mask)
        make_table(s, 2 * (s->mask + 1));
    slot = slot_of(s, words);
    if (s->table[slot] < 0) {
        s->table[slot] = (int)s->n;
        s->list = grown(s->list, s->n, &s->room, s->words * sizeof *s->list);
        memcpy(&s->list[s->n++ * s->words], words, s->words * sizeof *words);
    }
    return s->table[slot];
}

static struct plan_sets *new_sets(int ranks)
{
    struct plan_sets *s = must(calloc(1, sizeof *s));

    s->words = ((size_t)ranks + 63) / 64;
    make_table(s, 64);
    return s;
}

static int set_of_one(struct plan_sets *s, int rank)
{
    uint64_t *words = must(calloc(s->words, sizeof *words));
    int set;

    words[rank / 64] = (uint64_t)1 << rank % 64;
    set = kept(s, words);
    free(words);
    return set;
}

static int both(struct plan_sets *s, int a, int b)
{
    uint64_t *words = must(malloc(s->words * sizeof *words));
    int set;

    for (size_t i = 0; i < s->words; i++)
        words[i] = words_of(s, a)[i] | words_of(s, b)[i];
    set = kept(s, words);
    free(words);
    return set;
}

bool plan_has(const struct plan *plan, int set, int rank)
{
    return words_of(plan->sets, set)[rank / 64] >> rank % 64 & 1;
}

int plan_size(const struct plan *plan, int set)
{
    int n = 0;

    for (size_t i = 0; i < plan->sets->words; i++)
        n += __builtin_popcountll(words_of(plan->sets, set)[i]);
    return n;
}

void plan_set_text(const struct plan *plan, int set, char *text, size_t size)
{
    size_t n = 0;

    *text = '\0';
    for (int r = 0; r < plan->problem.ranks; r++) {
        int last = r;

        if (!plan_has(plan, set, r))
            continue;
        if (n + 24 > size) {
            snprintf(text + n, size - n, ",...");
            return;
        }
        while (last + 1 < plan->problem.ranks && plan_has(plan, set, last + 1))
            last++;
        n += (size_t)snprintf(text + n, size - n, last > r ? "%s%d-%d" : "%s%d", n ? "," : "", r,
                              last);
        r = last;
    }
}

/* ---- what lies where ------------------------------------------------------------------------- */

/* N elements at AT of a place are elements WHAT.at ... of the vector. */
struct content {
    size_t at;
    struct plan_piece what;
};

struct contents {               /* of one place, ascending and without overlap */
    struct content *list;
    size_t n, room;
};

struct recorder {
    struct plan *plan;
    const struct collopt_pairs *pairs;
    struct contents **place;    /* [ranks][places] */
};

static void add_content(struct contents *c, struct content k)
{
    struct content *last = c->n ? &c->list[c->n - 1] : NULL;

    if (k.what.n == 0)
        return;
    if (last && last->at + last->what.n == k.at && last->what.at + last->what.n == k.what.at
        && last->what.set == k.what.set) {
        last->what.n += k.what.n;
        return;
    }
    c->list = grown(c->list, c->n, &c->room, sizeof *c->list);
    c->list[c->n++] = k;
}

/* The part of K within AT .. END - 1; of no elements where there is none. */
static struct content clipped(struct content k, size_t at, size_t end)
{
    size_t from = k.at > at ? k.at : at, to = k.at + k.what.n < end ? k.at + k.what.n : end;

    if (from >= to)
        return (struct content){ 0 };
    return (struct content){ from, { k.what.at + (from - k.at), to - from, k.what.set } };
}

static struct contents *contents_of(const struct recorder *r, int rank, int place)
{
    if (place == COLLOPT_OUT && (r->plan->how & COLLOPT_IN_PLACE))
        place = COLLOPT_IN;
    return &r->place[rank][place];
}

/* Appends what is in RUN to INTO, as if it lay at OFFSET there. */
static void read_run(const struct recorder *r, int rank, struct collopt_run run, size_t offset,
                     struct contents *into)
{
    const struct contents *c = contents_of(r, rank, run.place);

    for (size_t i = 0; i < c->n; i++) {
        struct content k = clipped(c->list[i], run.at, run.at + run.n);

        k.at += offset - run.at;
        add_content(into, k);
    }
}

/* Writes N elements of FROM, which begin at OFFSET there, to RUN. */
static void write_run(struct recorder *r, int rank, struct collopt_run run, size_t offset,
                      const struct contents *from)
{
    struct contents *c = contents_of(r, rank, run.place), new = { 0 };
    size_t i = 0;

    for (; i < c->n && c->list[i].at < run.at; i++)
        add_content(&new, clipped(c->list[i], 0, run.at));
    for (size_t j = 0; j < from->n; j++) {
        struct content k = clipped(from->list[j], offset, offset + run.n);

        k.at += run.at - offset;
        add_content(&new, k);
    }
    for (i = 0; i < c->n; i++)
        add_content(&new, clipped(c->list[i], run.at + run.n, SIZE_MAX));
    free(c->list);
    *c = new;
}

static void add_piece(struct plan_pieces *p, struct plan_piece piece)
{
    p->list = grown(p->list, p->n, &p->room, sizeof *p->list);
    p->list[p->n++] = piece;
}

static void keep_pieces(struct plan_pieces *p, const struct contents *c)
{
    for (size_t i = 0; i < c->n; i++)
        add_piece(p, c->list[i].what);
}

/* ---- the replay's calls ---------------------------------------------------------------------- */

static void transfer(int from, int to, const struct collopt_message *m, double start, double end,
                     void *data)
{
    struct recorder *r = data;
    struct plan *plan = r->plan;
    struct contents what = { 0 };
    size_t number = r->pairs->first[from] + (size_t)(m - plan->program[from]->message), n = 0;
    const struct collopt_message *received =
        &plan->program[to]->message[r->pairs->mate[number] - r->pairs->first[to]];
    struct plan_transfer t = { .round = (int)(start + 1.5), .from = from, .to = to, .n = m->n };

    (void)end;
    for (int i = 0; i < m->runs; n += m->run[i++].n)
        read_run(r, from, m->run[i], n, &what);
    n = 0;
    for (int i = 0; i < received->runs; n += received->run[i++].n)
        write_run(r, to, received->run[i], n, &what);
    keep_pieces(&t.what, &what);
    free(what.list);
    plan->transfer = grown(plan->transfer, plan->transfers, &plan->transfer_room,
                           sizeof *plan->transfer);
    plan->transfer[plan->transfers++] = t;
}

/* Elements from AT on that are of one piece in all operands. */
static size_t common_stretch(const struct contents *operand, int operands, size_t at,
                             struct plan_piece piece[])
{
    size_t n = SIZE_MAX;

    for (int k = 0; k < operands; k++) {
        const struct content *c = operand[k].list;

        while (c->at + c->what.n <= at)
            c++;
        piece[k] = clipped(*c, at, SIZE_MAX).what;
        n = piece[k].n < n ? piece[k].n : n;
    }
    return n;
}

static void combine(struct recorder *r, struct plan_work *w, const struct contents *operand,
                    size_t n, struct contents *result)
{
    struct plan_piece piece[w->operands];

    for (size_t at = 0; at < n;) {
        size_t stretch = common_stretch(operand, w->operands, at, piece);
        struct content k = { at, piece[0] };

        k.what.n = stretch;
        for (int i = 0; i < w->operands; i++) {
            assert(piece[i].at == k.what.at);
            piece[i].n = stretch;
            add_piece(&w->operand[i], piece[i]);
            k.what.set = both(r->plan->sets, k.what.set, piece[i].set);
        }
        add_piece(&w->what, k.what);
        add_content(result, k);
        at += stretch;
    }
}

static void record_work(struct recorder *r, int rank, int round, struct collopt_run to,
                        int operands, const struct collopt_run *run)
{
    struct plan *plan = r->plan;
    struct contents *operand = must(calloc((size_t)operands, sizeof *operand)), result = { 0 };
    struct plan_work w = { .round = round, .rank = rank, .operands = operands };

    w.operand = must(calloc((size_t)operands, sizeof *w.operand));
    for (int i = 0; i < operands; i++)
        read_run(r, rank, run[i], 0, &operand[i]);
    combine(r, &w, operand, to.n, &result);
    write_run(r, rank, to, 0, &result);
    for (int i = 0; i < w.operands; i++)
        free(operand[i].list);
    free(operand);
    free(result.list);
    plan->work = grown(plan->work, plan->works, &plan->work_room, sizeof *plan->work);
    plan->work[plan->works++] = w;
}

/* Prefixes are shown one after another, each as the one before with one operand more. */
static void work(int rank, const struct collopt_step *step, double start, void *data)
{
    int round = (int)(start + 0.5);

    if (step->kind != COLLOPT_PREFIXES)
        record_work(data, rank, round, step->run[0], step->runs - 1, step->run + 1);
    else
        for (int k = 1; k < step->runs; k++)
            record_work(data, rank, round, step->run[k], 2, &step->run[k - 1]);
}

/* ---- before and after ------------------------------------------------------------------------ */

static void fill_in(struct recorder *r)
{
    const struct collopt_problem *p = &r->plan->problem;

    r->place = must(calloc((size_t)p->ranks, sizeof *r->place));
    for (int k = 0; k < p->ranks; k++) {
        struct content all = { 0, { 0, p->count, set_of_one(r->plan->sets, k) } };

        r->place[k] = must(
            calloc(COLLOPT_FIRST_SLOT + (size_t)r->plan->program[k]->slots, sizeof **r->place));
        add_content(&r->place[k][COLLOPT_IN], all);
    }
}

/* Elements of RANK's result. */
static size_t result_length(const struct collopt_problem *p, int rank)
{
    if ((p->collective == COLLOPT_REDUCE && rank != p->root)
        || (p->collective == COLLOPT_EXSCAN && rank == 0))
        return 0;
    if (!collopt_scatters(p->collective))
        return p->count;
    return p->counts ? p->counts[rank] : p->count / (size_t)p->ranks;
}

/* Whose contributions RANK's result has. */
static int set_of_result(struct plan *plan, int rank)
{
    const struct collopt_problem *p = &plan->problem;
    int last = p->collective == COLLOPT_SCAN ? rank
        : p->collective == COLLOPT_EXSCAN    ? rank - 1
                                             : p->ranks - 1;
    int set = set_of_one(plan->sets, 0);

    for (int k = 1; k <= last; k++)
        set = both(plan->sets, set, set_of_one(plan->sets, k));
    return set;
}

/* The steps shown must compute the collective: a step that was followed wrongly ends here. */
static void check_result(struct plan *plan, int rank)
{
    const struct plan_pieces *result = &plan->result[rank];
    int set = set_of_result(plan, rank);
    size_t n = 0;

    for (size_t i = 0; i < result->n; i++)
        n += result->list[i].set == set ? result->list[i].n : 0;
    if (n != result_length(&plan->problem, rank)) {
        fprintf(stderr,
                "collopt-plan: the result of rank %d is not followed rightly; this is an error in "
                "collopt-plan\n",
                rank);
        abort();
    }
}

static void take_results(struct recorder *r)
{
    const struct collopt_problem *p = &r->plan->problem;

    r->plan->result = must(calloc((size_t)p->ranks, sizeof *r->plan->result));
    for (int k = 0; k < p->ranks; k++) {
        struct contents result = { 0 };

        read_run(r, k, (struct collopt_run){ .place = COLLOPT_OUT, .n = result_length(p, k) }, 0,
                 &result);
        keep_pieces(&r->plan->result[k], &result);
        check_result(r->plan, k);
        free(result.list);
        for (int i = 0; i < COLLOPT_FIRST_SLOT + r->plan->program[k]->slots; i++)
            free(r->place[k][i].list);
        free(r->place[k]);
    }
    free(r->place);
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static void cut_at(struct plan *plan, size_t *room, const struct plan_pieces *p)
{
    for (size_t i = 0; i < p->n; i++)
        for (int end = 0; end < 2; end++) {
            plan->start = grown(plan->start, plan->blocks, room, sizeof *plan->start);
            plan->start[plan->blocks++] = p->list[i].at + (end ? p->list[i].n : 0);
        }
}

static void find_blocks(struct plan *plan)
{
    struct plan_piece all = { 0, plan->problem.count, 0 };
    struct plan_pieces whole = { &all, 1, 1 };
    size_t room = 0, n = 0;

    cut_at(plan, &room, &whole);
    for (size_t i = 0; i < plan->transfers; i++)
        cut_at(plan, &room, &plan->transfer[i].what);
    for (int k = 0; k < plan->problem.ranks; k++)
        cut_at(plan, &room, &plan->result[k]);
    qsort(plan->start, plan->blocks, sizeof *plan->start, by_size);
    for (size_t i = 0; i < plan->blocks; i++)
        if (i == 0 || plan->start[i] != plan->start[n - 1])
            plan->start[n++] = plan->start[i];
    plan->blocks = n - 1;
}

size_t plan_blocks(const struct plan *plan, const struct plan_piece *piece, size_t *first)
{
    size_t low = 0, high = plan->blocks, n = 0;

    while (low + 1 < high) {
        size_t middle = (low + high) / 2;

        *(plan->start[middle] <= piece->at ? &low : &high) = middle;
    }
    *first = low;
    while (low + n < plan->blocks && plan->start[low + n] < piece->at + piece->n)
        n++;
    return n;
}

/* Strands are replayed in turns; for readers, ranks follow one another. */
static int by_sender(const void *a, const void *b)
{
    const struct plan_transfer *x = a, *y = b;

    return x->round != y->round ? x->round - y->round : x->from - y->from;
}

static int by_rank(const void *a, const void *b)
{
    const struct plan_work *x = a, *y = b;

    if (x->round != y->round || x->rank != y->rank)
        return x->round != y->round ? x->round - y->round : x->rank - y->rank;
    return x->order - y->order;
}

static void sort(struct plan *plan)
{
    for (size_t i = 0; i < plan->works; i++)
        plan->work[i].order = (int)i;
    if (plan->transfers > 0)
        qsort(plan->transfer, plan->transfers, sizeof *plan->transfer, by_sender);
    if (plan->works > 0)
        qsort(plan->work, plan->works, sizeof *plan->work, by_rank);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool make_programs(struct plan *plan)
{
    const struct collopt_problem *p = &plan->problem;

    plan->program = must(calloc((size_t)p->ranks, sizeof *plan->program));
    for (int k = 0; k < p->ranks; k++) {
        struct collopt_schedule *s = collopt_schedule_new(plan->choice.algorithm, p, k, plan->how);

        plan->program[k] = s ? collopt_bind(s, p, NULL) : NULL;
        collopt_schedule_free(s);
        if (!plan->program[k]) {
            fputs("collopt-plan: out of memory\n", stderr);
            return false;
        }
    }
    return true;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void add_up(struct plan *plan)
{
    struct plan_totals *t = &plan->totals;

    for (int k = 0; k < plan->problem.ranks; k++) {
        struct collopt_load load;

        collopt_weigh(plan->program[k], &load);
        t->messages += load.sends;
        t->moved = larger(t->moved, larger(load.sent, load.received));
        t->combined = larger(t->combined, load.combined);
        t->scratch = larger(t->scratch, load.scratch);
        t->copied = larger(t->copied, load.copied);
    }
}

static bool replay(struct plan *plan)
{
    struct recorder r = { .plan = plan };
    const struct collopt_clock rounds = { .alpha = 1,
                                          .transfer = transfer,
                                          .work = work,
                                          .data = &r };
    struct collopt_clock seconds = plan->machine;
    struct collopt_pairs pairs;
    char why[256];
    double end;

    if (!collopt_pair(&pairs, plan->problem.ranks,
                      (const struct collopt_bound *const *)plan->program, why, sizeof why)) {
        fprintf(stderr, "collopt-plan: %s\n", why);
        return false;
    }
    r.pairs = &pairs;
    fill_in(&r);
    end = collopt_replay(&pairs, &rounds, NULL);
    take_results(&r);
    plan->totals.rounds = (int)(end + 0.5);
    seconds.beta *= (double)plan->problem.size;
    seconds.gamma *= (double)plan->problem.size;
    plan->totals.seconds = collopt_replay(&pairs, &seconds, NULL);
    collopt_unpair(&pairs);
    if (end < 0)
        fputs("collopt-plan: the replay does not come to an end\n", stderr);
    return end >= 0;
}

bool plan_make(struct plan *plan)
{
    plan->sets = new_sets(plan->problem.ranks);
    if (!make_programs(plan) || !replay(plan))
        return false;
    sort(plan);
    add_up(plan);
    find_blocks(plan);
    return true;
}

static void free_work(struct plan_work *w)
{
    free(w->what.list);
    for (int i = 0; i < w->operands; i++)
        free(w->operand[i].list);
    free(w->operand);
}

void plan_free(struct plan *plan)
{
    for (int k = 0; k < plan->problem.ranks; k++) {
        if (plan->program)
            collopt_bound_free(plan->program[k]);
        if (plan->result)
            free(plan->result[k].list);
    }
    for (size_t i = 0; i < plan->transfers; i++)
        free(plan->transfer[i].what.list);
    for (size_t i = 0; i < plan->works; i++)
        free_work(&plan->work[i]);
    free(plan->program);
    free(plan->result);
    free(plan->transfer);
    free(plan->work);
    free(plan->start);
    if (plan->sets) {
        free(plan->sets->list);
        free(plan->sets->table);
    }
    free(plan->sets);
}

/* ---- words that all formats use -------------------------------------------------------------- */

void plan_title(const struct plan *plan, char *text, size_t size)
{
    const struct collopt_problem *p = &plan->problem;
    char choice[400];
    int n;

    collopt_choice_text(&plan->choice, choice, sizeof choice);
    n = snprintf(text, size, "%s by %s, %d rank%s, %zu element%s of %zu byte%s",
                 collopt_collective_names[p->collective], choice, p->ranks,
                 p->ranks == 1 ? "" : "s", p->count, p->count == 1 ? "" : "s", p->size,
                 p->size == 1 ? "" : "s");
    if (p->collective == COLLOPT_REDUCE && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, ", root %d", p->root);
}

void plan_seconds_text(double seconds, char *text, size_t size)
{
    static const struct { double one; const char *name; } units[] = {
        { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" }, { 1e-9, "ns" },
    };
    int i = 0;

    while (i < 3 && seconds < units[i].one)
        i++;
    snprintf(text, size, "%.4g %s", seconds / units[i].one, units[i].name);
}
