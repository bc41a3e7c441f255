/* Trials (COLLOPT_ADAPT=on): finds the fastest of a few candidates for a kind of problem, on the
 * program's own calls.
 *
 * The next state depends only on the number of the call and on agreed values, so all ranks go
 * through the same states:
 *
 *     looking    every candidate in turn, three times; what takes more than three times as long as
 *                the best is dropped
 *     trying     the others in turn, five times more; the fastest is chosen, of equals the first
 *     settled    the chosen one. A few calls are timed from time to time, more and more rarely: if
 *                it has become slower by a fifth, everything is looked at again
 *
 * Between states the ranks agree on the maximum of the times they measured, before a call: ranks
 * that make no further calls owe nothing. No MPI and no clock here. */
#ifndef COLLOPT_SELECT_TRIALS_H
#define COLLOPT_SELECT_TRIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "catalogue/choice.h"

enum {
    COLLOPT_TRIED = 4,          /* candidates at most: three of ours and the host */
    COLLOPT_LOOKS = 3, COLLOPT_TRIES = 5,       /* runs of each; the first does not count, as
                                                 * connections and buffers are new */
    COLLOPT_SAMPLES = COLLOPT_LOOKS - 1 + COLLOPT_TRIES,
    /* calls between two checks, doubled each time */
    COLLOPT_FIRST_PERIOD = 1000, COLLOPT_LAST_PERIOD = 1 << 20
};

enum collopt_trial_state { COLLOPT_LOOKING, COLLOPT_TRYING, COLLOPT_SETTLED };

struct collopt_trials {
    enum collopt_trial_state state;
    int n;                      /* candidates */
    struct collopt_choice choice[COLLOPT_TRIED];
    bool dropped[COLLOPT_TRIED];
    int chosen;                 /* -1: none yet */
    int64_t time[COLLOPT_TRIED];        /* nanoseconds of each candidate, as agreed; 0: none yet */
    uint64_t calls;             /* total */
    unsigned call;              /* in this state, or since the last check */
    unsigned period;
    int samples[COLLOPT_TRIED]; /* number of samples */
    int64_t sample[COLLOPT_TRIED][COLLOPT_SAMPLES];
};

void collopt_trials_begin(struct collopt_trials *t, int n, const struct collopt_choice *choice);
/* True if the ranks must agree before the next call: each gives its times, and all take the
 * maximum of each. */
bool collopt_trials_due(const struct collopt_trials *t);
void collopt_trials_give(const struct collopt_trials *t, int64_t time[COLLOPT_TRIED]);
void collopt_trials_take(struct collopt_trials *t, const int64_t time[COLLOPT_TRIED]);
/* The candidate that runs the next call, and whether to time it. */
int collopt_trials_next(const struct collopt_trials *t, bool *timed);
/* Reports that it ran, successfully or not. TIME counts if the call was to be timed. */
void collopt_trials_done(struct collopt_trials *t, int64_t time);
/* Reports the time of the last call, which CANDIDATE ran, if collopt_trials_done() could not.  A
 * call whose error handler does not return keeps COLLOPT_NEVER_ENDED. */
#define COLLOPT_NEVER_ENDED     INT64_C(1000000000000000)
void collopt_trials_ended(struct collopt_trials *t, int candidate, int64_t time);

#endif
