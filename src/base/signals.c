/* See signals.h.  The handlers are the program's and those of all its threads, so the signals are
 * blocked in this thread, and what a write has raised is taken away before they are let through. */
#include "config.h"

#include "base/signals.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static const int of_writes[] = { SIGPIPE, SIGXFSZ };
enum { OF_WRITES = sizeof of_writes / sizeof *of_writes };

void collopt_signals_hold(struct collopt_signals *held)
{
    sigset_t set;
    int saved = errno;

    sigemptyset(&set);
    for (int i = 0; i < OF_WRITES; i++)
        sigaddset(&set, of_writes[i]);
    sigpending(&held->pending);
    pthread_sigmask(SIG_BLOCK, &set, &held->before);
    errno = saved;
}

/* A signal that was pending before is the program's. */
static void take_away(int signal)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, signal);
    while (sigtimedwait(&set, NULL, &(struct timespec){ 0, 0 }) < 0 && errno == EINTR)
        ;
}

void collopt_signals_release(const struct collopt_signals *held)
{
    int saved = errno;

    for (int i = 0; i < OF_WRITES; i++)
        if (!sigismember(&held->pending, of_writes[i]))
            take_away(of_writes[i]);
    pthread_sigmask(SIG_SETMASK, &held->before, NULL);
    errno = saved;
}
