/* COLLOPT_CHECK=on: before a call runs, the ranks compare what they are about to do.
 *
 * Ranks that disagree on a count, a root or an operation hang or compute wrong sums.  Each rank
 * describes its call by numbers (asked.h).  One MAX over the numbers and their negatives tells
 * every rank whether all are equal.  If they are not, the ranks gather the descriptions, and rank 0
 * writes which rank differs, and how. */
#include "config.h"

#include <stdlib.h>

#include "mpi/check.h"
#include "mpi/asked.h"
#include "mpi/comm.h"
#include "mpi/dispatch.h"
#include "mpi/host.h"
#include "mpi/plan.h"

/* The first field that is not alike on all ranks; COLLOPT_ASKS: all are. */
static int compare(const struct collopt_comm *c, const struct collopt_asked *asked,
                   enum collopt_asks *f)
{
    long long mine[2 * COLLOPT_ASKS], all[2 * COLLOPT_ASKS];
    int err;

    for (int i = 0; i < COLLOPT_ASKS; i++) {
        long long value = asked->field[i];

        mine[2 * i] = value;
        mine[2 * i + 1] = value == COLLOPT_ASKS_ANY ? value : -value;
    }
    if ((err = collopt_host.Allreduce(mine, all, 2 * COLLOPT_ASKS, MPI_LONG_LONG, MPI_MAX,
                                      collopt_comm_of(c))))
        return err;
    for (*f = 0; *f < COLLOPT_ASKS; ++*f)
        if (all[2 * *f] != COLLOPT_ASKS_ANY && all[2 * *f] != -all[2 * *f + 1])
            break;
    return MPI_SUCCESS;
}

/* Looks for the first of the counts in which the odd rank and the usual one differ.  ROOM is for
 * the counts of both. */
static int compare_counts(const struct collopt_comm *c, const struct collopt_call *call,
                          struct collopt_asked *all, long long *room, struct collopt_difference *d)
{
    int whose[2] = { d->usual, d->odd }, ranks = c->ranks, err;
    long long *usual = room, *odd = room + ranks;

    for (int i = 0; i < 2; i++) {
        for (int r = 0; r < ranks && c->rank == whose[i]; r++)
            room[i * ranks + r] = collopt_count_at(call, r);
        if ((err = PMPI_Bcast(room + i * ranks, ranks, MPI_LONG_LONG, whose[i],
                              collopt_comm_of(c))))
            return err;
    }
    for (d->index = 0; d->index + 1 < ranks && usual[d->index] == odd[d->index];)
        d->index++;
    all[d->usual].counts[0] = usual[d->index];
    all[d->odd].counts[0] = odd[d->index];
    return MPI_SUCCESS;
}

/* Rank 0 of the communicator writes the message, since rank 0 of MPI_COMM_WORLD may not be a
 * member.  All ranks wait for it, since their errors may end the job. */
static int explain(const struct collopt_comm *c, const struct collopt_call *call,
                   enum collopt_asks f, struct collopt_asked *all, long long *room)
{
    struct collopt_difference d;
    int err = collopt_find_odd(all, c->ranks, f, &d);

    if (!err && f == COLLOPT_ASKS_COUNTS)
        err = compare_counts(c, call, all, room, &d);
    if (err)
        return err;
    if (c->rank == 0)
        collopt_tell_odd(all, c->ranks, f, &d);
    return PMPI_Barrier(collopt_comm_of(c));
}

static int gather_and_explain(const struct collopt_comm *c, const struct collopt_call *call,
                              const struct collopt_asked *asked, enum collopt_asks f)
{
    size_t ranks = (size_t)c->ranks;
    struct collopt_asked *all = malloc(ranks * sizeof *all);
    long long *room = malloc(2 * ranks * sizeof *room);
    int err = MPI_ERR_NO_MEM;

    if (all && room)
        err = PMPI_Allgather(asked, sizeof *all, MPI_BYTE, all, sizeof *all, MPI_BYTE,
                             collopt_comm_of(c));
    if (err == MPI_SUCCESS)
        err = explain(c, call, f, all, room);
    free(all);
    free(room);
    return err == MPI_SUCCESS ? collopt_asked_error(f) : err;
}

int collopt_check(struct collopt_comm *c, const struct collopt_call *call,
                  const struct collopt_plan *plan, int outcome)
{
    MPI_Errhandler handler = collopt_quiet(collopt_comm_of(c));
    enum collopt_asks f = COLLOPT_ASKS;
    struct collopt_asked asked;
    int err;

    collopt_ask(&asked, c, call, outcome, plan, plan ? plan->chosen : NULL);
    c->busy = true;
    err = compare(c, &asked, &f);
    if (err == MPI_SUCCESS && f != COLLOPT_ASKS)
        err = gather_and_explain(c, call, &asked, f);
    c->busy = false;
    collopt_as_before(collopt_comm_of(c), handler);
    return err;
}
