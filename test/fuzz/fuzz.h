/* What the files of the random tester share.  All that is drawn at random follows from the seed,
 * the thread and the number of the step alone, so that all ranks draw alike without a message, and
 * any step can be left out. */
#ifndef COLLOPT_TEST_FUZZ_FUZZ_H
#define COLLOPT_TEST_FUZZ_FUZZ_H

#include "common.h"
#include "elements.h"

/* Each thread has its own of everything: communicators, datatypes, operations, buffers.  The
 * simulator's ranks are threads of one process, which gives each rank globals of its own, but
 * nothing that is a thread's. */
#ifdef TEST_SIMULATED
# define OWN static
#else
# define OWN static _Thread_local
#endif

enum { FUZZ_THREADS = 4, FUZZ_WORDS = 320, FUZZ_LONGEST_BURST = 1 << 20 };

/* ---- fuzz.c ---------------------------------------------------------------------------------- */

struct fuzz_job {               /* alike on all ranks */
    uint64_t seed;
    int threads;
    uint64_t steps;             /* of each thread */
    size_t most;                /* bytes of a vector */
    size_t pieces;              /* bytes of a vector by the settings' size of pieces */
    uint64_t burst;             /* rows of short calls in a burst, at most */
    size_t churn;               /* so many times as many communicators are made and freed */
    /* only what the MPI library's own collectives can do: they may run */
    bool trusted;
    unsigned patience;          /* seconds for a step */
    bool say;                   /* what is done */
    size_t tricks;              /* so many times as many steps that few programs take */
    bool apart;                 /* ranks wait for each other outside MPI */
};

extern struct fuzz_job job;

int fuzz_thread(void);          /* the number of the calling thread */
const char *fuzz_step_name(void);       /* "seed 17 step 1:40" */

/* ---- drawing: header only -------------------------------------------------------------------- */

struct fuzz_random {
    uint64_t state;
};

/* One for each PURPOSE of a step or a group. */
static inline struct fuzz_random fuzz_draw(uint64_t number, uint64_t purpose)
{
    uint64_t h = mix(job.seed + 0x9e3779b97f4a7c15u)
        + (number * FUZZ_THREADS + (uint64_t)fuzz_thread()) * 0xd6e8feb86659fd93u;

    return (struct fuzz_random){ mix(h) ^ mix(purpose + 1) };
}

static inline uint64_t fuzz_next(struct fuzz_random *r)
{
    return mix(r->state += 0x9e3779b97f4a7c15u);
}

static inline size_t fuzz_below(struct fuzz_random *r, size_t n)
{
    return (size_t)(fuzz_next(r) % n);
}

/* Once in N times. */
static inline bool fuzz_chance(struct fuzz_random *r, size_t n)
{
    return fuzz_below(r, n) == 0;
}

/* ---- watch.c: against hanging, and who was where when the job came to its end ---------------- */

void watch_begin(void);
/* The calling thread is at WORDS, which are copied.  If it stays there too long, all threads say
 * where they are. */
void watch_at(const char *words);
void watch_done(void);          /* nobody waits for this thread any more */

/* ---- job.c: what one job is like ------------------------------------------------------------- */

enum { JOB_WORDS = 1000 };

/* An algorithm of COLLECTIVE (enum collopt_collective), with parameters. */
void job_algorithm(struct fuzz_random *r, int collective, int ranks, char text[JOB_WORDS]);
/* Prints arguments and settings of collopt for a job of RANKS ranks, one NAME=VALUE in each
 * line. */
void job_print(int ranks);
/* Prints a file of rules. */
void job_rules(int ranks);

/* ---- kinds.c: datatypes and operations, the user's own among them ---------------------------- */

struct fuzz_kind {
    struct kind kind;
    size_t most;                /* elements of a vector: elements of more would lie on each other */
};

void kinds_begin(void);
void kinds_end(void);
/* Frees an operation or a datatype of the user's and makes another in its place. */
void kinds_renew(uint64_t number);
/* What R comes to, of those there are now. */
struct fuzz_kind kinds_any(struct fuzz_random *r);
/* Until the next one, operations of the user's are called for this by this thread. */
void kinds_expect(const struct kind *k, const struct element *e);
/* Until kinds_forget(), by any thread too. */
void kinds_await(const struct kind *k, const struct element *e);
void kinds_forget(const struct kind *k);
/* Can the MPI library itself do with it?  test_collectives.c says with what it cannot.  With gaps
 * and bounds of datatypes Open MPI 4.1 writes beside its buffers (open-mpi/ompi #1764), and MPICH
 * 4.0 takes the operands of a Reduce_scatter in another order. */
bool kinds_trusted(const struct kind *k);

/* ---- groups.c: communicators ----------------------------------------------------------------- */

struct group {
    MPI_Comm comm;              /* MPI_COMM_NULL: this rank is in none */
    int rank, ranks;
    int world[128];             /* its ranks there, if it has no more */
    /* messages and collectives that are under way: it is not to be freed */
    int users;
    bool attribute;             /* its delete callback reduces */
    uint64_t id;                /* the same on its ranks, and no other one's */
};

enum { GROUPS = 6 };

void groups_create(void);       /* what all threads share; before they begin */
void groups_begin(MPI_Comm world);
void groups_end(void);
struct group *group_of(size_t slot);
/* Frees a communicator and makes another; not the first. */
void groups_renew(uint64_t number);
/* Gives a communicator a key, by which another algorithm is to run from now on. */
void groups_inform(uint64_t number);
/* Gives a communicator an attribute, whose delete callback reduces. */
void groups_attach(uint64_t number);
/* Frees a communicator on which this rank still waits for a message; ends such a wait. */
void groups_orphan(uint64_t number);

/* ---- strays.c: handles that differ from rank to rank ----------------------------------------- */

/* Makes datatypes, operations and communicators, or frees them, on some ranks only. */
void strays_move(uint64_t number);
/* Reductions with datatypes and operations made for each of them. */
void strays_reuse(uint64_t number);
void strays_end(void);

/* ---- apart.c: ranks that wait for each other outside MPI ------------------------------------- */

void apart_begin(void);
/* This rank's call number SERIAL has returned.  Waits until it has on all ranks of G: a call that
 * has returned owes nothing to those that have not. */
void apart_wait(const struct group *g, uint64_t serial);

/* ---- requests.c: many reductions under way at once, completed in any way --------------------- */

/* HOST: the MPI library may run them. */
void requests_make(uint64_t number, bool host);

/* ---- traffic.c: what a program does beside reductions ---------------------------------------- */

/* Begins, or brings to its end, an exchange of messages with wildcards; a nonblocking
 * collective. */
void traffic_exchange(uint64_t number);
void traffic_collective(uint64_t number);
/* There is no message of anybody's but the exchange's. */
void traffic_probe(uint64_t number);
void traffic_end(void);

/* ---- buffers.c ------------------------------------------------------------------------------- */

struct buffer {
    char *start;                /* of the poison before the vector */
    char *first;                /* the address of element 0 */
    size_t bytes;               /* all, poison too */
    int poison;
};

/* calls in a row, each with a buffer for what is sent and one for results */
enum { LANES = 4 };
enum { BUFFER_IN, BUFFER_OUT };

void buffers_begin(void);
void buffers_end(void);
/* Would N elements, on even ranks or on odd ones, fit into those of LANE? */
bool buffers_fit(int lane, const struct kind *k, size_t n);
/* Poisoned, with room for N elements; what lies behind or before it may not be touched, but for
 * poison. */
struct buffer buffers_place(int lane, int which, const struct element *e, size_t n,
                            struct fuzz_random *mine);
void buffers_allow(struct buffer b, int access);
/* A buffer like B in which nothing has been written yet; the address of its element 0, until the
 * next call. */
char *buffers_image(const struct buffer *b);
/* Like a placed one, of its own memory. */
struct buffer buffers_take(const struct element *e, size_t n, struct fuzz_random *mine);
void buffers_give_back(struct buffer b);
/* Where B lies there. */
char *buffers_image_of(const struct buffer *b, const char *address);
/* The first byte of B that is not as in the image; -1: there is none. */
ptrdiff_t buffers_differ(const struct buffer *b);

/* ---- calls.c: reductions, and what is right -------------------------------------------------- */

void calls_begin(void);
/* Up to LANES calls in a row, looked at when all have been made.  HOST: the MPI library may run
 * them. */
void calls_make(uint64_t number, bool host);
/* Many such rows of short calls. */
void calls_burst(uint64_t number, bool host);

/* A reduction that is under way while the program does something else. */
struct later;

/* Number I of step NUMBER, with buffers of its own; NULL: it would be too long.  CROWDED: one of so
 * many that memory becomes short. */
struct later *calls_later(const struct group *g, uint64_t number, int i, bool crowded, bool host);
/* Starts it, or makes a persistent one, which is started by MPI_Start. */
void calls_begin_later(struct later *l, bool persistent, MPI_Request *request);
/* New inputs, for another start. */
void calls_refill(struct later *l);
void calls_judge_later(const struct later *l);
void calls_end_later(struct later *l);
const char *calls_words(const struct later *l);
bool calls_by_host(const struct later *l);      /* is it the MPI library that runs it? */

struct calls_count {
    uint64_t made, by_host;
};

struct calls_count calls_count(void);   /* of all threads */

#endif
