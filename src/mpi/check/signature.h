/* Describes the ranks' calls, so that COLLOPT_CHECK can compare them, and finds the rank whose call
 * differs.
 *
 * A description has numbers, the fields, and names for the message to the user.  The fields leave
 * out what ranks may choose freely: the layout of a datatype, the address of an operation. */
#ifndef COLLOPT_MPI_CHECK_SIGNATURE_H
#define COLLOPT_MPI_CHECK_SIGNATURE_H

#include <limits.h>

#include "mpi/host/call.h"

struct collopt_comm;
struct collopt_plan;

/* The message names the first field that differs: the collective comes before its arguments. */
enum collopt_asks {
    COLLOPT_ASKS_COLLECTIVE,
    COLLOPT_ASKS_SWITCH,
    COLLOPT_ASKS_ROOT,
    COLLOPT_ASKS_COUNT,
    COLLOPT_ASKS_COUNTS,
    COLLOPT_ASKS_OPERATION,
    COLLOPT_ASKS_COMMUTES,
    COLLOPT_ASKS_ELEMENT,
    COLLOPT_ASKS_TYPE,
    COLLOPT_ASKS_TAKEN,
    COLLOPT_ASKS_DECISION,
    COLLOPT_ASKS
};

/* This rank does not know the field.  It equals every value of the other ranks. */
#define COLLOPT_ASKS_ANY        LLONG_MIN

enum { COLLOPT_ASKED_COUNTS = 6 };

struct collopt_asked {          /* the description of one rank's call, sent to the others */
    long long field[COLLOPT_ASKS];
    long long world;            /* the rank in MPI_COMM_WORLD; -1: unknown */
    long long counts[COLLOPT_ASKED_COUNTS];     /* the first ones, if the call has several */
    char name[32], op[16], type[24], chosen[96];
};

/* Describes CALL.  CHOSEN names what runs the call, or is NULL.  PLAN may be NULL. */
void collopt_ask(struct collopt_asked *a, struct collopt_comm *c, const struct collopt_call *call,
                 enum collopt_outcome outcome, const struct collopt_plan *plan, const char *chosen);

/* The first field in which ALL differ; COLLOPT_ASKS: none. */
enum collopt_asks collopt_asked_differ(const struct collopt_asked *all, int ranks);
/* The error class of a difference in this field. */
int collopt_asked_error(enum collopt_asks field);

struct collopt_difference {
    int usual;                  /* the lowest rank of the majority */
    int odd;                    /* the lowest rank outside it */
    int odds;                   /* the number of ranks outside it */
    /* MPI_Reduce_scatter: the first index at which the counts of the two ranks differ; their
     * COUNTS[0] are the counts at this index.  -1: not known. */
    int index;
};

/* MPI_SUCCESS or MPI_ERR_NO_MEM. */
int collopt_find_odd(const struct collopt_asked *all, int ranks, enum collopt_asks field,
                     struct collopt_difference *d);
/* Writes the line. */
void collopt_tell_odd(const struct collopt_asked *all, int ranks, enum collopt_asks field,
                      const struct collopt_difference *d);

#endif
