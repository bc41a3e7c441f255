/* Where the user wants a file: it appears complete or not at all; streams, devices and pipes are
 * written to directly. */
#ifndef COLLOPT_REPORT_OUTPUT_H
#define COLLOPT_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

enum { COLLOPT_ALL_RANKS = -1 };

/* Has WRITE write DATA to WHERE, or to WHERE.<rank> where RANK is not COLLOPT_ALL_RANKS and WHERE
 * a file; "stderr" is a stream.  False: errno says why. */
bool collopt_output(const char *where, int rank, void (*write)(FILE *to, void *data), void *data);
/* True if WHERE is a regular file or does not exist. */
bool collopt_output_is_file(const char *where);
/* Why a file WHERE cannot be made, as far as that can be known before, as an errno; 0: nothing is
 * known against it. */
int collopt_output_obstacle(const char *where);

#endif
