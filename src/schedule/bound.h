/* Schedules that are bound to a count: steps, messages, and where they are cut. */
#ifndef COLLOPT_SCHEDULE_BOUND_H
#define COLLOPT_SCHEDULE_BOUND_H

#include <stdbool.h>
#include <stddef.h>

/* N elements at element offset AT of a place. */
struct collopt_run {
    int place;
    size_t at, n;
    bool last;                  /* of a view: nobody reads it after this step */
};

enum collopt_step_kind {
    COLLOPT_POST_RECEIVE,       /* start message M */
    COLLOPT_POST_SEND,
    COLLOPT_WAIT,               /* until message M is complete */
    COLLOPT_RECEIVE,            /* post and wait in one */
    COLLOPT_SEND,
    COLLOPT_FOLD,               /* run[0] = run[1] op ... op run[runs-1] */
    COLLOPT_COPY,               /* run[0] = run[1] */
    COLLOPT_PREFIXES,           /* run[k] = run[0] op ... op run[k], for all k */
    COLLOPT_AWAIT,              /* waits until strand STRAND has done its steps before STEP */
    COLLOPT_END
};

struct collopt_step {
    enum collopt_step_kind kind;
    int message;                /* POST_*, WAIT, RECEIVE, SEND: index of the message; else -1 */
    int strand, step;           /* AWAIT */
    bool last;                  /* of some view among its runs */
    int runs;
    const struct collopt_run *run;
};

/* One message on the wire: its runs one behind the other. */
struct collopt_message {
    int peer, tag;              /* the tag is the strand */
    bool send;
    int runs;
    const struct collopt_run *run;
    size_t n;                   /* elements in all */
    /* of its multicast among near ranks, in the same order on all; 0: it belongs to none */
    int members;
    const int *member;
    bool repeats;               /* a send with the data of the first one of its multicast */
};

/* A place that stands for what one message brings: where the sender has put it, or the memory of
 * another place. */
struct collopt_view {
    int message;
    int place;                  /* a slot or OUT: that memory, from element AT on */
    size_t at;
};

struct collopt_bound {
    int strands, messages, slots;
    int views;                  /* the last VIEWS of the SLOTS are views */
    const struct collopt_view *view;    /* [views] */
    const struct collopt_step *const *strand;       /* [strands] each ends with COLLOPT_END */
    const struct collopt_message *message;          /* [messages] */
    const size_t *slot;         /* [slots] capacity in elements of place COLLOPT_FIRST_SLOT + i */
    size_t steps;               /* in all */
};

/* A message of more than ABOVE elements becomes pieces of at most PIECE. Where IN_TURN, a piece is
 * received when those before it are combined, if that is what the message is for. All ranks must
 * have the same cuts but for IN_TURN. */
struct collopt_cut {
    size_t above, piece;
    bool in_turn;
};

enum { COLLOPT_CUTS = 8 };      /* in a list, with its end */

/* Messages of a multicast in one strand at most: they and seven that are not acknowledged yet fit
 * in the 15 blocks of a channel.  With more strands there are no multicasts. */
enum { COLLOPT_MULTICAST_PIECES = 7, COLLOPT_MULTICAST_STRANDS = 64 };

/* Ranks whose messages lie in memory that this rank can read (src/shm). */
struct collopt_nearby {
    const bool *rank;           /* [ranks] */
    const struct collopt_cut *cuts;     /* of their messages, in place of the others ... */
    const struct collopt_cut *multicast;        /* ... and of those of multicasts among them */
    bool views;                 /* such messages may be read in place ... */
    size_t copied;              /* ... but are copied to OUT up to so many elements */
};

#endif
