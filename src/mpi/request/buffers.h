/* The program's buffers of a request: where they are in device memory, copies in host memory stand
 * for them from start to end. */
#ifndef COLLOPT_MPI_REQUEST_BUFFERS_H
#define COLLOPT_MPI_REQUEST_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>

struct collopt_call;
struct collopt_comm;
struct collopt_facts;
struct collopt_staging;

struct collopt_buffers {
    const void *users_in;
    void *users_out;            /* equal: in place */
    const void *in;             /* the same, unless they are in device memory */
    void *out;
    size_t inputs, results;     /* elements of the input vector; of the result of this rank */
    struct collopt_staging *staging;
};

void collopt_buffers_set(struct collopt_buffers *b, const struct collopt_comm *c,
                         const struct collopt_call *call);
/* To be called at each start.  On an error code nothing is kept. */
int collopt_buffers_begin(struct collopt_buffers *b, const struct collopt_facts *f);
/* DONE: the results are there. */
int collopt_buffers_end(struct collopt_buffers *b, bool done);

#endif
