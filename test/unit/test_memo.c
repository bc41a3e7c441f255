/* What is remembered by a hash: all that there is room for is found again, and no more is kept than
 * that. */
#include "config.h"

#include "base/memo.h"
#include "suite.h"

#include <stdint.h>
#include <stdlib.h>

struct plan {
    size_t key;
    struct collopt_memoized memoized;
};

static struct plan *plan_of(struct collopt_memoized *one)
{
    return one ? (struct plan *)(void *)((char *)one - offsetof(struct plan, memoized)) : NULL;
}

/* Few hashes, so that many keys share one. */
static size_t hash_of(size_t key, size_t hashes)
{
    return (key * (size_t)0x9e3779b97f4a7c15u >> 20) % hashes;
}

static struct plan *find(const struct collopt_memo *m, size_t key, size_t hashes)
{
    struct collopt_memoized *one = collopt_memo_first(m, hash_of(key, hashes));

    while (one && plan_of(one)->key != key)
        one = collopt_memo_next(one);
    return plan_of(one);
}

static size_t drop(struct collopt_memo *m, size_t most, size_t weight)
{
    struct collopt_memoized *one;
    size_t dropped = 0;

    for (; (one = collopt_memo_excess(m, most, weight)) != NULL; dropped++)
        free(plan_of(one));
    return dropped;
}

static void add(struct collopt_memo *m, size_t key, size_t hashes, size_t weight)
{
    struct plan *made = malloc(sizeof *made);

    made->key = key;
    ck_assert(collopt_memo_add(m, &made->memoized, hash_of(key, hashes), weight));
}

/* As plan.c does it for roots that rotate, in several sorts of calls: plans are made in the first
 * round only. */
TESTS(rotation, 0, 7)
{
    enum { SORTS = 4, ROUNDS = 4 };
    static const size_t sizes[] = { 1, 2, 63, 64, 257, 1000, 5000 };
    const size_t ranks = sizes[_i], most = 256 + SORTS * ranks;
    struct collopt_memo m = { 0 };
    size_t made = 0;

    for (int round = 0; round < ROUNDS; round++)
        for (size_t key = 0; key < SORTS * ranks; key++) {
            if (find(&m, key, SIZE_MAX))
                continue;
            ck_assert_msg(round == 0, "%zu ranks, round %d: the plan of call %zu is lost", ranks,
                          round, key);
            drop(&m, most - 1, SIZE_MAX);
            add(&m, key, SIZE_MAX, 1);
            made++;
        }
    ck_assert_uint_eq(made, SORTS * ranks);
    ck_assert_uint_eq(drop(&m, 0, 0), made);
    collopt_memo_end(&m);
}

/* Of more than there is room for the most is kept, whatever weighs how much; nothing else is found
 * than what was added. */
TESTS(bounds, 0, 3)
{
    enum { KEYS = 3000, MOST = 700, WEIGHT = 5000 };
    const size_t hashes = _i == 0 ? 1 : _i == 1 ? 100 : SIZE_MAX;
    struct collopt_memo m = { 0 };
    size_t n = 0, weight = 0;

    ck_assert_ptr_null(find(&m, 1, hashes));
    ck_assert_uint_eq(drop(&m, 0, 0), 0);
    srand((unsigned)_i + 1);
    for (int i = 0; i < 20000; i++) {
        size_t key = (size_t)rand() % KEYS, heavy = (size_t)rand() % 20;
        struct plan *known = find(&m, key, hashes);

        if (known && rand() % 2 == 0) {
            collopt_memo_remove(&m, &known->memoized);
            free(known);
            ck_assert_ptr_null(find(&m, key, hashes));
        }
        if (known)
            continue;
        drop(&m, MOST - 1, WEIGHT - heavy);
        add(&m, key, hashes, heavy);
        ck_assert_ptr_nonnull(find(&m, key, hashes));
        ck_assert_uint_le(m.n, MOST);
        ck_assert_uint_le(m.weight, WEIGHT);
    }
    for (size_t key = 0; key < KEYS; key++) {
        struct plan *known = find(&m, key, hashes);

        n += known != NULL;
        weight += known ? known->memoized.weight : 0;
    }
    ck_assert_uint_eq(n, m.n);
    ck_assert_uint_eq(weight, m.weight);
    ck_assert_uint_ge(n, MOST / 2);
    ck_assert_uint_eq(drop(&m, 0, 0), n);
    collopt_memo_end(&m);
}

int main(void)
{
    return suite_run("memo");
}
