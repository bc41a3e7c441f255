/* Shared memory between the processes of a node: each process owns one segment, which all others
 * map.
 *
 * A segment is a memfd: it has no name, so nothing is left behind when its processes die, and no
 * other user can open it.  Peers open it through /proc/PID/fd and compare a token, so a process id
 * that means something else to them (a container, a reused id) is noticed.  When all have done so
 * its descriptor is closed: programs close descriptors that are not theirs, and what they open next
 * gets the number.  Its size is sealed and its pages are allocated before they are used: where
 * memory is short a reduction falls back to messages and never meets SIGBUS.  Nor is a segment
 * longer than RLIMIT_FSIZE allows a file to be, which would end the process, or its control group's
 * memory.  A child of fork does not inherit the mapping.
 *
 * The owner hands out pieces of its segment; peers are told their offsets, or find them by a number
 * under which the owner has published them. Channels get their pieces from the segment itself.
 * Nonblocking reductions get theirs from the room behind it: addresses for half of the machine's
 * memory, divided by its processes. Its pages are allocated when they are needed; free pieces keep
 * up to four times the segment's size, what is beyond goes back to the system. A process whose
 * address space or files are limited, or that locks all its memory, has no room. No MPI here. */
#ifndef COLLOPT_SHM_SEGMENT_H
#define COLLOPT_SHM_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/failures.h"

/* Atomics that are not lock-free take a lock, and each process would have its own lock. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_LONG_LOCK_FREE == 2,
               "processes share 64-bit atomics");

/* Every piece begins at a multiple of this: no two have a cache line, or a pair of lines that is
 * fetched together, in common. */
enum { COLLOPT_SHM_LINE = 128 };

/* How another process finds a segment. */
struct collopt_segment_key {
    int process;                /* its id */
    int descriptor;             /* -1: there is no segment */
    int token;
};

/* Makes the segment of this process: SIZE bytes, and at most ROOM behind them.  *KEY says how to
 * find it; on failure its descriptor is -1 and WHY, of SIZE_OF_WHY bytes, says what failed. */
void collopt_segment_make(size_t size, size_t room, struct collopt_segment_key *key, char *why,
                          size_t size_of_why);
/* Where the segment of another process lies in this one; NULL, with a reason in WHY. */
char *collopt_segment_attach(const struct collopt_segment_key *key, char *why, size_t size_of_why);
void collopt_segment_detach(char *base);
/* Can it be attached?  False, with a reason in WHY. */
bool collopt_segment_reaches(const struct collopt_segment_key *key, char *why,
                             size_t size_of_why);
/* All others have attached, or will not: no process can from now on. */
void collopt_segment_close_own(void);
/* Unmaps it.  What was handed out must no longer be used. */
void collopt_segment_drop(void);
/* Of this process; NULL: there is none. */
char *collopt_segment_base(void);

/* Memory of its own for what would fill the segment: one rank makes it, for all, and closes the
 * descriptor when the others have attached. It is theirs until each has detached. Each rank
 * allocates the pages from FROM to TO, near its processor; the first COLLOPT_SHM_LINE bytes are
 * taken. NULL, with a reason in WHY: this rank cannot. */
char *collopt_segment_make_apart(size_t size, size_t to, struct collopt_segment_key *key, char *why,
                                 size_t size_of_why);
void collopt_segment_close(const struct collopt_segment_key *key);
char *collopt_segment_attach_part(const struct collopt_segment_key *key, size_t from, size_t to,
                                  char *why,
                                  size_t size_of_why);

/* SIZE bytes of zeros, at most half of the segment's size; NULL: no room, or no memory.  Any
 * thread. */
void *collopt_segment_take(size_t size);
/* SIZE bytes that need not be zeros, of which only those that were filled may be used: long pieces
 * take as long to allocate as many messages, and are not always used as a whole. */
void *collopt_segment_take_bare(size_t size);
/* Of a piece that was taken so; false: no memory. */
bool collopt_segment_fill(char *from, size_t bytes);
/* Not all of it was filled. */
void collopt_segment_give_back_bare(void *piece, size_t size);
/* SIZE bytes of the room behind the segment, not zeroed; at most a quarter of the room. */
void *collopt_segment_take_room(size_t size);
/* SIZE as it was taken. */
void collopt_segment_give_back(void *piece, size_t size);

/* The failed calls of the process whose segment is mapped at BASE. */
struct collopt_failures *collopt_segment_failures(char *base);

/* Bytes of room behind the segment at BASE, of this or another process; 0: there is none. */
size_t collopt_segment_room(const char *base);

/* A directory of each segment: the owner publishes an offset under a number below
 * COLLOPT_SHM_NUMBERS, 0: withdraws it. What was written before is then seen by those who find it.
 * False: no memory. */
enum { COLLOPT_SHM_NUMBERS = 1 << 16 };
bool collopt_segment_publish(unsigned number, uint64_t offset);
uint64_t collopt_segment_find(const char *base, unsigned number);

#endif
