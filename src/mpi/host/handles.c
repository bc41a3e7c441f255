/* May a handle mean something else than it did?  Hosts use the handles of what was freed again, so
 * what was learnt of a user's operation or datatype holds as long as the program has freed none
 * since.
 *
 * While one thread is inside MPI_Op_free or MPI_Type_free another may make something new before the
 * first is back, so nothing is trusted then: there are two counts, of frees that have begun and of
 * those that have ended.
 *
 * Of two threads that use one handle the program, or the host's lock, has one wait for the other,
 * so the counts need no memory order.  They have the usual one all the same. */
#include "config.h"

#include <stdatomic.h>

#include "mpi/host/handles.h"

static _Atomic(uint64_t) begun, ended;

void collopt_free_begins(void)
{
    atomic_fetch_add_explicit(&begun, 1, memory_order_seq_cst);
}

void collopt_free_ends(void)
{
    atomic_fetch_add_explicit(&ended, 1, memory_order_seq_cst);
}

#ifdef COLLOPT_STATIC
/* The host's Fortran functions free handles by PMPI_X, which an archive does not define, so some
 * frees are not seen. */
uint64_t collopt_handles_stamp(void)
{
    return COLLOPT_UNSTAMPED;
}
#else
/* ENDED first: if both are equal nothing was under way when BEGUN was read. */
uint64_t collopt_handles_stamp(void)
{
    uint64_t n = atomic_load_explicit(&ended, memory_order_acquire);

    return n == atomic_load_explicit(&begun, memory_order_acquire) ? n + 1 : COLLOPT_UNSTAMPED;
}
#endif
