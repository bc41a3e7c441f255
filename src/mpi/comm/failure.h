/* A rank that fails in a call says so in its segment, so that the ranks of its node that wait for
 * it get an error, too (shm/failures.h).  Those of other nodes wait, as in the host's
 * collectives. */
#ifndef COLLOPT_MPI_COMM_FAILURE_H
#define COLLOPT_MPI_COMM_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

struct collopt_comm;

/* The number of an agreement (greatest.h) among failed calls. */
static inline uint32_t collopt_agreement_code(unsigned agreement)
{
    return agreement | UINT32_C(1) << 31;
}

/* This rank fails in CALL on C, whose context id is never used again: messages may be left. */
void collopt_give_up(struct collopt_comm *c, uint32_t call);
/* Has a rank of this node failed in it? */
bool collopt_has_failed(const struct collopt_comm *c, uint32_t call);

#endif
