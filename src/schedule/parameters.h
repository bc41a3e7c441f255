/* The parameters of algorithms; some are lists packed into one value. */
#ifndef COLLOPT_SCHEDULE_PARAMETERS_H
#define COLLOPT_SCHEDULE_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/problem.h"

struct collopt_parameter {
    const char *name;           /* "segment" */
    bool bytes;                 /* takes K, M, G, T; else a plain number */
    const char *words;          /* "node|switch": takes one of these, whose value is its number from
                                 * 1 on */
    bool algorithm;             /* an algorithm in parentheses, of collective OF; the value is
                                 * collopt_choice_number's */
    enum collopt_collective of;
    int list_bits;              /* not 0: a list such as 4x4x2, whose elements are this wide in the
                                 * value, the first lowest */
    size_t least, most;         /* of the value or of one element */
    const char *help;
    /* Used when not given. Of an algorithm always: it completes what is given (p->value of this
     * parameter) or chooses. */
    size_t (*preset)(const struct collopt_problem *p);
};

/* Element I of a parameter that is a list; 0 behind the last one. How many there are; what they
 * multiply to. */
size_t collopt_list_at(const struct collopt_parameter *q, size_t value, int i);
int collopt_list_length(const struct collopt_parameter *q, size_t value);
size_t collopt_list_product(const struct collopt_parameter *q, size_t value);

#endif
