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
enum collopt_signature_field {
    COLLOPT_FIELD_COLLECTIVE,
    COLLOPT_FIELD_SWITCH,
    COLLOPT_FIELD_ROOT,
    COLLOPT_FIELD_COUNT,
    COLLOPT_FIELD_COUNTS,
    COLLOPT_FIELD_OPERATION,
    COLLOPT_FIELD_COMMUTES,
    COLLOPT_FIELD_ELEMENT,
    COLLOPT_FIELD_TYPE,
    COLLOPT_FIELD_TAKEN,
    COLLOPT_FIELD_DECISION,
    COLLOPT_FIELDS
};

/* This rank does not know the field.  It equals every value of the other ranks. */
#define COLLOPT_FIELD_ANY        LLONG_MIN

enum { COLLOPT_SIGNATURE_COUNTS = 6 };

struct collopt_signature {          /* the description of one rank's call, sent to the others */
    long long field[COLLOPT_FIELDS];
    long long world;            /* the rank in MPI_COMM_WORLD; -1: unknown */
    long long counts[COLLOPT_SIGNATURE_COUNTS];     /* the first ones, if the call has several */
    char name[32], op[16], type[24], chosen[96];
};

/* Describes CALL.  CHOSEN names what runs the call, or is NULL.  PLAN may be NULL. */
void collopt_signature_take(struct collopt_signature *a, struct collopt_comm *c,
                            const struct collopt_call *call, enum collopt_outcome outcome,
                            const struct collopt_plan *plan, const char *chosen);

/* The first field in which ALL differ; COLLOPT_FIELDS: none. */
enum collopt_signature_field collopt_signatures_differ(const struct collopt_signature *all,
                                                       int ranks);
/* The error class of a difference in this field. */
int collopt_signature_error(enum collopt_signature_field field);

struct collopt_difference {
    int usual;                  /* the lowest rank of the majority */
    int odd;                    /* the lowest rank outside it */
    int odds;                   /* the number of ranks outside it */
    /* MPI_Reduce_scatter: the first index at which the counts of the two ranks differ; their
     * COUNTS[0] are the counts at this index.  -1: not known. */
    int index;
};

/* MPI_SUCCESS or MPI_ERR_NO_MEM. */
int collopt_find_odd(const struct collopt_signature *all, int ranks,
                     enum collopt_signature_field field, struct collopt_difference *d);
/* Writes the line. */
void collopt_tell_odd(const struct collopt_signature *all, int ranks,
                      enum collopt_signature_field field, const struct collopt_difference *d);

#endif
