/* Rules: the user's file (COLLOPT_RULES) that says which algorithm runs what.
 *
 *     # collective  ranks  nodes  ppn  bytes  op           algorithm
 *     allreduce     *      1      *    0-2K   commutative  recursive_doubling
 *     allreduce     * 2- 2- 64K-1M * lanes:count=4,net=(segmented_ring:segment=64K)
 *     *             *      *      *    *      *            auto
 *
 * The first line that matches a problem, and whose algorithm can serve it, decides.  A line
 * depends only on what all ranks know. A file with a mistake is not used at all: with one line
 * missing, later lines would decide what they were not written for.  Ranks compare a hash of the
 * rules; rank 0 does not broadcast them, since worlds that did not agree have no rank 0.
 * collopt(7) describes the format. */
#ifndef COLLOPT_SETTINGS_RULES_H
#define COLLOPT_SETTINGS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lines.h"
#include "base/text.h"
#include "catalogue/choice.h"

struct collopt_problem;

enum collopt_measure {
    COLLOPT_BY_RANKS, COLLOPT_BY_NODES, COLLOPT_BY_PPN, COLLOPT_BY_BYTES,
    COLLOPT_BY_EXCESS,          /* 1: more ranks than processors on a node ("oversubscribed" for
                                 * ppn), else 0 */
    COLLOPT_MEASURES
};
/* "ranks", "nodes", "ppn", "bytes", ... */
extern const char *const collopt_measure_names[COLLOPT_MEASURES];

/* Kinds of operation; a rule has a set of them. */
enum {
    COLLOPT_KIND_EXACT = 1,     /* commutes, and any order gives the same bits */
    COLLOPT_KIND_ROUNDING = 2,  /* commutes */
    COLLOPT_KIND_ORDERED = 4,   /* does not commute */
    COLLOPT_KINDS = 7
};

struct collopt_box {            /* what a rule matches */
    unsigned collectives;       /* set of 1 << collective */
    unsigned kinds;
    struct collopt_range range[COLLOPT_MEASURES];
};

struct collopt_rule {
    int line;
    struct collopt_box box;
    bool automatic;             /* "auto": the built-in choice */
    struct collopt_choice choice;
};

struct collopt_rules {
    char *file;                 /* its name, for people */
    int n;
    struct collopt_rule *rule;
    uint64_t hash;              /* of the rules, without comments and line numbers; 0 if there are
                                 * none */
};

/* Reads a file, or SIZE bytes of TEXT from it. NULL if there are mistakes, after reporting all
 * of them. */
struct collopt_rules *collopt_rules_read(const char *file, collopt_tell_mistake *tell, void *data);
struct collopt_rules *collopt_rules_parse(const char *file, const char *text, size_t size,
                                          collopt_tell_mistake *tell, void *data);
void collopt_rules_free(struct collopt_rules *r);

/* The first rule after LAST (NULL: from the start) that matches P; NULL: none. Its algorithm may
 * be unusable for P. */
const struct collopt_rule *collopt_rules_next(const struct collopt_rules *r,
                                              const struct collopt_problem *p,
                                              const struct collopt_rule *last);

#endif
