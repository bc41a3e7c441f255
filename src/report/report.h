/* The report at the end of the job. No MPI here. */
#ifndef COLLOPT_REPORT_REPORT_H
#define COLLOPT_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sums of one or more processes.  How ranks combine them (mpi/call/init.c): each gathers its
 * own; on the way up a tree a rank merges what its children have packed and packs the whole for its
 * parent; the root writes. */
struct collopt_report;

/* The sums of this process; NULL: no memory. TIME: nanoseconds of the run that they cover; 0:
 * unknown. */
struct collopt_report *collopt_report_gather(uint64_t time);
/* The run and the reductions of R become those of RANK, one of RANKS, on HOST. */
void collopt_report_of_rank(struct collopt_report *r, int rank, int ranks, const char *host);
/* So many nanoseconds may the clock of this rank be apart from that of rank 0. */
void collopt_report_clock(struct collopt_report *r, uint64_t error);
void collopt_report_free(struct collopt_report *r);
/* Writes R to BUFFER if SIZE suffices; returns the bytes it takes (ask with NULL, 0). */
size_t collopt_report_pack(const struct collopt_report *r, void *buffer, size_t size);
/* Adds a packed report; false if the bytes are of another version, or no memory; R is then
 * unchanged. */
bool collopt_report_merge(struct collopt_report *r, const void *buffer, size_t size);
/* Writes to WHERE, the value of COLLOPT_REPORT: a table to "stderr", else JSON to the file
 * WHERE, or WHERE.<rank> where the report is one rank's (output.h).  False, after a warning, if
 * writing failed. */
struct collopt_report_by {      /* who writes it */
    const char *mpi;            /* the answer of MPI_Get_library_version */
    int ranks, rank;            /* of MPI_COMM_WORLD; COLLOPT_ALL_RANKS (output.h): combined */
    bool aborted;               /* in MPI_Abort */
};
bool collopt_report_write(struct collopt_report *r, const char *where,
                          const struct collopt_report_by *by);
/* Warns at the start of the job if the files WHERE (COLLOPT_REPORT), TRACE (COLLOPT_TRACE) and
 * RULES (of collopt_report_rules()), or NULL, cannot be created, since their contents would be lost
 * at the end. */
void collopt_report_look_ahead(const char *where, const char *trace, const char *rules);
/* Writes the results of trials (COLLOPT_ADAPT) as a file of rules. False, after a warning, if
 * writing failed. */
bool collopt_report_rules(struct collopt_report *r, const char *where);

#endif
