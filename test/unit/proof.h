/* Proves bound programs without MPI: plays all ranks in one process with symbolic operands, on the
 * very steps that the executor runs.  All functions are in proof.c.
 *
 * The proof has three parts.
 *
 * 1. Each rank by itself: every access lies within its place; IN is never written; no place is
 *    written while it is sent or received, nor read while it is received, where "while" lasts
 *    from the post to the WAIT, whatever the network does; every message is posted once and
 *    waited for once; with COLLOPT_VIA_SCRATCH none is received into OUT; folds and copies have
 *    the form that is promised; and any two accesses of two strands to one element, one of them
 *    a write, are ordered by program order and AWAIT (so that no interleaving of strands can
 *    matter).  A view is read only from its receive to the step that gives it back, once, before
 *    the next message of its sender and strand is received.
 * 2. All messages: the k-th send from a to b with a tag meets the k-th receive at b, of equal
 *    length, none is left.
 * 3. All ranks together: messages are rendezvous, a send is complete only when the receive has
 *    been posted and the data copied.  Every element carries what it is made of: which ranks'
 *    contributions, in which order and bracketing, and its index.  Undefined elements may be
 *    neither sent, copied nor combined.  Of a multicast each other member gets as many messages as
 *    were written, each equal to the one that was written, and knows the same members.  In the end
 *    OUT must hold what the collective defines, and everything else what it held before.
 *
 * By 1 and 2 the outcome does not depend on the interleaving, and neither does deadlock: steps
 * become possible and never impossible.  Several interleavings are played all the same, as a check
 * of this argument. */
#ifndef COLLOPT_TEST_UNIT_PROOF_H
#define COLLOPT_TEST_UNIT_PROOF_H

#include <stdio.h>

#include "schedule/bound.h"
#include "schedule/problem.h"

struct proof {
    const struct collopt_problem *problem;
    bool in_order;              /* contributions must be combined in the order of ranks */
    /* [ranks] COLLOPT_IN_PLACE, COLLOPT_TWO_OPERANDS ...; they may differ by rank */
    const unsigned *how;
    const struct collopt_bound *const *program;         /* [ranks] */
    /* what has been combined is not combined again, but on ranks with two operands */
    bool once;
};

/* In which order what can go on does so. */
enum { PROOF_FORWARD, PROOF_REVERSED, PROOF_RANDOM /* and upwards: seeds */ };

enum { PROOF_WHY = 2000 };      /* bytes that hold any explanation */

/* True if the programs do what they should in INTERLEAVINGS orders (at least 1); else WHY says what
 * is wrong and where. */
bool proof_holds(const struct proof *p, int interleavings, char why[PROOF_WHY]);

/* Elements of OUT on RANK; 0 where it has none. */
size_t proof_out(const struct collopt_problem *p, int rank);

/* One line per step. */
void proof_print(const struct collopt_bound *b, int rank, FILE *to);
void proof_print_step(const struct collopt_bound *b, int strand, int step, FILE *to);

#endif
