/* Makes and frees channels; see channel.h. */
#include "config.h"

#include "shm/channel.h"
#include "shm/segment.h"

#include <pthread.h>
#include <stdlib.h>

_Static_assert(sizeof(struct collopt_cell) == COLLOPT_SHM_LINE, "a cell is one line");
_Static_assert(COLLOPT_CELLS >= COLLOPT_ACK_INTERVAL && COLLOPT_BLOCKS >= COLLOPT_ACK_INTERVAL,
               "a sender never waits for messages that are taken already");

/* Memory with messages that are not acknowledged yet.  It is freed when they are. */
struct leftover {
    struct leftover *next;
    const struct collopt_ring *ring;
    int receivers;
    uint64_t until;             /* PIECE is free when all receivers have acknowledged this
                                 * message */
    void *piece;
    size_t size;
    bool bare;                  /* not all of it was filled */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct leftover *leftovers;

/* Reads the ring.  The last entry of a channel owns its ring, so it stays as long as others are
 * before it. */
static bool is_free(const struct leftover *this)
{
    if (collopt_channel_taken(this->ring, this->receivers) < this->until)
        return false;
    for (const struct leftover *l = leftovers; l != this; l = l->next)
        if (l->ring == this->ring)
            return false;
    return true;
}

static void give_back_what_was_taken(void)
{
    pthread_mutex_lock(&lock);
    for (struct leftover **l = &leftovers; *l;) {
        struct leftover *this = *l;

        if (!is_free(this)) {
            l = &this->next;
            continue;
        }
        *l = this->next;
        if (this->bare)
            collopt_segment_give_back_bare(this->piece, this->size);
        else
            collopt_segment_give_back(this->piece, this->size);
        free(this);
    }
    pthread_mutex_unlock(&lock);
}

/* Without memory for the entry the piece is lost, which is safe. */
static void leave(const struct collopt_channel *ch, void *piece, size_t size, bool bare)
{
    struct leftover *l = malloc(sizeof *l), **end = &leftovers;

    if (!l)
        return;
    *l = (struct leftover){ .ring = ch->ring, .receivers = ch->receivers, .until = ch->number,
                             .piece = piece, .size = size, .bare = bare };
    pthread_mutex_lock(&lock);
    while (*end)
        end = &(*end)->next;
    *end = l;
    pthread_mutex_unlock(&lock);
}

static void leave_blocks(const struct collopt_channel *ch)
{
    if (ch->blocks)
        leave(ch, ch->blocks, COLLOPT_BLOCKS * ch->block, ch->filled < COLLOPT_BLOCKS);
}

static void *take(void *(*from)(size_t size), size_t size)
{
    void *piece = from(size);

    if (!piece) {
        give_back_what_was_taken();
        piece = from(size);
    }
    return piece;
}

static size_t ring_size(int receivers)
{
    return sizeof(struct collopt_ring) + (size_t)receivers * sizeof(struct collopt_receiver);
}

bool collopt_channel_make(struct collopt_channel *ch, int receivers)
{
    *ch = (struct collopt_channel){ .base = collopt_segment_base(), .receivers = receivers };
    ch->ring = take(collopt_segment_take, ring_size(receivers));
    return ch->ring != NULL;
}

void collopt_channel_open(struct collopt_channel *ch, char *base, size_t offset, int receiver)
{
    *ch = (struct collopt_channel){ .base = base, .ring = (struct collopt_ring *)(base + offset) };
    ch->line = &ch->ring->receiver[receiver];
}

void collopt_channel_close(struct collopt_channel *ch)
{
    if (ch->number % COLLOPT_ACK_INTERVAL != 0)
        atomic_store_explicit(&ch->line->taken, ch->number, memory_order_release);
    ch->ring = NULL;
}

/* The next powers of two, since programs that use several lengths mostly use longer ones as
 * well. */
void collopt_channel_widen(struct collopt_channel *ch, size_t bytes, size_t most)
{
    size_t block = 1024;
    char *blocks;

    if (bytes <= COLLOPT_INLINE || bytes <= ch->block)
        return;
    while (block < bytes)
        block *= 2;
    if (block > most || !(blocks = take(collopt_segment_take_bare, COLLOPT_BLOCKS * block)))
        return;
    leave_blocks(ch);
    ch->blocks = blocks;
    ch->block = block;
    ch->next = ch->filled = 0;
    memset(ch->user, 0, sizeof ch->user);
    give_back_what_was_taken();
}

bool collopt_channel_fill(struct collopt_channel *ch)
{
    if (!collopt_segment_fill(ch->blocks + (size_t)ch->next * ch->block, ch->block))
        return false;
    ch->filled++;
    return true;
}

void collopt_channel_free(struct collopt_channel *ch)
{
    leave_blocks(ch);
    leave(ch, ch->ring, ring_size(ch->receivers), false);
    ch->ring = NULL;
    give_back_what_was_taken();
}
