/* The MPI library's own collectives as candidates: what they would take.
 *
 * Which algorithm a host MPI runs is known from the decision functions that it is published with, so its time can be predicted
 * like that of ours; where a machine file has times that were measured (host_times.h), those are taken instead.  No MPI here. */
#ifndef COLLOPT_HOST_MPI_H
#define COLLOPT_HOST_MPI_H

#include "schedule.h"
#include "select/machine.h"

/* The MPI that calls itself VERSION (MPI_Get_library_version, or only its name and number): Open MPI 4.1 and 5,
 * MPICH 3.4 and 4; all else is other. */
enum collopt_mpi collopt_mpi_of(const char *version);

struct collopt_host_time_of {
    double seconds;
    bool measured;              /* else predicted */
    const char *as;             /* the host's algorithm; NULL where it was measured */
};

/* What P takes if it is left to the host MPI of its machine; false: nobody knows. */
bool collopt_host_takes(const struct collopt_problem *p, struct collopt_host_time_of *host);

/* The host is chosen where it takes less than this share of the time of our best algorithm.  What is predicted to take as long is
 * ours: a repeated call finds all prepared, and predictions of one and the same algorithm do not differ. */
extern const double collopt_host_share;

#endif
