/* Unit tests by Check that need no list of them:
 *
 *     TEST(sums_are_exact) { ... }
 *     TESTS(refusals, 0, 7) { ... }       one for each _i from 0 to 6
 *
 *     int main(void)
 *     {
 *         return suite_run("subject");
 *     }
 *
 * Each runs in a process of its own, unless main() calls suite_share_process() first.  It may also
 * give suite_tests() fixtures or another limit of time. */
#ifndef COLLOPT_TEST_UNIT_SUITE_H
#define COLLOPT_TEST_UNIT_SUITE_H

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

enum { SUITE_TIMEOUT = 600 };   /* seconds; a hang is to end, on a slow machine too */

static inline TCase *suite_tests(void)
{
    static TCase *all;

    if (!all) {
        all = tcase_create("all");
        tcase_set_timeout(all, SUITE_TIMEOUT);
    }
    return all;
}

#define TESTS(name, first, end)                                                 \
    static const TTest *name;                                                   \
    __attribute__((constructor)) static void suite_add_##name(void)             \
    {                                                                           \
        tcase_add_loop_test(suite_tests(), name, first, end);                   \
    }                                                                           \
    START_TEST(name)

#define TEST(name) TESTS(name, 0, 1)

/* All in one process, as ThreadSanitizer runs them: the next test sees what one leaves behind. */
static inline void suite_share_process(void)
{
    setenv("CK_FORK", "no", 0);
    alarm(SUITE_TIMEOUT);
}

/* Returns the exit status. */
static inline int suite_run(const char *name)
{
    Suite *suite = suite_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    suite_add_tcase(suite, suite_tests());
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
