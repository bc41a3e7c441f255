/* The explorer itself: programs whose outcomes under C11 are known, each outcome found, and no
 * other.  Named as in the literature. */
#include <stdatomic.h>
#include <stdio.h>

#include "explored.h"

static _Atomic int x, y, z;
static int data;
static int a, b, c, d;          /* what was read */

enum { OUTCOMES = 32 };
static bool seen[OUTCOMES];     /* A B C D as bits of one number */

#define LOAD(from, order) atomic_load_explicit(&(from), memory_order_##order)
#define STORE(to, value, order) atomic_store_explicit(&(to), value, memory_order_##order)

static void begin(void)
{
    x = y = z = data = 0;
    a = b = c = d = 0;
}

static void end(void)
{
    seen[a + 2 * b + 4 * c + 8 * d] = true;
}

/* store buffering */
static void sb_1(void) { STORE(x, 1, release); a = LOAD(y, acquire); }
static void sb_2(void) { STORE(y, 1, release); b = LOAD(x, acquire); }
static void sc_1(void) { STORE(x, 1, seq_cst); a = LOAD(y, seq_cst); }
static void sc_2(void) { STORE(y, 1, seq_cst); b = LOAD(x, seq_cst); }
/* message passing: by release and acquire, without, by fences, and by a release sequence */
static void mp_1(void) { STORE(x, 1, relaxed); STORE(y, 1, release); }
static void mp_2(void) { a = LOAD(y, acquire); b = LOAD(x, relaxed); }
static void no_1(void) { STORE(x, 1, relaxed); STORE(y, 1, relaxed); }
static void no_2(void) { a = LOAD(y, relaxed); b = LOAD(x, relaxed); }
static void fence_1(void)
{
    STORE(x, 1, relaxed);
    atomic_thread_fence(memory_order_release);
    STORE(y, 1, relaxed);
}
static void fence_2(void)
{
    a = LOAD(y, relaxed);
    atomic_thread_fence(memory_order_acquire);
    b = LOAD(x, relaxed);
}
static void sequence_3(void)
{
    int one = 1;

    atomic_compare_exchange_strong_explicit(&y, &one, 2, memory_order_relaxed,
                                            memory_order_relaxed);
}
static void sequence_2(void) { a = LOAD(y, acquire) == 2; b = LOAD(x, relaxed); }
/* coherence: one atomic, read twice */
static void corr_1(void) { STORE(x, 1, relaxed); }
static void corr_2(void) { a = LOAD(x, relaxed); b = LOAD(x, relaxed); }
/* independent reads of independent writes, the writes by one thread as there are three */
static void iriw_1(void) { STORE(x, 1, relaxed); STORE(y, 1, relaxed); }
static void iriw_2(void) { a = LOAD(x, acquire); b = LOAD(y, acquire); }
static void iriw_3(void) { c = LOAD(y, acquire); d = LOAD(x, acquire); }
/* load buffering: not found, see explore.c */
static void lb_1(void) { a = LOAD(x, relaxed); STORE(y, 1, relaxed); }
static void lb_2(void) { b = LOAD(y, relaxed); STORE(x, 1, relaxed); }
/* a counter */
static void add(void) { atomic_fetch_add_explicit(&z, 1, memory_order_relaxed); }
static void end_sum(void) { a = z == 3; end(); }
/* a chain of three threads */
static void chain_1(void) { STORE(x, 1, relaxed); STORE(y, 1, release); }
static void chain_2(void) { explore_until(LOAD(y, acquire)); STORE(z, 1, release); }
static void chain_3(void) { a = LOAD(z, acquire); b = LOAD(x, relaxed); }
/* locks */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void locked(void)
{
    pthread_mutex_lock(&lock);
    data++;
    pthread_mutex_unlock(&lock);
}
static void end_locked(void) { a = data == 2; end(); }
/* races, and threads that wait for each other */
static void race(void) { data++; }
static void race_1(void) { data = 1; STORE(y, 1, relaxed); }
static void race_2(void) { if (LOAD(y, acquire)) a = data; }
static void guarded_1(void) { data = 1; STORE(y, 1, release); }
static void waits_1(void) { explore_until(LOAD(x, acquire)); STORE(y, 1, release); }
static void waits_2(void) { explore_until(LOAD(y, acquire)); STORE(x, 1, release); }

/* OUTCOMES: each 'ab' or 'abcd' that is possible, or NULL: some execution fails. */
struct litmus {
    struct explore_model model;
    unsigned outcomes;          /* bit A + 2 B + 4 C + 8 D */
    bool fails;
};

enum { _00 = 1, _10 = 2, _01 = 4, _11 = 8 };    /* AB */
static const struct litmus litmus[] = {
    { { "SB, release and acquire", begin, { sb_1, sb_2 }, end }, _00 | _10 | _01 | _11, false },
    { { "SB, sequentially consistent", begin, { sc_1, sc_2 }, end }, _10 | _01 | _11, false },
    { { "MP, release and acquire", begin, { mp_1, mp_2 }, end }, _00 | _01 | _11, false },
    { { "MP, relaxed store", begin, { no_1, mp_2 }, end }, _00 | _10 | _01 | _11, false },
    { { "MP, relaxed load", begin, { mp_1, no_2 }, end }, _00 | _10 | _01 | _11, false },
    { { "MP, fences", begin, { fence_1, fence_2 }, end }, _00 | _01 | _11, false },
    { { "MP, one fence", begin, { fence_1, no_2 }, end }, _00 | _10 | _01 | _11, false },
    { { "MP, release sequence", begin, { mp_1, sequence_2, sequence_3 }, end },
      _00 | _01 | _11, false },
    { { "CoRR", begin, { corr_1, corr_2 }, end }, _00 | _01 | _11, false },
    { { "LB", begin, { lb_1, lb_2 }, end }, _00 | _10 | _01, false },
    { { "sum", begin, { add, add, add }, end_sum }, _10, false },
    { { "ISA2", begin, { chain_1, chain_2, chain_3 }, end }, _00 | _01 | _11, false },
    { { "lock", begin, { locked, locked }, end_locked }, _10, false },
    { { "race", begin, { race, race }, end }, 0, true },
    { { "race, MP with relaxed store", begin, { race_1, race_2 }, end }, 0, true },
    { { "no race, MP", begin, { guarded_1, race_2 }, end }, _00 | _10, false },
    { { "deadlock", begin, { waits_1, waits_2 }, end }, 0, true },
};

/* Two threads may see two relaxed stores in different orders: 10 and 10. */
static bool iriw_is_seen(void)
{
    static const struct explore_model model = {
        "IRIW", begin, { iriw_1, iriw_2, iriw_3 }, end
    };

    for (int i = 0; i < OUTCOMES; i++)
        seen[i] = false;
    return explore_holds(&model) && seen[1 + 4];
}

int main(void)
{
    int failed = 0;

    for (size_t i = 0; i < sizeof litmus / sizeof litmus[0]; i++) {
        const struct litmus *l = &litmus[i];
        unsigned found = 0;
        bool holds;

        for (int o = 0; o < OUTCOMES; o++)
            seen[o] = false;
        holds = explore_holds(&l->model);
        for (int o = 0; o < OUTCOMES; o++)
            found |= seen[o] ? 1u << o : 0;
        if (holds == l->fails || (holds && found != l->outcomes)) {
            printf("FAIL: %s: outcomes %#x, not %#x%s\n", l->model.name, found, l->outcomes,
                   holds ? "" : ", and a failure");
            failed = 1;
        }
    }
    if (!iriw_is_seen()) {
        printf("FAIL: IRIW\n");
        failed = 1;
    }
    printf("litmus: %zu programs\n", sizeof litmus / sizeof litmus[0] + 1);
    return failed;
}
