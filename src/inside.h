/* Where in its node a process is, by hwloc: what its processors have in common.  No MPI here. */
#ifndef COLLOPT_INSIDE_H
#define COLLOPT_INSIDE_H

#include "schedule.h"

struct collopt_spot {           /* numbers within the node as hwloc counts; -1: its processors are in several, or not known */
    int numa, cache, core;      /* CACHE: of the last level */
};

enum { COLLOPT_MASK_WORDS = 32 };       /* of 64 processors each, as the operating system numbers them */

/* The spot of a process that may run on the processors of MASK. hwloc is loaded, and asked, at the first call of a
 * process; where it is not installed nothing is known.  HWLOC_SYNTHETIC and HWLOC_XMLFILE work as in any program
 * with hwloc. */
struct collopt_spot collopt_spot(const unsigned long long mask[COLLOPT_MASK_WORDS]);

/* A spot in 31 bits, to be told to others, and back; a number that has no room in it is not known. */
int collopt_pack_spot(struct collopt_spot spot);
struct collopt_spot collopt_packed_spot(int packed);
enum { COLLOPT_ALONE = -1 };    /* in place of that: alone on its node, and so a group of its own whatever is asked for */

/* *KEY: what a process of NODE whose spot was PACKED has in common with others there, BY its NUMA domain, cache or core; false:
 * that is not known. */
bool collopt_spot_key(int packed, int node, enum collopt_grouping by, uint64_t *key);

#endif
