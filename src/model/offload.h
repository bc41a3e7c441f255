/* Reductions that the MPI library hands to the network: HCOLL, UCC, SHARP and the like.  They take
 * half as long as messages do, so what they serve between nodes is left to the MPI library.
 *
 * That such a library is loaded does not say that the MPI library uses it: Open MPI opens coll/ucc
 * and leaves it switched off, and PyTorch brings a UCC of its own.  So each row also names what
 * switches it on.  No MPI here. */
#ifndef COLLOPT_MODEL_OFFLOAD_H
#define COLLOPT_MODEL_OFFLOAD_H

#include <stdbool.h>
#include <stddef.h>

struct collopt_problem;

struct collopt_offload {
    const char *name;           /* for people */
    const char *library;        /* how its file's name begins; it is loaded */
    /* Control variables of the MPI library, or else variables of the environment; NULL: none.
     * ENABLE is on, and PRIORITY is higher than RIVAL, where both are known. */
    const char *enable, *priority, *rival;
    bool reduce;                /* it also serves MPI_Reduce, not only MPI_Allreduce */
    size_t bytes;               /* of the longest vectors that it serves; 0: no limit is known */
};

/* Ends with a row without a name. */
extern const struct collopt_offload collopt_offloads[];
/* COLLOPT_OFFLOAD=host */
extern const struct collopt_offload collopt_offload_stated;

/* Questions about this process.  LOADED: is the library loaded?  SETTING writes the value of a
 * variable as text, and returns false if there is none. */
struct collopt_offload_asked {
    bool (*loaded)(const char *library);
    bool (*setting)(const char *name, char *value, size_t size);
};

/* The number of the first row that is in use, from 1 on; 0: none. */
int collopt_offload_find(const struct collopt_offload_asked *ask);
/* Does O serve P?  Operations of the program are combined by the program's function, which no
 * network has. */
bool collopt_offload_serves(const struct collopt_offload *o, const struct collopt_problem *p);

#endif
