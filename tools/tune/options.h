/* The command line of collopt-tune. */
#ifndef COLLOPT_TOOLS_TUNE_OPTIONS_H
#define COLLOPT_TOOLS_TUNE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/problem.h"

enum { TUNE_SIZES = 64, TUNE_RANKS = 16 };
/* Of a cell: by predicted time; with the choice without rules, the variants of the fastest, and
 * the winners of neighbouring cells. */
enum { TUNE_PROMISING = 11, TUNE_CANDIDATES = TUNE_PROMISING + 9 };

/* Operations by their names in collopt-bench, and their properties for a rule. */
struct tune_operation {
    const char *name;
    size_t size;                                /* bytes of data in an element */
    bool commutative, exact;
    const char *kind;                           /* the rule's word */
};
enum { TUNE_OPERATIONS = 8 };
extern const struct tune_operation tune_operations[TUNE_OPERATIONS];

enum tune_progress { TUNE_AUTO, TUNE_BAR, TUNE_QUIET };

struct tune_options {
    bool check, help, json, version, verify;
    const char *output, *machine, *picture, *mpi, *program;
    char *part;                                 /* where answers are kept until all is measured */
    bool collective[COLLOPT_COLLECTIVES], operation[TUNE_OPERATIONS];
    size_t size[TUNE_SIZES];                    /* ascending */
    int sizes;
    /* ascending; for a job each, in which they take the place of %n */
    size_t ranks[TUNE_RANKS];
    int rankses;                                /* 0: one job, as the launcher says */
    double seconds;
    int candidates;                             /* of a cell; */
    bool no_more;                               /* also if time is left */
    enum tune_progress progress;
    char **word;                                /* the launcher and its options, or files */
    int words;
};

/* False, after a message: the options make no sense. */
bool tune_options(struct tune_options *o, int argc, char **argv);
/* The name of the machine's file beside a file of RULES: site.machine beside site.rules.  To be
 * freed. */
char *tune_beside(const char *rules);

/* A sentence for people: on the standard output, or where that takes JSON on the standard error
 * output. */
__attribute__((format(printf, 2, 3))) void tune_tell(const struct tune_options *o,
                                                     const char *format, ...);

#endif
