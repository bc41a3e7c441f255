/* What the files of test_soak share.  Whatever is drawn at random follows from the seed and the number of the step alone,
 * so that all ranks draw alike without a message, and a run can begin in the middle. */
#ifndef TEST_MPI_SOAK_H
#define TEST_MPI_SOAK_H

#include "common.h"
#include "elements.h"

extern uint64_t soak_seed;

/* ---- drawing: header only ---------------------------------------------------------------------------------------- */

struct soak_random {
    uint64_t state;
};

/* One for each PURPOSE of a step or a group. */
static inline struct soak_random soak_draw(uint64_t number, uint64_t purpose)
{
    uint64_t h = mix(soak_seed + 0x9e3779b97f4a7c15u) + number * 0xd6e8feb86659fd93u;

    return (struct soak_random){ mix(h) ^ mix(purpose + 1) };
}

static inline uint64_t soak_next(struct soak_random *r)
{
    return mix(r->state += 0x9e3779b97f4a7c15u);
}

static inline size_t soak_below(struct soak_random *r, size_t n)
{
    return (size_t)(soak_next(r) % n);
}

/* Once in N times. */
static inline bool soak_chance(struct soak_random *r, size_t n)
{
    return soak_below(r, n) == 0;
}

/* ---- soak_settings.c --------------------------------------------------------------------------------------------- */

enum { SOAK_WORDS = 1000 };

/* An algorithm of COLLECTIVE (enum collopt_collective), with parameters. */
void soak_algorithm(struct soak_random *r, int collective, int ranks, char text[SOAK_WORDS]);
/* Prints settings of collopt for a job of RANKS ranks, one VARIABLE=VALUE in each line. */
void soak_settings(int ranks);
/* May the MPI library's own collectives run instead of collopt's, by the settings of this process? */
bool soak_settings_host(void);

/* ---- soak_kinds.c: datatypes and operations, the user's own among them ------------------------------------------- */

struct soak_kind {
    struct kind kind;
    size_t most;                /* elements of a vector: elements of more would lie on each other */
};

void soak_kinds_begin(void);
void soak_kinds_end(void);
/* Frees an operation or a datatype of the user's and makes another in its place. */
void soak_kinds_renew(struct soak_random *r);
/* What R comes to, of those there are now. */
struct soak_kind soak_kind(struct soak_random *r);
/* Until the next one, operations of the user's are called for this. */
void soak_kind_expect(const struct kind *k, const struct element *e);
/* Can the MPI library itself do with it?  test_collectives.c says with what it cannot.  With gaps and bounds of datatypes
 * Open MPI 4.1 writes beside its buffers (open-mpi/ompi #1764), and MPICH 4.0 takes the operands of a Reduce_scatter in
 * another order. */
bool soak_kind_trusted(const struct kind *k);

/* ---- soak_groups.c: communicators, and what a program does with them beside reductions --------------------------- */

struct soak_group {
    MPI_Comm comm;              /* MPI_COMM_NULL: this rank is in none */
    int rank, ranks;
    uint64_t id;                /* the same on its ranks, and no other one's */
};

enum { SOAK_GROUPS = 6 };

void soak_groups_begin(void);
void soak_groups_end(void);
struct soak_group *soak_group(size_t i);
/* Frees a communicator and makes another; not the world. */
void soak_groups_renew(uint64_t number);
/* Gives a communicator a key, by which another algorithm is to run from now on. */
void soak_groups_inform(uint64_t number);
/* Begins, or brings to its end, an exchange of messages with wildcards; a nonblocking collective. */
void soak_exchange(uint64_t number);
void soak_pending(uint64_t number);
/* There is no message of anybody's but the exchange's. */
void soak_probe(void);

#endif
