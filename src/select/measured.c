/* What measurements have settled where the model sees little difference, or sees it wrong: rules that are shipped.  They hold for
 * the machines they were measured on, so not where COLLOPT_MACHINE says what it is like. */
#include "config.h"

#include "select/choose.h"
#include "select/machine.h"

#define K   * (size_t)1024
#define M   * (size_t)1048576

#define CROWD   "8 ranks on 2 processors"
#define PAIR    "2 ranks on 2 processors"

static const struct measured {
    enum collopt_collective collective;
    int ranks_least, ranks_most;        /* on one node */
    size_t bytes_most;          /* 0: no limit */
    bool crowded;               /* more ranks than processors */
    const char *algorithm;      /* with parameters, as in COLLOPT_ALLREDUCE=... */
    const char *where;          /* it was measured */
} rows[] = {
    /* Whoever waits gives up the processor: the fewer messages there are in all, the better.  Calls that follow one another without
     * a barrier go along a chain together; messages below the eager limit do not wait for their receivers. */
    { COLLOPT_ALLREDUCE, 2, 16, 128 K, true,  "linear", CROWD },
    { COLLOPT_ALLREDUCE, 2, 16,   1 M, true,  "rabenseifner", CROWD },
    { COLLOPT_ALLREDUCE, 2, 16,     0, true,  "circulant", CROWD },
    { COLLOPT_ALLREDUCE, 2, 16,     0, true,  "elimination", CROWD },
    { COLLOPT_REDUCE,    2, 16,   2 K, true,  "linear", CROWD },
    { COLLOPT_REDUCE,    3, 16,   4 K, true,  "chain:segment=2K", CROWD },
    { COLLOPT_REDUCE,    3, 16, 128 K, true,  "binomial", CROWD },
    { COLLOPT_REDUCE,    3, 16,     0, true,  "chain:segment=64K", CROWD },
    { COLLOPT_SCAN,      3, 16,   4 K, true,  "chain:segment=2K", CROWD },
    { COLLOPT_SCAN,      3, 16,  64 K, true,  "chain:segment=1G", CROWD },
    { COLLOPT_SCAN,      3, 16,     0, true,  "chain:segment=64K", CROWD },
    { COLLOPT_EXSCAN,    3, 16,   4 K, true,  "chain:segment=2K", CROWD },
    { COLLOPT_EXSCAN,    3, 16,  64 K, true,  "chain:segment=1G", CROWD },
    { COLLOPT_EXSCAN,    3, 16,     0, true,  "chain:segment=64K", CROWD },
    /* Two halves save half of the combining, which is in the cache; the second handshake costs more than the model says. */
    { COLLOPT_ALLREDUCE, 2, 2,      1 M, false, "recursive_doubling", PAIR },
    { COLLOPT_REDUCE,    2, 2,      0,   false, "linear", PAIR },
    { COLLOPT_SCAN,      2, 2,      1 M, false, "recursive_doubling", PAIR },
    { COLLOPT_EXSCAN,    2, 2,      0,   false, "window_doubling", PAIR },
};

static bool fits(const struct measured *r, const struct collopt_problem *p)
{
    return r->collective == p->collective && p->ranks >= r->ranks_least && p->ranks <= r->ranks_most
        && (r->bytes_most == 0 || p->count * p->size <= r->bytes_most) && (!r->crowded || p->topology->oversubscribed);
}

/* Over TCP a connection that has rested begins slowly again: long parts are faster round a ring, whose neighbours never change,
 * than in fewer rounds with ever new ones.  8 hosts at 200 Mbit/s, 4 MiB: Allreduce 374 ms by ring, 627 by rabenseifner;
 * Reduce_scatter 182, and 351 by recursive_halving. */
static bool long_over_tcp(const struct collopt_problem *p)
{
    const double slow = 1e-9;           /* seconds per byte */
    const size_t part = 64 K;
    bool shared_out = p->collective == COLLOPT_ALLREDUCE || p->collective == COLLOPT_REDUCE_SCATTER
        || p->collective == COLLOPT_REDUCE_SCATTER_BLOCK;

    return shared_out && p->topology->nodes > 1 && !p->topology->wired && p->machine
        && p->machine->way[COLLOPT_BETWEEN].byte > slow && p->count * p->size / (size_t)p->ranks >= part;
}

const char *collopt_measured(const struct collopt_problem *p, struct collopt_choice *choice)
{
    if (long_over_tcp(p)) {
        *choice = (struct collopt_choice){ .algorithm = collopt_algorithm_named(p->collective, "ring", 4) };
        return choice->algorithm && collopt_choice_usable(choice, p, NULL) ? "8 hosts on TCP" : NULL;
    }
    for (size_t i = 0; p->topology->nodes == 1 && !p->topology->wired && i < sizeof rows / sizeof *rows; i++) {
        const struct measured *r = &rows[i];
        char message[256];

        if (fits(r, p) && collopt_parse_choice(r->algorithm, p->collective, choice, message, sizeof message)
            && collopt_choice_usable(choice, p, NULL))
            return r->where;
    }
    return NULL;
}
