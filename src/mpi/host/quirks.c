/* The table of quirks; see quirks.h. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/host/quirks.h"

/* Each row: which quirk, of which library, and why it matters.  test/mpi/quirks.sh holds them
 * against the library that is there. */
static const struct row {
    enum collopt_quirk quirk;
    const char *mpi;
    int since;                  /* its major version */
} table[] = {
    /* An Exscan compares the receive buffer of rank 0, which gets nothing, with the send buffer: if
     * they are equal, rank 0 alone is refused and the others wait. Elsewhere that buffer is of no
     * use and may be anything. */
    { COLLOPT_LOOKS_AT_UNUSED_OUT, "mpich", 0 },

    /* Where arguments are checked, send buffer == receive buffer is an error in all collectives.
     * Open MPI refuses it in Reduce, and in Allreduce of more than one element, and takes it for
     * MPI_IN_PLACE in all others. */
    { COLLOPT_REFUSES_EVERY_ALIAS, "mpich", 0 },

    /* MPI_Comm_idup_with_info gives the handle at once, and an attribute on it is kept.  Open MPI's
     * communicator is there when the request is complete, and nothing tells us when that is: info
     * keys that are meant for us cannot be kept for it. */
    { COLLOPT_IDUP_AT_ONCE, "mpich", 0 },

    /* A version whose MPI_Request_free takes nonblocking reductions (4.2 does, 4.0 does not) lets
     * those go on that are under way.  Open MPI frees what has completed only. */
    { COLLOPT_FREES_UNDER_WAY, "mpich", 0 },

    /* The Fortran MPI_Ireduce_scatter takes what the C function gives it for a request of the
     * host's own and writes the address of the counts there, unless the request is complete.  A
     * generalized request is shorter.  Version 5.0 does, 4.1 does not, and 6.0 does where Fortran's
     * integers are not C's. */
    { COLLOPT_WRITES_BEHIND_REQUEST, "openmpi", 5 },
};

static const struct word {
    const char *word, *mpi;
} words[] = {
    { "Open MPI", "openmpi" },
    { "MPICH", "mpich" },
    { "MVAPICH", "mpich" },
    { "Intel(R) MPI", "mpich" },
};

const char *collopt_implementation(const char *abi, const char *version)
{
    if (strcmp(abi, "abi") != 0)
        return abi;
    for (size_t i = 0; version && i < sizeof words / sizeof *words; i++)
        if (strstr(version, words[i].word))
            return words[i].mpi;
    return "other";
}

/* Of an Open MPI; one that does not say is taken for a new one. */
static int major_version(const char *version)
{
    static const char before[] = "Open MPI v";
    const char *at = version ? strstr(version, before) : NULL;
    int major = at ? atoi(at + sizeof before - 1) : 0;

    return major > 0 ? major : INT_MAX;
}

unsigned collopt_quirks_of(const char *abi, const char *version)
{
    const char *mpi = collopt_implementation(abi, version);
    unsigned has = 0;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].mpi, mpi) == 0 && major_version(version) >= table[i].since)
            has |= 1u << table[i].quirk;
    return has;
}
