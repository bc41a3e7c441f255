/* Says a diagnosis in words, a line at a time. */
#ifndef COLLOPT_RECORDER_SENTENCES_H
#define COLLOPT_RECORDER_SENTENCES_H

#include "base/text.h"
#include "recorder/diagnosis.h"

typedef void collopt_tell_line(void *data, const char *line);

/* Where the ranks of a job are, and at which to look. */
void collopt_tell_job(const struct collopt_job *job, collopt_tell_line *tell, void *data);

/* Parts of it, which are added to a text. */
/* "rank 3 (pid 4711, host n7)" */
void collopt_add_process(struct collopt_text *t, const struct collopt_snapshot *s);
/* "outside of reductions while 3 ranks wait" */
void collopt_add_blame(struct collopt_text *t, const struct collopt_job *job,
                       const struct collopt_culprit *c);
/* "MPI_COMM_WORLD" */
void collopt_add_group(struct collopt_text *t, const struct collopt_group *g);
/* "MPI_Iallreduce" */
void collopt_add_function(struct collopt_text *t, const struct collopt_seen_call *c);
/* "has not entered it: ..." of a rank that is absent. */
void collopt_add_absent(struct collopt_text *t, const struct collopt_job *job,
                        const struct collopt_waiting *w, const struct collopt_absent *a);

#endif
