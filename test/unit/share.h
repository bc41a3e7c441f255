/* TEST_SHARE=N: loops that take long run one case of N.  For builds that are slow, such as those of
 * make check-sanitized, which look for errors of the code and not of its results. */
#ifndef COLLOPT_TEST_UNIT_SHARE_H
#define COLLOPT_TEST_UNIT_SHARE_H

#include <stdbool.h>
#include <stdlib.h>

static inline int test_share(void)
{
    const char *n = getenv("TEST_SHARE");

    return n && atoi(n) > 1 ? atoi(n) : 1;
}

/* Is the case number TURN left out? */
static inline bool left_out(long turn)
{
    return turn % test_share() != 0;
}

#endif
