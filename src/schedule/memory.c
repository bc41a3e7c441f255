/* Memory of a schedule that is being made: its pools grow, and know when memory is out. */
#include "config.h"

#include <stdlib.h>

#include "schedule/memory.h"
#include "schedule/parts.h"

bool collopt_grow(struct collopt_schedule *s, void **list, size_t n, size_t *room, size_t size)
{
    if (s->failed)
        return false;
    if (n < *room)
        return true;

    size_t more = *room ? *room * 2 : 16;
    void *bigger = realloc(*list, more * size);

    if (!bigger) {
        s->failed = true;
        return false;
    }
    *list = bigger;
    *room = more;
    return true;
}

void *collopt_workspace(struct collopt_schedule *s, size_t bytes)
{
    void *memory = NULL;
    size_t room = 0;

    return collopt_grow(s, &memory, 0, &room, bytes / 8 + 1) ? memory : NULL;
}

int collopt_add_span(struct collopt_schedule *s, int n, const struct piece *piece)
{
    for (int i = 0; i < n; i++) {
        if (!schedule_room(s, piece, pieces, piece_room))
            return 0;
        s->piece[s->pieces++] = piece[i];
    }
    if (!schedule_room(s, region, regions, region_room))
        return 0;
    s->region[s->regions] = (struct span){ (int)s->pieces - n, n };
    return (int)s->regions++;
}
