/* A channel carries messages from one rank to another, or the same messages to several others,
 * through the sender's segment.
 *
 * It is a ring of cells.  The sender writes a message into the next cell, with its payload if that
 * is short, else into a block of its segment that the cell points to, and then stores the message's
 * number there (release).  A receiver looks for that number (acquire) and reads the payload where
 * it is.  A cell that points to a block also says where the next block is, so that a receiver can
 * fetch it with the number; no page need be there.  The receiver acknowledges every eighth message
 * that it has taken: it stores the number (release) in a line of its own.  The sender writes a cell
 * or a block again only when all receivers have acknowledged the message in it.  Numbers begin with
 * 1, have 64 bits and are never reset, so none comes twice.
 *
 * Each word has one writer.  A message of at most 48 bytes is one cache line of 64 bytes.
 *
 * Like messages of MPI with one tag, messages of a channel are taken in the order in which they
 * were sent.  A sender that finds the ring full waits until the receiver has taken earlier messages
 * of this channel, as the sender of a rendezvous would; schedules are proved for rendezvous.  When
 * the receiver has taken all messages, at most seven are not acknowledged.  There are more cells
 * and blocks than that, so a sender that waits for room waits for a message that is not taken yet.
 *
 * No MPI here, and one thread at a time on each side. */
#ifndef COLLOPT_SHM_CHANNEL_H
#define COLLOPT_SHM_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shm/segment.h"
#include "shm/writer.h"

enum {
    /* With the line of one receiver they fill 4 KiB. Where ranks share a processor, one runs so far
     * ahead. */
    COLLOPT_CELLS = 31,
    /* The peer's cache holds a block that it has read. To write there again takes four times as
     * long as to write what has been evicted, so blocks are used in turn, and are many. */
    COLLOPT_BLOCKS = 15,
    /* Messages for each acknowledgement.  A sender that waits for room reads the line of the
     * acknowledgement, so the next store there takes as long as a message.  One sender, processors
     * without a shared cache: 195 ns a message with interval 1, 161 with 4, 136 with 8. */
    COLLOPT_ACK_INTERVAL = 8,
    COLLOPT_INLINE = COLLOPT_SHM_LINE - 16,     /* bytes of payload in a cell ... */
    /* ... of which so many are in its first cache line */
    COLLOPT_HEAD = 48,
    /* A receiver that polls fetches messages of at most so many bytes while they are written.  Two
     * ranks, Allreduce of 256 bytes: 379 ns, without 456; of 512: 528 and 601.  If it fetched as
     * much of one of 1536 bytes, 1053 and 929: the sender would lose lines before they are full. */
    COLLOPT_FETCHED = 512
};

/* Where a payload is, in units of COLLOPT_BLOCK_UNIT bytes from the segment's start; or
 * COLLOPT_BY_MESSAGE; or in the cell, from COLLOPT_IN_CELL on by its length. */
enum { COLLOPT_BLOCK_UNIT = 64 };
static const uint32_t COLLOPT_BY_MESSAGE = UINT32_MAX,
                      COLLOPT_IN_CELL = UINT32_MAX - 1 - COLLOPT_INLINE;

struct collopt_cell {
    _Alignas(COLLOPT_SHM_LINE) _Atomic uint64_t number;
    /* number of the call: a message that a failed call has left behind is dropped */
    uint32_t call;
    uint32_t where;
    union {
        char payload[COLLOPT_INLINE];
        struct {                /* of a payload elsewhere */
            size_t bytes;
            uint32_t next;      /* WHERE of the next such one, if it is no longer than a block */
        };
    };
};

struct collopt_receiver {       /* a line of each */
    _Alignas(COLLOPT_SHM_LINE) _Atomic uint64_t taken;     /* as acknowledged */
};

struct collopt_ring {           /* in the sender's segment */
    struct collopt_cell cell[COLLOPT_CELLS];
    struct collopt_receiver receiver[];
};

/* One end of a channel. */
struct collopt_channel {
    struct collopt_ring *ring;
    char *base;                 /* of the sender's segment, as it is mapped here */
    uint64_t number;            /* of messages that were sent or taken so far */
    int cell;                   /* of the next one to send or to look at */
    /* sender */
    int receivers;
    uint64_t taken;             /* of which all receivers are known to have taken so many */
    char *blocks;               /* COLLOPT_BLOCKS of BLOCK bytes, used in turn; or NULL */
    size_t block;
    int next;                   /* block */
    int filled;                 /* blocks that have memory; they get it as they are used first */
    struct collopt_writer writer;       /* to blocks */
    uint64_t user[COLLOPT_BLOCKS];      /* the message that was last in each */
    /* receiver */
    struct collopt_receiver *line;      /* its own */
    const char *expected;       /* the block of the next message that has one; NULL: not known */
    uint64_t seen;              /* number of the last message that was looked at; NUMBER: of the
                                 * last one taken */
};

/* Between two looks: the processor need not hurry. */
static inline void collopt_pause(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}

static inline int collopt_next_cell(int cell)
{
    return cell + 1 == COLLOPT_CELLS ? 0 : cell + 1;
}

/* Messages that must have been taken before one of BYTES can be written. */
static inline uint64_t collopt_channel_needs(const struct collopt_channel *ch, size_t bytes)
{
    uint64_t cell = ch->number < COLLOPT_CELLS ? 0 : ch->number + 1 - COLLOPT_CELLS;
    uint64_t block = bytes > COLLOPT_INLINE && bytes <= ch->block ? ch->user[ch->next] : 0;

    return block > cell ? block : cell;
}

/* Messages that all receivers have acknowledged. */
static inline uint64_t collopt_channel_taken(const struct collopt_ring *ring, int receivers)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < receivers; i++) {
        uint64_t taken = atomic_load_explicit(&ring->receiver[i].taken, memory_order_acquire);

        least = taken < least ? taken : least;
    }
    return least;
}

/* Is there room for a message of BYTES?  A sender asks before it writes. */
static inline bool collopt_channel_has_room(struct collopt_channel *ch, size_t bytes)
{
    uint64_t needs = collopt_channel_needs(ch, bytes);

    if (ch->taken >= needs)
        return true;
    ch->taken = collopt_channel_taken(ch->ring, ch->receivers);
    return ch->taken >= needs;
}

/* Gives the next block its memory; false: there is none. */
bool collopt_channel_fill(struct collopt_channel *ch);

/* Where the payload of the next message is to be written; NULL: it must go by a message of the
 * host's. */
static inline char *collopt_channel_payload(struct collopt_channel *ch, size_t bytes)
{
    if (bytes <= COLLOPT_INLINE)
        return ch->ring->cell[ch->cell].payload;
    if (bytes > ch->block
        || (__builtin_expect(ch->next == ch->filled, 0) && !collopt_channel_fill(ch)))
        return NULL;
    return ch->blocks + (size_t)ch->next * ch->block;
}

/* Copies a payload to PAYLOAD and writes the first line of a cell last: a receiver polls that line,
 * and would take it from this core's cache between two stores. */
static inline void collopt_channel_write(struct collopt_channel *ch, char *payload,
                                         const char *from, size_t bytes)
{
    if (bytes > COLLOPT_INLINE) {
        collopt_write(&ch->writer, payload, from, bytes);
        return;
    }
    if (bytes > COLLOPT_HEAD) {
        memcpy(payload + COLLOPT_HEAD, from + COLLOPT_HEAD, bytes - COLLOPT_HEAD);
        bytes = COLLOPT_HEAD;
    }
    memcpy(payload, from, bytes);
}

/* Begins to fetch a cache line in order to write it. */
static inline void collopt_fetch_to_write(const char *line)
{
#ifdef __x86_64__
    /* for x86-64 in general compilers do not emit it */
    __asm__ volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
}

static inline uint32_t collopt_channel_where(const struct collopt_channel *ch, const char *block)
{
    return (uint32_t)((size_t)(block - ch->base) / COLLOPT_BLOCK_UNIT);
}

/* Sends BYTES that were written to PAYLOAD; NULL: says that the message goes by the host. */
static inline void collopt_channel_send(struct collopt_channel *ch, unsigned call,
                                        const char *payload, size_t bytes)
{
    struct collopt_cell *cell = &ch->ring->cell[ch->cell];

    cell->call = call;
    cell->where = COLLOPT_IN_CELL + (uint32_t)bytes;
    ch->number++;
    if (!payload) {
        cell->where = COLLOPT_BY_MESSAGE;
    } else if (payload != cell->payload) {
        cell->bytes = bytes;
        cell->where = collopt_channel_where(ch, payload);
        ch->user[ch->next] = ch->number;
        ch->next = ch->next + 1 == COLLOPT_BLOCKS ? 0 : ch->next + 1;
        cell->next = collopt_channel_where(ch, ch->blocks + (size_t)ch->next * ch->block);
    }
    atomic_store_explicit(&cell->number, ch->number, memory_order_release);
    ch->cell = collopt_next_cell(ch->cell);
}

/* Fetches the cell after the next one, for ranks that only send: they would wait for the cache line
 * of each cell.  Exscan of 8 bytes, two ranks without a shared cache: 86 ns instead of 138.  Do not
 * call it if the receiver also sends to this rank: a receiver that waits polls its next cell, and
 * would take the line back (Allreduce: 336 ns with, 299 without). */
static inline void collopt_channel_fetch_ahead(const struct collopt_channel *ch, size_t bytes)
{
    const char *cell = (const char *)&ch->ring->cell[collopt_next_cell(ch->cell)];

    collopt_fetch_to_write(cell);
    if (bytes > COLLOPT_HEAD && bytes <= COLLOPT_INLINE)
        collopt_fetch_to_write(cell + 64);
}

/* The oldest message that was looked at is no longer needed. */
static inline void collopt_channel_take(struct collopt_channel *ch)
{
    const char *next = (const char *)&ch->ring->cell[ch->cell];

    if (++ch->number % COLLOPT_ACK_INTERVAL == 0)
        atomic_store_explicit(&ch->line->taken, ch->number, memory_order_release);
    __builtin_prefetch(next);           /* the next message may be there already */
    __builtin_prefetch(next + 64);
}

enum collopt_arrival { COLLOPT_NOT_THERE, COLLOPT_THERE, COLLOPT_COMES_BY_HOST };

/* Is the next message of CALL there?  Then *PAYLOAD of *BYTES is valid until it is taken.  At most
 * COLLOPT_CELLS may be looked at before they are taken.  Messages of earlier calls are dropped. */
static inline enum collopt_arrival collopt_channel_look(struct collopt_channel *ch, unsigned call,
                                                        const char **payload, size_t *bytes)
{
    const struct collopt_cell *cell = &ch->ring->cell[ch->cell];

    if (atomic_load_explicit(&cell->number, memory_order_acquire) != ch->seen + 1)
        return COLLOPT_NOT_THERE;
    if (__builtin_expect(cell->call != call, 0) && (int32_t)(cell->call - call) > 0)
        return COLLOPT_NOT_THERE;
    ch->seen++;
    ch->cell = collopt_next_cell(ch->cell);
    if (__builtin_expect(cell->call != call, 0)) {
        collopt_channel_take(ch);
        return COLLOPT_NOT_THERE;
    }
    if (__builtin_expect(cell->where == COLLOPT_BY_MESSAGE, 0))
        return COLLOPT_COMES_BY_HOST;
    if (cell->where >= COLLOPT_IN_CELL) {
        *payload = cell->payload;
        *bytes = cell->where - COLLOPT_IN_CELL;
    } else {
        *payload = ch->base + (size_t)cell->where * COLLOPT_BLOCK_UNIT;
        *bytes = cell->bytes;
        ch->expected = ch->base + (size_t)cell->next * COLLOPT_BLOCK_UNIT;
    }
    return COLLOPT_THERE;
}

/* The part of the next message, of BYTES in all, that is not in the first cache line of its cell.
 * Returns its length and sets *REST to its address; 0 if the message is long or has no such part.
 * The address of a block is a hint of the sender's: it is wrong after blocks were widened. */
static inline size_t collopt_channel_rest(const struct collopt_channel *ch, size_t bytes,
                                          const char **rest)
{
    const struct collopt_cell *cell = &ch->ring->cell[ch->cell];

    *rest = bytes <= COLLOPT_INLINE ? cell->payload + COLLOPT_HEAD : ch->expected;
    if (bytes <= COLLOPT_INLINE)
        return bytes > COLLOPT_HEAD ? bytes - COLLOPT_HEAD : 0;
    return bytes <= COLLOPT_FETCHED && *rest ? bytes : 0;
}

/* Polls for the next message once and LOOKS times more, and does nothing else in between.  To read
 * it, look at it.  Each time it begins to fetch the rest of the message, of BYTES in all: after the
 * number has come, that would take as long again.  BYTES are 0 where it should not be fetched. */
static inline bool collopt_channel_await(const struct collopt_channel *ch, size_t bytes,
                                         unsigned looks)
{
    const struct collopt_cell *cell = &ch->ring->cell[ch->cell];
    const char *rest;
    size_t fetched = collopt_channel_rest(ch, bytes, &rest);

    for (;;) {
        for (size_t at = 0; at < fetched; at += 64)
            __builtin_prefetch(rest + at);
        if (atomic_load_explicit(&cell->number, memory_order_relaxed) == ch->seen + 1)
            return true;
        if (looks-- == 0)
            return false;
        collopt_pause();
    }
}

/* After a call that failed: takes all messages that were looked at. */
static inline void collopt_channel_take_all(struct collopt_channel *ch)
{
    while (ch->number < ch->seen)
        collopt_channel_take(ch);
}

/* Makes a channel from this process to RECEIVERS others; false: no room. */
bool collopt_channel_make(struct collopt_channel *ch, int receivers);
/* The end of receiver number RECEIVER, from 0 on, of a channel that a peer has made at OFFSET of
 * its segment, mapped at BASE. */
void collopt_channel_open(struct collopt_channel *ch, char *base, size_t offset, int receiver);
/* Closes a receiver's end: acknowledges the last messages.  If they are acknowledged already, the
 * sender may have freed the ring, so nothing is written. */
void collopt_channel_close(struct collopt_channel *ch);
/* Has blocks for messages of BYTES, at most MOST, from now on, if there is room for them. */
void collopt_channel_widen(struct collopt_channel *ch, size_t bytes, size_t most);
/* Frees a channel of this process once its receivers have acknowledged all messages. */
void collopt_channel_free(struct collopt_channel *ch);

#endif
