/* Whole files, as texts that parsers take. */
#ifndef COLLOPT_CONTENTS_H
#define COLLOPT_CONTENTS_H

#include <stddef.h>

/* The SIZE bytes of a regular FILE of at most LARGEST bytes, to be freed by the caller; NULL after WHY was given a sentence. */
char *collopt_contents(const char *file, size_t largest, size_t *size, char *why, size_t why_size);

#endif
