/* Differences between MPI libraries where MPI leaves the behaviour open or they violate it.
 *
 * A backend is compiled for one ABI, but libraries of several vendors and versions implement it.
 * Their behaviour is known at run time only, from MPI_Get_library_version. No MPI here. */
#ifndef COLLOPT_MPI_HOST_QUIRKS_H
#define COLLOPT_MPI_HOST_QUIRKS_H

/* The table in quirks.c describes each. */
enum collopt_quirk {
    COLLOPT_LOOKS_AT_UNUSED_OUT,
    COLLOPT_REFUSES_EVERY_ALIAS,
    COLLOPT_IDUP_AT_ONCE,
    COLLOPT_FREES_UNDER_WAY,
    COLLOPT_WRITES_BEHIND_REQUEST,
    COLLOPT_QUIRKS
};

/* The implementation of ABI ("openmpi", "mpich", "abi") that identifies itself as VERSION:
 * "openmpi", "mpich" (and derivatives), "other". */
const char *collopt_implementation(const char *abi, const char *version);

/* The set of quirks: bit Q for quirk Q. */
unsigned collopt_quirks_of(const char *abi, const char *version);

#endif
