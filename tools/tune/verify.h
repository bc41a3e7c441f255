/* The rules against the choice without them. */
#ifndef COLLOPT_TOOLS_TUNE_VERIFY_H
#define COLLOPT_TOOLS_TUNE_VERIFY_H

struct tune_cells;
struct tune_options;

/* Measures both in pairs where they differ, and tells.  Cells that the rules make slower get what
 * they have without them. */
int tune_verify(struct tune_cells *all, const struct tune_options *o);

#endif
