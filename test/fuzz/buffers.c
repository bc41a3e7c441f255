/* Memory for vectors: everything around one is poison, and the pages before and behind it may not
 * be touched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

enum { MARGIN = 192 };

static const size_t room_of_short = 262144;

struct arena {
    char *pages;                /* with one before them that may not be touched, and one behind */
    size_t size;
};

OWN struct arena arenas[LANES][2];
OWN char *image;

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Of the lanes only the first has room for long vectors. */
static size_t room_of(int lane)
{
    return lane == 0 ? job.most + job.most / 2 + 65536 : room_of_short;
}

static void open_arena(struct arena *a, size_t room)
{
    size_t page = page_size();
    char *all;

    a->size = (room + page - 1) / page * page;
    all = mmap(NULL, a->size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + page, a->size, PROT_READ | PROT_WRITE)) {
        perror("mmap");
        exit(99);
    }
    a->pages = all + page;
}

void buffers_begin(void)
{
    for (int i = 0; i < 2 * LANES; i++)
        open_arena(&arenas[i / 2][i % 2], room_of(i / 2));
    image = malloc((room_of(0) > room_of_short ? room_of(0) : room_of_short) + page_size());
}

void buffers_end(void)
{
    for (int i = 0; i < 2 * LANES; i++)
        munmap(arenas[i / 2][i % 2].pages - page_size(),
               arenas[i / 2][i % 2].size + 2 * page_size());
    free(image);
}

/* Bytes from an element's address: where its data begin and where they end.  A datatype of MPI's
 * counts with its gaps, which an operation of C may copy along with the data; of others MPI may
 * touch the data alone. */
static void bounds_of(const struct element *e, ptrdiff_t *from, ptrdiff_t *to)
{
    bool pair = e->parts == 2 && !e->derived;

    *from = pair ? e->low : 0;
    *to = pair ? e->high : 0;
    for (int i = 0; i < e->parts && !pair; i++) {
        ptrdiff_t end = e->at[i] + (ptrdiff_t)part_size(e->part[i]);

        *from = i == 0 || e->at[i] < *from ? e->at[i] : *from;
        *to = i == 0 || end > *to ? end : *to;
    }
}

static size_t span_of(const struct element *e, size_t n)
{
    ptrdiff_t from, to;

    bounds_of(e, &from, &to);
    return n ? (n - 1) * (size_t)e->extent + (size_t)(to - from) : 0;
}

bool buffers_fit(int lane, const struct kind *k, size_t n)
{
    size_t even = span_of(&k->element[0], n), odd = span_of(&k->element[1], n);

    return (even > odd ? even : odd) + 4096 <= room_of(lane);
}

/* As aligned as its parts must be. */
static size_t alignment_of(const struct element *e)
{
    size_t align = 1;

    for (int i = 0; i < e->parts; i++)
        align = part_size(e->part[i]) > align ? part_size(e->part[i]) : align;
    return align;
}

/* Right before the page behind the arena, right behind that before it, or somewhat away from
 * either. */
struct buffer buffers_place(int lane, int which, const struct element *e, size_t n,
                            struct fuzz_random *mine)
{
    const struct arena *a = &arenas[lane][which];
    size_t away = fuzz_chance(mine, 2) ? 0 : 16 * (1 + fuzz_below(mine, 6)), span = span_of(e, n),
           align = alignment_of(e);
    struct buffer b = { .poison = 0x21 + (int)fuzz_below(mine, 90) };
    ptrdiff_t from, to;
    char *at, *end;

    bounds_of(e, &from, &to);
    if (fuzz_chance(mine, 3)) {
        at = a->pages + away;
        b.start = a->pages;
        end = at + span + MARGIN;
    } else {
        at = a->pages + a->size - away - span;
        at -= (uintptr_t)at % align;
        b.start = at - MARGIN;
        end = a->pages + a->size;
    }
    b.first = at - (n ? from : 0);
    b.bytes = (size_t)(end - b.start);
    memset(b.start, b.poison, b.bytes);
    return b;
}

struct buffer buffers_take(const struct element *e, size_t n, struct fuzz_random *mine)
{
    struct buffer b = { .poison = 0x21 + (int)fuzz_below(mine, 90) };
    size_t span = span_of(e, n), align = alignment_of(e);
    ptrdiff_t from, to;
    char *at;

    bounds_of(e, &from, &to);
    b.bytes = span + 2 * MARGIN + align;
    b.start = malloc(b.bytes);
    at = b.start + MARGIN;
    at += (align - (uintptr_t)at % align) % align;
    b.first = at - (n ? from : 0);
    memset(b.start, b.poison, b.bytes);
    return b;
}

void buffers_give_back(struct buffer b)
{
    free(b.start);
}

void buffers_allow(struct buffer b, int access)
{
    size_t into_page = (uintptr_t)b.start % page_size();

    mprotect(b.start - into_page, b.bytes + into_page, access);
}

char *buffers_image(const struct buffer *b)
{
    memset(image, b->poison, b->bytes);
    return image + (b->first - b->start);
}

char *buffers_image_of(const struct buffer *b, const char *address)
{
    return image + (address - b->start);
}

ptrdiff_t buffers_differ(const struct buffer *b)
{
    if (memcmp(image, b->start, b->bytes) == 0)
        return -1;
    for (size_t i = 0; i < b->bytes; i++)
        if (image[i] != b->start[i])
            return (ptrdiff_t)i;
    return -1;
}
