/* Tells when a rank waits too long in a reduction (COLLOPT_STALL), and may end the job.
 *
 * Each process has a thread that mostly sleeps and looks into the process's own recording.  Once a
 * call of it has not returned for the time that is set, the thread looks at all processes of the
 * job on this node.  One of those that wait there tells where they are, for all of them. */
#ifndef COLLOPT_RECORDER_STALL_H
#define COLLOPT_RECORDER_STALL_H

#include <stdbool.h>

struct collopt_stall {
    int seconds;                /* more than 0 */
    void (*tell)(const char *line);
    void (*end_job)(void);      /* called when it was told; NULL: the job goes on */
};

/* There must be a recording.  False: no thread could be made. */
bool collopt_stall_begin(const struct collopt_stall *s);
/* No call waits any more. */
void collopt_stall_end(void);

#endif
