/* The table of quirks; see quirks.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/host/quirks.h"

enum { EVER = 1 << 30 };

#define NUMBER(major, minor, patch) ((major) * 10000 + (minor) * 100 + (patch))

/* Each row: which quirk, of which library, from which version on and below which.  Behind it why
 * it matters; all rows are held against the library that is there by test/mpi/quirks.sh.
 * Untested versions are assumed to be like their neighbours. */
static const struct row {
    enum collopt_quirk quirk;
    const char *mpi;
    int from, below;
} table[] = {
    /* An Exscan compares the receive buffer of rank 0, which gets nothing, with the send buffer: if
     * they are equal, rank 0 alone is refused and the others wait. Elsewhere that buffer is of no
     * use and may be anything. */
    { COLLOPT_LOOKS_AT_UNUSED_OUT, "mpich", 0, EVER },

    /* Where arguments are checked, send buffer == receive buffer is an error in all collectives.
     * Open MPI refuses it in Reduce, and in Allreduce of more than one element, and takes it for
     * MPI_IN_PLACE in all others. */
    { COLLOPT_REFUSES_EVERY_ALIAS, "mpich", 0, EVER },

    /* MPI_Comm_idup_with_info gives the handle at once, and an attribute on it is kept.  Open MPI's
     * communicator is there when the request is complete, of which we are not told: info keys that
     * are meant for us cannot be kept for it. */
    { COLLOPT_IDUP_AT_ONCE, "mpich", 0, EVER },
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

/* The first number in it: "Open MPI v6.0.0rc2, package: ...", "MPICH Version:      5.0.2". */
static int number_of(const char *version)
{
    char *end = (char *)(version ? version + strcspn(version, "0123456789") : "");
    long part[3] = { 0 };

    for (int i = 0; i < 3; i++) {
        part[i] = strtol(end, &end, 10);
        if (*end != '.')
            break;
        end++;
    }
    return (int)NUMBER(part[0], part[1], part[2]);
}

unsigned collopt_quirks_of(const char *abi, const char *version)
{
    const char *mpi = collopt_implementation(abi, version);
    int number = number_of(version);
    unsigned has = 0;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].mpi, mpi) == 0 && table[i].from <= number && number < table[i].below)
            has |= 1u << table[i].quirk;
    return has;
}
