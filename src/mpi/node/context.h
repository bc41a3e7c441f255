/* Context ids: they separate the messages of communicators that share one hidden communicator.
 *
 * A context id is a range of tags, and it belongs to the rank that *receives* with it: for each
 * communicator every rank picks an id of its own that no other communicator of this process has,
 * and tells it to the others in the exchange by which the communicator is taken over.  A message
 * carries the id of its receiver.  So messages of two communicators never match, whichever threads
 * agree at the same time: a receiver gives an id to one communicator at a time, and no other rank
 * assigns it. An id is returned when its communicator is freed; by then all its reductions are
 * complete on this rank, so every message sent with the id has been received. A failed reduction
 * may leave messages; then the id is never reused.
 *
 * One number for all ranks of a communicator, agreed by a reduction over the free ones, would
 * not do: two threads of a process may agree on two communicators at once, and both reductions
 * may return the same number.  To reserve a number first does not help, and to verify it may never
 * end.  An id of the receiver's own needs no consent.  It costs an allgather of two ints, and 8
 * bytes per rank and communicator.
 *
 * Where a rank has no id left (65535 on Open MPI, 8191 on MPICH 4.0), and beyond MPI_COMM_WORLD,
 * the communicator gets a hidden communicator of its own. */
#ifndef COLLOPT_MPI_NODE_CONTEXT_H
#define COLLOPT_MPI_NODE_CONTEXT_H

/* A context has these rows of tags; a row has one tag for each of 128 strands.  Blocking calls use
 * their rows in turn, and so do nonblocking ones; each persistent request has one (p2p_request.h).
 * The last rows are for agreements on numbers (greatest.h) and for the offsets of channels
 * (src/shm). */
enum {
    COLLOPT_BLOCKING_ROWS = 64,
    COLLOPT_NONBLOCKING_ROWS = 95,
    COLLOPT_PERSISTENT_ROWS = 95,
    COLLOPT_AGREEMENT_ROW = COLLOPT_BLOCKING_ROWS + COLLOPT_NONBLOCKING_ROWS
        + COLLOPT_PERSISTENT_ROWS,
    COLLOPT_CHANNEL_ROW,
    COLLOPT_STRAND_TAGS = 128,
    COLLOPT_CONTEXT_TAGS = (COLLOPT_CHANNEL_ROW + 1) * COLLOPT_STRAND_TAGS
};

/* Tags end at TAG_UB, so there are (TAG_UB + 1) / COLLOPT_CONTEXT_TAGS ids.  Id 0 is reserved for
 * messages outside of reductions. */
void collopt_contexts_begin(int tag_ub);
/* An unused id of this process; -1: none left. */
int collopt_context_take(void);
void collopt_context_give_back(int id);

#endif
