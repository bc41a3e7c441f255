/* Finds the recordings of a node's processes in /proc: of this user, or of all if it is root. */
#ifndef COLLOPT_RECORDER_PROCESSES_H
#define COLLOPT_RECORDER_PROCESSES_H

#include <stddef.h>

#include "recorder/reader.h"

struct collopt_processes {
    size_t n;
    struct collopt_snapshot *list;      /* by job and rank */
    unsigned unreadable;        /* processes whose descriptors this user may not see */
    unsigned broken;            /* recordings that do not hold together */
    char why[80];               /* of the last of these */
};

void collopt_processes_find(struct collopt_processes *p);
/* Two looks, so that who stands still is told from who runs: MOVED is set.  The second begins NS
 * nanoseconds after the first, or later: each process that has not moved was as it is when the
 * first look had ended and the second had not begun, so they are seen at one time. */
void collopt_processes_watch(struct collopt_processes *p, uint64_t ns);
void collopt_processes_free(struct collopt_processes *p);

#endif
