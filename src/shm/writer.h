/* Copies data to memory that another processor reads, in the faster of two ways.
 *
 * An ordinary store first takes the cache line from the cache of the processor that has read it.
 * Where the two share a cache that is fast.  Where they do not it takes six times as long, and a
 * streaming store, which goes past the caches to memory, is better.  Who shares a cache with whom
 * changes when ranks move, and virtual machines do not tell, so both ways are timed.
 *
 * 16 MiB in both directions by pieces of 64 KiB, each of which the other thread adds to a vector;
 * milliseconds with ordinary and with streaming stores: without a shared cache 9.6 and 2.7, with
 * one 3.7 and 4.5.
 *
 * One thread at a time. */
#ifndef COLLOPT_SHM_WRITER_H
#define COLLOPT_SHM_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct collopt_writer {         /* zeros at first */
    uint32_t copies;            /* of COLLOPT_WRITE_LEAST bytes or more */
    bool streams;               /* what is faster */
    uint32_t cost[2];           /* COLLOPT_WRITE_COST, ordinary and streaming; 0: not known */
};

enum {
    COLLOPT_WRITE_LEAST = 2048, /* bytes; shorter copies are ordinary and are not timed */
    COLLOPT_WRITE_TRIAL = 256,  /* copies for each one that tries the other way */
    /* costs are ticks for so many bytes, in integers: the program may trap what rounds */
    COLLOPT_WRITE_COST = 1 << 16
};

/* Copies BYTES.  A reader sees them when it sees what is stored (release) afterwards. */
void collopt_write(struct collopt_writer *w, char *to, const char *from, size_t bytes);

/* The parts of collopt_write, for its test: whether the next copy streams, and what it took. */
bool collopt_writer_next(struct collopt_writer *w);
void collopt_writer_learn(struct collopt_writer *w, bool streamed, uint32_t cost);
void collopt_stream(char *to, const char *from, size_t bytes);

#endif
