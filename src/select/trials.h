/* Trials (COLLOPT_ADAPT=on): which of a few candidates is the fastest for a kind of problem, found out on the program's own
 * calls.
 *
 * What happens next depends on the number of the call and on what the ranks have agreed on, and on nothing else, so that all
 * ranks go through the same states:
 *
 *     looking    every candidate in turn, three times; what takes more than three times as long as the best is dropped
 *     trying     the others in turn, five times more; the fastest is chosen, of equals the first
 *     settled    the chosen one.  A few calls are timed from time to time, more and more rarely: if it has become slower by a
 *                fifth, everything is looked at again
 *
 * Between states the ranks agree: each gives the times it has seen, and the greatest of them count.  No MPI here. */
#ifndef COLLOPT_TRIALS_H
#define COLLOPT_TRIALS_H

#include "internal.h"

enum {
    COLLOPT_TRIED = 4,          /* candidates at most: three of ours and the host */
    COLLOPT_LOOKS = 3, COLLOPT_TRIES = 5,       /* times each; the first does not count: connections and buffers are new */
    COLLOPT_SAMPLES = COLLOPT_LOOKS - 1 + COLLOPT_TRIES,
    COLLOPT_FIRST_PERIOD = 1000, COLLOPT_LAST_PERIOD = 1 << 20      /* calls between two checks, each time twice as many */
};

enum collopt_trial_state { COLLOPT_LOOKING, COLLOPT_TRYING, COLLOPT_SETTLED };

struct collopt_trials {
    enum collopt_trial_state state;
    int n;                      /* candidates */
    struct collopt_choice choice[COLLOPT_TRIED];
    bool dropped[COLLOPT_TRIED];
    int chosen;                 /* -1: none yet */
    double seconds[COLLOPT_TRIED];      /* of each candidate, as agreed; 0: not yet */
    uint64_t calls;             /* in all */
    unsigned call;              /* in this state, or since the last check */
    unsigned period;
    int samples[COLLOPT_TRIED]; /* how many there are */
    double sample[COLLOPT_TRIED][COLLOPT_SAMPLES];
};

void collopt_trials_begin(struct collopt_trials *t, int n, const struct collopt_choice *choice);
/* Must the ranks agree before the next call?  Each then gives what it has seen, and all are told the greatest of each. */
bool collopt_trials_due(const struct collopt_trials *t);
void collopt_trials_give(const struct collopt_trials *t, double seconds[COLLOPT_TRIED]);
void collopt_trials_take(struct collopt_trials *t, const double seconds[COLLOPT_TRIED]);
/* The candidate that runs the next call, and whether its time is wanted. */
int collopt_trials_next(const struct collopt_trials *t, bool *timed);
/* It has run, whether it went well or not.  SECONDS count where they were wanted. */
void collopt_trials_done(struct collopt_trials *t, double seconds);

#endif
