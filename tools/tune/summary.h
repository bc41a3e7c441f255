/* The results. */
#ifndef COLLOPT_TOOLS_TUNE_SUMMARY_H
#define COLLOPT_TOOLS_TUNE_SUMMARY_H

#include <stdbool.h>

struct tune_cells;
struct tune_options;

/* By their own figures the rules would be slower than what is chosen without them: noise. */
bool tune_slower(const struct tune_cells *all, const struct tune_options *o);
/* How many times as fast as the host, by the rules and without them, and where the files belong. */
void tune_sum_up(const struct tune_cells *all, const struct tune_options *o);

#endif
