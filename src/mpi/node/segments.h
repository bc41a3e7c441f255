/* The shared memory of this node: each process of MPI_COMM_WORLD has a segment, and maps those of
 * the others.  It is all or nothing for a node, and all ranks of the job know which nodes have
 * it. */
#ifndef COLLOPT_MPI_NODE_SEGMENTS_H
#define COLLOPT_MPI_NODE_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/host/host.h"

struct collopt_segment_key;
struct collopt_locality;

/* The segment of this process, to be told to the others; made unless COLLOPT_SHM=off. */
void collopt_segments_offer(struct collopt_segment_key *key);
/* After the ranks of MPI_COMM_WORLD have seen each other: maps the segments of this node.
 * OK is room for a number of each node.  Collective on HIDDEN. */
void collopt_segments_begin(MPI_Comm hidden, int rank, int ranks,
                            const struct collopt_locality *seen, int *ok);
void collopt_segments_end(void);
/* Do the ranks of this node share memory?  Those of every node?  All ranks answer the latter
 * alike. */
bool collopt_segments_here(void);
bool collopt_segments_everywhere(void);
/* Of a rank of MPI_COMM_WORLD, where it is mapped; NULL: not on this node. */
char *collopt_segment_of(int rank);
/* Bytes of room that each rank of this node has behind its segment; 0: some rank has none. They
 * answer alike. */
size_t collopt_segments_room(void);

#endif
