/* How long ranks waited for others in their reductions, and for which: summed up for the report.
 * No MPI here.  Called in the default floating-point environment. */
#ifndef COLLOPT_REPORT_WAITS_H
#define COLLOPT_REPORT_WAITS_H

#include <stdint.h>

#include "base/json.h"
#include "report/counters.h"
#include "report/shares.h"

/* The rank for which the others have waited longest. */
struct collopt_late {
    int64_t rank;               /* of MPI_COMM_WORLD; -1: not known yet */
    uint64_t last, calls;       /* it entered LAST of its CALLS last */
    double seconds;             /* that others waited for it, summed over them; 0: there is none */
};

struct collopt_waits {
    uint64_t calls;             /* of all ranks, whose waiting is known; 0: of none */
    uint64_t last;              /* of these, those that one of these ranks entered last */
    struct collopt_spread waiting, reducing, made_wait;         /* seconds of a rank */
    struct collopt_late late;
    uint64_t following;         /* short calls that followed another at once, of all ranks */
    struct collopt_spread following_seconds;    /* that these took without waiting */
    uint64_t at_once;           /* requests that were waited for at once, of all ranks */
    struct collopt_spread at_once_seconds;      /* of these waits */
};

/* Those of one rank. */
struct collopt_waits collopt_waits_of(const struct collopt_waited *w);
/* It is this RANK's. */
void collopt_waits_of_rank(struct collopt_waits *w, int rank);
/* Adds what other ranks have. */
void collopt_waits_add(struct collopt_waits *all, const struct collopt_waits *other);

/* Members of the object that is open.  HOST: of the late rank; NULL: not told. */
void collopt_waits_json(const struct collopt_waits *w, struct collopt_json *j, const char *host);
/* Hints at what the program could do otherwise. */
void collopt_waits_hints_json(const struct collopt_waits *w, struct collopt_json *j);
void collopt_spread_json(const struct collopt_spread *s, struct collopt_json *j, const char *key);

#endif
