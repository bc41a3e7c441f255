/* Check's own assertions write to a pipe where they are, a system call each.  Loops of millions of
 * them spend a minute on that; this one writes only if it fails. */
#ifndef COLLOPT_TEST_UNIT_QUIET_CHECK_H
#define COLLOPT_TEST_UNIT_QUIET_CHECK_H

#include <check.h>

#define quiet_check(condition, ...) \
    do { \
        if (!(condition)) \
            ck_abort_msg(__VA_ARGS__); \
    } while (0)

#endif
