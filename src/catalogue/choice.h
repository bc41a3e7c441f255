/* A choice: an algorithm with its parameters, which may be a parameter of another algorithm. */
#ifndef COLLOPT_CATALOGUE_CHOICE_H
#define COLLOPT_CATALOGUE_CHOICE_H

#include <stddef.h>

#include "schedule/descriptor.h"
#include "schedule/problem.h"

struct collopt_algorithm;

/* An algorithm with its parameters: the result of forcing, rules and the selection. */
struct collopt_choice {
    const struct collopt_algorithm *algorithm;  /* NULL: the host's own collective */
    size_t value[COLLOPT_PARAMETERS];           /* 0: not given; use the preset */
};

/* Encodes a choice as the value of a parameter; 0: no memory. Decodes it; NULL: no such number. */
size_t collopt_choice_number(const struct collopt_choice *choice);
const struct collopt_choice *collopt_choice_numbered(size_t number);
/* The number of failed encodings. Decisions made after one may differ from those of other ranks. */
unsigned collopt_choice_misses(void);

#endif
