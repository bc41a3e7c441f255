/* A heat map of what is chosen. */
#ifndef COLLOPT_TOOLS_TUNE_PICTURE_H
#define COLLOPT_TOOLS_TUNE_PICTURE_H

#include <stdbool.h>

struct tune_cells;
struct tune_options;

/* Makes O->picture of the last ones by gnuplot; where there is none it says what makes it.  False,
 * after a message. */
bool tune_draw(const struct tune_cells *all, const struct tune_options *o);

#endif
