/* The file of rules. */
#ifndef COLLOPT_TOOLS_TUNE_RULES_H
#define COLLOPT_TOOLS_TUNE_RULES_H

#include <stdbool.h>
#include <stdio.h>

struct tune_cells;
struct tune_machine;
struct tune_options;

struct tune_command {
    int argc;
    char **argv;
};

/* ", made by collopt-tune ..." and lines of comment: when, how and where. */
void tune_write_origin(const struct tune_machine *m, const struct tune_command *command, FILE *to);
int tune_cells_of(const struct tune_cells *all);
int tune_not_measured(const struct tune_cells *all);         /* of these */
/* Writes O->output, whole or not at all.  False, after a message. */
bool tune_write_rules(const struct tune_cells *all, const struct tune_options *o,
                      const struct tune_command *command);

#endif
