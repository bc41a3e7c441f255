/* Words for a diagnosis; see sentences.h. */
#include "config.h"

#include "recorder/sentences.h"
#include "schedule/problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 600,
    RANGES = 20,                /* that a line tells */
    SOME = 8                    /* ranks that are told one by one */
};
static const uint64_t APART = 1000000000;       /* ns between two looks that are worth a word */

/* ---- parts ----------------------------------------------------------------------------------- */

void collopt_add_process(struct collopt_text *t, const struct collopt_snapshot *s)
{
    collopt_add(t, "rank %d (pid %d, host %s)", s->rank, s->pid, s->host);
}

void collopt_add_group(struct collopt_text *t, const struct collopt_group *g)
{
    const struct collopt_seen_comm *c = g->comm;

    if (strncmp(c->name, "MPI_COMM_", 9) == 0)
        collopt_add(t, "%s", c->name);
    else if (c->name[0])
        collopt_add(t, "\"%s\"", c->name);
    else
        collopt_add(t, "a communicator without a name");
}

static void add_seconds(struct collopt_text *t, uint64_t ns)
{
    if (ns == UINT64_MAX)
        collopt_add(t, "a time that is not known");
    else
        collopt_add(t, "%" PRIu64 ".%" PRIu64 " s", ns / 1000000000, ns / 100000000 % 10);
}

void collopt_add_function(struct collopt_text *t, const struct collopt_seen_call *c)
{
    const char *name = collopt_collective_names[c->collective];

    if (c->mode == COLLOPT_RECORDED_NONBLOCKING)
        collopt_add(t, "MPI_I%s", name);
    else
        collopt_add(t, "MPI_%c%s%s", name[0] - 'a' + 'A', name + 1,
                    c->mode == COLLOPT_RECORDED_BLOCKING ? "" : "_init");
}

/* MPI_Reduce number 7 (root 0, 8 B) */
static void add_call(struct collopt_text *t, const struct collopt_seen_call *c)
{
    const char *between = " (";

    if (c->mode == COLLOPT_RECORDED_START)
        collopt_add(t, "MPI_Start of ");
    collopt_add_function(t, c);
    collopt_add(t, " number %" PRIu32, c->number);
    if (c->root >= 0) {
        collopt_add(t, "%sroot %d", between, c->root);
        between = ", ";
    }
    if (c->bytes != UINT64_MAX)
        collopt_add(t, "%s%" PRIu64 " B", between, c->bytes);
    else if (c->count != UINT64_MAX)
        collopt_add(t, "%scount %" PRIu64, between, c->count);
    else if (between[0] == ' ')
        return;
    collopt_add(t, ")");
}

/* A list of ranks in growing order, as 0-3, 7. */
struct ranges {
    struct collopt_text *t;
    int64_t from, to;
    int told;
};

static void add_range(struct ranges *r)
{
    if (r->told == RANGES)
        collopt_add(r->t, " and others");
    else if (r->told < RANGES)
        collopt_add(r->t, r->to > r->from ? "%s%" PRId64 "-%" PRId64 : "%s%" PRId64,
                    r->told ? ", " : "", r->from, r->to);
    r->told++;
}

static void add_rank(struct ranges *r, int64_t from, int64_t to)
{
    if (r->to >= r->from && from <= r->to + 1) {
        r->to = to > r->to ? to : r->to;
        return;
    }
    if (r->to >= r->from)
        add_range(r);
    r->from = from;
    r->to = to;
}

static void end_ranges(struct ranges *r)
{
    if (r->to >= r->from)
        add_range(r);
}

static void add_places(struct collopt_text *t, const struct collopt_waiting *w)
{
    struct ranges r = { .t = t, .to = -1 };

    for (size_t i = 0; i < w->n; i++)
        add_rank(&r, w->place[i]->rank, w->place[i]->rank);
    end_ranges(&r);
}

static const char *status_of(const struct collopt_snapshot *s)
{
    switch (s->status) {
    case 'R': return s->queued ? "ready to run, and seems to wait for a processor" : "running";
    case 'S': return "asleep";
    case 'D': return "waiting for a file or a device";
    case 'T': return "stopped by a signal";
    case 't': return "stopped by a debugger";
    case 'Z':
    case 'X': return "ended";
    default:  return "in a state that is not known";
    }
}

static void add_status(struct collopt_text *t, const struct collopt_snapshot *s)
{
    collopt_add(t, "%s", status_of(s));
    if (s->sleeps_in[0] && (s->status == 'S' || s->status == 'D'))
        collopt_add(t, " in %s", s->sleeps_in);
}

/* ---- who waits ------------------------------------------------------------------------------- */

/* Something is known to be wrong with the call, or with one before. */
static const struct collopt_mismatch *mismatch_before(const struct collopt_job *job,
                                                      const struct collopt_waiting *w)
{
    for (size_t i = 0; i < job->mismatches; i++)
        if (job->mismatch[i].group == w->group && job->mismatch[i].number <= w->number)
            return &job->mismatch[i];
    return NULL;
}

static void add_waiting(struct collopt_text *t, const struct collopt_job *job,
                        const struct collopt_waiting *w)
{
    const struct collopt_mismatch *m = mismatch_before(job, w);

    collopt_add_group(t, w->group);
    collopt_add(t, ", %d rank%s: %zu %s ", w->group->comm->ranks,
                w->group->comm->ranks == 1 ? "" : "s", w->n,
                w->started ? w->n == 1 ? "has started" : "have started"
                           : collopt_only_starts(w->call) ? w->n == 1 ? "waits for" : "wait for"
                           : w->n == 1 ? "waits in" : "wait in");
    if (m && m->number == w->number)
        collopt_add(t, "call number %" PRIu32 ", which is not the same on all,", w->number);
    else
        add_call(t, w->call);
    collopt_add(t, w->started ? ", which has not been done for " : " for ");
    add_seconds(t, w->since);
    collopt_add(t, ": rank%s ", w->n == 1 ? "" : "s");
    add_places(t, w);
}

/* Where it is instead. */
static void add_elsewhere(struct collopt_text *t, const struct collopt_job *job,
                          const struct collopt_waiting *w, const struct collopt_absent *a)
{
    const struct collopt_snapshot *s = job->who[a->who];
    const struct collopt_waiting *in = collopt_sits_in(job, a->who);

    if (in) {
        collopt_add(t, in->group == w->group ? "still in " : "it is in ");
        add_call(t, in->call);
        if (in->group != w->group) {
            collopt_add(t, " on ");
            collopt_add_group(t, in->group);
        }
    } else if (s->moved) {
        collopt_add(t, "it seems to be running");
    } else if (s->life == COLLOPT_RECORDED_FINALIZES) {
        collopt_add(t, "it is in MPI_Finalize");
    } else {
        collopt_add(t, "it is in no reduction%s", s->full ? " that is recorded" : "");
    }
    collopt_add(t, ", ");
    add_status(t, s);
}

void collopt_add_absent(struct collopt_text *t, const struct collopt_job *job,
                        const struct collopt_waiting *w, const struct collopt_absent *a)
{
    const struct collopt_seen_call *latest = !a->place ? NULL
        : w->call->mode == COLLOPT_RECORDED_START ? a->place->start : a->place->call;

    collopt_add(t, "has not %s it: ", collopt_only_starts(w->call) ? "started" : "entered");
    if (!a->place || a->place->comm->calls + a->place->comm->starts == 0) {
        collopt_add(t, "it has not reduced there before; ");
    } else if (latest && latest->state == COLLOPT_RECORDED_DONE) {
        uint64_t age = collopt_age(job->who[a->who], latest);

        collopt_add(t, "it has left number %" PRIu32, latest->number);
        if (age != UINT64_MAX) {
            collopt_add(t, ", entered ");
            add_seconds(t, age);
            collopt_add(t, " ago");
        }
        collopt_add(t, "; ");
    }
    add_elsewhere(t, job, w, a);
}

struct teller {
    collopt_tell_line *tell;
    void *data;
    char line[LINE];
    struct collopt_text t;
};

static struct collopt_text *begin(struct teller *out, const char *indent)
{
    out->t = (struct collopt_text){ .text = out->line, .size = sizeof out->line };
    out->line[0] = '\0';
    collopt_add(&out->t, "%s", indent);
    return &out->t;
}

static void end(struct teller *out)
{
    out->tell(out->data, out->line);
}

/* "rank 1 (pid 7, host n1)", and its rank in the communicator if that is another. */
static void add_member(struct collopt_text *t, const struct collopt_snapshot *s, int rank)
{
    collopt_add_process(t, s);
    if (s->rank != rank)
        collopt_add(t, ", there rank %d,", rank);
}

static void tell_absents(struct teller *out, const struct collopt_job *job,
                         const struct collopt_waiting *w)
{
    for (size_t i = 0; i < w->absents && i < SOME; i++) {
        struct collopt_text *t = begin(out, "    ");

        add_member(t, job->who[w->absent[i].who], w->absent[i].rank);
        collopt_add(t, " ");
        collopt_add_absent(t, job, w, &w->absent[i]);
        end(out);
    }
    if (w->absents > SOME) {
        struct ranges r = { .t = begin(out, "    ranks that have not entered it, too: "),
                            .to = -1 };

        for (size_t i = SOME; i < w->absents; i++)
            add_rank(&r, w->absent[i].rank, w->absent[i].rank);
        end_ranges(&r);
        end(out);
    }
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The ranks of which there is nothing, which are the gaps between the others. */
static void add_unseen(struct collopt_text *t, const struct collopt_waiting *w)
{
    const struct collopt_group *g = w->group;
    size_t n = 0, most = g->n + w->absents + w->doubtful;
    int *seen = malloc((most + 1) * sizeof *seen);
    struct ranges r = { .t = t, .to = -1 };
    int next = 0;

    if (!seen)
        return;
    for (size_t i = 0; i < g->n; i++)
        seen[n++] = g->place[i].rank;
    for (size_t i = 0; i < w->absents + w->doubtful; i++)
        seen[n++] = w->absent[i].rank;
    qsort(seen, n, sizeof *seen, by_number);
    for (size_t i = 0; i < n; next = seen[i++] + 1)
        if (seen[i] > next)
            add_rank(&r, next, seen[i] - 1);
    if (next < g->comm->ranks)
        add_rank(&r, next, g->comm->ranks - 1);
    end_ranges(&r);
    free(seen);
}

static void tell_unseen(struct teller *out, const struct collopt_job *job,
                        const struct collopt_waiting *w)
{
    const struct collopt_seen_comm *c = w->group->comm;
    struct collopt_text *t;

    if (w->unseen <= 0)
        return;
    t = begin(out, "    ");
    collopt_add(t, w->unseen == 1 ? "rank " : "ranks ");
    add_unseen(t, w);
    if (!c->member && !(c->flags & COLLOPT_RECORDED_WORLD))
        collopt_add(t, ": not seen here, or not there yet");
    else if (job->complete)
        collopt_add(t, w->unseen == 1
                    ? " is not found on its node: it has ended, or is not recorded there "
                      "(COLLOPT_RECORD=off, another version)"
                    : " are not found on their nodes: they have ended, or are not recorded there "
                      "(COLLOPT_RECORD=off, another version)");
    else
        collopt_add(t, " not seen: on nodes that were not asked, or ended");
    end(out);
}

/* The ranks whose turn it is, if that is known. */
static void tell_all_there(struct teller *out, const struct collopt_job *job,
                           const struct collopt_waiting *w)
{
    struct collopt_text *t = begin(out, "    all ranks have ");

    collopt_add(t, "%s it", collopt_only_starts(w->call) ? "started" : "entered");
    if (w->left > 0)
        collopt_add(t, ", and %d %s left it", w->left, w->left == 1 ? "has" : "have");
    if (!w->group->agreed)
        collopt_add(t, ", unless these are two communicators with the same ranks");
    end(out);
    for (size_t i = 0; i < w->n && i < SOME; i++) {
        const struct collopt_snapshot *s = job->who[w->place[i]->who];
        int on = w->place[i]->call ? w->place[i]->call->waits_for : -1;

        t = begin(out, "    ");
        add_member(t, s, w->place[i]->rank);
        collopt_add(t, " is ");
        add_status(t, s);
        if (on == w->place[i]->rank)
            collopt_add(t, ", inside of an operation (MPI_Op)");
        else if (on >= 0)
            collopt_add(t, ", and awaits or has last awaited rank %d", on);
        end(out);
    }
}

static void tell_waiting(struct teller *out, const struct collopt_job *job,
                         const struct collopt_waiting *w)
{
    add_waiting(begin(out, "  "), job, w);
    end(out);
    if (w->group->several) {
        begin(out, "    several communicators have these ranks, and which of them it is is not "
              "known");
        end(out);
        return;
    }
    tell_absents(out, job, w);
    tell_unseen(out, job, w);
    for (size_t i = 0; i < w->doubtful && i < SOME; i++) {
        struct collopt_text *t = begin(out, "    ");

        add_member(t, job->who[w->absent[w->absents + i].who], w->absent[w->absents + i].rank);
        collopt_add(t, ": it is not known whether it is there");
        end(out);
    }
    if (!w->started && w->absents + w->doubtful == 0 && w->unseen == 0 && !mismatch_before(job, w))
        tell_all_there(out, job, w);
}

/* ---- mismatches and circles ------------------------------------------------------------------ */

static void tell_kind(struct teller *out, const struct collopt_mismatch *m, int kind)
{
    struct collopt_text *t = begin(out, "    ");
    struct ranges r = { .t = t, .to = -1 };
    const struct collopt_seen_call *c = NULL;
    int n = 0;

    for (size_t i = 0; i < m->n; i++)
        n += m->rank[i].kind == kind;
    collopt_add(t, n == 1 ? "rank " : "ranks ");
    for (size_t i = 0; i < m->n; i++)
        if (m->rank[i].kind == kind) {
            add_rank(&r, m->rank[i].place->rank, m->rank[i].place->rank);
            c = c ? c : m->rank[i].call;
        }
    end_ranges(&r);
    collopt_add(t, ": ");
    add_call(t, c);
    end(out);
}

static void tell_mismatch(struct teller *out, const struct collopt_mismatch *m)
{
    struct collopt_text *t = begin(out, "  calls do not match: number ");

    collopt_add(t, "%" PRIu32 " on ", m->number);
    collopt_add_group(t, m->group);
    if (!m->group->agreed)
        collopt_add(t, ", unless these are two communicators with the same ranks");
    end(out);
    for (int k = 0; k < m->kinds && k < SOME; k++)
        tell_kind(out, m, k);
}

/* From the wait AT on; the rank that sits in it is the one that the wait before lacks. */
static void tell_circle(struct teller *out, const struct collopt_job *job, int at)
{
    int last = at, next = at;
    struct collopt_text *t = begin(out, "  a circle: ");

    while (job->waiting[last].around != at)
        last = job->waiting[last].around;
    collopt_add_process(t, job->who[job->waiting[last].by.who]);
    do {
        const struct collopt_waiting *w = &job->waiting[next];

        collopt_add(t, "%s waits in ", next == at ? "" : ", which");
        add_call(t, w->call);
        collopt_add(t, " on ");
        collopt_add_group(t, w->group);
        collopt_add(t, " for ");
        if (w->around == at)
            collopt_add(t, "rank %d", job->who[w->by.who]->rank);
        else
            collopt_add_process(t, job->who[w->by.who]);
        next = w->around;
    } while (next != at);
    end(out);
}

/* ---- a job ----------------------------------------------------------------------------------- */

void collopt_add_blame(struct collopt_text *t, const struct collopt_job *job,
                       const struct collopt_culprit *c)
{
    const struct collopt_snapshot *s = job->who[c->who];

    switch (c->blame) {
    case COLLOPT_BLAME_ENDED:
        collopt_add(t, "its process has ended");
        break;
    case COLLOPT_BLAME_STOPPED:
        collopt_add(t, "it is %s", status_of(s));
        break;
    case COLLOPT_BLAME_FINALIZES:
        collopt_add(t, "it is in MPI_Finalize");
        break;
    case COLLOPT_BLAME_OUTSIDE:
        collopt_add(t, "it is in no reduction%s, ", s->full ? " that is recorded" : "");
        add_status(t, s);
        break;
    case COLLOPT_BLAME_RUNS:
        collopt_add(t, "it seems to be running, and may just be late");
        break;
    case COLLOPT_BLAME_QUEUED:
        collopt_add(t, "it seems to wait for a processor, and may just be late");
        break;
    case COLLOPT_BLAME_DIFFERS:
        collopt_add(t, "its call does not match");
        break;
    case COLLOPT_BLAME_COMBINES:
        collopt_add(t, "it is inside of an operation (MPI_Op), ");
        add_status(t, s);
        break;
    case COLLOPT_BLAME_LAST:
        collopt_add(t, "it is the last one in a call that all others have left, ");
        add_status(t, s);
        break;
    }
}

static void tell_culprits(struct teller *out, const struct collopt_job *job)
{
    for (size_t i = 0; i < job->culprits && i < SOME; i++) {
        struct collopt_text *t = begin(out, "  look at ");

        collopt_add_process(t, job->who[job->culprit[i].who]);
        collopt_add(t, ": ");
        collopt_add_blame(t, job, &job->culprit[i]);
        end(out);
    }
    if (job->culprits > SOME) {
        collopt_add(begin(out, "  "), "and at %zu more", job->culprits - SOME);
        end(out);
    }
}

/* All nodes were looked at, and of some ranks there is nothing. */
static void tell_ended(struct teller *out, const struct collopt_job *job)
{
    for (size_t i = 0; job->complete && i < job->waits; i++) {
        const struct collopt_waiting *w = &job->waiting[i];
        struct collopt_text *t;

        if (w->unseen <= 0 || w->group->several)
            continue;
        t = begin(out, "  look at rank ");
        add_unseen(t, w);
        collopt_add(t, " of ");
        collopt_add_group(t, w->group);
        collopt_add(t, ": ended, or not recorded");
        end(out);
        return;
    }
}

/* "job of 4 ranks, Open MPI v4.1.4: 2 seen, on n1" */
static void tell_head(struct teller *out, const struct collopt_job *job)
{
    struct collopt_text *t = begin(out, "");
    int hosts = 0;

    collopt_add(t, "job of %d rank%s, %s: %zu seen, on ", job->ranks, job->ranks == 1 ? "" : "s",
                job->who[0]->mpi, job->n);
    for (size_t i = 0; i < job->n; i++)
        if (collopt_first_of_host(job, i) && ++hosts <= SOME)
            collopt_add(t, "%s%s", hosts > 1 ? ", " : "", job->who[i]->host);
    if (hosts > SOME)
        collopt_add(t, " and %d more", hosts - SOME);
    end(out);
    if (job->spread < APART)
        return;
    t = begin(out, "  they were looked at ");
    add_seconds(t, job->spread);
    collopt_add(t, " apart, or their clocks differ: only longer waits are told");
    end(out);
}

/* Nobody waits. */
static void tell_progress(struct teller *out, const struct collopt_job *job)
{
    uint64_t calls = 0;
    size_t moved = 0;
    struct collopt_text *t = begin(out, "  ");

    for (size_t i = 0; i < job->n; i++) {
        calls += job->who[i]->recorded;
        moved += job->who[i]->moved;
    }
    collopt_add(t, "no rank waits long; %zu of %zu seem to be reducing; %" PRIu64
                " reductions so far on all of them", moved, job->n, calls);
    end(out);
}

void collopt_tell_job(const struct collopt_job *job, collopt_tell_line *tell, void *data)
{
    struct teller out = { .tell = tell, .data = data };

    tell_head(&out, job);
    if (job->waits == 0)
        tell_progress(&out, job);
    for (size_t i = 0; i < job->waits; i++)
        tell_waiting(&out, job, &job->waiting[i]);
    for (size_t i = 0; i < job->mismatches; i++)
        tell_mismatch(&out, &job->mismatch[i]);
    for (int i = 0; i < (int)job->waits; i++)
        if (collopt_begins_circle(job, i))
            tell_circle(&out, job, i);
    tell_culprits(&out, job);
    tell_ended(&out, job);
}
