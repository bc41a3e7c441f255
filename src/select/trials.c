/* The states of trials.h. */
#include "config.h"

#include "select/trials.h"
#include "catalogue/choice.h"

#include <stdlib.h>
#include <string.h>

enum {
    TOO_SLOW = 300,             /* percent of the best time: above it, a candidate is dropped */
    SLOWER = 120,               /* percent of the time when it was chosen: above it, all are tried
                                 * again */
    AHEAD = 98                  /* percent of the time of one before it: a smaller gain may be
                                 * chance */
};

void collopt_trials_begin(struct collopt_trials *t, int n, const struct collopt_choice *choice)
{
    *t = (struct collopt_trials){ .n = n, .chosen = -1, .period = COLLOPT_FIRST_PERIOD };
    memcpy(t->choice, choice, (size_t)n * sizeof *choice);
}

static unsigned left(const struct collopt_trials *t)
{
    unsigned n = 0;

    for (int i = 0; i < t->n; i++)
        n += !t->dropped[i];
    return n;
}

/* The TURN-th of those that are left. */
static int in_turn(const struct collopt_trials *t, unsigned turn)
{
    for (int i = 0; i < t->n; i++)
        if (!t->dropped[i] && turn-- == 0)
            return i;
    return 0;
}

bool collopt_trials_due(const struct collopt_trials *t)
{
    switch (t->state) {
    case COLLOPT_LOOKING:
        return t->call == COLLOPT_LOOKS * left(t);
    case COLLOPT_TRYING:
        return t->call == COLLOPT_TRIES * left(t);
    default:
        return t->call == t->period;
    }
}

int collopt_trials_next(const struct collopt_trials *t, bool *timed)
{
    if (t->state == COLLOPT_SETTLED) {
        *timed = t->call >= t->period - COLLOPT_SAMPLES;
        return t->chosen;
    }
    *timed = t->state == COLLOPT_TRYING || t->call >= left(t);
    return in_turn(t, t->call % left(t));
}

void collopt_trials_done(struct collopt_trials *t, int64_t time)
{
    bool timed;
    int i = collopt_trials_next(t, &timed);

    t->call++;
    t->calls++;
    if (timed && t->samples[i] < COLLOPT_SAMPLES)
        t->sample[i][t->samples[i]++] = time;
}

void collopt_trials_ended(struct collopt_trials *t, int candidate, int64_t time)
{
    if (t->samples[candidate] > 0)
        t->sample[candidate][t->samples[candidate] - 1] = time;
}

/* ---- agreeing -------------------------------------------------------------------------------- */

static int by_length(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The least of the few samples of a first look, so that one hiccup rules nothing out; later the
 * median. */
static int64_t typical(const struct collopt_trials *t, int i)
{
    int64_t sorted[COLLOPT_SAMPLES];
    int n = t->samples[i];

    if (n == 0)
        return 0;
    memcpy(sorted, t->sample[i], (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_length);
    return sorted[t->state == COLLOPT_LOOKING ? 0 : n / 2];
}

void collopt_trials_give(const struct collopt_trials *t, int64_t time[COLLOPT_TRIED])
{
    for (int i = 0; i < COLLOPT_TRIED; i++)
        time[i] = i < t->n ? typical(t, i) : 0;
}

/* Is TIME less, or more, than PERCENT of OTHER? */
static bool less(int64_t time, int percent, int64_t other)
{
    return 100 * time < percent * other;
}

static bool more(int64_t time, int percent, int64_t other)
{
    return 100 * time > percent * other;
}

static int fastest(const struct collopt_trials *t)
{
    int best = -1;

    for (int i = 0; i < t->n; i++)
        if (!t->dropped[i] && (best < 0 || less(t->time[i], AHEAD, t->time[best])))
            best = i;
    return best;
}

static void settle(struct collopt_trials *t)
{
    t->chosen = fastest(t);
    t->state = COLLOPT_SETTLED;
    memset(t->samples, 0, sizeof t->samples);
}

static void drop_the_slow(struct collopt_trials *t)
{
    int64_t best = t->time[fastest(t)];

    for (int i = 0; i < t->n; i++)
        t->dropped[i] = t->dropped[i] || more(t->time[i], TOO_SLOW, best);
    t->state = COLLOPT_TRYING;
    if (left(t) == 1)
        settle(t);
}

static void look_again(struct collopt_trials *t)
{
    t->state = COLLOPT_LOOKING;
    memset(t->dropped, 0, sizeof t->dropped);
}

static void check(struct collopt_trials *t, int64_t time)
{
    if (t->period < COLLOPT_LAST_PERIOD)
        t->period *= 2;
    memset(t->samples, 0, sizeof t->samples);
    if (more(time, SLOWER, t->time[t->chosen]))
        look_again(t);
}

void collopt_trials_take(struct collopt_trials *t, const int64_t time[COLLOPT_TRIED])
{
    t->call = 0;
    if (t->state == COLLOPT_SETTLED) {
        check(t, time[t->chosen]);
        return;
    }
    for (int i = 0; i < t->n; i++)
        if (!t->dropped[i])
            t->time[i] = time[i];
    if (t->state == COLLOPT_LOOKING)
        drop_the_slow(t);
    else
        settle(t);
}
