/* Writes a diagnosis as JSON; doc/recorder.md has the schema. */
#include "config.h"

#include "base/json.h"
#include "ps/json.h"
#include "recorder/sentences.h"

#include <inttypes.h>

enum { TEXT = 600 };

static const char *const blames[] = {
    [COLLOPT_BLAME_ENDED] = "ended",         [COLLOPT_BLAME_STOPPED] = "stopped",
    [COLLOPT_BLAME_FINALIZES] = "finalizes", [COLLOPT_BLAME_OUTSIDE] = "outside",
    [COLLOPT_BLAME_RUNS] = "runs",           [COLLOPT_BLAME_QUEUED] = "queued",
    [COLLOPT_BLAME_DIFFERS] = "differs",     [COLLOPT_BLAME_COMBINES] = "combines",
    [COLLOPT_BLAME_LAST] = "last"
};

static void put_number(struct collopt_json *j, const char *key, int64_t value)
{
    collopt_json_real(j, key, (double)value);
}

/* null where it is not known */
static void put_known(struct collopt_json *j, const char *key, uint64_t value)
{
    if (value == UINT64_MAX)
        collopt_json_text(j, key, NULL);
    else
        collopt_json_count(j, key, value);
}

static void put_hex(struct collopt_json *j, const char *key, uint64_t value)
{
    char text[20];

    snprintf(text, sizeof text, "%016" PRIx64, value);
    collopt_json_text(j, key, text);
}

static void put_process(struct collopt_json *j, const struct collopt_snapshot *s)
{
    collopt_json_count(j, "rank", (uint64_t)s->rank);
    collopt_json_count(j, "pid", (uint64_t)s->pid);
    collopt_json_text(j, "host", s->host);
}

static void put_processes(struct collopt_json *j, const struct collopt_job *job)
{
    collopt_json_array(j, "processes");
    for (size_t i = 0; i < job->n; i++) {
        const struct collopt_snapshot *s = job->who[i];
        char status[2] = { s->status, '\0' };

        collopt_json_object(j, NULL);
        put_process(j, s);
        collopt_json_text(j, "state", status);
        collopt_json_flag(j, "moved", s->moved);
        collopt_json_flag(j, "queued", s->queued);
        collopt_json_flag(j, "finalizes", s->life == COLLOPT_RECORDED_FINALIZES);
        collopt_json_count(j, "reductions", s->recorded);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

static void put_call(struct collopt_json *j, const struct collopt_seen_call *c)
{
    char text[TEXT] = "";
    struct collopt_text t = { .text = text, .size = sizeof text };

    collopt_add_function(&t, c);
    collopt_json_text(j, "function", text);
    collopt_json_flag(j, "start", c->mode == COLLOPT_RECORDED_START);
    put_known(j, "root", c->root < 0 ? UINT64_MAX : (uint64_t)c->root);
    put_known(j, "bytes", c->bytes);
    put_known(j, "count", c->count);
    collopt_json_text(j, "by", c->name);
}

static void put_group(struct collopt_json *j, const struct collopt_group *g)
{
    collopt_json_text(j, "communicator", g->comm->name);
    put_hex(j, "id", g->comm->id);
    collopt_json_count(j, "ranks", (uint64_t)g->comm->ranks);
    collopt_json_flag(j, "certain", g->agreed && !g->several);
}

static void put_absents(struct collopt_json *j, const struct collopt_job *job,
                        const struct collopt_waiting *w)
{
    collopt_json_array(j, "absent");
    for (size_t i = 0; i < w->absents; i++) {
        char text[TEXT] = "";
        struct collopt_text t = { .text = text, .size = sizeof text };

        collopt_json_object(j, NULL);
        collopt_json_count(j, "member", (uint64_t)w->absent[i].rank);
        put_process(j, job->who[w->absent[i].who]);
        collopt_add_absent(&t, job, w, &w->absent[i]);
        collopt_json_text(j, "text", text);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

static void put_wait(struct collopt_json *j, const struct collopt_job *job,
                     const struct collopt_waiting *w)
{
    collopt_json_object(j, NULL);
    put_group(j, w->group);
    collopt_json_count(j, "number", w->number);
    put_call(j, w->call);
    collopt_json_flag(j, "started", w->started);
    if (w->since == UINT64_MAX)
        collopt_json_text(j, "seconds", NULL);
    else
        collopt_json_real(j, "seconds", (double)w->since * 1e-9);
    collopt_json_array(j, "waiting");
    for (size_t i = 0; i < w->n; i++)
        collopt_json_count(j, NULL, (uint64_t)w->place[i]->rank);
    collopt_json_end(j);
    put_absents(j, job, w);
    put_number(j, "left", w->left);
    put_number(j, "unseen", w->unseen);
    collopt_json_count(j, "doubtful", w->doubtful);
    collopt_json_end(j);
}

static void put_kind(struct collopt_json *j, const struct collopt_mismatch *m, int kind)
{
    bool said = false;

    collopt_json_object(j, NULL);
    for (size_t i = 0; i < m->n && !said; i++)
        if ((said = m->rank[i].kind == kind))
            put_call(j, m->rank[i].call);
    collopt_json_array(j, "members");
    for (size_t i = 0; i < m->n; i++)
        if (m->rank[i].kind == kind)
            collopt_json_count(j, NULL, (uint64_t)m->rank[i].place->rank);
    collopt_json_end(j);
    collopt_json_end(j);
}

static void put_mismatches(struct collopt_json *j, const struct collopt_job *job)
{
    collopt_json_array(j, "mismatches");
    for (size_t i = 0; i < job->mismatches; i++) {
        collopt_json_object(j, NULL);
        put_group(j, job->mismatch[i].group);
        collopt_json_count(j, "number", job->mismatch[i].number);
        collopt_json_array(j, "calls");
        for (int k = 0; k < job->mismatch[i].kinds; k++)
            put_kind(j, &job->mismatch[i], k);
        collopt_json_end(j);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

/* Each circle once: the waits that were told are marked. */
static void put_circles(struct collopt_json *j, const struct collopt_job *job)
{
    collopt_json_array(j, "circles");
    for (int i = 0; i < (int)job->waits; i++) {
        if (!collopt_begins_circle(job, i))
            continue;
        collopt_json_array(j, NULL);
        for (int at = i, first = 1; at != i || first; at = job->waiting[at].around, first = 0)
            collopt_json_count(j, NULL, (uint64_t)job->who[job->waiting[at].by.who]->rank);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

static void put_culprits(struct collopt_json *j, const struct collopt_job *job)
{
    collopt_json_array(j, "culprits");
    for (size_t i = 0; i < job->culprits; i++) {
        char text[TEXT] = "";
        struct collopt_text t = { .text = text, .size = sizeof text };

        collopt_json_object(j, NULL);
        put_process(j, job->who[job->culprit[i].who]);
        collopt_json_text(j, "why", blames[job->culprit[i].blame]);
        collopt_add_blame(&t, job, &job->culprit[i]);
        collopt_json_text(j, "text", text);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

static void put_job(struct collopt_json *j, const struct collopt_job *job)
{
    collopt_json_object(j, NULL);
    put_hex(j, "job", job->id);
    collopt_json_count(j, "ranks", (uint64_t)job->ranks);
    collopt_json_text(j, "mpi", job->who[0]->mpi);
    collopt_json_flag(j, "complete", job->complete);
    put_processes(j, job);
    collopt_json_array(j, "waits");
    for (size_t i = 0; i < job->waits; i++)
        put_wait(j, job, &job->waiting[i]);
    collopt_json_end(j);
    put_mismatches(j, job);
    put_circles(j, job);
    put_culprits(j, job);
    collopt_json_end(j);
}

void json_write(FILE *to, const struct collopt_diagnosis *d, const struct collopt_processes *p)
{
    struct collopt_json j = { .to = to };

    collopt_json_object(&j, NULL);
    collopt_json_count(&j, "version", 1);
    collopt_json_count(&j, "unreadable", p->unreadable);
    collopt_json_count(&j, "broken", p->broken);
    collopt_json_count(&j, "others", d->others);
    collopt_json_array(&j, "jobs");
    for (size_t i = 0; i < d->jobs; i++)
        put_job(&j, &d->job[i]);
    collopt_json_end(&j);
    collopt_json_end(&j);
    putc('\n', to);
}
