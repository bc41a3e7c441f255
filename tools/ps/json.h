/* A diagnosis as JSON. */
#ifndef COLLOPT_TOOLS_PS_JSON_H
#define COLLOPT_TOOLS_PS_JSON_H

#include <stdio.h>

#include "recorder/diagnosis.h"
#include "recorder/processes.h"

void json_write(FILE *to, const struct collopt_diagnosis *d, const struct collopt_processes *p);

#endif
