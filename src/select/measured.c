/* What measurements have settled where the model sees little difference, or sees it wrong: rules that are shipped.  They hold for
 * the machines they were measured on, so not where COLLOPT_MACHINE says what it is like. */
#include "config.h"

#include "select/choose.h"
#include "select/machine.h"

#define K   * (size_t)1024
#define M   * (size_t)1048576

#define ANY     COLLOPT_OTHER_MPI
#define OPEN    COLLOPT_OPENMPI

#define CROWD   "8 ranks on 2 processors"
#define PAIR    "2 ranks on 2 processors"

static const struct measured {
    enum collopt_collective collective;
    int ranks_least, ranks_most;        /* on one node */
    size_t bytes_most;          /* 0: no limit */
    bool crowded;               /* more ranks than processors */
    enum collopt_mpi mpi;       /* ANY, or of this host alone */
    const char *algorithm;      /* with parameters, as in COLLOPT_ALLREDUCE=... */
    const char *where;          /* it was measured */
} rows[] = {
    /* Whoever waits gives up the processor: the fewer messages there are in all, the better.  Calls that follow one
     * another without a barrier go along a chain together; messages below the eager limit do not wait for their
     * receivers. */
    { COLLOPT_ALLREDUCE, 2, 16, 128 K, true,    ANY,  "linear", CROWD },
    { COLLOPT_ALLREDUCE, 2, 16,     0, true,    ANY,  "rabenseifner", CROWD },
    { COLLOPT_ALLREDUCE, 2, 16,     0, true,    ANY,  "elimination", CROWD },
    { COLLOPT_REDUCE,    2, 16,   2 K, true,    ANY,  "linear", CROWD },
    { COLLOPT_REDUCE,    3, 16,   4 K, true,    ANY,  "chain:segment=2K", CROWD },
    { COLLOPT_REDUCE,    5, 16, 256 K, true,    OPEN, "binomial", CROWD },
    { COLLOPT_REDUCE,    3, 16, 128 K, true,    ANY,  "binomial", CROWD },
    { COLLOPT_REDUCE,    3, 16,     0, true,    ANY,  "chain:segment=64K", CROWD },
    /* All to one rank, and each its part from there: of 4 ranks no better than circulant.  From 64 KiB on combining counts, which
     * then is one rank's work (0.75 to 1.1 of Open MPI; halving 1.2 to 3.8, for other operations elimination 1.1 to 3). */
    { COLLOPT_REDUCE_SCATTER, 5, 16, 64 K - 1, true, OPEN, "leader:node=(linear)", CROWD },
    { COLLOPT_REDUCE_SCATTER, 5, 16, 512 K, true, OPEN, "recursive_halving", CROWD },
    { COLLOPT_REDUCE_SCATTER, 5, 16, 512 K, true, OPEN, "elimination", CROWD },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 5, 16, 64 K - 1, true, OPEN, "leader:node=(linear)", CROWD },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 5, 16, 512 K, true, OPEN, "recursive_halving", CROWD },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 5, 16, 512 K, true, OPEN, "elimination", CROWD },
    { COLLOPT_SCAN,      3, 16,   4 K, true,    ANY,  "chain:segment=2K", CROWD },
    { COLLOPT_SCAN,      3, 16, 256 K, true,    OPEN, "chain:segment=1G", CROWD },
    { COLLOPT_SCAN,      3, 16,  64 K, true,    ANY,  "chain:segment=1G", CROWD },
    { COLLOPT_SCAN,      3, 16,     0, true,    ANY,  "chain:segment=64K", CROWD },
    { COLLOPT_EXSCAN,    3, 16,   4 K, true,    ANY,  "chain:segment=2K", CROWD },
    { COLLOPT_EXSCAN,    3, 16, 256 K, true,    OPEN, "chain:segment=1G", CROWD },
    { COLLOPT_EXSCAN,    3, 16,  64 K, true,    ANY,  "chain:segment=1G", CROWD },
    { COLLOPT_EXSCAN,    3, 16,     0, true,    ANY,  "chain:segment=64K", CROWD },
    /* With inputs that are written before each call (bench/measure.h), and what is as good in place.  Whole vectors, in eager
     * pieces (cuts.c), until both ranks' reading and writing of the other's lines costs more than a second message.  In
     * the second of two such rows are operations that do not commute.  A Scan by sweep combines what was received where
     * it lies, a chain out of scratch: sums from 256 KiB on at 1.2 to 1.4 times Open MPI, and 1.1 to 1.3. */
    { COLLOPT_ALLREDUCE, 2, 2,     16 K, false, ANY,  "recursive_doubling", PAIR },
    { COLLOPT_ALLREDUCE, 2, 2,        0, false, ANY,  "circulant", PAIR },
    { COLLOPT_ALLREDUCE, 2, 2,        0, false, ANY,  "elimination", PAIR },
    { COLLOPT_REDUCE,    2, 2,    512 K, false, ANY,  "linear", PAIR },
    { COLLOPT_REDUCE,    2, 2,        0, false, OPEN, "circulant", PAIR },
    { COLLOPT_REDUCE,    2, 2,        0, false, OPEN, "recursive_splitting", PAIR },
    { COLLOPT_REDUCE,    2, 2,        0, false, ANY,  "linear", PAIR },
    { COLLOPT_SCAN,      2, 2,      2 K, false, ANY,  "recursive_doubling", PAIR },
    { COLLOPT_SCAN,      2, 2,    512 K, false, ANY,  "sweep", PAIR },
    { COLLOPT_SCAN,      2, 2,        0, false, OPEN, "transpose", PAIR },      /* each rank combines half */
    { COLLOPT_SCAN,      2, 2,        0, false, ANY,  "sweep", PAIR },
    { COLLOPT_EXSCAN,    2, 2,        0, false, ANY,  "window_doubling", PAIR },
};

static bool fits(const struct measured *r, const struct collopt_problem *p)
{
    return r->collective == p->collective && p->ranks >= r->ranks_least && p->ranks <= r->ranks_most
        && (r->bytes_most == 0 || p->count * p->size <= r->bytes_most) && (!r->crowded || p->topology->oversubscribed)
        && (r->mpi == ANY || (p->machine && p->machine->mpi == r->mpi));
}

/* Over TCP a connection that has rested begins slowly again: long parts are faster round a ring, whose neighbours never
 * change, than in fewer rounds with ever new ones.  8 hosts at 200 Mbit/s, 4 MiB: Allreduce 374 ms by ring, 627 by
 * rabenseifner; Reduce_scatter 182, and 351 by recursive_halving; 256 KiB: Allreduce 32, 46 to 52 by swing.
 * Rings of one rank of each node send less through the nodes' ports than one of all ranks: 4 such hosts of 2 ranks,
 * 4 MiB: Allreduce 311 and 371 ms, Reduce_scatter 177 and 195; by lanes with swing 462 and 225. */
static bool long_over_tcp(const struct collopt_problem *p)
{
    const size_t part = 32 K;
    bool shared_out = p->collective == COLLOPT_ALLREDUCE || p->collective == COLLOPT_REDUCE_SCATTER
        || p->collective == COLLOPT_REDUCE_SCATTER_BLOCK;

    return shared_out && collopt_over_tcp(p) && p->count * p->size / (size_t)p->ranks >= part;
}

static bool serves(const char *algorithm, const struct collopt_problem *p, struct collopt_choice *choice)
{
    char message[256];

    return collopt_parse_choice(algorithm, p->collective, choice, message, sizeof message)
        && collopt_choice_usable(choice, p, NULL);
}

const char *collopt_measured(const struct collopt_problem *p, struct collopt_choice *choice)
{
    if (long_over_tcp(p)) {
        if (p->topology->nodes < p->ranks && serves("lanes:net=(ring)", p, choice))
            return "4 hosts of 2 ranks on TCP";
        return serves("ring", p, choice) ? "8 hosts on TCP" : NULL;
    }
    for (size_t i = 0; p->topology->nodes == 1 && !p->topology->wired && i < sizeof rows / sizeof *rows; i++)
        if (fits(&rows[i], p) && serves(rows[i].algorithm, p, choice))
            return rows[i].where;
    return NULL;
}
