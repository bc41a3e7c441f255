/* Messages of collopt-tune, and texts that it writes to files. */
#ifndef COLLOPT_TOOLS_TUNE_TEXT_H
#define COLLOPT_TOOLS_TUNE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* Exit statuses. */
enum { TUNE_FAILED = 1, TUNE_USAGE = 2, TUNE_NOISY = 4, TUNE_INTERRUPTED = 130 };

/* "collopt-tune: ..." on the standard error output, below the bar if one is shown. */
__attribute__((format(printf, 1, 2))) void tune_say(const char *format, ...);
void tune_bar(bool shown);
void *tune_must(void *memory);                  /* ends the program where there is none */
double tune_now(void);                          /* seconds */

/* A word of a command line, in one line. */
void tune_write_word(const char *word, FILE *to);

#endif
