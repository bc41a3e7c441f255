/* Reads whole files. */
#ifndef COLLOPT_BASE_CONTENTS_H
#define COLLOPT_BASE_CONTENTS_H

#include <stddef.h>

#include "base/lines.h"

/* The SIZE bytes of a regular FILE of at most LARGEST bytes, to be freed by the caller; NULL
 * after reporting the reason to TELL, unless NULL. */
char *collopt_contents(const char *file, size_t largest, size_t *size, collopt_tell_mistake *tell,
                       void *data);

#endif
