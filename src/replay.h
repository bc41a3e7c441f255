/* Replays the bound programs of all ranks in one process, without data: how long they take on a machine where a rank
 * sends one message and receives one at a time, and what each rank has to move, combine and keep.
 *
 * For the proofs, the formulas of rounds and bytes and the tools; libcollopt itself does not contain it.  All functions are in replay.c. */
#ifndef COLLOPT_REPLAY_H
#define COLLOPT_REPLAY_H

#include "schedule.h"

/* What one rank's program does; all but the first line and copies in elements. */
struct collopt_load {
    size_t sends, receives;     /* messages */
    size_t sent, received;
    size_t combined;            /* results computed: a fold of k operands computes k - 1 of each element */
    size_t copies, copied;      /* COPY steps, and what they copy */
    size_t scratch;             /* capacity of all slots */
};

void collopt_weigh(const struct collopt_bound *b, struct collopt_load *load);

/* Which send meets which receive.  Message M of rank R has number first[R] + M; mate[] holds the number of its other end.
 * The k-th send from a to b with a tag meets the k-th receive posted at b for a with that tag. */
struct collopt_pairs {
    int ranks;
    const struct collopt_bound *const *program;     /* [ranks], the caller's */
    size_t *first;              /* [ranks + 1] */
    uint32_t *mate;             /* [first[ranks]] */
};

/* On failure returns false, with nothing to free, and says in WHY which message has no other end, or one of another length. */
bool collopt_pair(struct collopt_pairs *pairs, int ranks, const struct collopt_bound *const *program,
                  char *why, size_t size);
void collopt_unpair(struct collopt_pairs *pairs);

/* A message of n elements takes alpha + beta n and occupies the sender's way out and the receiver's way in; a fold of k
 * operands takes gamma (k - 1) n of its rank, and so do all prefixes of k operands.  Posting and copying are free; strands run
 * side by side. */
struct collopt_clock {
    double alpha, beta, gamma;
    /* If not NULL, what a message takes instead of alpha + beta n: by nodes, by links on the way. */
    double (*takes)(int from, int to, size_t n, void *data);
    /* If not NULL, called for every message as its transfer starts. */
    void (*transfer)(int from, int to, const struct collopt_message *m, double start, double end, void *data);
    /* Likewise for every FOLD, COPY and PREFIXES, as it starts. */
    void (*work)(int rank, const struct collopt_step *step, double start, void *data);
    void *data;
};

/* When the last rank is done, and in FINISH[ranks], unless NULL, when each one is.  Of transfers that could start at the same
 * time at one port, the one starts that the port's rank posted first.
 * Negative: some strand never ends (the programs deadlock), or memory is out. */
double collopt_replay(const struct collopt_pairs *pairs, const struct collopt_clock *machine, double *finish);

#endif
