/* Communicators that the program has made and freed, for the report: a program that makes one for
 * each reduction can keep it.  No MPI here.  Any thread. */
#ifndef COLLOPT_REPORT_MAKINGS_H
#define COLLOPT_REPORT_MAKINGS_H

#include <stdint.h>

enum { COLLOPT_MAKINGS_FEW = 4 };       /* reductions on a communicator that was hardly used */

struct collopt_makings {
    uint64_t made;              /* by MPI_Comm_dup, _dup_with_info, _split and _split_type */
    uint64_t time;              /* nanoseconds for that, and for freeing */
    uint64_t hardly_used;       /* freed after 1 to COLLOPT_MAKINGS_FEW reductions */
    uint64_t reductions;        /* on these */
};

/* One was made in TIME nanoseconds. */
void collopt_makings_made(uint64_t time);
/* One was freed in TIME nanoseconds. */
void collopt_makings_freed(uint64_t time);
/* One ends after so many reductions. */
void collopt_makings_used(uint64_t reductions);
/* All so far. */
struct collopt_makings collopt_makings(void);
void collopt_makings_reset(void);

#endif
