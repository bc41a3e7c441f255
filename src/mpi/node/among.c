/* Up a binomial tree and down again; a scan doubles its distance in each step (W. D. Hillis and
 * G. L. Steele). */
#include "config.h"

#include "mpi/node/among.h"

int64_t collopt_among_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t collopt_among_greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t collopt_among_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int give(const struct collopt_among *a, int to, const int64_t *x, int n)
{
    return PMPI_Send(x, n, MPI_INT64_T, a->member[to], a->tag, a->comm);
}

static int take(const struct collopt_among *a, int from, int64_t *x, int n)
{
    return PMPI_Recv(x, n, MPI_INT64_T, a->member[from], a->tag, a->comm, MPI_STATUS_IGNORE);
}

static void combine(const struct collopt_among *a, int64_t *x, int n, collopt_among_op *op)
{
    for (int i = 0; i < n; i++)
        x[i] = op(a->scratch[i], x[i]);
}

/* *STEP: at which this rank has given its X away, or the first that there is not. */
static int go_up(struct collopt_among *a, int64_t *x, int n, collopt_among_op *op, int *step)
{
    int err = MPI_SUCCESS;

    for (*step = 1; *step < a->ranks && !err; *step *= 2) {
        if (a->rank & *step)
            return give(a, a->rank - *step, x, n);
        if (a->rank + *step < a->ranks && !(err = take(a, a->rank + *step, a->scratch, n)))
            combine(a, x, n, op);
    }
    return err;
}

static int go_down(const struct collopt_among *a, int64_t *x, int n, int step)
{
    int err = a->rank > 0 ? take(a, a->rank - step, x, n) : MPI_SUCCESS;

    for (step /= 2; step > 0 && !err; step /= 2)
        if (a->rank + step < a->ranks)
            err = give(a, a->rank + step, x, n);
    return err;
}

int collopt_among_allreduce(struct collopt_among *a, int64_t *x, size_t n, collopt_among_op *op)
{
    int err = MPI_SUCCESS, step;

    for (size_t done = 0; done < n && !err; done += COLLOPT_AMONG_PIECE) {
        int piece = n - done < COLLOPT_AMONG_PIECE ? (int)(n - done) : COLLOPT_AMONG_PIECE;

        err = go_up(a, x + done, piece, op, &step);
        if (!err)
            err = go_down(a, x + done, piece, step);
    }
    return err;
}

/* The host may send only when the receive is there. */
static int exchange(struct collopt_among *a, const int64_t *x, int n, int distance)
{
    int to = a->rank + distance < a->ranks ? a->member[a->rank + distance] : MPI_PROC_NULL;
    int from = a->rank >= distance ? a->member[a->rank - distance] : MPI_PROC_NULL;

    return PMPI_Sendrecv(x, n, MPI_INT64_T, to, a->tag, a->scratch, n, MPI_INT64_T, from, a->tag,
                         a->comm, MPI_STATUS_IGNORE);
}

int collopt_among_scan(struct collopt_among *a, int64_t *x, size_t n, collopt_among_op *op)
{
    int err = MPI_SUCCESS;

    for (int distance = 1; distance < a->ranks && !err; distance *= 2) {
        err = exchange(a, x, (int)n, distance);
        if (!err && a->rank >= distance)
            combine(a, x, (int)n, op);
    }
    return err;
}
