/* Messages to the user: one line each, by one write, so that lines of several ranks do not mix. */
#include "config.h"

#include "base/log.h"
#include "base/hash.h"
#include "base/launcher.h"
#include "base/signals.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 2048, UNKNOWN = -2 };

static atomic_int known_rank = UNKNOWN;
static atomic_int up_to = COLLOPT_LOG_WARN;

void collopt_log_up_to(enum collopt_log level)
{
    atomic_store_explicit(&up_to, (int)level, memory_order_relaxed);
}

void collopt_speak_as(int rank)
{
    atomic_store_explicit(&known_rank, rank, memory_order_relaxed);
}

/* -1: not known, or a process without a launcher. */
static int rank(void)
{
    int r = atomic_load_explicit(&known_rank, memory_order_relaxed);

    if (r == UNKNOWN) {
        r = collopt_launched_rank();
        atomic_store_explicit(&known_rank, r, memory_order_relaxed);
    }
    return r;
}

bool collopt_speaks(void)
{
    return rank() <= 0;
}

/* Has this process logged the line before?  If the table is full, the answer may be no for a line
 * that was logged. */
static bool said_before(const char *line, size_t n)
{
    enum { ROOM = 4096, NEIGHBOURS = 16 };
    static _Atomic(uint64_t) said[ROOM];
    uint64_t h = collopt_hash_bytes(COLLOPT_HASH_START, line, n);

    for (uint64_t i = h; i < h + NEIGHBOURS; i++) {
        uint64_t there = atomic_load_explicit(&said[i % ROOM], memory_order_relaxed);

        if (there == 0 && atomic_compare_exchange_strong(&said[i % ROOM], &there, h))
            return false;
        if (there == h)         /* perhaps another thread's, just now */
            return true;
    }
    return false;
}

static void put(bool once, const char *prefix, const char *format, va_list ap)
{
    struct collopt_signals held;
    char line[LINE];
    int saved = errno;
    int start = snprintf(line, sizeof line, "%s", prefix);
    int rest = vsnprintf(line + start, sizeof line - (size_t)start, format, ap);
    size_t n;

    if (rest < 0)
        return;
    n = (size_t)start + (size_t)rest;
    if (n > LINE - 1) {
        n = LINE - 1;
        memcpy(line + n - 3, "...", 3);
    }
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 127)
            line[i] = ' ';
    if (once && said_before(line, n))
        return;
    line[n++] = '\n';
    collopt_signals_hold(&held);
    while (write(STDERR_FILENO, line, n) < 0 && errno == EINTR)
        ;
    collopt_signals_release(&held);
    errno = saved;
}

void collopt_warn(const char *format, ...)
{
    va_list ap;

    if (!collopt_speaks())
        return;
    va_start(ap, format);
    put(false, "collopt: ", format, ap);
    va_end(ap);
}

void collopt_warn_here(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    put(false, "collopt: ", format, ap);
    va_end(ap);
}

void collopt_warn_once(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    put(true, "collopt: ", format, ap);
    va_end(ap);
}

static void say(bool once, enum collopt_log level, const char *format, va_list ap)
{
    char prefix[32] = "collopt: ";

    if (atomic_load_explicit(&up_to, memory_order_relaxed) < (int)level
        || (level < COLLOPT_LOG_TRACE && !collopt_speaks()))
        return;
    if (level >= COLLOPT_LOG_TRACE && rank() >= 0)
        snprintf(prefix, sizeof prefix, "collopt[%d]: ", rank());
    put(once, prefix, format, ap);
}

void collopt_say(enum collopt_log level, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    say(false, level, format, ap);
    va_end(ap);
}

void collopt_explain_once(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    say(true, COLLOPT_LOG_DECIDE, format, ap);
    va_end(ap);
}
