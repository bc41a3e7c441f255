/* Timed copies by ordinary or streaming stores; see writer.h. */
#include "config.h"

#include <string.h>

#include "shm/writer.h"

enum {
    FIRST = 6,                  /* copies that are made in both ways in turn */
    MOST = 1 << 28              /* cost: sums of a few have room */
};

#ifdef __SSE2__
#include <emmintrin.h>
#include <x86intrin.h>

enum { LINE = 64 };

static void stream_line(char *to, const char *from)
{
    for (int i = 0; i < LINE; i += 16)
        _mm_stream_si128((__m128i *)(void *)(to + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
}

void collopt_stream(char *to, const char *from, size_t bytes)
{
    size_t head = -(uintptr_t)to % LINE, at = head < bytes ? head : bytes;

    memcpy(to, from, at);
    for (; at + LINE <= bytes; at += LINE)
        stream_line(to + at, from + at);
    memcpy(to + at, from + at, bytes - at);
    _mm_sfence();               /* a store with release does not wait for streaming stores */
}
#else
void collopt_stream(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
#endif

/* Copies are timed at the writer alone.  Its ordinary stores take 6 to 8 times as long as streaming
 * ones where the reader shares no cache with it, and up to 2.3 times where it does; there the
 * reader gains more from what the cache still holds. */
static bool is_far(const struct collopt_writer *w)
{
    return w->cost[false] / 3 > w->cost[true];
}

bool collopt_writer_next(struct collopt_writer *w)
{
    uint32_t copy = w->copies++;

    if (copy < FIRST)
        return copy % 2;
    return copy % COLLOPT_WRITE_TRIAL == 0 ? !w->streams : w->streams;
}

/* The least of the first copies, then means of the latest four or so.  A copy during which the
 * thread did not run counts as one that took twice as long as usual. */
void collopt_writer_learn(struct collopt_writer *w, bool streamed, uint32_t cost)
{
    uint32_t *mean = &w->cost[streamed];

    if (*mean == 0 || (w->copies <= FIRST && cost < *mean))
        *mean = cost;
    else if (w->copies > FIRST)
        *mean = (3 * *mean + (cost / 2 < *mean ? cost : 2 * *mean)) / 4;
    w->streams = w->cost[true] != 0 && is_far(w);
}

/* Of a copy that took TICKS; never 0. */
static uint32_t cost_of(uint64_t ticks, size_t bytes)
{
    uint64_t cost = ticks * COLLOPT_WRITE_COST / bytes + 1;

    return cost < MOST ? (uint32_t)cost : MOST;
}

void collopt_write(struct collopt_writer *w, char *to, const char *from, size_t bytes)
{
#ifdef __SSE2__
    if (bytes >= COLLOPT_WRITE_LEAST) {
        bool streams = collopt_writer_next(w);
        uint64_t start = __rdtsc();

        if (streams)
            collopt_stream(to, from, bytes);
        else
            memcpy(to, from, bytes);
        collopt_writer_learn(w, streams, cost_of(__rdtsc() - start, bytes));
        return;
    }
#else
    (void)w;
#endif
    memcpy(to, from, bytes);
}
