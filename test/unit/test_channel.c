/* Channels between threads of a process, which stand for processes: order, payloads of every kind,
 * a full ring, several receivers, what a failed call leaves behind, and memory that is used again
 * only when all have taken it. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "shm/channel.h"
#include "shm/segment.h"
#include "suite.h"

enum { SEGMENT = 1 << 20, MESSAGES = 20000, LONGEST = 3000, BLOCK = 2048 };

static struct collopt_segment_key key;
static char why[160];

/* Where memory is short. */
static bool no_memory;

int __real_madvise(void *at, size_t size, int advice);
int __wrap_madvise(void *at, size_t size, int advice);

int __wrap_madvise(void *at, size_t size, int advice)
{
    if (no_memory) {
        errno = ENOMEM;
        return -1;
    }
    return __real_madvise(at, size, advice);
}

static void make(void)
{
    collopt_segment_make(SEGMENT, (size_t)64 * SEGMENT, &key, why, sizeof why);
    ck_assert_msg(key.descriptor >= 0, "%s", why);
}

static void make_both_ends(struct collopt_channel *from, struct collopt_channel *to)
{
    make();
    ck_assert(collopt_channel_make(from, 1));
    collopt_channel_open(to, from->base, (size_t)((char *)from->ring - from->base), 0);
}

/* Byte I of message N, and how long it is. */
static unsigned char byte_of(unsigned n, size_t i)
{
    return (unsigned char)(n * 31 + i * 7 + (i >> 8));
}

static size_t length_of(unsigned n)
{
    static const size_t length[] = {
        0, 1, 8, 48, 49, COLLOPT_INLINE, COLLOPT_INLINE + 1, 1000, BLOCK, LONGEST
    };

    return length[n * 2654435761u % 10];
}

/* The threads only count what is wrong: ck_assert() writes to a file that they share, which would
 * put them in order. */
static bool send_one(struct collopt_channel *ch, unsigned n, unsigned call, unsigned *wrong)
{
    size_t length = length_of(n);
    char *payload;

    if (!collopt_channel_has_room(ch, length))
        return false;
    payload = collopt_channel_payload(ch, length);
    *wrong += !payload != (length > BLOCK);
    for (size_t i = 0; payload && i < length; i++)
        payload[i] = (char)byte_of(n, i);
    collopt_channel_send(ch, call, payload, length);
    return true;
}

static bool is_right(unsigned n, enum collopt_arrival arrival, const char *payload, size_t bytes)
{
    size_t length = length_of(n);

    if (length > BLOCK)
        return arrival == COLLOPT_COMES_BY_HOST;
    if (arrival != COLLOPT_THERE || bytes != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)payload[i] != byte_of(n, i))
            return false;
    return true;
}

struct receiver {
    size_t offset;
    int number;
    unsigned wrong;
};

enum { RECEIVERS = 3 };         /* at most */

static void *receive_all(void *data)
{
    struct receiver *r = data;
    struct collopt_channel ch;

    collopt_channel_open(&ch, collopt_segment_base(), r->offset, r->number);
    for (unsigned n = 0; n < MESSAGES; n++) {
        enum collopt_arrival arrival;
        const char *payload = NULL;
        size_t bytes = 0;

        while ((arrival = collopt_channel_look(&ch, n / 3, &payload, &bytes)) == COLLOPT_NOT_THERE)
            sched_yield();
        if (n % (5 + (unsigned)r->number) == 0)
            sched_yield();      /* with a payload in use */
        r->wrong += !is_right(n, arrival, payload, bytes);
        collopt_channel_take(&ch);
    }
    return NULL;
}

TESTS(messages_arrive_in_order, 1, RECEIVERS + 1)
{
    struct receiver r[RECEIVERS];
    struct collopt_channel ch;
    pthread_t thread[RECEIVERS];
    unsigned wrong = 0;

    make();
    ck_assert(collopt_channel_make(&ch, _i));
    collopt_channel_widen(&ch, BLOCK, BLOCK);
    for (int i = 0; i < _i; i++) {
        r[i] = (struct receiver){ (size_t)((char *)ch.ring - ch.base), i, 0 };
        pthread_create(&thread[i], NULL, receive_all, &r[i]);
    }
    for (unsigned n = 0; n < MESSAGES; n++)
        while (!send_one(&ch, n, n / 3, &wrong))
            sched_yield();
    for (int i = 0; i < _i; i++) {
        pthread_join(thread[i], NULL);
        ck_assert_uint_eq(r[i].wrong, 0);
    }
    ck_assert_uint_eq(wrong, 0);
    collopt_channel_free(&ch);
    collopt_segment_drop();
}

/* A receiver that polls fetches what its first look will not bring. */
TEST(the_rest_of_a_message_is_known_before)
{
    struct collopt_channel from, to;
    const char *rest, *payload;
    size_t bytes;

    make_both_ends(&from, &to);
    collopt_channel_widen(&from, 1000, BLOCK);
    ck_assert_uint_eq(collopt_channel_rest(&to, COLLOPT_HEAD, &rest), 0);
    ck_assert_uint_eq(collopt_channel_rest(&to, COLLOPT_INLINE, &rest),
                      COLLOPT_INLINE - COLLOPT_HEAD);
    ck_assert_ptr_eq(rest, (const char *)to.ring + 64);
    ck_assert_uint_eq(collopt_channel_rest(&to, COLLOPT_INLINE + 1, &rest), 0);
    for (int i = 0; i < 2 * COLLOPT_BLOCKS; i++) {
        char *written = collopt_channel_payload(&from, COLLOPT_FETCHED);

        ck_assert(collopt_channel_has_room(&from, COLLOPT_FETCHED));
        collopt_channel_send(&from, 0, written, COLLOPT_FETCHED);
        ck_assert(collopt_channel_await(&to, COLLOPT_FETCHED, 0));
        ck_assert_uint_eq(collopt_channel_rest(&to, COLLOPT_FETCHED, &rest),
                          i == 0 ? 0 : COLLOPT_FETCHED);
        ck_assert_uint_eq(collopt_channel_look(&to, 0, &payload, &bytes), COLLOPT_THERE);
        ck_assert(i == 0 || payload == rest);
        collopt_channel_take(&to);
    }
    ck_assert_uint_eq(collopt_channel_rest(&to, COLLOPT_FETCHED + 1, &rest), 0);
    ck_assert(!collopt_channel_await(&to, COLLOPT_FETCHED, 1));
    collopt_channel_close(&to);
    collopt_channel_free(&from);
    collopt_segment_drop();
}

TESTS(a_full_ring_has_no_room, 0, 2)
{
    const size_t length[] = { 8, BLOCK };
    const unsigned room[] = { COLLOPT_CELLS, COLLOPT_BLOCKS };

    struct collopt_channel from, to;
    const char *payload;
    size_t bytes;

    make_both_ends(&from, &to);
    collopt_channel_widen(&from, BLOCK, BLOCK);
    for (unsigned n = 0; n < room[_i]; n++) {
        ck_assert(collopt_channel_has_room(&from, length[_i]));
        collopt_channel_send(&from, 1, collopt_channel_payload(&from, length[_i]), length[_i]);
    }
    ck_assert(!collopt_channel_has_room(&from, length[_i]));
    /* blocks are full, cells are not */
    ck_assert(collopt_channel_has_room(&from, 8) == (_i == 1));
    ck_assert_int_eq(collopt_channel_look(&to, 1, &payload, &bytes), COLLOPT_THERE);
    /* looked at, but still in use */
    ck_assert(!collopt_channel_has_room(&from, length[_i]));
    for (int n = 1; n < COLLOPT_ACK_INTERVAL; n++) {
        collopt_channel_take(&to);
        ck_assert(!collopt_channel_has_room(&from, length[_i]));
        ck_assert_int_eq(collopt_channel_look(&to, 1, &payload, &bytes), COLLOPT_THERE);
    }
    collopt_channel_take(&to);
    ck_assert(collopt_channel_has_room(&from, length[_i]));
    collopt_segment_drop();
}

/* Of three receivers the slowest decides. */
TEST(room_is_what_all_have_taken)
{
    struct collopt_channel from, to[RECEIVERS];
    const char *payload;
    size_t bytes;

    make();
    ck_assert(collopt_channel_make(&from, RECEIVERS));
    for (int i = 0; i < RECEIVERS; i++)
        collopt_channel_open(&to[i], from.base, (size_t)((char *)from.ring - from.base), i);
    for (int n = 0; n < COLLOPT_CELLS; n++) {
        ck_assert(collopt_channel_has_room(&from, 8));
        collopt_channel_send(&from, 1, collopt_channel_payload(&from, 8), 8);
    }
    for (int i = 0; i < RECEIVERS; i++) {
        ck_assert(!collopt_channel_has_room(&from, 8));
        for (int n = 0; n < COLLOPT_ACK_INTERVAL; n++) {
            ck_assert_int_eq(collopt_channel_look(&to[i], 1, &payload, &bytes), COLLOPT_THERE);
            collopt_channel_take(&to[i]);
        }
    }
    ck_assert(collopt_channel_has_room(&from, 8));
    collopt_segment_drop();
}

TEST(messages_of_failed_calls_are_dropped)
{
    struct collopt_channel from, to;
    const char *payload;
    size_t bytes;
    char *sent;

    make_both_ends(&from, &to);
    for (unsigned call = 4; call <= 6; call++) {
        sent = collopt_channel_payload(&from, 1);
        *sent = (char)call;
        collopt_channel_send(&from, call, sent, 1);
    }
    /* of a later call */
    ck_assert_int_eq(collopt_channel_look(&to, 3, &payload, &bytes), COLLOPT_NOT_THERE);
    ck_assert_int_eq(collopt_channel_look(&to, 4, &payload, &bytes), COLLOPT_THERE);
    collopt_channel_take_all(&to);                      /* call 4 fails; 5 was not looked at */
    ck_assert_int_eq(collopt_channel_look(&to, 6, &payload, &bytes), COLLOPT_NOT_THERE);
    ck_assert_int_eq(collopt_channel_look(&to, 6, &payload, &bytes), COLLOPT_THERE);
    ck_assert_int_eq(*payload, 6);
    collopt_segment_drop();
}

/* A freed channel's memory is not handed out again before all receivers have acknowledged the
 * last message. */
TESTS(memory_is_reused_when_it_was_taken, 1, RECEIVERS + 1)
{
    struct collopt_channel from, to[RECEIVERS], next;
    struct collopt_ring *ring;
    const char *payload;
    size_t bytes;

    make();
    ck_assert(collopt_channel_make(&from, _i));
    ring = from.ring;
    for (int i = 0; i < _i; i++)
        collopt_channel_open(&to[i], from.base, (size_t)((char *)ring - from.base), i);
    collopt_channel_send(&from, 1, collopt_channel_payload(&from, 8), 8);
    collopt_channel_free(&from);
    while (collopt_channel_make(&next, _i))
        ck_assert(next.ring != ring);
    for (int i = 0; i < _i; i++) {
        ck_assert_int_eq(collopt_channel_look(&to[i], 1, &payload, &bytes), COLLOPT_THERE);
        collopt_channel_take(&to[i]);
        ck_assert(!collopt_channel_make(&next, _i));
        collopt_channel_close(&to[i]);
    }
    ck_assert(collopt_channel_make(&next, _i));
    ck_assert_ptr_eq(next.ring, ring);
    ck_assert_uint_eq(atomic_load(&ring->receiver[0].taken), 0);
    collopt_segment_drop();
}

/* Blocks are filled one by one as they are used first, and a block without memory sends its message
 * by the host. */
TEST(blocks_without_memory)
{
    struct collopt_channel from, to;
    const char *payload = NULL;
    size_t bytes;
    int by_host = 0;

    make_both_ends(&from, &to);
    collopt_channel_widen(&from, BLOCK, BLOCK);
    ck_assert_uint_eq(from.block, BLOCK);
    for (int n = 0; n < 4 * COLLOPT_BLOCKS; n++) {
        char *at;

        no_memory = n == 3;
        ck_assert(collopt_channel_has_room(&from, BLOCK));
        at = collopt_channel_payload(&from, BLOCK);
        ck_assert((at == NULL) == no_memory);
        if (at)
            memset(at, n, BLOCK);
        collopt_channel_send(&from, 1, at, BLOCK);
        if (collopt_channel_look(&to, 1, &payload, &bytes) == COLLOPT_COMES_BY_HOST)
            by_host++;
        else
            ck_assert_int_eq(payload[BLOCK - 1], n);
        collopt_channel_take(&to);
    }
    ck_assert_int_eq(by_host, 1);
    ck_assert_int_eq(from.filled, COLLOPT_BLOCKS);
    collopt_channel_close(&to);
    collopt_channel_free(&from);
    collopt_segment_drop();
}

/* The receiver has acknowledged all messages, so another channel may already use the memory when it
 * closes. */
TEST(a_closed_channel_is_not_written)
{
    struct collopt_channel from, to;
    struct collopt_ring *ring;
    const char *payload;
    size_t bytes;

    make_both_ends(&from, &to);
    ring = from.ring;
    for (int n = 0; n < COLLOPT_ACK_INTERVAL; n++) {
        collopt_channel_send(&from, 1, collopt_channel_payload(&from, 8), 8);
        ck_assert_int_eq(collopt_channel_look(&to, 1, &payload, &bytes), COLLOPT_THERE);
        collopt_channel_take(&to);
    }
    collopt_channel_free(&from);
    ck_assert(collopt_channel_make(&from, 1));
    ck_assert_ptr_eq(from.ring, ring);
    collopt_channel_close(&to);
    ck_assert_uint_eq(atomic_load(&ring->receiver[0].taken), 0);
    collopt_segment_drop();
}

/* Free short pieces are joined to a long one. */
TEST(short_pieces_become_a_long_one)
{
    enum { SHORT = 1024 };
    const size_t room = collopt_segment_room((make(), collopt_segment_base()));
    char **piece = malloc(room / SHORT * sizeof *piece), *at;
    size_t n = 0;

    ck_assert(room >= 64 * SHORT);
    while ((at = collopt_segment_take_room(SHORT)))
        piece[n++] = at;
    ck_assert(n > room / SHORT / 2);
    ck_assert(!collopt_segment_take_room(room / 8));
    for (size_t i = 0; i < n; i++)
        collopt_segment_give_back(piece[i], SHORT);
    ck_assert((at = collopt_segment_take_room(room / 8)) != NULL);
    memset(at, 1, room / 8);
    ck_assert(collopt_segment_take_room(SHORT) != NULL);
    free(piece);
    collopt_segment_drop();
}

TEST(segments_are_found_by_their_token)
{
    struct collopt_segment_key other;
    char *base;

    make();
    other = key;
    ck_assert((base = collopt_segment_attach(&key, why, sizeof why)) != NULL);
    collopt_segment_base()[5000] = 17;
    ck_assert_int_eq(base[5000], 17);
    collopt_segment_detach(base);
    other.token++;
    ck_assert(!collopt_segment_attach(&other, why, sizeof why));
    other = key;
    other.descriptor = 0;
    ck_assert(!collopt_segment_attach(&other, why, sizeof why));
    other.descriptor = -1;
    ck_assert(!collopt_segment_attach(&other, why, sizeof why));
    collopt_segment_drop();
}

int main(void)
{
    suite_share_process();
    return suite_run("channel");
}
