/* Channels: messages in cells and in blocks, the ring and the blocks used again, several receivers,
 * and memory that is given back. */
#include "shm/channel.c"

static char *memory;            /* the segment of the sender */

void collopt_write(struct collopt_writer *w, char *to, const char *from, size_t bytes)
{
    (void)w;
    memcpy(to, from, bytes);
}

enum { BLOCK = 1024, CALL = 7 };
static struct collopt_channel sender, receiver[2];

/* Message N, of so many bytes, begins with N. */
static bool send(uint64_t n, size_t bytes)
{
    char *payload;

    explore_until(collopt_channel_has_room(&sender, bytes));
    payload = collopt_channel_payload(&sender, bytes);
    if (!payload)
        return false;
    collopt_channel_write(&sender, payload, (const char *)&n, sizeof n);
    collopt_channel_send(&sender, CALL, payload, bytes);
    return true;
}

static void take_next(struct collopt_channel *ch)
{
    const char *payload;
    uint64_t n = 0, expected = ch->number + 1;
    size_t bytes;

    explore_until(collopt_channel_look(ch, CALL, &payload, &bytes) == COLLOPT_THERE);
    memcpy(&n, payload, sizeof n);
    explore_check(n == expected, "a message is another one");
    collopt_channel_take(ch);
}

static void make(int receivers)
{
    memory = explore_segment();
    leftovers = NULL;
    collopt_channel_make(&sender, receivers);
    for (int r = 0; r < receivers; r++)
        collopt_channel_open(&receiver[r], memory, (size_t)((char *)sender.ring - memory), r);
}

static void send_several(uint64_t from, uint64_t to, size_t bytes)
{
    for (uint64_t n = from; n <= to; n++)
        explore_check(send(n, bytes), "there is no block");
}

static void take_several(struct collopt_channel *ch, int n)
{
    while (n-- > 0)
        take_next(ch);
}

/* ---- short and long messages ----------------------------------------------------------------- */

static void begin_two(void)
{
    make(1);
    collopt_channel_widen(&sender, BLOCK, BLOCK);
}

static void send_two(void)
{
    send_several(1, 1, 8);
    send_several(2, 2, BLOCK);
}

static void take_two(void)
{
    take_several(&receiver[0], 2);
}

/* Polls apart from looking, as ranks do that have nothing else to do. */
static void await_two(void)
{
    for (int i = 0; i < 2; i++) {
        explore_until(collopt_channel_await(&receiver[0], i == 0 ? 8 : BLOCK, 0));
        take_next(&receiver[0]);
    }
}

/* ---- used again ------------------------------------------------------------------------------ */

static void begin_full(void)
{
    make(1);
    send_several(1, COLLOPT_CELLS, 8);
}

static void send_after_ring(void)
{
    send_several(COLLOPT_CELLS + 1, COLLOPT_CELLS + 2, 8);
}

static void take_interval(void)
{
    take_several(&receiver[0], COLLOPT_ACK_INTERVAL + 1);
}

static void begin_full_blocks(void)
{
    make(1);
    collopt_channel_widen(&sender, BLOCK, BLOCK);
    send_several(1, COLLOPT_BLOCKS, BLOCK);
}

static void send_after_blocks(void)
{
    send_several(COLLOPT_BLOCKS + 1, COLLOPT_BLOCKS + 1, BLOCK);
}

static void begin_full_of_two(void)
{
    make(2);
    send_several(1, COLLOPT_CELLS, 8);
}

static void send_after_ring_of_two(void)
{
    send_several(COLLOPT_CELLS + 1, COLLOPT_CELLS + 1, 8);
}

static void take_interval_too(void)
{
    take_several(&receiver[1], COLLOPT_ACK_INTERVAL);
}

/* ---- given back ------------------------------------------------------------------------------ */

static void send_and_free(void)
{
    send_two();
    collopt_channel_free(&sender);
    for (int i = 0; i < 2; i++)
        give_back_what_was_taken();
}

static void take_and_close(void)
{
    take_two();
    collopt_channel_close(&receiver[0]);
}

int main(void)
{
    static const struct explore_model models[] = {
        { "channel", begin_two, { send_two, take_two }, NULL },
        { "channel, awaited", begin_two, { send_two, await_two }, NULL },
        { "cells used again", begin_full, { send_after_ring, take_interval }, NULL },
        { "blocks used again", begin_full_blocks, { send_after_blocks, take_interval }, NULL },
        { "two receivers", begin_full_of_two,
          { send_after_ring_of_two, take_interval, take_interval_too }, NULL },
        { "channel given back", begin_two, { send_and_free, take_and_close }, NULL },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
