/* Lengths of fragments, lines of a machine file for messages of the host inside a node:
 *
 *     fragment reduce 2-16 257-512 in_turn = 256 B
 *
 * A Reduce on 2 to 16 ranks sends its messages of 257 to 512 bytes in fragments of 256. In turn:
 * each is received when the one before has been; else all at once (together). */
#ifndef COLLOPT_MODEL_FRAGMENTS_H
#define COLLOPT_MODEL_FRAGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "schedule/problem.h"

struct collopt_lines;

enum { COLLOPT_MOST_FRAGMENTS = 64 };

struct collopt_fragments {
    int n;
    struct collopt_fragment {   /* in the order of bytes */
        enum collopt_collective collective;
        struct collopt_range ranks, bytes;
        size_t length;
        bool in_turn;
        int line;
    } row[COLLOPT_MOST_FRAGMENTS];
};

/* Adds a line with WORDS after "fragment" and LENGTH bytes; modifies WORDS. False, after reporting
 * a mistake. */
bool collopt_fragments_take(struct collopt_fragments *all, struct collopt_lines *in, char *words,
                            double length);
uint64_t collopt_fragments_hash(uint64_t h, const struct collopt_fragments *all);

#endif
