/* Memory for tables that an algorithm needs while it builds a schedule. */
#include "config.h"

#include "schedule/passes.h"
#include "schedule/schedule.h"

void *collopt_workspace(struct collopt_schedule *s, size_t bytes)
{
    void *memory = NULL;
    size_t room = 0;

    return collopt_grow(s, &memory, 0, &room, bytes / 8 + 1) ? memory : NULL;
}
