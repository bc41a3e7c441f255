/* Where figures come from: versions, machines, where each rank ran, load, environment, date. */
#ifndef COLLOPT_BENCH_LIB_PROVENANCE_H
#define COLLOPT_BENCH_LIB_PROVENANCE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/json.h"

struct provenance_rank {
    char host[64], cpu[96], bound[96];          /* bound: the processors that it may use, "0-3,8" */
    double load[3];                             /* of its host, 1, 5 and 15 minutes */
    int processors;                             /* of its host */
    int usable;                                 /* those in `bound` */
};

struct provenance {
    int ranks, hosts;
    struct provenance_rank *rank;               /* of all ranks, on rank 0; elsewhere NULL */
    char mpi[80];                               /* "Open MPI 4.1.4", "MPICH 4.0.2" */
    char collopt[32];                           /* "0.1.0", or "not loaded" */
    /* as given, or "Open MPI 4.1.4; 2 ranks on 1 host" */
    char setting[160];
    char date[32];                              /* UTC, as ISO 8601 has it */
    char command[1000];
    bool crowded;                               /* ranks outnumber processors on some host */
    double seed;
    const char *turn;                           /* how host and collopt are switched */
};

void provenance_mpi(char *name, size_t size);    /* "Open MPI 4.1.4" */
/* Collective.  SETTING may be NULL. */
void provenance_gather(struct provenance *p, const char *setting, int argc, char **argv,
                       double seed);
void provenance_free(struct provenance *p);
/* On rank 0: lines that begin with "# ", of each rank only if EVERY_RANK; or members of the
 * innermost object. */
void provenance_lines(const struct provenance *p, bool every_rank, FILE *to);
void provenance_json(const struct provenance *p, struct collopt_json *j);

#endif
