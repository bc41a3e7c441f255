/* The copies of writer.h: every alignment and length, what surrounds them, and which of the two
 * ways is taken as their times change. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "shm/writer.h"
#include "suite.h"

enum { MOST = 3 * COLLOPT_WRITE_LEAST, AROUND = 64, POISON = 0xa5 };

static unsigned char *from, *area;

static void set_up(void)
{
    from = malloc(MOST + AROUND);
    area = malloc(MOST + 3 * AROUND);
    ck_assert(from && area);
    for (size_t i = 0; i < MOST + AROUND; i++)
        from[i] = (unsigned char)(i * 7 + (i >> 8));
}

static void tear_down(void)
{
    free(from);
    free(area);
}

static bool untouched(size_t first, size_t end)
{
    while (first < end && area[first] == POISON)
        first++;
    return first == end;
}

static void is_copied(size_t to, size_t source, size_t bytes, bool stream)
{
    struct collopt_writer w = { .copies = 0 };
    char *at = (char *)area + AROUND + to;

    memset(area, POISON, MOST + 3 * AROUND);
    if (stream)
        collopt_stream(at, (const char *)from + source, bytes);
    else
        collopt_write(&w, at, (const char *)from + source, bytes);
    ck_assert(memcmp(at, from + source, bytes) == 0);
    ck_assert(untouched(0, AROUND + to));
    ck_assert(untouched(AROUND + to + bytes, MOST + 3 * AROUND));
}

/* _i: the address that is written to, from a multiple of what malloc gives. */
TESTS(all_bytes_are_copied_and_no_others, 0, 64)
{
    for (size_t bytes = 0; bytes < 200; bytes++)
        is_copied((size_t)_i, bytes % 64, bytes, true);
    for (size_t bytes = COLLOPT_WRITE_LEAST - 2; bytes < COLLOPT_WRITE_LEAST + 2; bytes++)
        is_copied((size_t)_i, 63 - (size_t)_i, bytes, false);
    is_copied((size_t)_i, 1, MOST, true);
}

TEST(a_writer_copies_in_both_ways)
{
    struct collopt_writer w = { .copies = 0 };

    for (int i = 0; i < 3 * COLLOPT_WRITE_TRIAL; i++) {
        memset(area, POISON, MOST);
        collopt_write(&w, (char *)area, (const char *)from + i % 64, MOST);
        ck_assert(memcmp(area, from + i % 64, MOST) == 0);
    }
}

/* N copies at the given costs, in ticks for a byte; how many of them streamed. */
static int copies(struct collopt_writer *w, int n, double ordinary, double streaming)
{
    int streamed = 0;

    for (int i = 0; i < n; i++) {
        bool streams = collopt_writer_next(w);

        streamed += streams;
        collopt_writer_learn(w, streams,
                             (uint32_t)((streams ? streaming : ordinary) * COLLOPT_WRITE_COST));
    }
    return streamed;
}

TEST(the_better_way_is_taken)
{
    struct collopt_writer w = { .copies = 0 };
    int trials = 10, n = trials * COLLOPT_WRITE_TRIAL;

    ck_assert_int_le(copies(&w, n, 0.3, 0.25), trials + 3);
    /* the reader moves to where it shares no cache, and comes back */
    ck_assert_int_ge(copies(&w, n, 1.4, 0.25), n - trials - 10);
    ck_assert_int_le(copies(&w, n, 0.3, 0.25), 10 * COLLOPT_WRITE_TRIAL);
    ck_assert_int_le(copies(&w, n, 0.3, 0.25), trials + 1);
}

/* The thread did not run for a while during one copy in a hundred. */
TEST(interrupted_copies_decide_nothing)
{
    struct collopt_writer w = { .copies = 0 };
    int streamed = 0, rounds = 200;

    copies(&w, 10, 0.3, 0.25);
    for (int i = 0; i < rounds; i++) {
        streamed += copies(&w, 1, 1000, 1000);
        streamed += copies(&w, 99, 0.3, 0.25);
    }
    ck_assert_int_le(streamed, rounds * 100 / COLLOPT_WRITE_TRIAL + 1);
}

/* One of the first copies of each way was interrupted, or its page was new. */
TESTS(first_copies_decide_nothing_alone, 0, 2)
{
    struct collopt_writer w = { .copies = 0 };
    int n = 10 * COLLOPT_WRITE_TRIAL;

    copies(&w, 1, _i ? 1000 : 0.3, 0.25);
    copies(&w, 1, 0.3, _i ? 0.25 : 1000);
    ck_assert_int_le(copies(&w, n, 0.3, 0.25), 10 + 3);
    ck_assert_int_ge(copies(&w, n, 1.4, 0.25), n - 20);
}

int main(void)
{
    tcase_add_checked_fixture(suite_tests(), set_up, tear_down);
    return suite_run("writer");
}
