/* Circulant graphs: distances that halve, rounded up. */
#ifndef COLLOPT_BASE_SKIPS_H
#define COLLOPT_BASE_SKIPS_H

enum { COLLOPT_SKIPS = 33 };

/* skip[0] = 1, ... skip[q] = ranks, each half of the next rounded up; returns q =
 * ceil(log2(ranks)). */
int collopt_skips(int ranks, int skip[COLLOPT_SKIPS]);

#endif
