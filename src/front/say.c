/* The front's messages on standard error; base/log.c has the backend's. */
#include "config.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void say(const char *who, const char *format, va_list list)
{
    char text[2 * PATH_MAX], line[sizeof text + 512];

    if (switched_off())
        return;
    vsnprintf(text, sizeof text, format, list);
    snprintf(line, sizeof line, "collopt: %s%s; the MPI library's own collectives are used\n", who,
             text);
    fputs(line, stderr);        /* in one piece, so that ranks do not break each other's lines;
                                 * fprintf may write several */
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
