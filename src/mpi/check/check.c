/* COLLOPT_CHECK=on: before a call runs, the ranks compare what they are about to do.
 *
 * Ranks that disagree on a count, a root or an operation hang or compute wrong sums.  Each rank
 * describes its call by numbers (signature.h).  One MAX over the numbers and their negatives tells
 * every rank whether all are equal.  If they are not, the ranks gather the descriptions, and rank 0
 * writes which rank differs, and how. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/check/check.h"
#include "mpi/check/signature.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/failure.h"
#include "mpi/comm/greatest.h"
#include "mpi/host/host.h"
#include "mpi/plan/plan.h"

/* The first field that is not alike on all ranks; COLLOPT_FIELDS: all are. */
static int compare(struct collopt_comm *c, const struct collopt_signature *signature,
                   enum collopt_signature_field *f)
{
    long long mine[2 * COLLOPT_FIELDS], all[2 * COLLOPT_FIELDS];
    int err;

    for (int i = 0; i < COLLOPT_FIELDS; i++) {
        long long value = signature->field[i];

        mine[2 * i] = value;
        mine[2 * i + 1] = value == COLLOPT_FIELD_ANY ? value : -value;
    }
    if ((err = collopt_greatest(c, mine, all, 2 * COLLOPT_FIELDS)))
        return err;
    for (*f = 0; *f < COLLOPT_FIELDS; ++*f)
        if (all[2 * *f] != COLLOPT_FIELD_ANY && all[2 * *f] != -all[2 * *f + 1])
            break;
    return MPI_SUCCESS;
}

/* Sets the N values at TO to LLONG_MIN, which stands for what a rank does not know. */
static void know_nothing(long long *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = LLONG_MIN;
}

/* Looks for the first of the counts in which the odd rank and the usual one differ. */
static int compare_counts(struct collopt_comm *c, const struct collopt_call *call,
                          struct collopt_signature *all, struct collopt_difference *d)
{
    size_t ranks = (size_t)c->ranks;
    long long *mine = malloc(4 * ranks * sizeof *mine), *usual, *odd;
    int err;

    if (!mine) {
        collopt_give_up(c, collopt_agreement_code(c->agreements + 1));
        return MPI_ERR_NO_MEM;
    }
    usual = mine + 2 * ranks;
    odd = usual + ranks;
    know_nothing(mine, 2 * ranks);
    for (size_t r = 0; r < ranks; r++)
        if (c->rank == d->usual || c->rank == d->odd)
            mine[(c->rank == d->usual ? 0 : ranks) + r] =
                (long long)collopt_call_count(call, (int)r);
    if (!(err = collopt_greatest(c, mine, usual, 2 * c->ranks))) {
        for (d->index = 0; d->index + 1 < c->ranks && usual[d->index] == odd[d->index];)
            d->index++;
        all[d->usual].counts[0] = usual[d->index];
        all[d->odd].counts[0] = odd[d->index];
    }
    free(mine);
    return err;
}

/* Rank 0 of the communicator writes the message, since rank 0 of MPI_COMM_WORLD may not be a
 * member.  All ranks wait for it, since their errors may end the job. */
static int explain(struct collopt_comm *c, const struct collopt_call *call,
                   enum collopt_signature_field f, struct collopt_signature *all)
{
    long long told = 0, by_all;
    struct collopt_difference d;
    int err = collopt_find_odd(all, c->ranks, f, &d);

    if (!err && f == COLLOPT_FIELD_COUNTS)
        err = compare_counts(c, call, all, &d);
    if (err)
        return err;
    if (c->rank == 0)
        collopt_tell_odd(all, c->ranks, f, &d);
    return collopt_greatest(c, &told, &by_all, 1);
}

static int gather_and_explain(struct collopt_comm *c, const struct collopt_call *call,
                              const struct collopt_signature *signature,
                              enum collopt_signature_field f)
{
    enum { WORDS = sizeof *signature / sizeof(long long) };
    size_t words = WORDS * (size_t)c->ranks;
    long long *mine = malloc(2 * words * sizeof *mine), *all = mine ? mine + words : NULL;
    int err = MPI_ERR_NO_MEM;

    _Static_assert(sizeof *signature % sizeof *mine == 0, "it is sent as such numbers");
    if (mine) {
        know_nothing(mine, words);
        memcpy(mine + WORDS * (size_t)c->rank, signature, sizeof *signature);
        err = collopt_greatest(c, mine, all, (int)words);
    } else {
        collopt_give_up(c, collopt_agreement_code(c->agreements + 1));
    }
    if (err == MPI_SUCCESS)
        err = explain(c, call, f, (struct collopt_signature *)(void *)all);
    free(mine);
    return err == MPI_SUCCESS ? collopt_signature_error(f) : err;
}

int collopt_check(struct collopt_comm *c, const struct collopt_call *call,
                  const struct collopt_plan *plan, enum collopt_outcome outcome)
{
    enum collopt_signature_field f = COLLOPT_FIELDS;
    struct collopt_signature signature;
    int err;

    collopt_signature_take(&signature, c, call, outcome, plan, plan ? plan->chosen : NULL);
    err = compare(c, &signature, &f);
    return err == MPI_SUCCESS && f != COLLOPT_FIELDS ? gather_and_explain(c, call, &signature, f)
                                                     : err;
}
