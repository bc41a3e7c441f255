/* The file of what messages cost. */
#ifndef COLLOPT_TOOLS_TUNE_MACHINE_H
#define COLLOPT_TOOLS_TUNE_MACHINE_H

#include <stdbool.h>

struct tune_cells;
struct tune_command;
struct tune_options;

bool tune_knows_costs(const struct tune_cells *all);    /* is there something to write? */
/* Writes O->machine, if there is something to write: what messages cost, and what the host's
 * collectives take.  False, after a message. */
bool tune_write_machine(const struct tune_cells *all, const struct tune_options *o,
                        const struct tune_command *command);

#endif
