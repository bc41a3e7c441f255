/* The front's messages on standard error; base/log.c has the backend's. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "front/say.h"

/* This process's rank by the launcher's word; NULL: it has no launcher that we know. */
static const char *launched_rank(void)
{
    static const char *const variable[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                            "SLURM_PROCID" };
    const char *rank = NULL;

    for (size_t i = 0; i < sizeof variable / sizeof *variable && !rank; i++)
        rank = getenv(variable[i]);
    return rank;
}

/* One rank speaks for the job; a process without a launcher speaks for itself. */
static bool speaks(void)
{
    const char *rank = launched_rank();

    return !rank || strcmp(rank, "0") == 0;
}

/* A backend is loaded even if COLLOPT=off, since ranks agree on that too.  If it cannot be loaded
 * then, nothing is reported. */
static bool switched_off(void)
{
    static const char *const off[] = { "off", "0", "no", "false" };
    const char *setting = getenv("COLLOPT");

    for (size_t i = 0; setting && i < sizeof off / sizeof *off; i++)
        if (strcmp(setting, off[i]) == 0)
            return true;
    return false;
}

/* Where nobody reads, or the file may not grow, the write must not end the process: base/signals.h,
 * of which the front knows nothing.  A signal that was pending before is the program's. */
static void put(const char *line)
{
    static const int of_writes[] = { SIGPIPE, SIGXFSZ };
    sigset_t ours, pending, before;
    int saved = errno;

    sigpending(&pending);
    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof of_writes / sizeof *of_writes; i++)
        if (!sigismember(&pending, of_writes[i]))
            sigaddset(&ours, of_writes[i]);
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    fputs(line, stderr);        /* in one piece, so that ranks do not break each other's lines;
                                 * fprintf may write several */
    while (sigtimedwait(&ours, NULL, &(struct timespec){ 0, 0 }) >= 0 || errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
}

static void say(const char *who, const char *format, va_list list)
{
    char text[2 * PATH_MAX], line[sizeof text + 512];

    if (switched_off())
        return;
    vsnprintf(text, sizeof text, format, list);
    snprintf(line, sizeof line, "collopt: %s%s; the MPI library's own collectives are used\n", who,
             text);
    put(line);
}

void collopt_front_warn(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    if (speaks())
        say("", format, list);
    va_end(list);
}

void collopt_front_warn_here(const char *format, ...)
{
    const char *rank = launched_rank();
    char host[256] = "", who[320];
    va_list list;

    gethostname(host, sizeof host - 1);
    if (rank)
        snprintf(who, sizeof who, "rank %.20s on %s: ", rank, host);
    else
        snprintf(who, sizeof who, "on %s: ", host);
    va_start(list, format);
    say(who, format, list);
    va_end(list);
}
