/* See waits.h. */
#include "config.h"

#include "report/waits.h"

static struct collopt_spread of_one(uint64_t nanoseconds)
{
    double seconds = (double)nanoseconds / 1e9;

    return (struct collopt_spread){ 1, seconds, seconds, seconds };
}

struct collopt_waits collopt_waits_of(const struct collopt_waited *w)
{
    if (w->calls == 0)
        return (struct collopt_waits){ .late.rank = -1 };
    return (struct collopt_waits){
        .calls = w->calls,
        .last = w->last,
        .waiting = of_one(w->waiting),
        .reducing = of_one(w->time - w->waiting),
        .made_wait = of_one(w->made_wait),
        .following = w->following,
        .following_seconds = of_one(w->following_time),
        .at_once = w->at_once,
        .at_once_seconds = of_one(w->at_once_time),
        .late = { .rank = -1, .last = w->last, .calls = w->calls,
                  .seconds = (double)w->made_wait / 1e9 } };
}

void collopt_waits_of_rank(struct collopt_waits *w, int rank)
{
    w->late.rank = rank;
}

void collopt_waits_add(struct collopt_waits *all, const struct collopt_waits *other)
{
    all->calls += other->calls;
    all->last += other->last;
    collopt_spread_widen(&all->waiting, &other->waiting);
    collopt_spread_widen(&all->reducing, &other->reducing);
    collopt_spread_widen(&all->made_wait, &other->made_wait);
    all->following += other->following;
    collopt_spread_widen(&all->following_seconds, &other->following_seconds);
    all->at_once += other->at_once;
    collopt_spread_widen(&all->at_once_seconds, &other->at_once_seconds);
    if (other->late.seconds > all->late.seconds)
        all->late = other->late;
}

void collopt_spread_json(const struct collopt_spread *s, struct collopt_json *j, const char *key)
{
    if (s->ranks == 0)
        return;
    collopt_json_object(j, key);
    collopt_json_real(j, "min", s->least);
    collopt_json_real(j, "mean", s->sum / (double)s->ranks);
    collopt_json_real(j, "max", s->most);
    collopt_json_end(j);
}

static void hint_json(struct collopt_json *j, const char *hint, uint64_t calls, const char *what,
                      const struct collopt_spread *seconds)
{
    if (calls == 0)
        return;
    collopt_json_object(j, hint);
    collopt_json_count(j, "calls", calls);
    collopt_spread_json(seconds, j, what);
    collopt_json_end(j);
}

void collopt_waits_hints_json(const struct collopt_waits *w, struct collopt_json *j)
{
    hint_json(j, "following", w->following, "reducing", &w->following_seconds);
    hint_json(j, "at_once", w->at_once, "seconds", &w->at_once_seconds);
}

static void late_json(const struct collopt_late *l, struct collopt_json *j, const char *host)
{
    if (l->seconds <= 0)
        return;
    collopt_json_object(j, "late");
    collopt_json_count(j, "rank", (uint64_t)l->rank);
    if (host)
        collopt_json_text(j, "host", host);
    collopt_json_count(j, "last", l->last);
    collopt_json_count(j, "calls", l->calls);
    collopt_json_real(j, "seconds", l->seconds);
    collopt_json_end(j);
}

void collopt_waits_json(const struct collopt_waits *w, struct collopt_json *j, const char *host)
{
    collopt_json_count(j, "calls", w->calls);
    collopt_spread_json(&w->waiting, j, "seconds");
    collopt_spread_json(&w->reducing, j, "reducing");
    late_json(&w->late, j, host);
}
