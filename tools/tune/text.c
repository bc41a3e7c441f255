/* Messages of collopt-tune, and texts that it writes to files. */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "tune/text.h"
#include "tune/text.h"

static bool bar_shown;

void tune_bar(bool shown)
{
    bar_shown = shown;
}

double tune_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void tune_say(const char *format, ...)
{
    va_list ap;

    if (bar_shown)
        fputc('\n', stderr);
    bar_shown = false;
    fputs("collopt-tune: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
}

void *tune_must(void *memory)
{
    if (!memory) {
        tune_say("out of memory");
        exit(TUNE_FAILED);
    }
    return memory;
}

void tune_write_word(const char *word, FILE *to)
{
    for (; *word; word++)
        fputc((unsigned char)*word < ' ' ? ' ' : *word, to);
}
