/* Writing on the program's behalf that no signal ends. */
#ifndef COLLOPT_BASE_SIGNALS_H
#define COLLOPT_BASE_SIGNALS_H

#include <signal.h>

/* A write to a pipe without a reader sends SIGPIPE to the thread, one beyond RLIMIT_FSIZE SIGXFSZ;
 * both end a process that does not expect them, and a program that writes nothing does not.
 * Between the two calls, which keep errno, such a write only fails: EPIPE, EFBIG. */
struct collopt_signals {
    sigset_t before, pending;
};
void collopt_signals_hold(struct collopt_signals *held);
void collopt_signals_release(const struct collopt_signals *held);

#endif
