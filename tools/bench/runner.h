/* Algorithms at work: each on a communicator of its own, on which it is forced by info keys; and
 * one cell measured so. */
#ifndef COLLOPT_TOOLS_BENCH_RUNNER_H
#define COLLOPT_TOOLS_BENCH_RUNNER_H

#include "lib/cells.h"

struct runner {
    const char *expression;     /* "auto", "two_tree:segment=64K" */
    char name[64];              /* up to the colon */
    MPI_Comm comm, of;          /* COMM is OF, or a duplicate of it */
};

/* Is collopt here, and does it know this MPI? */
bool bench_loaded(void);
bool bench_has(const char *collective, const char *name);
/* The same on all ranks: is it so on one of them? */
bool bench_any(bool here);

/* Collective over MPI_COMM_WORLD, of which OF has all ranks or a part.  "auto" is on OF itself;
 * EXPRESSION must live as long as R.  It is forced for those of the COLLECTIVES, whose bits are
 * set, that have the algorithm. */
void runner_open(struct runner *r, MPI_Comm of, const char *expression, unsigned collectives);
void runner_close(struct runner *r);

/* Measures a cell, whose communicator is a runner's; its state and figures say how that went.
 * Collective.  False: it has more elements than an int can count. */
bool cell_measure(struct cell *c, const struct bench_effort *effort);
/* The same with PLAIN's time in place of the host's; both are of one blocking problem, PLAIN on a
 * runner of "auto".  C's algorithm may be "host": then its communicator is any. */
bool cell_measure_against(struct cell *c, struct cell *plain, const struct bench_effort *effort);

#endif
