/* The thread of COLLOPT_STALL; see stall.h.
 *
 * The ranks of a node enter a call at different times, so the first thread whose rank has waited
 * long enough is not the only one to find out.  The one with the lowest rank tells of all that have
 * waited nearly as long, and leaves in its recording when it did so: the others see that, and are
 * content.  A rank that comes to wait later tells again. */
#include "config.h"

#include "recorder/stall.h"
#include "base/clock.h"
#include "base/text.h"
#include "recorder/diagnosis.h"
#include "recorder/processes.h"
#include "recorder/recorder.h"
#include "recorder/sentences.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum {
    BETWEEN = 100000000,        /* ns from one look at others to the next */
    PATIENCE = 5                /* looks at a call of which another rank is to tell */
};

static struct collopt_stall stall;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_t thread;
static bool runs, ending;
static uint64_t told;           /* the sequence of the call of this process that was told of */
static int looks;               /* at the processes of the node, for one call */

static uint64_t limit(void)
{
    return (uint64_t)stall.seconds * 1000000000;
}

/* From one look at the own recording to the next, in ns: a tenth of the time, a second at most. */
static uint64_t interval(void)
{
    return stall.seconds < 10 ? limit() / 10 : 1000000000;
}

/* Who waits so long is told of with those who wait for the whole time, which others find out up to
 * so much later. */
static uint64_t nearly(void)
{
    return limit() - 2 * interval() - BETWEEN;
}

/* ---- this process ---------------------------------------------------------------------------- */

/* The sequence of a call that has not returned for too long; 0: there is none.  ENTERED may be that
 * of a later call, which is late only if this one is. */
static uint64_t late_call(void)
{
    uint64_t now = collopt_now();

    for (int i = 0; i < COLLOPT_RECORDED_CALLS; i++) {
        struct collopt_recorded_call *e = &collopt_recording->call[i];
        uint64_t sequence = atomic_load_explicit(&e->sequence, memory_order_acquire);
        uint64_t entered = atomic_load_explicit(&e->entered, memory_order_relaxed);
        int state = atomic_load_explicit(&e->state, memory_order_acquire);

        if (sequence != 0 && sequence % 2 == 0 && state == COLLOPT_RECORDED_INSIDE
            && entered + limit() <= now
            && atomic_load_explicit(&e->sequence, memory_order_relaxed) == sequence)
            return sequence;
    }
    return 0;
}

/* ---- the processes of the node --------------------------------------------------------------- */

static const struct collopt_job *own_job(const struct collopt_diagnosis *d)
{
    for (size_t i = 0; i < d->jobs; i++)
        if (d->job[i].id == collopt_recording->head.job)
            return &d->job[i];
    return NULL;
}

/* Has one told at a time when this process had waited nearly long enough? */
static bool is_told(const struct collopt_job *job, const struct collopt_snapshot *self)
{
    uint64_t since = UINT64_MAX;

    for (size_t i = 0; i < self->calls; i++)
        if (self->call[i].state == COLLOPT_RECORDED_INSIDE && self->call[i].entered < since)
            since = self->call[i].entered;
    for (size_t i = 0; since < UINT64_MAX && i < job->n; i++)
        if (job->who[i]->told >= since + nearly())
            return true;
    return false;
}

/* The lowest rank that waits and can tell; NULL: none. */
static const struct collopt_snapshot *speaker(const struct collopt_job *job)
{
    for (size_t i = 0; i < job->n; i++)
        if (collopt_sits_in(job, i) && !strchr("TtXZ", job->who[i]->status))
            return job->who[i];
    return NULL;
}

struct message {
    struct collopt_text text;
    int lines;
};

/* The first line says what is known of the job's size. */
static void add_line(void *data, const char *line)
{
    struct message *m = data;

    if (m->lines++ > 0)
        collopt_add(&m->text, "%s%s", m->lines > 2 ? "; " : "", line + strspn(line, " "));
}

static void tell(const struct collopt_job *job)
{
    char text[2000];
    struct message m = { .text = { text, sizeof text, 0 } };

    collopt_add(&m.text, "waiting for more than %d s on %s: ", stall.seconds, job->who[0]->host);
    collopt_tell_job(job, add_line, &m);
    stall.tell(text);
}

/* Of a call of this process, by its SEQUENCE, or leaves that to another.  FROM: what was seen is
 * not older. */
static void tell_of(const struct collopt_job *job, uint64_t sequence, uint64_t from)
{
    const struct collopt_snapshot *self = NULL;

    for (size_t i = 0; i < job->n; i++)
        if (job->who[i]->process == getpid() && collopt_sits_in(job, i))
            self = job->who[i];
    if (!self)
        return;
    if (is_told(job, self)) {
        told = sequence;
    } else if (self == speaker(job) || ++looks > PATIENCE) {
        told = sequence;
        looks = 0;
        atomic_store_explicit(&collopt_recording->head.told, from, memory_order_relaxed);
        tell(job);
        if (stall.end_job)
            stall.end_job();
    }
}

static void look_around(uint64_t sequence)
{
    struct collopt_processes p;
    struct collopt_diagnosis *d;
    const struct collopt_job *job;
    uint64_t from = collopt_now();

    collopt_processes_watch(&p, BETWEEN);
    d = collopt_diagnose(p.list, p.n, nearly());
    if (d && (job = own_job(d)))
        tell_of(job, sequence, from);
    collopt_diagnosis_free(d);
    collopt_processes_free(&p);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* False: it is to end. */
static bool sleeps(void)
{
    uint64_t until = collopt_now() + interval();
    struct timespec t = { (time_t)(until / 1000000000), (long)(until % 1000000000) };
    bool goes_on;

    pthread_mutex_lock(&lock);
    if (!ending)
        pthread_cond_timedwait(&changed, &lock, &t);
    goes_on = !ending;
    pthread_mutex_unlock(&lock);
    return goes_on;
}

static void *watch(void *unused)
{
    while (sleeps()) {
        uint64_t sequence = late_call();

        if (sequence != 0 && sequence != told)
            look_around(sequence);
    }
    return unused;
}

/* No signal handler of the program's runs in the thread. */
bool collopt_stall_begin(const struct collopt_stall *s)
{
    sigset_t all, before;
    pthread_condattr_t attr;

    stall = *s;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attr);
    pthread_condattr_destroy(&attr);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    runs = pthread_create(&thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return runs;
}

void collopt_stall_end(void)
{
    if (!runs)
        return;
    pthread_mutex_lock(&lock);
    ending = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    runs = false;
}
