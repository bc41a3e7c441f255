/* Between two fruitless looks: the host's requests are tested, the host makes progress, and the
 * processor is given away where ranks share it. */
#ifndef COLLOPT_MPI_HOST_POLL_H
#define COLLOPT_MPI_HOST_POLL_H

#include <stdbool.h>

#include "mpi/host/host.h"

enum {
    /* looks at messages before the processor is given away; a yield at each look costs 1.3 to 2.8
     * times as much */
    COLLOPT_POLLS = 20,
    /* the same where each rank has a processor, which another process may want */
    COLLOPT_PATIENCE = 1 << 14,
    /* looks at shared memory before the host makes progress: some 10 us */
    COLLOPT_SHM_LOOKS = 1 << 10
};

/* The ranks of this process's control group have less processor time than they could use.  A rank
 * that waits long then sleeps: what it polls away the others lack, and a processor that it yields
 * may have nothing else to run. */
extern bool collopt_time_is_scarce;

/* While this rank waits for shared memory the host has to make progress with what the program has
 * begun: its peer may need that before it comes to the reduction. */
struct collopt_poke {
    bool begun;                 /* REQUEST exists */
    MPI_Request request;        /* never completes: testing it makes the host progress */
};
void collopt_poke_progress(struct collopt_poke *p);
void collopt_poke_end(struct collopt_poke *p);

/* The processor is given away at each LIMIT-th of POLLS. */
void collopt_give_way(unsigned limit, unsigned polls);
/* Between two looks at shared memory. */
void collopt_idle_at(struct collopt_poke *p, bool yields, unsigned *polls);

int collopt_test(MPI_Request *request, bool *done);
/* on SMPI: waits until one of the requests is complete, and null */
int collopt_wait_any(int n, MPI_Request *const request[]);

#endif
