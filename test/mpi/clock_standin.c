/* Preloaded: pairs of ranks on hosts of their own, as far as clocks are concerned, or CLOCK_RANKS
 * ranks on each.  The monotonic clock of each host is ahead of the one before by 1000 s, and runs
 * faster by 0.01%. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t host(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK" };
    const char *ranks = getenv("CLOCK_RANKS");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i])) / (ranks ? atoi(ranks) : 2);
    return 0;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    static __thread int inside;
    int status = (int)syscall(SYS_clock_gettime, id, t);
    int64_t ns, ahead = inside ? 0 : (inside = 1, host());

    inside = 0;
    if (status || id != CLOCK_MONOTONIC)
        return status;
    ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
    ns += ahead * (1000000000000 + ns / 10000);
    t->tv_sec = ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    return 0;
}

ssize_t readlink(const char *path, char *buffer, size_t size)
{
    static ssize_t (*real)(const char *, char *, size_t);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "readlink");
    if (strcmp(path, "/proc/self/ns/time") != 0)
        return real(path, buffer, size);
    return snprintf(buffer, size, "time:[%d]", (int)host());
}
