/* Checks rules for what can have no effect, for collopt-tune. */
#ifndef COLLOPT_TOOLS_SHARED_RULES_CHECK_H
#define COLLOPT_TOOLS_SHARED_RULES_CHECK_H

#include "settings/rules.h"

/* Reports valid lines that can have no effect, and a missing
 * last line; returns their number. */
int collopt_rules_check(const struct collopt_rules *r, collopt_tell_mistake *tell, void *data);

#endif
