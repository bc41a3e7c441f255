/* The postal model: how many ranks' contributions can come together in so many slots of time.
 *
 * What has come together at a rank by slot t had come by slot t-1, or came with a message that was
 * sent in slot t - lambda. So reach(t) = reach(t-1) + reach(t-lambda), and 1 before slot lambda:
 * powers of two for lambda = 1, Fibonacci's numbers for 2. Bar-Noy and Kipnis, Designing
 * broadcasting algorithms in the postal model for message-passing systems, SPAA 1992. */
#include "config.h"

#include "algorithm.h"

int collopt_postal_reach(int ranks, int lambda, int64_t reach[COLLOPT_POSTAL_SLOTS])
{
    int t = 0;

    for (reach[0] = 1; reach[t] < ranks; t++)
        reach[t + 1] = reach[t] + (t + 1 < lambda ? 0 : reach[t + 1 - lambda]);
    return t;
}
