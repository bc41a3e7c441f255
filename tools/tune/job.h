/* The launcher's job. */
#ifndef COLLOPT_TOOLS_TUNE_JOB_H
#define COLLOPT_TOOLS_TUNE_JOB_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct tune_options;

/* The variables of collopt that the ranks get, in order, a blank before each: what is measured
 * depends on them. */
void tune_write_variables(FILE *to);

struct tune_job {
    pid_t pid;
    FILE *to, *from;
    char *line;
    size_t room;
};

/* Starts PROGRAM, a collopt-bench, with collopt preloaded.  False, after a message. */
bool tune_job_start(struct tune_job *job, const struct tune_options *o, const char *program);
/* The next answer, without what marks it; NULL: there are no more.  All else that comes goes to the
 * standard error output. */
const char *tune_job_answer(struct tune_job *job);
/* Ends it, at once if KILL, and returns its exit status (128 + signal). */
int tune_job_end(struct tune_job *job, bool kill);
/* The programs that may measure under this launcher, the likeliest first; how many.  0, after a
 * message: there is none. */
enum { TUNE_PROGRAMS = 2, TUNE_PATH = 4096 };
int tune_programs(const struct tune_options *o, char program[TUNE_PROGRAMS][TUNE_PATH]);

#endif
