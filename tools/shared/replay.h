/* Replays the bound programs of all ranks in one process, without data: their time on a machine
 * where a rank sends one message and receives one at a time, and what each rank moves, combines and
 * keeps.
 *
 * For the proofs and the tools; libcollopt itself does not contain it.  All functions are in
 * replay.c. */
#ifndef COLLOPT_TOOLS_SHARED_REPLAY_H
#define COLLOPT_TOOLS_SHARED_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct collopt_bound;
struct collopt_message;
struct collopt_step;

/* The work of one rank's program; in elements, except messages and copies. */
struct collopt_load {
    size_t sends, receives;     /* messages */
    size_t sent, received;
    size_t combined;            /* results computed: a fold of k operands computes k - 1 of each
                                 * element */
    size_t copies, copied;      /* COPY steps, and what they copy */
    size_t scratch;             /* capacity of all slots */
};

void collopt_weigh(const struct collopt_bound *b, struct collopt_load *load);

/* Pairs each send with its receive.  Message M of rank R has number first[R] + M; mate[] holds
 * the number of its other end. The k-th send from a to b with a tag meets the k-th receive
 * posted at b for a with that tag. */
struct collopt_pairs {
    int ranks;
    const struct collopt_bound *const *program;     /* [ranks], the caller's */
    size_t *first;              /* [ranks + 1] */
    uint32_t *mate;             /* [first[ranks]] */
};

/* On failure returns false, with nothing to free, and names in WHY the message without a
 * partner, or with one of another length. */
bool collopt_pair(struct collopt_pairs *pairs, int ranks,
                  const struct collopt_bound *const *program, char *why, size_t size);
void collopt_unpair(struct collopt_pairs *pairs);

/* A message of n elements takes alpha + beta n and occupies the sender's way out and the receiver's
 * way in; a fold of k operands takes gamma (k - 1) n of its rank, and so do all prefixes of k
 * operands. Posting and copying are free; strands run side by side. */
struct collopt_clock {
    double alpha, beta, gamma;
    /* If not NULL, the time of a message in place of alpha + beta n, by nodes or links. */
    double (*takes)(int from, int to, size_t n, void *data);
    /* If not NULL, the time that a message is under way after it has left both. */
    double (*delay)(int from, int to, void *data);
    /* If not NULL, called for every message as its transfer starts. */
    void (*transfer)(int from, int to, const struct collopt_message *m, double start, double end,
                     void *data);
    /* If not NULL, called for every FOLD, COPY and PREFIXES as it starts. */
    void (*work)(int rank, const struct collopt_step *step, double start, void *data);
    void *data;
};

/* Returns when the last rank finishes, and in FINISH[ranks], unless NULL, when each rank does.
 * Of several transfers ready at a port, the one that the port's rank posted first starts.
 * Negative: the programs deadlock, or no memory. */
double collopt_replay(const struct collopt_pairs *pairs, const struct collopt_clock *machine,
                      double *finish);

#endif
