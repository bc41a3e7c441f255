/* The segment of a process, with its real allocator, in memory that is there already. */
#include "shm/segment.c"

enum { FOR_CHANNELS = 1 << 17, IN_ALL = 1 << 18 };

char *explore_segment(void)
{
    base = explore_memory(IN_ALL);
    size = IN_ALL;
    channels = (struct pool){ .from = PAGE, .to = FOR_CHANNELS, .allocated = FOR_CHANNELS,
                              .used = PAGE, .keeps = SIZE_MAX };
    room = (struct pool){ .from = FOR_CHANNELS, .to = IN_ALL, .allocated = IN_ALL,
                          .used = FOR_CHANNELS, .keeps = SIZE_MAX };
    return base;
}
