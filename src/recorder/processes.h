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
void collopt_processes_free(struct collopt_processes *p);

#endif
