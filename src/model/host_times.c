/* Times of the MPI library's own collectives, as measured; see host_times.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "model/host_times.h"
#include "base/lines.h"
#include "base/list.h"
#include "base/text.h"
#include "model/host_mpi.h"
#include "schedule/problem.h"
#include "topology/topology.h"

const double collopt_host_share = 0.9;

enum { WORDS = 7, SHOWN = 40 };

/* ---- reading --------------------------------------------------------------------------------- */

static int index_of(const char *word, const char *const *names, int from, int n)
{
    for (int i = from; i < n; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    return -1;
}

static bool numbers(struct collopt_lines *in, char *const *word, struct collopt_host_time *t)
{
    size_t *value[] = { &t->ranks, &t->nodes, &t->ppn, &t->bytes };
    static const char *const names[] = { "ranks", "nodes", "ppn", "bytes" };

    for (int i = 0; i < 4; i++)
        if (!collopt_parse_size(word[i], value[i]) || *value[i] == 0)
            return collopt_mistake(in, "%s \"%.*s\" is not a number from 1 on, such as 8 or 64K",
                                   names[i], SHOWN, word[i]);
    if (t->nodes > t->ranks || t->ppn < (t->ranks - 1) / t->nodes + 1
        || t->ppn > t->ranks - t->nodes + 1)
        return collopt_mistake(in, "%s ranks cannot lie on %s nodes with %s on the largest (ppn)",
                               word[0], word[1], word[2]);
    return true;
}

static bool understood(struct collopt_lines *in, char *const *word, struct collopt_host_time *t)
{
    int mpi = index_of(word[0], collopt_mpi_names, COLLOPT_OTHER_MPI + 1, COLLOPT_MPIS);
    int collective = index_of(word[1], collopt_collective_names, 0, COLLOPT_COLLECTIVES);

    if (mpi < 0)
        return collopt_mistake(
            in, "\"%.*s\" is no MPI whose times are known; there are openmpi and mpich", SHOWN,
            word[0]);
    if (collective < 0)
        return collopt_mistake(in,
                               "there is no collective \"%.*s\"; there are reduce, allreduce, "
                               "reduce_scatter, reduce_scatter_block, scan, exscan",
                               SHOWN, word[1]);
    t->exact = strcmp(word[6], "exact") == 0;
    if (!t->exact && strcmp(word[6], "commutative") != 0)
        return collopt_mistake(in, "op \"%.*s\" is neither commutative nor exact", SHOWN, word[6]);
    t->mpi = (enum collopt_mpi)mpi;
    t->collective = (enum collopt_collective)collective;
    return numbers(in, word + 2, t);
}

static bool same_series(const struct collopt_host_time *a, const struct collopt_host_time *b)
{
    return a->mpi == b->mpi && a->collective == b->collective && a->exact == b->exact
        && a->ranks == b->ranks && a->nodes == b->nodes && a->ppn == b->ppn;
}

static bool add(struct collopt_host_times *all, struct collopt_lines *in,
                const struct collopt_host_time *t)
{
    for (int i = 0; i < all->n; i++)
        if (same_series(&all->time[i], t) && all->time[i].bytes == t->bytes)
            return collopt_mistake(in, "the host's time of this is given in a line above already");
    if (!collopt_room(all->time, all->n))
        return collopt_mistake(in, "no memory");
    all->time[all->n++] = *t;
    return true;
}

bool collopt_host_times_take(struct collopt_host_times *all, struct collopt_lines *in, char *words,
                             double seconds)
{
    struct collopt_host_time t = { .seconds = seconds };
    char *word[WORDS + 1], *rest;
    int n = 0;

    for (char *w = strtok_r(words, " \t", &rest); w && n <= WORDS; w = strtok_r(NULL, " \t", &rest))
        word[n++] = w;
    if (n != WORDS)
        return collopt_mistake(in,
                               "%d words behind host; there are %d: MPI collective ranks nodes ppn "
                               "bytes op, such as host openmpi allreduce 8 1 8 64K commutative = "
                               "92.5 us",
                               n, WORDS);
    return understood(in, word, &t) && add(all, in, &t);
}

/* ---- writing --------------------------------------------------------------------------------- */

void collopt_host_times_free(struct collopt_host_times *all)
{
    if (all)
        free(all->time);
    free(all);
}

void collopt_host_time_write(FILE *to, const struct collopt_host_time *t, const char *comment)
{
    char bytes[24], time[48];
    double us = t->seconds * 1e6;

    collopt_fixed_text(us, us < 100 ? 3 : 0, time, sizeof time);
    collopt_size_text(t->bytes, bytes, sizeof bytes);
    fprintf(to, "host %s %-20s %5zu %5zu %4zu %6s %-11s = %s us", collopt_mpi_names[t->mpi],
            collopt_collective_names[t->collective], t->ranks, t->nodes, t->ppn, bytes,
            t->exact ? "exact" : "commutative", time);
    fprintf(to, comment ? "  # %s\n" : "%s\n", comment ? comment : "");
}

/* ---- looking up ------------------------------------------------------------------------------ */

static const double beyond = 4;         /* times: so far from a size that was measured its time
                                         * tells something */

struct around {                 /* the nearest sizes on both sides; NULL: none */
    const struct collopt_host_time *below, *above;
};

static struct around look(const struct collopt_host_times *all,
                          const struct collopt_host_time *like)
{
    struct around a = { NULL, NULL };

    for (int i = 0; i < all->n; i++) {
        const struct collopt_host_time *t = &all->time[i];

        if (!same_series(t, like))
            continue;
        if (t->bytes <= like->bytes && (!a.below || t->bytes > a.below->bytes))
            a.below = t;
        if (t->bytes >= like->bytes && (!a.above || t->bytes < a.above->bytes))
            a.above = t;
    }
    return a;
}

static double between(const struct around *a, double bytes)
{
    double share;

    if (!a->below)
        return a->above && bytes * beyond >= (double)a->above->bytes ? a->above->seconds : 0;
    if (!a->above)
        return bytes <= beyond * (double)a->below->bytes
            ? a->below->seconds * bytes / (double)a->below->bytes
            : 0;
    if (a->below == a->above)
        return a->below->seconds;
    share = (bytes - (double)a->below->bytes) / (double)(a->above->bytes - a->below->bytes);
    return a->below->seconds + share * (a->above->seconds - a->below->seconds);
}

double collopt_host_measured(const struct collopt_host_times *all, enum collopt_mpi mpi,
                             const struct collopt_problem *p)
{
    const struct collopt_topology *t = p->topology;
    bool one_node = t->nodes <= 1 || t->largest == 0;
    size_t bytes = p->count * p->size > 0 ? p->count * p->size : 1;
    struct collopt_host_time like = { .mpi = mpi, .collective = p->collective, .exact = p->exact,
                                      .ranks = (size_t)p->ranks,
                                      .nodes = one_node ? 1 : (size_t)t->nodes, .bytes = bytes,
                                      .ppn = (size_t)(one_node ? p->ranks : t->largest) };
    struct around a;

    if (!all || !p->commutative || mpi == COLLOPT_OTHER_MPI)
        return 0;
    a = look(all, &like);
    if (!a.below && !a.above && like.exact) {   /* sums take as long */
        like.exact = false;
        a = look(all, &like);
    }
    return between(&a, (double)bytes);
}
