/* Persistent reductions: each has shared memory of its own.
 *
 * MPI_Allreduce_init and its like make slots there for the input of each rank. All ranks agree by
 * two maxima, also on arguments, and one rank's doubt sends all to the host. MPI_Start number N
 * publishes the input in slot N modulo their number K, without waiting. So requests may be
 * started in any order.
 *
 * A rank writes a slot again when all ranks that need the input in it have read it:
 *
 *     together    all ranks combine the inputs of all.  A request is complete on a rank only
 *                 when all ranks have started it, and a rank starts it again only when it is
 *                 complete there.  So when a rank starts number N + 2, all ranks have started N + 1
 *                 and have read what it published as N.  Two slots are enough, without
 *                 acknowledgements.
 *     one way     Reduce, Scan and Exscan.  A rank acknowledges the numbers that it has completed.
 *                 Number N is complete on a rank when the inputs that it combines have arrived and
 *                 its readers have acknowledged N + 1 - K, so that N + 1 finds a slot.  A rank that
 *                 has started N has completed N - 1, and has acknowledged at least N - 4 (K = 8) or
 *                 N - 1 (K = 2).  So all ranks can complete N once all have started it. */
#ifndef COLLOPT_MPI_REQUEST_PERSISTENT_H
#define COLLOPT_MPI_REQUEST_PERSISTENT_H

struct collopt_call;
struct collopt_comm;
struct collopt_request;

/* Makes a request of CALL on C, which is taken over. Collective. NULL, on all ranks, where
 * some rank cannot serve it; WHY says what is wrong here. *ERR: this rank cannot go on. */
struct collopt_request *collopt_persistent_make(struct collopt_comm *c, struct collopt_call *call,
                                                const char **why, int *err);

#endif
