/* Communication patterns shared by many algorithms, as model.h has them described. */
#ifndef COLLOPT_MODEL_TRAFFIC_H
#define COLLOPT_MODEL_TRAFFIC_H

struct collopt_problem;
struct collopt_traffic;

/* COMBINE: 1, or 0 on the way back. */

/* Pairs at distances 1, 2, 4 ... of RANKS exchange halves of what each holds of vectors of
 * BYTES. */
void collopt_traffic_halving(struct collopt_traffic *t, int ranks, double bytes, int combine);
/* Shares of BYTES between ranks at the skips of a circulant graph. */
void collopt_traffic_circulant(struct collopt_traffic *t, int ranks, double bytes, int combine);
/* The number of STRANDS that get any elements of each rank's part. */
int collopt_traffic_strands(const struct collopt_problem *p, int strands);
/* Up a tree of RADIX, or down; shares of BYTES gathered in a binomial tree. */
void collopt_traffic_tree(struct collopt_traffic *t, int ranks, int radix, double bytes,
                          int combine);
void collopt_traffic_gather(struct collopt_traffic *t, int ranks, double bytes);
/* Every rank sends a part to every other, at growing distances; COMBINED bytes of result follow. */
void collopt_traffic_exchange(struct collopt_traffic *t, const struct collopt_problem *p,
                              double combined);
/* The extra cost of MESSAGES messages of BYTES that consist of BLOCKS blocks: hosts pack them,
 * and each block is combined separately. */
void collopt_traffic_scattered(struct collopt_traffic *t, const struct collopt_problem *p,
                               int messages, double blocks, double bytes);
/* One segment of BYTES on each level of a binary tree, PASSES times: two messages per level, one
 * at the leaves. */
void collopt_traffic_fill(struct collopt_traffic *t, int ranks, double passes, double bytes);
/* The same for ROUNDS rounds in all. */
void collopt_traffic_fill_rounds(struct collopt_traffic *t, int ranks, double rounds, double bytes);

#endif
