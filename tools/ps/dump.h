/* Snapshots as lines of text, which any launcher hands on, and back. */
#ifndef COLLOPT_TOOLS_PS_DUMP_H
#define COLLOPT_TOOLS_PS_DUMP_H

#include <stdio.h>

#include "recorder/processes.h"

void dump_write(FILE *to, const struct collopt_processes *p);
/* Adds what the lines of FILE say to P, whatever else is among them; false: no memory. */
bool dump_read(FILE *file, struct collopt_processes *p, int *dumps);

#endif
