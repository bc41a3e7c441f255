/* Finds out where ranks are; see diagnosis.h. */
#include "config.h"

#include "recorder/diagnosis.h"
#include "base/list.h"
#include "schedule/problem.h"

#include <stdlib.h>
#include <string.h>

uint64_t collopt_age(const struct collopt_snapshot *s, const struct collopt_seen_call *c)
{
    return s->other_clock || c->entered > s->taken ? UINT64_MAX : s->taken - c->entered;
}

/* ---- communicators --------------------------------------------------------------------------- */

static bool is_agreed(const struct collopt_seen_comm *c)
{
    return c->flags & COLLOPT_RECORDED_AGREED;
}

/* Communicators that compare equal are one, as far as is known: ids that are not agreed stand for a
 * list of ranks, and names help. */
static int compare_comms(const struct collopt_seen_comm *a, const struct collopt_seen_comm *b)
{
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    if (is_agreed(a) != is_agreed(b))
        return is_agreed(a) - is_agreed(b);
    if (a->ranks != b->ranks)
        return a->ranks < b->ranks ? -1 : 1;
    return is_agreed(a) ? 0 : strcmp(a->name, b->name);
}

static int by_comm_and_rank(const void *a, const void *b)
{
    const struct collopt_place *x = a, *y = b;
    int order = compare_comms(x->comm, y->comm);

    if (order == 0 && x->rank != y->rank)
        order = x->rank < y->rank ? -1 : 1;
    return order ? order : (x->who > y->who) - (x->who < y->who);
}

/* Calls of an earlier communicator in the same place have lower sequences. */
static void find_latest(const struct collopt_snapshot *s, struct collopt_place *p)
{
    for (size_t i = 0; i < s->calls; i++) {
        const struct collopt_seen_call *c = &s->call[i];

        if (c->comm != (int)(p->comm - s->comm))
            continue;
        if (c->mode == COLLOPT_RECORDED_START && c->number == p->comm->starts)
            p->start = c;
        else if (c->mode != COLLOPT_RECORDED_START && c->number == p->comm->calls)
            p->call = c;
        if (c->state == COLLOPT_RECORDED_AWAITED)
            p->awaited = c;
    }
}

static bool list_places(struct collopt_job *job, size_t *n)
{
    for (size_t w = 0; w < job->n; w++) {
        const struct collopt_snapshot *s = job->who[w];

        for (size_t i = 0; i < s->comms; i++) {
            struct collopt_place *p;

            if (s->comm[i].flags & COLLOPT_RECORDED_INTER)
                continue;
            if (!collopt_room(job->places, *n))
                return false;
            p = &job->places[(*n)++];
            *p = (struct collopt_place){ .rank = s->comm[i].rank, .who = w, .comm = &s->comm[i] };
            find_latest(s, p);
        }
    }
    return true;
}

static void describe_group(struct collopt_group *g)
{
    g->comm = g->place[0].comm;
    g->agreed = is_agreed(g->comm);
    for (size_t i = 0; i < g->n; i++) {
        if (!g->comm->member && g->place[i].comm->member)
            g->comm = g->place[i].comm;
        if (i > 0 && g->place[i].rank == g->place[i - 1].rank)
            g->several = true;
    }
}

static bool find_groups(struct collopt_job *job)
{
    size_t n = 0, end;

    if (!list_places(job, &n))
        return false;
    if (n > 0)
        qsort(job->places, n, sizeof *job->places, by_comm_and_rank);
    for (size_t i = 0; i < n; i = end) {
        struct collopt_group *g;

        for (end = i + 1; end < n && !compare_comms(job->places[i].comm, job->places[end].comm);)
            end++;
        if (!collopt_room(job->group, job->groups))
            return false;
        g = &job->group[job->groups++];
        *g = (struct collopt_group){ .n = end - i, .place = &job->places[i] };
        describe_group(g);
    }
    return true;
}

const struct collopt_place *collopt_place_of(const struct collopt_group *g, int rank)
{
    size_t from = 0, to = g->n;

    while (from < to) {
        size_t middle = (from + to) / 2;

        if (g->place[middle].rank == rank)
            return &g->place[middle];
        if (g->place[middle].rank < rank)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

/* ---- who waits ------------------------------------------------------------------------------- */

/* The call in which the rank stands still; STARTED: that it has started and that is not done.  Of
 * those that the MPI library runs it is not known when they are done. */
static const struct collopt_seen_call *stands_in(const struct collopt_job *job,
                                                 const struct collopt_place *p, bool started)
{
    if (job->who[p->who]->moved)
        return NULL;
    if (!started)
        return p->call && p->call->state == COLLOPT_RECORDED_INSIDE ? p->call : p->awaited;
    for (int i = 0; i < 2; i++) {
        const struct collopt_seen_call *c = i ? p->start : p->call;

        if (c && c->state == COLLOPT_RECORDED_STARTED && c->bytes != UINT64_MAX)
            return c;
    }
    return NULL;
}

static bool is_start(const struct collopt_seen_call *c)
{
    return c->mode == COLLOPT_RECORDED_START;
}

bool collopt_only_starts(const struct collopt_seen_call *c)
{
    return c->mode == COLLOPT_RECORDED_NONBLOCKING || is_start(c);
}

/* How far the rank has come on the communicator. */
static uint32_t reached(const struct collopt_place *p, const struct collopt_seen_call *c)
{
    return is_start(c) ? p->comm->starts : p->comm->calls;
}

static struct collopt_waiting *wait_for(struct collopt_job *job, const struct collopt_group *g,
                                        const struct collopt_seen_call *c, bool started)
{
    struct collopt_waiting *w;

    for (size_t i = 0; i < job->waits; i++) {
        w = &job->waiting[i];
        if (w->group == g && w->number == c->number && w->started == started
            && is_start(w->call) == is_start(c))
            return w;
    }
    if (!collopt_room(job->waiting, job->waits))
        return NULL;
    w = &job->waiting[job->waits++];
    *w = (struct collopt_waiting){ .group = g, .call = c, .started = started, .number = c->number,
                                   .around = -1 };
    return w;
}

static uint64_t longer_of(uint64_t a, uint64_t b)
{
    if (a == UINT64_MAX || b == UINT64_MAX)
        return a == UINT64_MAX ? b : a;
    return a > b ? a : b;
}

static bool add_to(struct collopt_waiting *w, const struct collopt_place *p, uint64_t age)
{
    if (!w || !collopt_room(w->place, w->n))
        return false;
    w->place[w->n++] = p;
    w->since = w->n == 1 ? age : longer_of(w->since, age);
    return true;
}

static bool find_who_waits(struct collopt_job *job, const struct collopt_group *g, uint64_t longer)
{
    for (size_t i = 0; i < g->n; i++)
        for (int started = 0; started < 2; started++) {
            const struct collopt_place *p = &g->place[i];
            const struct collopt_seen_call *c = stands_in(job, p, started);
            uint64_t age = c ? collopt_age(job->who[p->who], c) : 0;

            if (c && age >= longer && !add_to(wait_for(job, g, c, started), p, age))
                return false;
        }
    return true;
}

static int by_group_and_number(const void *a, const void *b)
{
    const struct collopt_waiting *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->started != y->started)
        return x->started - y->started;
    return (x->number > y->number) - (x->number < y->number);
}

static bool find_all_who_wait(struct collopt_job *job, uint64_t longer)
{
    for (size_t i = 0; i < job->groups; i++)
        if (!find_who_waits(job, &job->group[i], longer))
            return false;
    if (job->waits > 0)
        qsort(job->waiting, job->waits, sizeof *job->waiting, by_group_and_number);
    return true;
}

static bool find_seats(struct collopt_job *job)
{
    job->sits = malloc(job->n * sizeof *job->sits);
    for (size_t w = 0; job->sits && w < job->n; w++)
        job->sits[w] = -1;
    for (size_t i = 0; job->sits && i < job->waits; i++)
        for (size_t k = 0; !job->waiting[i].started && k < job->waiting[i].n; k++)
            job->sits[job->waiting[i].place[k]->who] = (int)i;
    return job->sits;
}

const struct collopt_waiting *collopt_sits_in(const struct collopt_job *job, size_t who)
{
    return job->sits[who] < 0 ? NULL : &job->waiting[job->sits[who]];
}

/* ---- who is not there ------------------------------------------------------------------------ */

static bool find_who(const struct collopt_job *job, int rank, size_t *who)
{
    size_t from = 0, to = job->n;

    while (from < to) {
        size_t middle = (from + to) / 2;

        *who = middle;
        if (job->who[middle]->rank == rank)
            return true;
        if (job->who[middle]->rank < rank)
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

static bool add_absent(struct collopt_waiting *w, int rank, size_t who,
                       const struct collopt_place *p)
{
    if (!collopt_room(w->absent, w->absents))
        return false;
    w->absent[w->absents++] = (struct collopt_absent){ .rank = rank, .who = who, .place = p };
    return true;
}

/* Ranks whose processes are there and that have not reduced on the communicator. */
static bool find_strangers(const struct collopt_job *job, struct collopt_waiting *w)
{
    const struct collopt_seen_comm *c = w->group->comm;
    size_t who;

    if (c->flags & COLLOPT_RECORDED_WORLD) {
        for (who = 0; who < job->n; who++)
            if (job->who[who]->rank < c->ranks && !collopt_place_of(w->group, job->who[who]->rank)
                && !add_absent(w, job->who[who]->rank, who, NULL))
                return false;
        return true;
    }
    for (int r = 0; c->member && r < c->ranks; r++)
        if (!collopt_place_of(w->group, r) && find_who(job, c->member[r], &who)
            && !add_absent(w, r, who, NULL))
            return false;
    return true;
}

/* Has this process a communicator with the same ranks under another id?  Then it may be on the way
 * from one to the other, and be there. */
static bool may_be_there(const struct collopt_snapshot *s, const struct collopt_seen_comm *c)
{
    for (size_t i = 0; i < s->comms; i++) {
        const struct collopt_seen_comm *o = &s->comm[i];

        if (o->ranks == c->ranks && is_agreed(o) != is_agreed(c) && o->id != c->id
            && (o->flags & c->flags & COLLOPT_RECORDED_WORLD
                || (o->member && c->member
                    && !memcmp(o->member, c->member, (size_t)c->ranks * sizeof *c->member))))
            return true;
    }
    return false;
}

/* The doubtful ones to the end. */
static void part_doubtful(const struct collopt_job *job, struct collopt_waiting *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->absents; i++) {
        struct collopt_absent a = w->absent[i];

        if (!a.place && may_be_there(job->who[a.who], w->group->comm))
            continue;
        w->absent[i] = w->absent[n];
        w->absent[n++] = a;
    }
    w->doubtful = w->absents - n;
    w->absents = n;
}

static int by_rank(const void *a, const void *b)
{
    const struct collopt_absent *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Of a call that only starts something this is not known. */
static bool has_left(const struct collopt_place *p, const struct collopt_waiting *w)
{
    const struct collopt_seen_call *c = p->call;

    if (collopt_only_starts(w->call))
        return false;
    return reached(p, w->call) > w->number
        || (reached(p, w->call) == w->number && c && c->state == COLLOPT_RECORDED_DONE);
}

static bool find_absents(const struct collopt_job *job, struct collopt_waiting *w)
{
    const struct collopt_group *g = w->group;
    size_t here = 0;

    if (g->several)
        return true;
    for (size_t i = 0; i < g->n; i++) {
        const struct collopt_place *p = &g->place[i];
        bool there = reached(p, w->call) >= w->number;

        here += there;
        w->left += has_left(p, w);
        if (!there && !add_absent(w, p->rank, p->who, p))
            return false;
    }
    if (!find_strangers(job, w))
        return false;
    w->unseen = g->comm->ranks - (int)(here + w->absents);
    part_doubtful(job, w);
    if (w->absents > 0)
        qsort(w->absent, w->absents, sizeof *w->absent, by_rank);
    return true;
}

/* ---- calls that do not match ----------------------------------------------------------------- */

/* The call with this number, the latest one of all communicators that had the place. */
static const struct collopt_seen_call *call_of(const struct collopt_job *job,
                                               const struct collopt_place *p, uint32_t number)
{
    const struct collopt_snapshot *s = job->who[p->who];
    const struct collopt_seen_call *found = NULL;

    for (size_t i = 0; number <= p->comm->calls && i < s->calls; i++)
        if (s->call[i].comm == (int)(p->comm - s->comm) && s->call[i].number == number
            && !is_start(&s->call[i]))
            found = &s->call[i];
    return found;
}

/* Elements may be grouped into datatypes in several ways, so bytes tell more where they are
 * known. */
static bool match(const struct collopt_seen_call *a, const struct collopt_seen_call *b)
{
    if (a->collective != b->collective || a->mode != b->mode || a->root != b->root)
        return false;
    if (a->bytes != UINT64_MAX && b->bytes != UINT64_MAX)
        return a->bytes == b->bytes;
    return a->count == b->count || a->count == UINT64_MAX || b->count == UINT64_MAX;
}

static int kind_of(const struct collopt_mismatch *m, const struct collopt_seen_call *c)
{
    for (size_t i = 0; i < m->n; i++)
        if (match(m->rank[i].call, c))
            return m->rank[i].kind;
    return m->kinds;
}

static int most_common(const struct collopt_mismatch *m)
{
    for (int k = 0; k < m->kinds; k++) {
        size_t n = 0;

        for (size_t i = 0; i < m->n; i++)
            n += m->rank[i].kind == k;
        if (2 * n > m->n)
            return k;
    }
    return -1;
}

static bool compare_calls(const struct collopt_job *job, const struct collopt_group *g,
                          uint32_t number, struct collopt_mismatch *m)
{
    *m = (struct collopt_mismatch){ .group = g, .number = number };
    for (size_t i = 0; i < g->n; i++) {
        const struct collopt_seen_call *c = call_of(job, &g->place[i], number);
        int kind;

        if (!c || job->who[g->place[i].who]->changing)
            continue;
        if (!collopt_room(m->rank, m->n))
            return false;
        kind = kind_of(m, c);
        m->rank[m->n++] = (struct collopt_differing){ &g->place[i], c, kind };
        m->kinds += kind == m->kinds;
    }
    m->most = most_common(m);
    return true;
}

/* The first call on G that does not match, as far back as is known. */
static bool find_mismatch(struct collopt_job *job, const struct collopt_group *g, uint32_t last)
{
    uint32_t calls = last > COLLOPT_RECORDED_CALLS ? COLLOPT_RECORDED_CALLS + 1 : last;

    while (calls-- > 0) {       /* LAST may be the largest number that there is */
        struct collopt_mismatch m;

        if (!compare_calls(job, g, last - calls, &m)
            || !collopt_room(job->mismatch, job->mismatches)) {
            free(m.rank);
            return false;
        }
        if (m.kinds > 1) {
            job->mismatch[job->mismatches++] = m;
            return true;
        }
        free(m.rank);
    }
    return true;
}

static const struct collopt_mismatch *mismatch_of(const struct collopt_job *job,
                                                  const struct collopt_group *g)
{
    for (size_t i = 0; i < job->mismatches; i++)
        if (job->mismatch[i].group == g)
            return &job->mismatch[i];
    return NULL;
}

static bool find_mismatches(struct collopt_job *job)
{
    for (size_t g = 0; g < job->groups; g++) {
        uint32_t last = 0;

        for (size_t i = 0; i < job->waits; i++)
            if (job->waiting[i].group == &job->group[g] && !is_start(job->waiting[i].call)
                && job->waiting[i].number > last)
                last = job->waiting[i].number;
        if (last > 0 && !job->group[g].several && !find_mismatch(job, &job->group[g], last))
            return false;
    }
    return true;
}

/* ---- circles --------------------------------------------------------------------------------- */

/* A rank that is absent from FROM and sits in TO; NULL: there is none. */
static const struct collopt_absent *link(const struct collopt_job *job,
                                         const struct collopt_waiting *from,
                                         const struct collopt_waiting *to)
{
    for (size_t i = 0; i < from->absents; i++)
        if (collopt_sits_in(job, from->absent[i].who) == to)
            return &from->absent[i];
    return NULL;
}

/* Marks the circle that ends a way from START over the waits that BEFORE leads back through. */
static void mark(struct collopt_job *job, const int *before, int start, int last)
{
    int to = start;

    for (int at = last;; at = before[at]) {
        job->waiting[at].around = to;
        job->waiting[at].by = *link(job, &job->waiting[at], &job->waiting[to]);
        to = at;
        if (at == start)
            return;
    }
}

/* The shortest way from START back to it, breadth first. */
static void find_circle(struct collopt_job *job, int start, int *before, int *queue)
{
    int head = 0, tail = 0;

    for (size_t i = 0; i < job->waits; i++)
        before[i] = -1;
    queue[tail++] = start;
    before[start] = start;
    while (head < tail) {
        int at = queue[head++];

        for (int to = 0; to < (int)job->waits; to++) {
            if (job->waiting[to].started || job->waiting[to].around >= 0
                || !link(job, &job->waiting[at], &job->waiting[to]))
                continue;
            if (to == start) {
                mark(job, before, start, at);
                return;
            }
            if (before[to] < 0) {
                before[to] = at;
                queue[tail++] = to;
            }
        }
    }
}

static bool find_circles(struct collopt_job *job)
{
    int *before = malloc((job->waits + 1) * sizeof *before);
    int *queue = malloc((job->waits + 1) * sizeof *queue);

    for (int i = 0; before && queue && i < (int)job->waits; i++)
        if (!job->waiting[i].started && job->waiting[i].around < 0)
            find_circle(job, i, before, queue);
    free(before);
    free(queue);
    return before && queue;
}

bool collopt_begins_circle(const struct collopt_job *job, int at)
{
    if (job->waiting[at].around < 0)
        return false;
    for (int i = job->waiting[at].around; i != at; i = job->waiting[i].around)
        if (i < at)
            return false;
    return true;
}

/* ---- who is to blame ------------------------------------------------------------------------- */

static bool accuse(struct collopt_job *job, size_t who, enum collopt_blame blame,
                   const struct collopt_waiting *w)
{
    for (size_t i = 0; i < job->culprits; i++)
        if (job->culprit[i].who == who)
            return true;
    if (!collopt_room(job->culprit, job->culprits))
        return false;
    job->culprit[job->culprits++] = (struct collopt_culprit){ who, blame, w };
    return true;
}

static bool is_stopped(const struct collopt_snapshot *s)
{
    return s->status == 'T' || s->status == 't';
}

static enum collopt_blame blame_of(const struct collopt_snapshot *s)
{
    if (s->status == 'X' || s->status == 'Z')
        return COLLOPT_BLAME_ENDED;
    if (is_stopped(s))
        return COLLOPT_BLAME_STOPPED;
    if (s->moved)
        return COLLOPT_BLAME_RUNS;
    if (s->queued)
        return COLLOPT_BLAME_QUEUED;
    return s->life == COLLOPT_RECORDED_FINALIZES ? COLLOPT_BLAME_FINALIZES : COLLOPT_BLAME_OUTSIDE;
}

/* Those who are stopped or have ended in a call are waited for by all others. */
static bool accuse_dead(struct collopt_job *job, const struct collopt_waiting *w)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct collopt_snapshot *s = job->who[w->place[i]->who];
        enum collopt_blame blame = blame_of(s);

        if ((blame == COLLOPT_BLAME_ENDED || blame == COLLOPT_BLAME_STOPPED)
            && !accuse(job, w->place[i]->who, blame, w))
            return false;
    }
    return true;
}

static bool accuse_absent(struct collopt_job *job, const struct collopt_waiting *w)
{
    for (size_t i = 0; i < w->absents; i++) {
        size_t who = w->absent[i].who;

        if (!collopt_sits_in(job, who) && !accuse(job, who, blame_of(job->who[who]), w))
            return false;
    }
    return true;
}

/* All have entered W.  Who is the only one there that has not left is not waited for by the others
 * in this call, but in the next. */
static bool accuse_inside(struct collopt_job *job, const struct collopt_waiting *w)
{
    size_t before = job->culprits, first = w->place[0]->who;

    for (size_t i = 0; i < w->n; i++)
        if (w->place[i]->call && w->place[i]->call->waits_for == w->place[i]->rank
            && !accuse(job, w->place[i]->who, COLLOPT_BLAME_COMBINES, w))
            return false;
    return job->culprits > before || !w->group->agreed || w->n > 1
        || w->left != w->group->comm->ranks - 1
        || accuse(job, first,
                  job->who[first]->queued ? COLLOPT_BLAME_QUEUED : COLLOPT_BLAME_LAST, w);
}

static bool accuse_differing(struct collopt_job *job, const struct collopt_mismatch *m,
                             const struct collopt_waiting *w)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->rank[i].kind != m->most
            && !accuse(job, m->rank[i].place->who, COLLOPT_BLAME_DIFFERS, w))
            return false;
    return true;
}

/* What follows a call that does not match says nothing any more. */
static bool find_culprits(struct collopt_job *job)
{
    bool good = true;

    for (size_t i = 0; good && i < job->waits; i++)
        good = job->waiting[i].started || accuse_dead(job, &job->waiting[i]);
    for (size_t i = 0; good && i < job->waits; i++) {
        const struct collopt_waiting *w = &job->waiting[i];
        const struct collopt_mismatch *m = mismatch_of(job, w->group);

        if (w->started || w->group->several)
            continue;
        if (m)
            good = !m->group->agreed || accuse_differing(job, m, w);
        else if (w->absents > 0)
            good = accuse_absent(job, w);
        else if (w->unseen == 0 && w->doubtful == 0 && job->culprits == 0)
            good = accuse_inside(job, w);
    }
    return good;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static int by_job_and_rank(const void *a, const void *b)
{
    const struct collopt_snapshot *x = *(const struct collopt_snapshot *const *)a;
    const struct collopt_snapshot *y = *(const struct collopt_snapshot *const *)b;

    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->taken < y->taken) - (x->taken > y->taken);       /* the latest first */
}

bool collopt_first_of_host(const struct collopt_job *job, size_t who)
{
    for (size_t i = who; i-- > 0;)              /* neighbours mostly share one */
        if (strcmp(job->who[i]->host, job->who[who]->host) == 0)
            return false;
    return true;
}

static bool is_complete(const struct collopt_job *job)
{
    int64_t ranks = 0;

    for (size_t i = 0; i < job->n; i++)
        if (job->who[i]->local_ranks > 0 && collopt_first_of_host(job, i))
            ranks += job->who[i]->local_ranks;
    return ranks >= job->ranks;
}

/* What a snapshot says may be over when a later one is taken on another node. */
static uint64_t spread_of(const struct collopt_job *job)
{
    uint64_t first = job->who[0]->real, last = first;

    for (size_t i = 1; i < job->n; i++) {
        first = job->who[i]->real < first ? job->who[i]->real : first;
        last = job->who[i]->real > last ? job->who[i]->real : last;
    }
    return last - first;
}

static bool examine(struct collopt_job *job, uint64_t longer)
{
    job->id = job->who[0]->job;
    job->ranks = job->who[0]->ranks;
    job->complete = is_complete(job);
    job->spread = spread_of(job);
    if (!find_groups(job) || !find_all_who_wait(job, longer + job->spread) || !find_seats(job))
        return false;
    for (size_t i = 0; i < job->waits; i++)
        if (!find_absents(job, &job->waiting[i]))
            return false;
    return find_mismatches(job) && find_circles(job) && find_culprits(job);
}

/* Of the snapshots of one rank the latest counts. */
static bool collect(struct collopt_diagnosis *d, const struct collopt_snapshot *s)
{
    struct collopt_job *job = d->jobs > 0 ? &d->job[d->jobs - 1] : NULL;

    if (!job || job->who[0]->job != s->job) {
        if (!collopt_room(d->job, d->jobs))
            return false;
        job = &d->job[d->jobs++];
        memset(job, 0, sizeof *job);
    } else if (job->who[job->n - 1]->rank == s->rank) {
        return true;
    }
    if (!collopt_room(job->who, job->n)) {
        d->jobs -= job->n == 0;
        return false;
    }
    job->who[job->n++] = s;
    return true;
}

static bool collect_all(struct collopt_diagnosis *d, const struct collopt_snapshot *list, size_t n)
{
    const struct collopt_snapshot **sorted = malloc((n + 1) * sizeof *sorted);
    size_t known = 0;
    bool good = sorted;

    for (size_t i = 0; good && i < n; i++)
        if (list[i].version == COLLOPT_RECORDER_VERSION && list[i].rank >= 0)
            sorted[known++] = &list[i];
    d->others = n - known;
    if (known > 0)
        qsort(sorted, known, sizeof *sorted, by_job_and_rank);
    for (size_t i = 0; good && i < known; i++)
        good = collect(d, sorted[i]);
    free(sorted);
    return good;
}

struct collopt_diagnosis *collopt_diagnose(const struct collopt_snapshot *list, size_t n,
                                           uint64_t longer)
{
    struct collopt_diagnosis *d = calloc(1, sizeof *d);
    bool good = d && collect_all(d, list, n);

    for (size_t i = 0; good && i < d->jobs; i++)
        good = examine(&d->job[i], longer);
    if (good)
        return d;
    collopt_diagnosis_free(d);
    return NULL;
}

static void free_job(struct collopt_job *job)
{
    for (size_t i = 0; i < job->waits; i++) {
        free(job->waiting[i].place);
        free(job->waiting[i].absent);
    }
    for (size_t i = 0; i < job->mismatches; i++)
        free(job->mismatch[i].rank);
    free(job->who);
    free(job->group);
    free(job->waiting);
    free(job->mismatch);
    free(job->culprit);
    free(job->places);
    free(job->sits);
}

void collopt_diagnosis_free(struct collopt_diagnosis *d)
{
    for (size_t i = 0; d && i < d->jobs; i++)
        free_job(&d->job[i]);
    if (d)
        free(d->job);
    free(d);
}
