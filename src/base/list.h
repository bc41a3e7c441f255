/* Lists that grow. A list of N elements has room for the next power of two, 16 at least, so that
 * nobody has to keep how much there is. */
#ifndef COLLOPT_BASE_LIST_H
#define COLLOPT_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

enum { COLLOPT_LIST_ROOM = 16 };

/* Makes room for MORE elements of SIZE bytes behind the N of a list; *LIST points to the first one,
 * NULL: there has been none. False: no memory, and the list stays as it is. */
bool collopt_list_grow(void **list, size_t n, size_t more, size_t size);

/* The same for one, which mostly finds room. */
static inline bool collopt_list_room(void **list, size_t n, size_t size)
{
    bool full = n == 0 || (n >= COLLOPT_LIST_ROOM && (n & (n - 1)) == 0);

    return !full || collopt_list_grow(list, n, 1, size);
}

/* Both take the array pointer itself, as in collopt_room_for(r->record, r->records, more). */
#define collopt_room(list, n)   collopt_list_room((void **)&(list), (size_t)(n), sizeof *(list))
#define collopt_room_for(list, n, more) \
    collopt_list_grow((void **)&(list), (size_t)(n), (more), sizeof *(list))

#endif
