/* Shared memory between the processes of a node: each process owns one segment, which all others map.
 *
 * A segment is a memfd: it has no name, so nothing is left behind when its processes die, and no other user can open
 * it.  Peers open it through /proc/PID/fd and compare a token, so a process id that means something else to them (a
 * container, a reused id) is noticed.  Its size is sealed and its pages are allocated before they are used: where memory
 * is short a reduction falls back to messages and never meets SIGBUS.  A child of fork does not inherit the mapping.
 *
 * The owner hands out pieces of its segment; peers are told their offsets.  No MPI here. */
#ifndef COLLOPT_SHM_SEGMENT_H
#define COLLOPT_SHM_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every piece begins at a multiple of this: no two have a cache line, or a pair of lines that is fetched together, in
 * common. */
enum { COLLOPT_SHM_LINE = 128 };

/* How another process finds a segment. */
struct collopt_segment_key {
    int process;                /* its id */
    int descriptor;             /* -1: there is no segment */
    int token;
};

/* Makes the segment of this process with room for SIZE bytes.  *KEY says how to find it; on failure its descriptor is
 * -1 and WHY, of SIZE_OF_WHY bytes, says what failed. */
void collopt_segment_make(size_t size, struct collopt_segment_key *key, char *why, size_t size_of_why);
/* Where the segment of another process lies in this one; NULL, with a reason in WHY. */
char *collopt_segment_attach(const struct collopt_segment_key *key, char *why, size_t size_of_why);
void collopt_segment_detach(char *base);
/* Unmaps it.  What was handed out must no longer be used. */
void collopt_segment_drop(void);
/* Of this process; NULL: there is none. */
char *collopt_segment_base(void);

/* SIZE bytes of zeros, at most half of the segment; NULL: no room, or no memory.  Any thread. */
void *collopt_segment_take(size_t size);
/* SIZE as it was taken. */
void collopt_segment_give_back(void *piece, size_t size);

#endif
