/* Where the ranks of jobs are, from the recordings of some or all of their processes: who waits in
 * which reduction, who has not entered it and what that rank does instead, calls that do not match,
 * and ranks that wait for each other in a circle.
 *
 * Nobody is accused on a guess.  Only what stood still during two looks (collopt_processes_watch())
 * is taken for waiting, and ranks whose recordings are not there are not seen, whatever the reason.
 * Communicators that may be two with the same ranks are said to be so, and what follows only if
 * they are one accuses nobody. */
#ifndef COLLOPT_RECORDER_DIAGNOSIS_H
#define COLLOPT_RECORDER_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/reader.h"

/* A rank of a communicator. */
struct collopt_place {
    int rank;
    size_t who;                 /* index in the job */
    const struct collopt_seen_comm *comm;
    /* the latest call, and the latest start of a persistent one; NULL: none that is known */
    const struct collopt_seen_call *call, *start;
    const struct collopt_seen_call *awaited;    /* in MPI_Wait; NULL: none is */
};

struct collopt_group {          /* a communicator */
    const struct collopt_seen_comm *comm;       /* as one of its ranks sees it */
    size_t n;
    struct collopt_place *place;        /* of those ranks that have reduced on it, by rank */
    bool agreed;                /* false: it may be two, on different ranks */
    bool several;               /* it is: a rank has two of this kind */
};

struct collopt_absent {
    int rank;                   /* of the communicator */
    size_t who;                 /* index in the job */
    const struct collopt_place *place;  /* NULL: it has not reduced on it */
};

/* Ranks that stand still in one call. */
struct collopt_waiting {
    const struct collopt_group *group;
    const struct collopt_seen_call *call;       /* of one of them */
    bool started;               /* they have started it, and do not sit in a call */
    uint32_t number;
    uint64_t since;             /* ns; UINT64_MAX: not known */
    size_t n;
    const struct collopt_place **place;
    /* seen, and not there yet; behind them those that may be there: it is not known */
    size_t absents, doubtful;
    struct collopt_absent *absent;
    int left;                   /* how many have left it */
    int unseen;                 /* how many are not seen */
    int around;                 /* the next wait of a circle; -1: it is in none */
    struct collopt_absent by;   /* the rank that waits there and is absent here */
};

/* A call that is not the same on all ranks. */
struct collopt_mismatch {
    const struct collopt_group *group;
    uint32_t number;
    size_t n;
    struct collopt_differing {
        const struct collopt_place *place;
        const struct collopt_seen_call *call;
        int kind;               /* 0, 1, ...: the same number, the same call */
    } *rank;
    int kinds, most;            /* MOST: the kind of more than half; -1: there is none */
};

enum collopt_blame {
    COLLOPT_BLAME_ENDED,        /* its process has */
    COLLOPT_BLAME_STOPPED,      /* by a signal or a debugger */
    COLLOPT_BLAME_FINALIZES,
    COLLOPT_BLAME_OUTSIDE,      /* it does something else than a reduction */
    COLLOPT_BLAME_RUNS,         /* as before, and it may just be late */
    COLLOPT_BLAME_QUEUED,       /* it is late because it gets no processor, as far as is known */
    COLLOPT_BLAME_DIFFERS,      /* its call is not that of the others */
    COLLOPT_BLAME_COMBINES,     /* it is inside of an operation */
    COLLOPT_BLAME_LAST          /* all others have left the call */
};

/* A rank for which others wait and that waits for nobody. */
struct collopt_culprit {
    size_t who;
    enum collopt_blame blame;
    const struct collopt_waiting *waiting;      /* those who wait for it */
};

struct collopt_job {
    uint64_t id;
    int ranks;
    size_t n;
    const struct collopt_snapshot **who;        /* those that are seen, by rank */
    uint64_t spread;            /* ns from the first snapshot of them to the last */
    bool complete;              /* all nodes were looked at: who is not seen has ended, or is
                                 * not recorded */
    size_t groups, waits, mismatches, culprits;
    struct collopt_group *group;
    struct collopt_waiting *waiting;
    struct collopt_mismatch *mismatch;
    struct collopt_culprit *culprit;
    struct collopt_place *places;
    int *sits;                  /* of each WHO the wait in which it sits; -1: in none */
};

struct collopt_diagnosis {
    size_t jobs;
    struct collopt_job *job;
    size_t others;              /* recordings of versions not known, or of no job yet */
};

/* Of N snapshots, which have to stay as long as the result; who waits for less than LONGER ns, and
 * as much as snapshots are apart, does not wait.  NULL: no memory. */
struct collopt_diagnosis *collopt_diagnose(const struct collopt_snapshot *list, size_t n,
                                           uint64_t longer);
void collopt_diagnosis_free(struct collopt_diagnosis *d);

/* The wait in which this process of the job sits; NULL: in none. */
const struct collopt_waiting *collopt_sits_in(const struct collopt_job *job, size_t who);
/* The place of RANK in it; NULL: there is none. */
const struct collopt_place *collopt_place_of(const struct collopt_group *g, int rank);
/* Has no rank before this one its host? */
bool collopt_first_of_host(const struct collopt_job *job, size_t who);
/* Is this wait the first of a circle in the list? */
bool collopt_begins_circle(const struct collopt_job *job, int at);
/* Does C return before it is done? */
bool collopt_only_starts(const struct collopt_seen_call *c);
/* For how many ns C has been going on; UINT64_MAX: not known. */
uint64_t collopt_age(const struct collopt_snapshot *s, const struct collopt_seen_call *c);

#endif
