/* When preparing pays: never more than twice the best in hindsight, and alike on all ranks. */
#include "config.h"

#include "quiet_check.h"
#include "select/break_even.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

/* Time lost against knowing beforehand that N calls will come, each of which saves SAVING once
 * PRICE is paid. */
static uint64_t lost(uint64_t n, uint32_t saving, uint32_t price)
{
    struct collopt_break_even r;
    uint64_t lost = 0, best = n * saving < price ? 0 : n * saving - price, gained = 0;
    bool paid = false;

    ck_assert(collopt_break_even_begin(&r, 2));
    for (uint64_t i = 0; i < n; i++) {
        bool earned = collopt_break_even_reached(&r, 42, saving, price);

        if (earned && !paid)
            lost += price;
        paid = paid || earned;
        gained += paid ? saving : 0;
    }
    collopt_break_even_end(&r);
    return best + lost - gained;
}

TEST(competitive)
{
    static const uint32_t saving[] = { 1, 7, 120, 999, 1000, 1001, 500000 };

    for (size_t i = 0; i < sizeof saving / sizeof *saving; i++)
        for (uint64_t n = 1; n < 3000; n++)
            quiet_check(lost(n, saving[i], 1000) <= 1000 + saving[i],
                        "%llu calls that save %u: %llu lost", (unsigned long long)n, saving[i],
                        (unsigned long long)lost(n, saving[i], 1000));
}

TEST(few_calls_cost_nothing)
{
    struct collopt_break_even r;

    ck_assert(collopt_break_even_begin(&r, 2));
    for (int i = 0; i < 8; i++)
        ck_assert(!collopt_break_even_reached(&r, 1, 120, 1000));
    ck_assert(collopt_break_even_reached(&r, 1, 120, 1000));
    ck_assert(collopt_break_even_reached(&r, 1, 0, 1000));
    ck_assert(!collopt_break_even_reached(&r, 2, 120, 1000));
    collopt_break_even_end(&r);
}

/* Ranks ask only for problems that they have no plan for.  One keeps all plans, one loses some now
 * and then: memory is short, or the call is in place there only. */
enum { PROBLEMS = 700 };

static bool runs(struct collopt_break_even *r, bool plan[PROBLEMS], int problem, uint32_t saving)
{
    if (!plan[problem])
        plan[problem] =
            collopt_break_even_reached(r, (uint64_t)problem * 0x9e3779b97f4a7c15u, saving, 1000);
    return plan[problem];
}

TESTS(ranks_decide_alike, 0, 8)
{
    struct collopt_break_even r[2];
    static bool plan[2][PROBLEMS];
    int ran = 0;

    ck_assert(collopt_break_even_begin(&r[0], 2) && collopt_break_even_begin(&r[1], 2));
    memset(plan, 0, sizeof plan);
    srand((unsigned)_i + 1);
    for (int i = 0; i < 200000; i++) {
        int problem = rand() % (rand() % 2 ? PROBLEMS : 10);
        uint32_t saving = (uint32_t)(rand() % 400);
        bool a = runs(&r[0], plan[0], problem, saving), b = runs(&r[1], plan[1], problem, saving);

        quiet_check(a == b, "call %d, problem %d: one rank %d, the other %d", i, problem, a, b);
        ran += a;
        if (rand() % 3 == 0)
            plan[1][rand() % PROBLEMS] = false;
    }
    ck_assert_int_gt(ran, 1000);
    ck_assert_int_lt(ran, 200000);
    collopt_break_even_end(&r[0]);
    collopt_break_even_end(&r[1]);
}

/* Every rank is the root in turn, in several sorts of calls: each of these problems reaches
 * break-even by its own calls. */
TESTS(rotating_roots, 0, 5)
{
    enum { SORTS = 2, SAVING = 120, PRICE = 1000, CALLS = (PRICE + SAVING - 1) / SAVING };
    static const int sizes[] = { 2, 100, 257, 1000, 4096 };
    const int ranks = sizes[_i];
    struct collopt_break_even r;
    uint64_t seed = 0x9e3779b97f4a7c15u;

    ck_assert(collopt_break_even_begin(&r, ranks));
    for (int call = 1; call <= CALLS; call++)
        for (int root = 0; root < ranks; root++)
            for (int sort = 0; sort < SORTS; sort++) {
                uint64_t problem = (uint64_t)(root * SORTS + sort + 1) * seed;
                bool earned =
                    collopt_break_even_reached(&r, problem ^ problem >> 29, SAVING, PRICE);

                ck_assert_msg(earned == (call == CALLS),
                              "%d ranks, root %d, sort %d: call %d of %d %s", ranks, root, sort,
                              call, CALLS, earned ? "has earned a plan" : "has not");
            }
    collopt_break_even_end(&r);
}

/* The longer and the farther away, the more is saved; the more ranks, the dearer. */
TESTS(monotonous, 0, 5)
{
    static const uint64_t times[] = { 0, 1000, 40000, 1000000000, UINT64_MAX / 2 };
    uint64_t message = times[_i];

    for (int where = COLLOPT_ON_NODE; where <= COLLOPT_CROWDED; where++)
        for (int ranks = 1; ranks <= 1 << 20; ranks *= 2)
            for (size_t bytes = 1; bytes < SIZE_MAX / 4; bytes *= 4) {
                enum collopt_surroundings here = (enum collopt_surroundings)where;
                uint32_t s = collopt_saving(here, message, ranks, bytes);

                ck_assert_uint_ge(collopt_saving(here, message, ranks, 4 * bytes), s);
                ck_assert_uint_ge(collopt_saving(here, message, 2 * ranks, bytes), s);
                ck_assert_uint_ge(collopt_saving(here, 2 * message, ranks, bytes), s);
                ck_assert_uint_ge(collopt_saving(COLLOPT_CROWDED, message, ranks, bytes), s);
                ck_assert_uint_ge(collopt_price_of_plan(here, 2 * ranks),
                                  collopt_price_of_plan(here, ranks));
                ck_assert_uint_ge(collopt_price_of_communicator(2 * ranks),
                                  collopt_price_of_communicator(ranks));
            }
    ck_assert_uint_gt(collopt_saving(COLLOPT_ON_NODE, message, 2, SIZE_MAX),
                      collopt_price_of_communicator(INT32_MAX));
}

int main(void)
{
    return suite_run("rental");
}
