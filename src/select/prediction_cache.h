/* Caches the last 256 predictions of a communicator, by problem.  Counts are rounded, so
 * ranks that remember different ones choose the same. */
#ifndef COLLOPT_SELECT_PREDICTION_CACHE_H
#define COLLOPT_SELECT_PREDICTION_CACHE_H

#include <stddef.h>

struct collopt_decision;
struct collopt_problem;

struct collopt_remembered;
/* NULL: no memory; then nothing is cached */
struct collopt_remembered *collopt_remembered_new(void);
void collopt_remembered_free(struct collopt_remembered *r);
/* R may be NULL. */
const struct collopt_decision *collopt_recall(const struct collopt_remembered *r,
                                              const struct collopt_problem *p);
void collopt_remember(struct collopt_remembered *r, const struct collopt_problem *p,
                      const struct collopt_decision *d);
/* P's count rounded up to four binary digits, which keeps powers of two; for a
 * Reduce_scatter_block, each part is rounded. */
size_t collopt_rounded(const struct collopt_problem *p);

#endif
