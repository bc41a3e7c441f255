/* Journals between threads of a process, which stand for processes: order, payloads of every kind,
 * a reader that is late, memory that is used again only when all have passed it, closing in any
 * order, and the directory by which they are found. */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/journal.h"
#include "shm/segment.h"
#include "suite.h"

enum { SEGMENT = (1 << 20) + 9, RECORDS = 20000, READERS = 3, NUMBER = 300, OWNER = 0 };

static struct collopt_segment_key key;
static char why[160];

static void make_of(size_t bytes)
{
    collopt_segment_make(bytes, 64 * bytes, &key, why, sizeof why);
    ck_assert_msg(key.descriptor >= 0, "%s", why);
    ck_assert_uint_le(64 * bytes - collopt_segment_room(collopt_segment_base()), 4096);
}

static void make(void)
{
    make_of(SEGMENT);
}

/* Byte I of record N, and how long it is. */
static unsigned char byte_of(unsigned n, size_t i)
{
    return (unsigned char)(n * 31 + i * 7 + (i >> 8));
}

static size_t length_of(unsigned n)
{
    static const size_t length[] = { 0, 1, 8, 48, 49, COLLOPT_RECORD_INLINE,
                                     COLLOPT_RECORD_INLINE + 1, 1000, 3000, 70000 };

    return length[n * 2654435761u % 10];
}

static bool write_one(struct collopt_journal *j, unsigned n)
{
    size_t length = length_of(n);
    char *payload = collopt_journal_payload(j, length);

    if (!payload)
        return false;
    for (size_t i = 0; i < length; i++)
        payload[i] = (char)byte_of(n, i);
    collopt_journal_write(j, n);
    return true;
}

static bool is_right(const struct collopt_reader *r, const struct collopt_record *record,
                     unsigned n)
{
    const char *payload = collopt_reader_payload(r, record);

    for (size_t i = 0; i < length_of(n); i++)
        if ((unsigned char)payload[i] != byte_of(n, i))
            return false;
    return record->mark == n;
}

struct reading {
    int reader;
    unsigned wrong;
};

/* Both sides only count what is wrong: ck_assert() writes to a file that they share, which would
 * put them in order. */
static void *read_all(void *data)
{
    struct reading *reading = data;
    struct collopt_reader r = { .base = NULL };

    while (!collopt_reader_open(&r, collopt_segment_base(), NUMBER, reading->reader))
        sched_yield();
    for (unsigned n = 0; n < RECORDS; n++) {
        const struct collopt_record *record;

        while (!(record = collopt_reader_look(&r)))
            sched_yield();
        if (n % (5 * (unsigned)reading->reader) == 0)
            sched_yield();      /* with a payload in use */
        reading->wrong += !is_right(&r, record, n);
        collopt_reader_pass(&r);
    }
    collopt_reader_close(&r);
    return NULL;
}

TEST(records_arrive_in_order)
{
    struct reading reading[READERS] = { { .wrong = 0 } };
    struct collopt_journal j;
    pthread_t reader[READERS];

    make();
    ck_assert(collopt_segment_publish(NUMBER + 1, 0));  /* that part of the directory is there */
    for (int r = 1; r < READERS; r++) {
        reading[r].reader = r;
        pthread_create(&reader[r], NULL, read_all, &reading[r]);
    }
    ck_assert(collopt_journal_make(&j, NUMBER, READERS, OWNER));
    for (unsigned n = 0; n < RECORDS; n++) {
        while (!write_one(&j, n))
            sched_yield();      /* readers that are far behind hold all the room */
        collopt_journal_pass(&j, n + 1);
    }
    for (int r = 1; r < READERS; r++)
        pthread_join(reader[r], NULL);
    for (int r = 1; r < READERS; r++)
        ck_assert_uint_eq(reading[r].wrong, 0);
    ck_assert(collopt_journal_close(&j));
    collopt_segment_drop();
}

static void open_all(struct collopt_reader *r)
{
    for (int i = 1; i < READERS; i++)
        ck_assert(collopt_reader_open(&r[i], collopt_segment_base(), NUMBER, i));
}

/* A block is not used again before each reader, and the owner, has passed it. */
TESTS(memory_is_reused_when_all_have_passed, 0, READERS)
{
    enum { BLOCK = 100000, SEVERAL = 20 };
    struct collopt_reader r[READERS];
    struct collopt_journal j;
    char *first, *payload;
    int late = _i;              /* 0: the owner itself */

    make();
    ck_assert(collopt_journal_make(&j, NUMBER, READERS, OWNER));
    open_all(r);
    first = collopt_journal_payload(&j, BLOCK);
    collopt_journal_write(&j, 0);
    for (int i = 1; i < READERS; i++)
        if (i != late)
            collopt_reader_pass(&r[i]);
    if (late != OWNER)
        collopt_journal_pass(&j, 1);
    for (int i = 0; i < SEVERAL; i++) {
        payload = collopt_journal_payload(&j, BLOCK);
        ck_assert_ptr_nonnull(payload);
        ck_assert_ptr_ne(payload, first);
        collopt_journal_write(&j, 0);
    }
    if (late == OWNER)
        collopt_journal_pass(&j, 1);
    else
        collopt_reader_pass(&r[late]);
    ck_assert_ptr_eq(collopt_journal_payload(&j, BLOCK), first);
    collopt_segment_drop();
}

/* What is written and read in turn needs no more memory with time. */
TEST(memory_is_bounded)
{
    struct collopt_reader r[READERS];
    struct collopt_journal j;
    char *highest = NULL, *after_some = NULL;

    make();
    ck_assert(collopt_journal_make(&j, NUMBER, READERS, OWNER));
    open_all(r);
    for (unsigned n = 0; n < RECORDS; n++) {
        char *payload = collopt_journal_payload(&j, length_of(n));

        highest = payload > highest ? payload : highest;
        if (n == RECORDS / 10)
            after_some = highest;
        collopt_journal_write(&j, n);
        collopt_journal_pass(&j, n + 1);
        for (int i = 1; i < READERS; i++)
            collopt_reader_pass(&r[i]);
    }
    ck_assert_ptr_eq(highest, after_some);
    for (int i = 1; i < READERS; i++)
        collopt_reader_close(&r[i]);
    ck_assert(collopt_journal_close(&j));
    collopt_segment_drop();
}

/* Bytes of the segment that have memory. */
static size_t allocated(void)
{
    struct stat is;

    ck_assert_int_eq(fstat(key.descriptor, &is), 0);
    return (size_t)is.st_blocks * 512;
}

/* Memory of many long records at once is given back, and can be used again. */
TEST(unused_memory_is_given_back)
{
    enum { BLOCK = 5 << 20, BLOCKS = 6, KEPT = 64 / 16 * SEGMENT };
    struct collopt_reader r[READERS];
    struct collopt_journal j;

    make();
    ck_assert(collopt_journal_make(&j, NUMBER, READERS, OWNER));
    open_all(r);
    for (int round = 0; round < 2; round++) {
        for (int n = 0; n < BLOCKS; n++) {
            char *payload = collopt_journal_payload(&j, BLOCK);

            ck_assert_ptr_nonnull(payload);
            memset(payload, n, BLOCK);
            collopt_journal_write(&j, 0);
        }
        ck_assert_uint_ge(allocated(), (size_t)BLOCKS * BLOCK);
        for (int n = 0; n < BLOCKS; n++)
            for (int i = 1; i < READERS; i++) {
                const struct collopt_record *record = collopt_reader_look(&r[i]);

                ck_assert_int_eq(collopt_reader_payload(&r[i], record)[BLOCK - 1], n);
                collopt_reader_pass(&r[i]);
            }
        collopt_journal_pass(&j, (uint64_t)(round + 1) * BLOCKS);
        ck_assert_ptr_nonnull(collopt_journal_payload(&j, 8));
        ck_assert_uint_lt(allocated(), KEPT + (4 << 20));
    }
    collopt_segment_drop();
}

/* The number stands for this journal until the last reader has closed it, also one that came after
 * the owner wanted to close it. */
TEST(closed_when_all_have_closed)
{
    struct collopt_reader r[READERS];
    struct collopt_journal j, next;

    make();
    ck_assert(!collopt_reader_open(&r[1], collopt_segment_base(), NUMBER, 1));
    ck_assert(collopt_journal_make(&j, NUMBER, READERS, OWNER));
    ck_assert(write_one(&j, 2));
    ck_assert(collopt_reader_open(&r[1], collopt_segment_base(), NUMBER, 1));
    collopt_reader_close(&r[1]);
    ck_assert(!collopt_journal_close(&j));
    ck_assert(collopt_reader_open(&r[2], collopt_segment_base(), NUMBER, 2));
    ck_assert(is_right(&r[2], collopt_reader_look(&r[2]), 2));
    collopt_reader_close(&r[2]);
    ck_assert(collopt_journal_close(&j));
    ck_assert(!collopt_reader_open(&r[1], collopt_segment_base(), NUMBER, 1));
    ck_assert(collopt_journal_make(&next, NUMBER, READERS, OWNER));
    ck_assert(collopt_reader_open(&r[1], collopt_segment_base(), NUMBER, 1));
    ck_assert_ptr_null(collopt_reader_look(&r[1]));
    collopt_segment_drop();
}

static const size_t sizes[] = { 65536, SEGMENT };

/* Without room there is no payload, and what is written later is right. */
TESTS(no_room, 0, 2)
{
    const size_t block = 64 / 4 * sizes[_i];
    struct collopt_reader r[READERS];
    struct collopt_journal j;
    int blocks = 0;

    make_of(sizes[_i]);
    ck_assert(collopt_journal_make(&j, NUMBER, READERS, OWNER));
    open_all(r);
    ck_assert_ptr_null(collopt_journal_payload(&j, block + 1));
    while (blocks < 8 && collopt_journal_payload(&j, block / 2 + 1)) {
        collopt_journal_write(&j, 0);
        blocks++;
    }
    ck_assert_int_ge(blocks, 1);
    ck_assert_int_le(blocks, 4);
    ck_assert(write_one(&j, 1));
    for (int i = 1; i < READERS; i++) {
        for (int k = 0; k < blocks; k++)
            collopt_reader_pass(&r[i]);
        ck_assert(is_right(&r[i], collopt_reader_look(&r[i]), 1));
    }
    collopt_journal_pass(&j, (uint64_t)blocks);
    ck_assert_ptr_nonnull(collopt_journal_payload(&j, block / 2 + 1));
    collopt_segment_drop();
}

int main(void)
{
    suite_share_process();
    return suite_run("journal");
}
