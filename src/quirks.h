/* What versions of MPI libraries do differently, where MPI leaves it open or they do not keep to it.
 *
 * The ABI of a library, its handles and constants, is that of the mpi.h that a backend was compiled with; but libraries of
 * several makers and versions serve one ABI, so how a library behaves is known at run time only, by what it says of itself
 * (MPI_Get_library_version).  No MPI here. */
#ifndef COLLOPT_QUIRKS_H
#define COLLOPT_QUIRKS_H

/* The rows of the table in quirks.c say more of each. */
enum collopt_quirk {
    COLLOPT_LOOKS_AT_UNUSED_OUT,
    COLLOPT_REFUSES_EVERY_ALIAS,
    COLLOPT_IDUP_AT_ONCE,
    COLLOPT_QUIRKS
};

/* Whose library it is that serves ABI ("openmpi", "mpich", "abi") and calls itself VERSION: "openmpi", "mpich" with all that
 * comes of it, "other". */
const char *collopt_implementation(const char *abi, const char *version);

/* Bit Q: it has the quirk Q. */
unsigned collopt_quirks_of(const char *abi, const char *version);

#endif
