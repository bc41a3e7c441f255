/* The choices. */
#ifndef COLLOPT_TOOLS_TUNE_SERIES_H
#define COLLOPT_TOOLS_TUNE_SERIES_H

#include <stddef.h>

#include "schedule/problem.h"
#include "tune/cells.h"
#include "tune/options.h"

struct tune_choice {
    const char *name;                           /* "host" */
    double ratio, low, high;
    size_t messages;                            /* as tune_messages() counts them */
};

struct tune_point {
    size_t bytes, least, most;                  /* measured; for which it stands */
    int choices, good;                          /* the good ones come first */
    struct tune_choice choice[TUNE_CANDIDATES];
    /* of the algorithms; its name is "" where there is none */
    struct tune_choice best;
    struct tune_choice chosen;
    const char *plain;                          /* what is chosen without rules, */
    double built_in;                            /* and its ratio */
    int last;                                   /* point of the same rule */
};

struct tune_series {                            /* of one collective and one kind of operation */
    enum collopt_collective collective;
    const char *kind;
    int points;
    struct tune_point point[TUNE_SIZES];
};

/* All that have points, in the order of rules; to be freed. */
struct tune_series *tune_series(const struct tune_cells *all, const struct tune_options *o, int *n);

#endif
