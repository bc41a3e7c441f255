/* What was found. */
#ifndef COLLOPT_TOOLS_TUNE_SUMMARY_H
#define COLLOPT_TOOLS_TUNE_SUMMARY_H

struct tune_cells;
struct tune_options;

/* How many times as fast as the host, by the rules and without them, and where the files belong. */
void tune_sum_up(const struct tune_cells *all, const struct tune_options *o);

#endif
