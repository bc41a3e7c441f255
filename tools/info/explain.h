/* collopt-info --explain: what would be chosen for a problem on a machine, and why, without a
 * job. */
#ifndef COLLOPT_TOOLS_INFO_EXPLAIN_H
#define COLLOPT_TOOLS_INFO_EXPLAIN_H

#include <stdbool.h>

/* The options, as words; NULL: not given. */
struct explain {
    const char *collective, *ranks, *nodes, *bytes, *op, *root, *topology, *network, *host, *caches;
    bool crowded;               /* more ranks than processors */
    bool json;                  /* as JSON, in place of a table */
};

/* Prints the decision and the fastest candidates; 0, or 2 after a sentence on stderr about what
 * would be right. */
int explain(const struct explain *e);

#endif
