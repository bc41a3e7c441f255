/* What each rank asks for in a call, as COLLOPT_CHECK compares it; and who asks for something else.
 *
 * A rank puts its call into a few numbers, the fields, and into the names by which another rank can
 * speak of it.  What may rightfully differ (the layout of a datatype, the address of an operation)
 * is in no field. */
#ifndef COLLOPT_MPI_ASKED_H
#define COLLOPT_MPI_ASKED_H

#include <limits.h>

struct collopt_call;
struct collopt_comm;
struct collopt_plan;

/* In the order in which they are named: where the collective differs, its arguments are no news. */
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

/* a field of which this rank knows nothing: like whatever the others have */
#define COLLOPT_ASKS_ANY        LLONG_MIN

enum { COLLOPT_ASKED_COUNTS = 6 };

struct collopt_asked {          /* by one rank; sent to the others */
    long long field[COLLOPT_ASKS];
    long long world;            /* the rank in MPI_COMM_WORLD; -1: unknown */
    long long counts[COLLOPT_ASKED_COUNTS];     /* the first ones, if the call has several */
    char name[32], op[16], type[24], chosen[96];
};

/* Describes CALL.  OUTCOME is MPI_SUCCESS, COLLOPT_DECLINED or an error code, as in dispatch.c.
 * CHOSEN: what then runs the call; NULL: not known.  PLAN may be NULL. */
void collopt_ask(struct collopt_asked *a, struct collopt_comm *c, const struct collopt_call *call,
                 int outcome, const struct collopt_plan *plan, const char *chosen);
long long collopt_count_at(const struct collopt_call *call, int rank);

/* The first field in which ALL differ; COLLOPT_ASKS: none. */
enum collopt_asks collopt_asked_differ(const struct collopt_asked *all, int ranks);
/* The error class of a difference in this field. */
int collopt_asked_error(enum collopt_asks field);

struct collopt_difference {
    /* the lowest rank that is like most of them, and the lowest that is not */
    int usual, odd;
    int odds;                   /* how many are not */
    /* of MPI_Reduce_scatter: the rank for which the counts of the two differ, as the two have it in
     * COUNTS[0]; -1: not known */
    int index;
};

/* MPI_SUCCESS or MPI_ERR_NO_MEM. */
int collopt_find_odd(const struct collopt_asked *all, int ranks, enum collopt_asks field,
                     struct collopt_difference *d);
/* Writes the line. */
void collopt_tell_odd(const struct collopt_asked *all, int ranks, enum collopt_asks field,
                      const struct collopt_difference *d);

#endif
