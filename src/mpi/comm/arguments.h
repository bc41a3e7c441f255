/* Arguments that are the host's to judge: where some are wrong or unusual, the call falls back. */
#ifndef COLLOPT_MPI_COMM_ARGUMENTS_H
#define COLLOPT_MPI_COMM_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/host/call.h"
#include "report/counters.h"

struct collopt_comm;
struct collopt_facts;

/* In MPI_Init: does the host look at the arguments of calls? */
void collopt_arguments_begin(void);
/* Two buffers, neither null nor MPI_IN_PLACE: none of the checks below is needed. */
static inline bool collopt_arguments_plain(const struct collopt_call *call)
{
    return call->in && call->out && call->in != call->out && call->in != MPI_IN_PLACE
        && call->out != MPI_IN_PLACE;
}
/* Equal buffers become MPI_IN_PLACE where the host takes them for that. */
void collopt_arguments_take_in_place(const struct collopt_comm *c, struct collopt_call *call);
/* Are the buffers of CALL the host's to judge?  PREDEFINED: as in its facts.  BYTES of input. */
bool collopt_arguments_odd(const struct collopt_comm *c, const struct collopt_call *call,
                           bool predefined, uint64_t bytes);
/* Can CALL be served on C?  Then *F is filled in.  May change CALL. */
bool collopt_arguments_fit(const struct collopt_comm *c, struct collopt_call *call,
                           struct collopt_facts *f);
/* Bytes of input of a CALL that falls back, on C.  False: they are not known, since the arguments,
 * which nobody has judged, may be wrong, or the communicator has two groups, or none was found. */
bool collopt_arguments_size(const struct collopt_comm *c, const struct collopt_call *call,
                            enum collopt_reason why, uint64_t *bytes);
/* Does MPI forbid the arguments of CALL?  Some hosts accept them. */
bool collopt_arguments_wrong(const struct collopt_comm *c, struct collopt_call *call);

#endif
