/* Compares the choices of rules with performance guidelines. */
#ifndef COLLOPT_TOOLS_TUNE_GUIDELINES_H
#define COLLOPT_TOOLS_TUNE_GUIDELINES_H

#include "base/lines.h"

struct collopt_machine_file;
struct collopt_rules;

/* Tells of lines that are predicted to take more than twice as long as what a guideline says, on
 * MACHINE (NULL: the bundled ones); returns how many there are. */
int tune_hold_rules(const struct collopt_rules *rules, const struct collopt_machine_file *machine,
                    collopt_tell_mistake *tell, void *data);

#endif
