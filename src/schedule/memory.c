/* Memory of a schedule that is being made: its pools grow, and know when memory is out. */
#include "config.h"

#include <stdlib.h>

#include "schedule/memory.h"
#include "base/list.h"
#include "schedule/parts.h"

bool collopt_grow(struct collopt_schedule *s, void **list, size_t n, size_t size)
{
    s->failed = s->failed || !collopt_list_room(list, n, size);
    return !s->failed;
}

void *collopt_workspace(struct collopt_schedule *s, size_t bytes)
{
    void *memory = s->failed ? NULL : malloc(bytes + 1);

    s->failed = s->failed || !memory;
    return memory;
}

int collopt_add_span(struct collopt_schedule *s, int n, const struct piece *piece)
{
    for (int i = 0; i < n; i++) {
        if (!schedule_room(s, piece, pieces))
            return 0;
        s->piece[s->pieces++] = piece[i];
    }
    if (!schedule_room(s, region, regions))
        return 0;
    s->region[s->regions] = (struct span){ (int)s->pieces - n, n };
    return (int)s->regions++;
}
