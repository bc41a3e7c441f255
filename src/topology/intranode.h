/* The binding of a process within its node, by hwloc: what its processors share. No MPI here. */
#ifndef COLLOPT_TOPOLOGY_INTRANODE_H
#define COLLOPT_TOPOLOGY_INTRANODE_H

#include <stdbool.h>
#include <stdint.h>

#include "topology/topology.h"

struct collopt_spot {           /* hwloc's numbers within the node; -1: several, or unknown */
    int numa, cache, core;      /* CACHE: last level */
};

enum { COLLOPT_MASK_WORDS = 32 };       /* 64 processors each, in the operating system's
                                         * numbering */

/* The binding of a process that may run on the processors of MASK. The first call loads hwloc;
 * if it is not installed, nothing is known. HWLOC_SYNTHETIC and HWLOC_XMLFILE work as in any
 * program with hwloc. */
struct collopt_spot collopt_spot(const unsigned long long mask[COLLOPT_MASK_WORDS]);

/* Packs a binding into 31 bits for exchange, and unpacks it; a number too large for its field
 * becomes unknown. */
int collopt_pack_spot(struct collopt_spot spot);
struct collopt_spot collopt_packed_spot(int packed);
enum { COLLOPT_ALONE = -1 };    /* in place of a packed binding: the only process on its node, hence
                                 * a group of its own by any grouping */

/* *KEY identifies the group, BY NUMA domain, cache or core, of a process of NODE with this
 * PACKED binding; false: unknown. */
bool collopt_spot_key(int packed, int node, enum collopt_grouping by, uint64_t *key);

#endif
