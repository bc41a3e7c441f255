/* Lists that grow; see list.h. */
#include "config.h"

#include <stdlib.h>

#include "base/list.h"

static size_t room_of(size_t n)
{
    size_t room = COLLOPT_LIST_ROOM;

    while (room < n)
        room *= 2;
    return n > 0 ? room : 0;
}

bool collopt_list_grow(void **list, size_t n, size_t more, size_t size)
{
    void *larger;

    if (room_of(n + more) == room_of(n))
        return true;
    larger = realloc(*list, room_of(n + more) * size);
    if (larger)
        *list = larger;
    return larger != NULL;
}
