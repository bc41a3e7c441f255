/* The command line of collopt-bench. */
#ifndef COLLOPT_BENCH_LIB_OPTIONS_H
#define COLLOPT_BENCH_LIB_OPTIONS_H

#include <stdio.h>

#include "lib/measure.h"
#include "lib/problem.h"

enum { OPTIONS_SIZES = 256, OPTIONS_ALGORITHMS = 256, OPTIONS_MESSAGE = 600 };

enum progress { PROGRESS_AUTO, PROGRESS_ON, PROGRESS_OFF };

struct options {
    bool collective[BENCH_COLLECTIVES], operation[BENCH_OPERATIONS], type[BENCH_TYPES];
    size_t size[OPTIONS_SIZES];
    int sizes;
    bool all_algorithms;
    /* "auto", "ring", "leader:node=(binomial),net=(ring)" */
    char *algorithm[OPTIONS_ALGORITHMS];
    int algorithms;
    enum bench_form form;
    bool in_place, same_input;
    bool on_nodes;              /* on the ranks of each node, all nodes at a time */
    struct bench_effort effort;
    double seed;                                /* a whole number; -1: rank 0 chooses */
    const char *setting, *csv, *picture;
    bool json;                  /* in place of the tables */
    enum progress progress;
    bool serve, help, version;
};

/* False: MESSAGE, of OPTIONS_MESSAGE bytes, says which option is wrong and what would be right. */
bool options_read(struct options *o, int argc, char **argv, char *message);
/* The same for one option's value alone. */
bool options_collectives(struct options *o, const char *list, char *message);
bool options_sizes(struct options *o, const char *list, char *message);
void options_help(FILE *to);

#endif
