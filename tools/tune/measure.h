/* The measuring. */
#ifndef COLLOPT_TOOLS_TUNE_MEASURE_H
#define COLLOPT_TOOLS_TUNE_MEASURE_H

#include <stdbool.h>

struct tune_cells;
struct tune_job;
struct tune_machine;
struct tune_options;

/* Fills in what is missing, as far as there is time.  Returns the exit status; TUNE_INTERRUPTED:
 * the user interrupted it. */
int tune_measure(struct tune_cells *all, const struct tune_options *o, const char *key);

/* Starts the job and fills in where it runs; 0, or an exit status after a message. */
int tune_begin(struct tune_job *job, struct tune_machine *m, const struct tune_options *o);
/* One question and its answer, which is the job's; NULL: there was none. */
const char *tune_ask(struct tune_job *job, const char *question);
bool tune_interrupted(void);

#endif
