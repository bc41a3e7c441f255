/* The nouns of the MPI side: a call, what is known of its handles, what is kept per communicator, and a plan.
 *
 * The way of a call:  entry.c -> dispatch.c -> comm.c (engaged? which communicator of ours?) -> facts.c (which
 * kernel? commutative?) -> select/ -> schedule -> plan.c -> execute.c.  Whatever stops on the way is declined and the
 * host's own function gets the arguments untouched; nothing was written or sent by then. */
#ifndef COLLOPT_CALL_H
#define COLLOPT_CALL_H

#include <stdatomic.h>
#include <time.h>

#include "context.h"
#include "host.h"
#include "internal.h"
#include "kernels/kernels.h"
#include "memo.h"
#include "select/machine.h"
#include "select/rental.h"
#include "sight.h"

/* For what a short call like the one before it does not come by: the functions on its way save no registers for that. */
#define COLLOPT_OUT_OF_LINE __attribute__((noinline))

enum {                          /* instead of an MPI error code: the host is to do it */
    COLLOPT_DECLINED = -1,      /* arguments that are the host's to judge */
    COLLOPT_NOT_YET = -2        /* a plan would cost more than it has earned */
};

struct collopt_adapted;         /* trials, adapt.c */

/* Made for every call.  Up to this size the compiler sets it by plain stores; what is longer it clears first, by an instruction
 * that takes as long as the rest of a short call. */
struct collopt_call {
    enum collopt_collective collective;
    bool large;                 /* MPI_Allreduce_c and its like */
    bool taken;                 /* dispatch.c has taken IN for MPI_IN_PLACE; the caller said OUT */
    const char *name;           /* as counted: "Allreduce", "Allreduce_c" */
    const void *in;
    void *out;
    size_t count;               /* Reduce_scatter_block: per rank, as the caller says it; Reduce_scatter: unused */
    const int *counts;          /* Reduce_scatter */
    const host_count *counts64; /* Reduce_scatter_c */
    MPI_Datatype type;
    MPI_Op op;
    int root;
    int trial;                  /* by this candidate + 1 of the trials for problems like it; 0: by what is selected */
    MPI_Comm comm;
};
_Static_assert(sizeof(struct collopt_call) <= 11 * sizeof(void *), "clearing it would take long");

/* ---- facts.c: what a datatype and an operation are ----------------------------------------------------------- */

struct collopt_facts {
    MPI_Datatype type;
    MPI_Op op;
    const struct collopt_kernel *kernel;        /* NULL: PMPI_Reduce_local combines */
    size_t size;                /* bytes of data per element */
    ptrdiff_t extent;           /* bytes from one element to the next */
    ptrdiff_t low, high;        /* bytes that one element may occupy, gaps included, relative to its address */
    bool dense;                 /* n elements are n * size bytes in one piece at the address */
    bool commutative, exact;
    bool once;                  /* KERNEL folds any number of operands, and rounds once: COLLOPT_REPRODUCIBLE=exact */
    bool lasting;               /* predefined type and operation: the handles will always mean this */
    bool but_op;                /* user's operation, predefined type: of the handles, the operation's may come to mean another */
    enum collopt_op op_id;
    enum collopt_type type_id;  /* COLLOPT_TYPE_NONE: derived, or one for which there are no kernels */
    const char *op_name, *type_name;
};

/* False: not ours to judge (null, unknown or invalid handle, a pair that MPI does not allow). */
bool collopt_facts(MPI_Op op, MPI_Datatype type, struct collopt_facts *f);
/* Do the handles still mean this?  Always true of lasting ones; no answer is taken for no. */
bool collopt_facts_last(const struct collopt_facts *f);
/* The quick answer for most of what is not ours: null and what the user made are not predefined. */
bool collopt_op_predefined(MPI_Op op);

/* ---- handles.c: may a handle mean something else than it did? -------------------------------------------------- */

/* What was learnt of the user's handles after this stamp was taken holds while the stamp is the same.  COLLOPT_UNSTAMPED:
 * nothing can be said. */
enum { COLLOPT_UNSTAMPED = 0 };
uint64_t collopt_handles_stamp(void);
/* Around every free of an operation or a datatype. */
void collopt_free_begins(void);
void collopt_free_ends(void);

/* ---- plan.c: a schedule bound to a count, a datatype and an operation ----------------------------------------- */

enum { COLLOPT_STRAND_TAGS = COLLOPT_CONTEXT_TAGS / COLLOPT_CONTEXT_CALLS };     /* tags of a call, one for each strand */

struct collopt_wire {           /* one message as the host is told it */
    int peer, tag, count, place;
    ptrdiff_t at;               /* bytes from the place's address */
    MPI_Datatype type;
    MPI_Datatype unit;          /* what TYPE is made of, and how many of it an element is: 1 of its own, or all its bytes */
    int units;
    struct collopt_link *link;  /* by shared memory (src/shm); NULL: by the host */
    size_t bytes;               /* of the message */
    bool flat;                  /* its runs are plain bytes */
    bool made;                  /* TYPE is ours to free */
    bool absolute;              /* runs in several places: TYPE is made for each call with absolute addresses */
    const struct collopt_message *message;
};

struct collopt_plan {
    /* what it is for */
    enum collopt_collective collective;
    bool in_place;
    int root;
    size_t count;               /* as in the call; Reduce_scatter: hash of the counts */
    size_t *counts;             /* Reduce_scatter, else NULL */
    struct collopt_facts facts;
    uint64_t stamp;             /* of handles, from before FACTS were last seen to be right */
    int trial;                  /* as in the call */
    struct collopt_adapted *adapted;    /* calls like this go by these trials: each candidate has a plan of its own */

    /* what to do; algorithm NULL: the host's own collective */
    const struct collopt_algorithm *algorithm;
    const struct collopt_bound *bound;
    struct collopt_wire *wire;  /* [bound->messages] */
    ptrdiff_t *slot;            /* [bound->slots] bytes from the start of scratch to the slot's element 0 */
    size_t scratch;             /* bytes */
    char **place;               /* [COLLOPT_FIRST_SLOT + slots] addresses, set anew by each call */
    MPI_Request *request;       /* [bound->messages] */
    int *step;                  /* [strands] */
    int *late, lates;           /* [messages] sends that wait for room in their channels, in order */
    int *posted, posteds;       /* [messages] receives from channels that were posted and have not arrived, in order */
    bool *arrived;              /* [messages] of these, those that have, and were not waited for yet */
    bool absolute;              /* some wire is */
    bool shm;                   /* shared memory carries its messages inside the node */
    uint64_t sent[COLLOPT_SENT];        /* bytes of a call's sends, as planned ... */
    uint64_t diverted;          /* ... and of the last call, by the host for want of room */
    bool converts;              /* ... of a datatype that has to be packed there */
    bool gaps;                  /* messages carry the gaps of pairs along, as bytes ... */
    int tail;                   /* ... but for the last one: it has so many bytes */
    size_t end[COLLOPT_FIRST_SLOT];     /* of IN and OUT: where the last message in it ends, in elements */
    bool eager;                 /* but those that are eager only without */
    bool types_made;            /* some wire has a datatype made of the call's */

    uint64_t bytes;             /* of data in the input vector */
    int size_class;
    char *chosen;               /* the algorithm with its parameters, for people; only where calls are checked */
    struct collopt_memoized memoized;
};

struct collopt_schedules;       /* of a communicator, plan.c */
struct collopt_link;

/* ---- comm.c: what is kept per communicator -------------------------------------------------------------------- */

enum collopt_status {
    COLLOPT_NEW,                /* not engaged yet: calls are counted */
    COLLOPT_ENGAGED,
    COLLOPT_REFUSED,            /* native for good */
    COLLOPT_LEAVING,            /* being freed by the program: native, also in delete callbacks of the program's */
    COLLOPT_INTERCOMM
};

struct collopt_wish {           /* an info key of the communicator */
    bool given;
    struct collopt_choice choice;
};

struct collopt_peer {           /* how messages reach a rank of a communicator */
    int rank;                   /* on the hidden communicator */
    int tags;                   /* the first of the tags with which it receives (context.h) */
};

/* Comes from a pool and is never returned to the allocator, so that comm.c may look at one that has just been freed. */
struct collopt_comm {
    _Atomic(MPI_Comm) comm;     /* the user's; MPI_COMM_NULL when free */
    enum collopt_status status;
    bool busy;                  /* inside one of our calls: a nested one goes to the host */
    bool keys_due;              /* ENGAGED, and all ranks know that info keys may wait on some: the next call compares them */
    bool yields;                /* yield the processor while polling shared memory */
    bool polite;                /* and while waiting for the host's messages; else the host waits in its own way */
    int calls;                  /* of the family, while NEW */
    bool placed, inside;        /* INSIDE is known: the world that agreed in MPI_Init */
    int rank, ranks;
    MPI_Comm hidden;            /* our messages travel here; MPI_COMM_NULL for a communicator of one rank */
    bool counted;               /* as one of COLLOPT_COMMUNICATORS */
    bool own;                   /* HIDDEN is this communicator's alone, else it is the world's */
    bool spoilt;                /* a reduction failed: messages of it may be left */
    int context;                /* id of this rank's own; -1: none */
    struct collopt_peer *peer;  /* [ranks]; NULL: rank r of HIDDEN is r, and receives with TAGS */
    int tags;
    struct collopt_rental rental;       /* which problems have earned a plan; COLLOPT_AFTER=auto */
    uint64_t earned;            /* ns: what taking over would have saved so far */
    struct collopt_topology topology;
    int *node;                  /* what topology.node points to */
    struct collopt_topology level[COLLOPT_GROUPINGS];   /* other groups of the ranks; LEVEL's node is to be freed */
    const struct collopt_topology *groups[COLLOPT_GROUPINGS];   /* those that are known, for topology.groups */
    struct collopt_machine machine[2];          /* messages inside nodes go by the host; by shared memory */
    struct collopt_wish wish[COLLOPT_COLLECTIVES];
    struct collopt_keys *waiting;       /* info keys that were not compared yet, or NULL; info.c */

    struct collopt_memo plans;
    struct collopt_plan *last[COLLOPT_COLLECTIVES];     /* of those: most often the next call is like it */
    struct collopt_link *links; /* channels, src/shm/transport.h */
    bool progressing;           /* there is ... */
    MPI_Request progress;       /* ... one that is never complete: testing it has the host make progress */
    struct collopt_schedules *schedules;
    struct collopt_remembered *remembered;      /* predictions */
    struct collopt_adapted *adapted;
    char *scratch;
    size_t scratch_size, scratch_kept;          /* bytes; kept between calls at most */
    bool timed, traced, checked;        /* a report, a trace, COLLOPT_CHECK is wanted */
    unsigned call;              /* number of the call, alike on all ranks: part of the tags */
    struct collopt_comm *next;  /* unused ones */
    struct collopt_comm *other; /* all that were ever made */
};

/* The state of a communicator, made at the first call; NULL: none can be had (the call is declined). */
struct collopt_comm *collopt_comm_find(MPI_Comm comm);
/* Counts a call with a vector of BYTES on a NEW communicator, and when it is time, engages or refuses it.  Collective.
 * An error code: this rank alone cannot go on. */
int collopt_comm_engage(struct collopt_comm *c, size_t bytes);
/* Engages MPI_COMM_WORLD in MPI_Init, where it costs least, unless COLLOPT_AFTER says when.  Collective. */
void collopt_comm_engage_world(void);
/* Communicators of sessions may have ranks of MPI_COMM_WORLD only and outlive MPI_Finalize.  They cannot be told from
 * others, so where a process has begun a session, communicators are taken over as if they reached beyond the world. */
void collopt_session_begins(void);
/* Around MPI_Comm_free and MPI_Comm_disconnect: reductions of the program's delete callbacks go to the host. */
struct collopt_leaving {
    MPI_Comm comm;
    enum collopt_status status;         /* to be restored if it cannot be freed */
    const struct collopt_leaving *outer;
};
void collopt_comm_leaves(MPI_Comm comm, struct collopt_leaving *l);
void collopt_comm_left(const struct collopt_leaving *l, int err);
static inline MPI_Comm collopt_comm_of(const struct collopt_comm *c)
{
    return atomic_load_explicit(&c->comm, memory_order_relaxed);
}
/* How messages reach RANK. */
static inline struct collopt_peer collopt_peer(const struct collopt_comm *c, int rank)
{
    return c->peer ? c->peer[rank] : (struct collopt_peer){ .rank = rank, .tags = c->tags };
}
/* Do all its ranks belong to a world whose ranks were asked in MPI_Init?  They all answer alike. */
bool collopt_comm_inside(struct collopt_comm *c);
/* The user's error handler is not to hear of what we try on his communicator; and then is to be in its place again. */
MPI_Errhandler collopt_quiet(MPI_Comm comm);
void collopt_as_before(MPI_Comm comm, MPI_Errhandler handler);
/* Keeps for the report what communicators that are still there have learnt. */
void collopt_comm_tell(void);
/* Gives back what the host would miss at its end; after this no delete callback calls MPI any more. */
void collopt_comm_shut_down(void);

/* ---- survey.c: where the ranks are ------------------------------------------------------------------------------ */

/* Fills in C's topology, machine and rental from what its ranks have SEEN, in C's order.  False: no memory. */
bool collopt_survey(struct collopt_comm *c, MPI_Comm comm, struct collopt_sight *seen);
/* Once, after MPI_Init: warns where COLLOPT_TOPOLOGY does not suit the world. */
void collopt_survey_world(void);

/* ---- info.c --------------------------------------------------------------------------------------------------- */

/* Takes over the keys of ours, collopt_allreduce and its like.  Collective. */
void collopt_info_take(MPI_Comm comm, MPI_Info info);
/* Of a communicator that MPI_Comm_idup_with_info has begun to make: they wait until they can be compared. */
void collopt_info_later(MPI_Comm *made, MPI_Info info);
/* A hash of those that wait, to be compared where ranks compare something; and then whether they were alike. */
uint64_t collopt_info_waiting(const struct collopt_comm *c);
void collopt_info_compared(struct collopt_comm *c, bool are_alike);
/* Compares them on COMM, collectively, where they are due. */
int collopt_info_compare(struct collopt_comm *c, MPI_Comm comm);
/* What they say for P; false: nothing that could serve. */
bool collopt_info_select(const struct collopt_comm *c, const struct collopt_problem *p, struct collopt_decision *d);

/* ---- plan.c --------------------------------------------------------------------------------------------------- */

/* The plan that a call like this one had before, or NULL.  COUNT: call->count, or the hash of the counts.  Unless
 * facts.lasting, renew it with the facts of today's handles; false: it does not serve them. */
struct collopt_plan *collopt_plan_known(struct collopt_comm *c, const struct collopt_call *call, size_t count);
bool collopt_plan_renew(struct collopt_comm *c, struct collopt_plan *plan, const struct collopt_facts *f);
/* A new plan for CALL, remembered; NULL: no memory. */
struct collopt_plan *collopt_plan_for(struct collopt_comm *c, const struct collopt_call *call,
                                      const struct collopt_facts *f, size_t count);
void collopt_plan_free(struct collopt_plan *plan);
/* The datatype of a message of several runs, from where places begin: BASE, of those that it has. */
int collopt_wire_type(const struct collopt_plan *plan, const struct collopt_wire *w, const MPI_Aint *base, MPI_Datatype *made);
void collopt_plans_free(struct collopt_comm *c);
size_t collopt_counts_hash(const struct collopt_call *call, int ranks);

/* ---- execute.c, p2p.c, wait.c: the only files that send or receive --------------------------------------------- */

/* Runs PLAN; MPI_SUCCESS or an error code, the host's or MPI_ERR_NO_MEM. */
int collopt_execute(struct collopt_comm *c, struct collopt_plan *plan, const void *in, void *out);
int collopt_post(struct collopt_comm *c, struct collopt_plan *plan, int message);
int collopt_start(struct collopt_comm *c, struct collopt_plan *plan, int message);      /* by the host */
int collopt_test_message(struct collopt_comm *c, struct collopt_plan *plan, int message, bool *done);
int collopt_wait_message(struct collopt_comm *c, struct collopt_plan *plan, int message);
/* The datatype of a message in several places, for this call. */
int collopt_absolute_type(const struct collopt_plan *plan, const struct collopt_wire *w, MPI_Datatype *made);
int collopt_receive_now(struct collopt_comm *c, struct collopt_plan *plan, int message);
int collopt_send_now(struct collopt_comm *c, struct collopt_plan *plan, int message);
int collopt_wait(struct collopt_comm *c, MPI_Request *request);
int collopt_test(MPI_Request *request, bool *done);
int collopt_wait_any(int n, MPI_Request *const request[]);              /* on SMPI: until one of them is complete, and null */
void collopt_idle(struct collopt_comm *c, unsigned *polls);             /* between two fruitless looks */
void collopt_idle_end(struct collopt_comm *c);          /* C is freed */
bool collopt_abandon(struct collopt_plan *plan);        /* after an error: what is still under way */

/* ---- adapt.c, hand_over.c: COLLOPT_ADAPT --------------------------------------------------------------------------- */

/* The trials for problems like P; NULL: no memory. */
struct collopt_adapted *collopt_adapted_for(struct collopt_comm *c, const struct collopt_problem *p);
/* Before each call of theirs: the ranks agree, if it is time.  An error code of the host. */
int collopt_adapt_agree(struct collopt_comm *c, struct collopt_adapted *a);
/* The candidate for the next call, and whether its time is wanted; after the call, whether it went well or not: so
 * long it took. */
int collopt_adapt_next(const struct collopt_adapted *a, bool *timed);
void collopt_adapt_done(struct collopt_adapted *a, double seconds);
const struct collopt_choice *collopt_adapt_choice(const struct collopt_adapted *a, int candidate);
unsigned long long collopt_adapt_calls(const struct collopt_adapted *a);
/* Keeps for the report what C has learnt (lessons.h); once. */
void collopt_adapt_tell(const struct collopt_comm *c);
void collopt_adapted_free(struct collopt_comm *c);
/* Makes CALL by the host's own function, with the arguments as they came. */
int collopt_hand_over(const struct collopt_call *call);

/* ---- check.c ---------------------------------------------------------------------------------------------------- */

/* Before CALL is run or declined: do all ranks make this call, with arguments that go together, and choose alike?  OUTCOME: what
 * dispatch.c has found out of it, MPI_SUCCESS (PLAN is the plan), COLLOPT_DECLINED or an error code.  Else it says which rank
 * differs in what, and returns an error code, on all ranks. */
int collopt_check(struct collopt_comm *c, const struct collopt_call *call, const struct collopt_plan *plan, int outcome);

/* ---- dispatch.c ------------------------------------------------------------------------------------------------ */

/* Works on CALL, which the caller does not use afterwards. */
int collopt_dispatch(struct collopt_call *call);
/* Seconds, of a clock that nobody sets. */
static inline double collopt_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

extern atomic_bool collopt_switched_on;         /* MPI_Pcontrol, where agreed; COLLOPT=off */
extern atomic_bool collopt_reporting;  /* COLLOPT_REPORT: calls that are passed on are timed */

/* ---- agree.c ---------------------------------------------------------------------------------------------------- */

/* One native MIN over COMM; true if all ranks run the same version with the same settings and all say READY. */
bool collopt_agree(MPI_Comm comm, bool ready, bool *alike);
/* The same, and whether HASH is alike too. */
bool collopt_agree_also(MPI_Comm comm, bool ready, uint64_t hash, bool *alike, bool *hash_alike);
/* Where they are not alike: "have different COLLOPT_ variables: rank 3 has ..., rank 0 has ...", on all ranks.  Collective. */
void collopt_difference(MPI_Comm comm, char *text, size_t size);
enum { COLLOPT_AGREED_VERSION = 23 };    /* changes with any change of what ranks do together */
void collopt_agree_on_world(void);      /* after MPI_Init */
bool collopt_fault_tolerant(void);      /* tolerance.c: the job goes on when a process fails */
bool collopt_world_asked(void);         /* they have been asked, in MPI_Init */
bool collopt_world_agreed(void);        /* all ranks of MPI_COMM_WORLD run collopt alike, switched on */

/* ---- life.c ----------------------------------------------------------------------------------------------------- */

void collopt_begin(void);               /* after MPI_Init, by all ranks of MPI_COMM_WORLD */
void collopt_prepare(void);             /* what can be done without MPI_Init: a process of sessions never calls that */
void collopt_end(void);                 /* before MPI_Finalize */
void collopt_control(int level);        /* MPI_Pcontrol */

/* ---- stage.c: buffers in device memory (gpu.h) ------------------------------------------------------------------- */

bool collopt_gpu_allows(void);          /* COLLOPT_GPU: are calls to be run here at all? */
/* collopt_execute(), and OUT = IN op OUT by COMBINE, where a buffer may be in device memory. */
int collopt_execute_anywhere(struct collopt_comm *c, struct collopt_plan *plan, const void *in, void *out);
int collopt_combine_anywhere(void (*combine)(void *, const void *, const void *, size_t), const void *in, void *out, size_t n,
                             MPI_Datatype type);

#endif
