/* Invalid arguments of every intercepted function in every form: one line for each case, which says
 * what each step of it returned and which error handlers were called.  The files of a run with
 * collopt and of one without must be the same.
 *
 *     test_invalid user|return FILE [FROM]     FILE.<rank>, from case FROM on; a case that stops
 *                                              the job is its last line, without an answer
 *     test_invalid fatal|abort CASE            one case, where errors end the job
 *     test_invalid early|late                  calls before MPI_Init, after MPI_Finalize
 *     test_invalid has_abort                   is there MPI_ERRORS_ABORT?
 *
 * All ranks make the same mistake.  Hosts find most of them before they communicate. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

/* ---- answers --------------------------------------------------------------------------------- */

static FILE *answers;
static bool says = true;        /* the text of errors */
static int number, from;        /* of the case */
static const char *without;     /* " 3 17 ": the host alone stops the job in these */
static const char *only;        /* this case */
static char doing[200];
static MPI_Comm own;            /* what most cases use */

static char heard[400];         /* handlers that were called */

static void note(const char *whose, MPI_Comm comm, int err)
{
    size_t n = strlen(heard);
    int class;

    MPI_Error_class(err, &class);
    snprintf(heard + n, sizeof heard - n, ", handler of %s (%s) %d", whose,
             comm == own                  ? "own"
                 : comm == MPI_COMM_WORLD ? "world"
                 : comm == MPI_COMM_SELF  ? "self"
                 : comm == MPI_COMM_NULL  ? "null"
                                          : "another",
             class);
}

static void of_world(MPI_Comm *comm, int *err, ...)
{
    note("world", *comm, *err);
}

static void of_self(MPI_Comm *comm, int *err, ...)
{
    note("self", *comm, *err);
}

static void of_own(MPI_Comm *comm, int *err, ...)
{
    note("own", *comm, *err);
}

static void of_inter(MPI_Comm *comm, int *err, ...)
{
    note("inter", *comm, *err);
}

/* Addresses, handles and the ends of lines aside. */
static void print_string(int err)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int n;

    MPI_Error_string(err, text, &n);
    for (const char *s = text; *s; s++) {
        fputc(*s == '\n' ? '/' : *s, answers);
        if (s[0] == '0' && s[1] == 'x')
            for (fputc(*++s, answers); isxdigit((unsigned char)s[1]);)
                s++;
        while (s[0] == '.' && s[1] == '.')      /* that fill a column */
            s++;
    }
}

/* What a step of a case returned.  Where the host is asked in another way, SAYS is false: its text
 * names another function. */
static int step(const char *what, int err)
{
    int class = MPI_SUCCESS;

    if (err != MPI_SUCCESS)
        MPI_Error_class(err, &class);
    fprintf(answers, "; %s: %d", what, class);
    if (err != MPI_SUCCESS && says) {
        fprintf(answers, " \"");
        print_string(err);
        fprintf(answers, "\"");
    }
    fprintf(answers, "%s", heard);
    fflush(answers);
    heard[0] = '\0';
    return err;
}

static bool is_left_out(void)
{
    char word[20];

    snprintf(word, sizeof word, " %d ", number);
    return number < from || (without && strstr(without, word));
}

/* Is it this case's turn? */
static bool begins(const char *name, const char *what)
{
    snprintf(doing, sizeof doing, "%s, %s", name, what);
    number++;
    if (only ? strcmp(only, doing) != 0 : is_left_out())
        return false;
    at_for(doing, 20);
    fprintf(answers, "%d %s", number, doing);
    fflush(answers);
    heard[0] = '\0';
    says = true;
    return true;
}

static void ends(void)
{
    fprintf(answers, "; end\n");
    fflush(answers);
}

/* ---- the functions --------------------------------------------------------------------------- */

enum { MOST = 64 };

struct arguments {
    const void *in;
    void *out;
    int count, last;            /* of the last of several counts */
    bool no_counts;
    MPI_Datatype type;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    bool no_request;
    bool late;                  /* the host may send before it looks */
};

static char in[1024], out[1024];

static const int *counts(const struct arguments *a)
{
    static int list[MOST];

    for (int i = 0; i < MOST; i++)
        list[i] = i == world_ranks - 1 ? a->last : a->count;
    return a->no_counts ? NULL : list;
}

#define ROOTED          a->in, a->out, a->count, a->type, a->op, a->root, a->comm
#define VECTOR          a->in, a->out, a->count, a->type, a->op, a->comm
#define SCATTERED       a->in, a->out, counts(a), a->type, a->op, a->comm

#define FUNCTION(id, ...) \
    static int id(const struct arguments *a, MPI_Request *request) \
    { \
        (void)request; \
        return __VA_ARGS__; \
    }
#define THREE(name, nonblocking, ARGS) \
    FUNCTION(name##_blocking, CALL_BLOCKING(name, nonblocking, ARGS)) \
    FUNCTION(name##_nonblocking, CALL_NONBLOCKING(name, nonblocking, ARGS)) \
    FUNCTION(name##_persistent, CALL_INIT(name, nonblocking, ARGS))

THREE(Reduce, reduce, ROOTED)
THREE(Allreduce, allreduce, VECTOR)
THREE(Reduce_scatter, reduce_scatter, SCATTERED)
THREE(Reduce_scatter_block, reduce_scatter_block, VECTOR)
THREE(Scan, scan, VECTOR)
THREE(Exscan, exscan, VECTOR)
FUNCTION(Reduce_local, MPI_Reduce_local(a->in, a->out, a->count, a->type, a->op))

#if COLLOPT_HAVE_LARGE
static const MPI_Count *large_counts(const struct arguments *a)
{
    static MPI_Count list[MOST];

    for (int i = 0; i < MOST; i++)
        list[i] = i == world_ranks - 1 ? a->last : a->count;
    return a->no_counts ? NULL : list;
}

# define SCATTERED_LARGE a->in, a->out, large_counts(a), a->type, a->op, a->comm
# define CALL_INIT_LARGE(name, ...) MPI_##name##_init_c(__VA_ARGS__, MPI_INFO_NULL, request)
# define THREE_LARGE(name, nonblocking, ARGS) \
    FUNCTION(name##_c_blocking, MPI_##name##_c(ARGS)) \
    FUNCTION(name##_c_nonblocking, MPI_I##nonblocking##_c(ARGS, request)) \
    FUNCTION(name##_c_persistent, CALL_INIT_LARGE(name, ARGS))

THREE_LARGE(Reduce, reduce, ROOTED)
THREE_LARGE(Allreduce, allreduce, VECTOR)
THREE_LARGE(Reduce_scatter, reduce_scatter, SCATTERED_LARGE)
THREE_LARGE(Reduce_scatter_block, reduce_scatter_block, VECTOR)
THREE_LARGE(Scan, scan, VECTOR)
THREE_LARGE(Exscan, exscan, VECTOR)
FUNCTION(Reduce_local_c, MPI_Reduce_local_c(a->in, a->out, a->count, a->type, a->op))
#endif

enum kind { OF_ROOT = 1, OF_COUNTS = 2, OF_LOCAL = 4, OF_REST = 8, OF_COMM = 11, OF_ALL = 15 };

static const struct function {
    const char *name;
    enum kind kind;
    enum form form;
    int (*call)(const struct arguments *a, MPI_Request *request);
} functions[] = {
#define ROWS(name, kind) \
    { #name, kind, BLOCKING, name##_blocking }, \
    { "I " #name, kind, NONBLOCKING, name##_nonblocking }, \
    { #name "_init", kind, HAVE_INIT ? PERSISTENT : BLOCKING, name##_persistent },
#define ROWS_OF_ALL(suffix) \
    ROWS(Reduce##suffix, OF_ROOT) \
    ROWS(Allreduce##suffix, OF_REST) \
    ROWS(Reduce_scatter##suffix, OF_COUNTS) \
    ROWS(Reduce_scatter_block##suffix, OF_REST) \
    ROWS(Scan##suffix, OF_REST) \
    ROWS(Exscan##suffix, OF_REST) \
    { "Reduce_local" #suffix, OF_LOCAL, BLOCKING, Reduce_local##suffix },
    ROWS_OF_ALL()
#if COLLOPT_HAVE_LARGE
        ROWS_OF_ALL(_c)
#endif
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- mistakes -------------------------------------------------------------------------------- */

static MPI_Op user;
static MPI_Datatype derived, uncommitted;
static MPI_Comm inter;          /* MPI_COMM_NULL on one rank */

static void keep(void *a, void *b, int *n, MPI_Datatype *type)
{
    (void)a, (void)b, (void)n, (void)type;
}

#define MISTAKE(name, ...) \
    static void name(struct arguments *a) \
    { \
        __VA_ARGS__; \
    }

MISTAKE(nothing, (void)a)
MISTAKE(null_op, a->op = MPI_OP_NULL)
MISTAKE(bits_of_doubles, a->op = MPI_BAND, a->type = MPI_DOUBLE, a->late = true)
MISTAKE(sum_of_bytes, a->op = MPI_SUM, a->type = MPI_BYTE, a->late = true)
MISTAKE(minloc_of_ints, a->op = MPI_MINLOC, a->type = MPI_INT, a->late = true)
MISTAKE(sum_of_pairs, a->op = MPI_SUM, a->type = MPI_2INT, a->late = true)
MISTAKE(replace, a->op = MPI_REPLACE, a->late = true)
MISTAKE(no_op, a->op = MPI_NO_OP, a->late = true)
MISTAKE(null_type, a->type = MPI_DATATYPE_NULL)
MISTAKE(null_type_and_op, a->type = MPI_DATATYPE_NULL, a->op = MPI_OP_NULL)
MISTAKE(sum_of_derived, a->type = derived, a->late = true)
MISTAKE(not_committed, a->type = uncommitted, a->op = user, a->late = true, says = false)
MISTAKE(minus_one, a->count = a->last = -1)
MISTAKE(minus_one_of_null, a->count = a->last = -1, a->op = MPI_OP_NULL)
MISTAKE(last_minus_one, a->last = -1)
MISTAKE(no_counts, a->no_counts = true)
MISTAKE(root_minus_one, a->root = -1)
MISTAKE(root_p, a->root = world_ranks)
MISTAKE(root_greatest, a->root = INT_MAX)
MISTAKE(root_null, a->root = MPI_PROC_NULL)
MISTAKE(root_root, a->root = MPI_ROOT)
MISTAKE(null_comm, a->comm = MPI_COMM_NULL)
MISTAKE(null_everything, a->comm = MPI_COMM_NULL, a->op = MPI_OP_NULL, a->type = MPI_DATATYPE_NULL,
        a->count = a->last = -1)
MISTAKE(aliased, a->out = in)
MISTAKE(aliased_one, a->out = in, a->count = a->last = 1)
MISTAKE(no_in, a->in = NULL)
MISTAKE(no_out, a->out = NULL)
MISTAKE(no_buffers, a->in = a->out = NULL)
MISTAKE(out_in_place, a->out = MPI_IN_PLACE)
MISTAKE(both_in_place, a->in = a->out = MPI_IN_PLACE)
MISTAKE(in_place, a->in = MPI_IN_PLACE)
MISTAKE(no_request, a->no_request = true)
MISTAKE(between, a->comm = inter)
MISTAKE(between_null_op, a->comm = inter, a->op = MPI_OP_NULL)
MISTAKE(between_null_type, a->comm = inter, a->type = MPI_DATATYPE_NULL)
MISTAKE(between_in_place, a->comm = inter, a->in = MPI_IN_PLACE)
MISTAKE(between_root, a->comm = inter, a->root = 7)

/* Handles that were freed and numbers that never were one; MPICH's are looked up. */
static void freed_op(struct arguments *a)
{
    MPI_Op copy;

    MPI_Op_create(keep, 1, &copy);
    a->op = copy;
    MPI_Op_free(&copy);
}

#ifdef MPICH_VERSION
MISTAKE(never_op, a->op = (MPI_Op)0x12345678)
MISTAKE(never_type, a->type = (MPI_Datatype)0x02345678)
MISTAKE(never_comm, a->comm = (MPI_Comm)0x12345678)
#endif

/* Open MPI crashes of addresses that are null; its handles are addresses, so that one that was
 * freed is anything. */
enum where { EVERYWHERE, ON_MPICH, ON_MPICH_NOW, ON_OPENMPI, BETWEEN, BETWEEN_ON_MPICH,
             OF_REQUEST, ALONE };

static const struct mistake {
    const char *name;
    enum kind kinds;
    enum where where;
    void (*make)(struct arguments *a);
} mistakes[] = {
    { "none", OF_ALL, EVERYWHERE, nothing },
    { "null operation", OF_ALL, EVERYWHERE, null_op },
    { "bits of doubles", OF_ALL, EVERYWHERE, bits_of_doubles },
    { "sum of bytes", OF_ALL, EVERYWHERE, sum_of_bytes },
    { "minloc of integers", OF_ALL, EVERYWHERE, minloc_of_ints },
    { "sum of pairs", OF_ALL, EVERYWHERE, sum_of_pairs },
    { "MPI_REPLACE", OF_ALL, EVERYWHERE, replace },
    { "MPI_NO_OP", OF_ALL, EVERYWHERE, no_op },
    { "freed operation", OF_ALL, ON_MPICH_NOW, freed_op },
    { "null datatype", OF_ALL, EVERYWHERE, null_type },
    { "null datatype and operation", OF_ALL, EVERYWHERE, null_type_and_op },
    { "sum of a derived datatype", OF_ALL, EVERYWHERE, sum_of_derived },
    { "datatype not committed", OF_COMM, EVERYWHERE, not_committed },
    { "count -1", OF_ALL, ON_OPENMPI, minus_one },
    { "count -1, null operation", OF_ALL, EVERYWHERE, minus_one_of_null },
    { "last count -1", OF_COUNTS, ON_OPENMPI, last_minus_one },
    { "no counts", OF_COUNTS, ON_OPENMPI, no_counts },
    { "root -1", OF_ROOT, EVERYWHERE, root_minus_one },
    { "root p", OF_ROOT, EVERYWHERE, root_p },
    { "root INT_MAX", OF_ROOT, EVERYWHERE, root_greatest },
    { "root MPI_PROC_NULL", OF_ROOT, EVERYWHERE, root_null },
    { "root MPI_ROOT", OF_ROOT, EVERYWHERE, root_root },
    { "null communicator", OF_COMM, EVERYWHERE, null_comm },
    { "everything null", OF_COMM, EVERYWHERE, null_everything },
    { "equal buffers", OF_ALL, EVERYWHERE, aliased },
    { "equal buffers, one element", OF_ALL, EVERYWHERE, aliased_one },
    { "no send buffer", OF_COMM, ON_MPICH, no_in },
    { "no receive buffer", OF_ROOT | OF_COUNTS | OF_REST, ON_MPICH, no_out },
    { "no buffers", OF_ALL, ON_MPICH, no_buffers },
    { "result in place", OF_COMM, EVERYWHERE, out_in_place },
    { "both in place", OF_COUNTS | OF_REST, EVERYWHERE, both_in_place },
    { "in place", OF_ROOT, ALONE, in_place },
    { "no request", OF_COMM, OF_REQUEST, no_request },
    { "intercommunicator", OF_COMM, BETWEEN, between },
    { "intercommunicator, null operation", OF_COMM, BETWEEN, between_null_op },
    { "intercommunicator, null datatype", OF_COMM, BETWEEN, between_null_type },
    { "intercommunicator, in place", OF_COMM, BETWEEN_ON_MPICH, between_in_place },
    { "intercommunicator, root 7", OF_ROOT, BETWEEN, between_root },
#ifdef MPICH_VERSION
    { "no operation at all", OF_ALL, EVERYWHERE, never_op },
    { "no datatype at all", OF_ALL, EVERYWHERE, never_type },
    { "no communicator at all", OF_COMM, EVERYWHERE, never_comm },
#endif
};

static bool applies(const struct mistake *m, const struct function *f)
{
    if (!(m->kinds & f->kind))
        return false;
    if (m->make == no_out && strstr(f->name, "Exscan")) /* rank 0 may, but MPICH refuses it */
        return false;
    /* Open MPI crashes of these */
    if (!on_mpich() && world_ranks > 1 && strstr(f->name, "Exscan")
        && (m->make == out_in_place || m->make == both_in_place))
        return false;
    /* between two groups only the scans are wrong; of Open MPI's Exscan and MPICH's persistent ones
     * the hosts crash */
    if (m->make == between && (f->form == PERSISTENT || !strstr(f->name, "Scan")))
        return false;
    switch (m->where) {
    case ON_MPICH:
        return on_mpich();
    case ON_MPICH_NOW:          /* requests keep what they use, or crash of it */
        return on_mpich() && f->form == BLOCKING;
    case ON_OPENMPI:
        return !on_mpich();
    case BETWEEN:
        return inter != MPI_COMM_NULL;
    case BETWEEN_ON_MPICH:
        return inter != MPI_COMM_NULL && on_mpich();
    case ALONE:                 /* a rank that is not the root has no result to reduce in place */
        return world_ranks == 1;
    case OF_REQUEST:
        return on_mpich() && f->form != BLOCKING;
    case EVERYWHERE:
        break;
    }
    return true;
}

/* The request of a call that has none is an error of its own, which hosts find or crash of. */
static void call(const struct function *f, const struct arguments *a)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int err = step("call", f->call(a, a->no_request ? NULL : &request));

    if (err == MPI_SUCCESS && f->form == PERSISTENT)
        err = step("start", MPI_Start(&request));
    if (err == MPI_SUCCESS && f->form != BLOCKING)
        step("wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (request != MPI_REQUEST_NULL && f->form == PERSISTENT)
        step("free", MPI_Request_free(&request));
}

static void try(const struct function *f, const struct mistake *m)
{
    struct arguments a = { .in = in, .out = out, .count = 2, .last = 2, .type = MPI_INT,
                           .op = MPI_SUM, .root = 0, .comm = own };

    if (!applies(m, f) || !begins(f->name, m->name))
        return;
    m->make(&a);
    /* What only one rank can see leaves messages that nobody receives, and calls unequal.  The
     * communicator is not freed: another would be given its messages. */
    if ((a.late || f->kind == OF_ROOT || strstr(f->name, "Exscan")) && a.comm == own)
        MPI_Comm_dup(MPI_COMM_WORLD, &a.comm);
    call(f, &a);
    ends();
    sum_all(own, 3, doing);
}

/* ---- requests -------------------------------------------------------------------------------- */

static int data[2] = { 1, 2 }, sum[2];

static MPI_Request persistent(void)
{
    MPI_Request made = MPI_REQUEST_NULL, *request = &made;

#if COLLOPT_HAVE_PERSISTENT || COLLOPT_HAVE_PERSISTENT_X
    CALL_INIT(Allreduce, allreduce, data, sum, 2, MPI_INT, MPI_SUM, own);
#else
    MPI_Recv_init(sum, 0, MPI_INT, MPI_PROC_NULL, 0, own, request);
#endif
    return made;
}

static MPI_Request active(void)
{
    MPI_Request r = persistent();

    MPI_Start(&r);
    return r;
}

static MPI_Request nonblocking(void)
{
    MPI_Request r;

    MPI_Iallreduce(data, sum, 2, MPI_INT, MPI_SUM, own, &r);
    return r;
}

/* In the order of the arguments of MPI_Testsome and its like. */
static void complete(const char *name, int n, MPI_Request *r, int *number_of, int *index,
                     MPI_Status *s)
{
    if (strcmp(name, "Wait") == 0)
        step(name, MPI_Wait(r, s));
    if (strcmp(name, "Test") == 0)
        step(name, MPI_Test(r, number_of, s));
    if (strcmp(name, "Request_get_status") == 0)
        step(name, MPI_Request_get_status(r ? *r : MPI_REQUEST_NULL, number_of, s));
    if (strcmp(name, "Waitall") == 0)
        step(name, MPI_Waitall(n, r, s));
    if (strcmp(name, "Testall") == 0)
        step(name, MPI_Testall(n, r, number_of, s));
    if (strcmp(name, "Waitany") == 0)
        step(name, MPI_Waitany(n, r, index, s));
    if (strcmp(name, "Testany") == 0)
        step(name, MPI_Testany(n, r, index, number_of, s));
    if (strcmp(name, "Waitsome") == 0)
        step(name, MPI_Waitsome(n, r, number_of, index, s));
    if (strcmp(name, "Testsome") == 0)
        step(name, MPI_Testsome(n, r, number_of, index, s));
}

static const char *const completions[] = { "Wait", "Test", "Request_get_status", "Waitall",
    "Testall", "Waitany", "Testany", "Waitsome", "Testsome" };
enum { COMPLETIONS = sizeof completions / sizeof *completions };

static const struct maker {
    const char *name;
    MPI_Request (*make)(void);
} makers[] = { { "inactive", persistent }, { "active", active }, { "nonblocking", nonblocking },
               { "null", NULL } };
enum { MAKERS = sizeof makers / sizeof *makers };

/* MPICH 4.0 waits forever for an inactive persistent reduction, so those are not waited for. */
static void clean_up(MPI_Request *r, bool is_active)
{
    int err;

    if (*r == MPI_REQUEST_NULL)
        return;
    if (is_active && (err = MPI_Wait(r, MPI_STATUS_IGNORE)))
        step("wait", err);
    if (*r != MPI_REQUEST_NULL)
        step("free", MPI_Request_free(r));
}

/* Two requests of a kind, of which one is null in COMPLETIONS that take several. */
static void wrong_completion(const char *name, const struct maker *maker, const char *what)
{
    char full[100];
    MPI_Request r[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    int n = 2, many = -7, index[2] = { -7, -7 };
    MPI_Status s[2];
    bool none = strcmp(what, "no flag") == 0;

    snprintf(full, sizeof full, "%s of %s", name, maker->name);
    /* MPICH 4.0 fails in such calls though nothing is wrong with them */
    if ((on_mpich() && (maker->make == persistent || maker->make == active)
         && strcmp(what, "none") == 0)
        || !begins(full, what))
        return;
    if (maker->make)
        r[0] = maker->make();
    if (strcmp(what, "count -1") == 0)
        n = -1;
    complete(name, n, strcmp(what, "no requests") == 0 ? NULL : r, none ? NULL : &many,
             strcmp(what, "no index") == 0 ? NULL : index,
             strcmp(what, "no status") == 0 ? NULL : s);
    clean_up(&r[0], maker->make != persistent);
    ends();
}

/* Which of these arguments does a completion have?  Where the host does not look, it crashes. */
static bool has(const char *name, const char *what)
{
    if (strcmp(what, "no flag") == 0)
        return strncmp(name, "Test", 4) == 0 || strcmp(name, "Waitsome") == 0
            || strcmp(name, "Request_get_status") == 0;
    if (strcmp(what, "no index") == 0)
        return strstr(name, "any") || strstr(name, "some");
    if (strcmp(what, "count -1") == 0)
        return strstr(name, "any") || strstr(name, "some") || strstr(name, "all");
    return strcmp(what, "no requests") != 0 || strcmp(name, "Request_get_status") != 0;
}

static void all_completions(void)
{
    static const char *const what[] = { "none", "no flag", "no index", "count -1", "no requests",
                                        "no status" };

    for (int c = 0; c < COMPLETIONS; c++)
        for (int m = 0; m < MAKERS; m++)
            for (size_t w = 0; w < sizeof what / sizeof *what; w++)
                if (has(completions[c], what[w]))
                    wrong_completion(completions[c], &makers[m], what[w]);
}

static MPI_Request make(const struct maker *maker)
{
    return maker->make ? maker->make() : MPI_REQUEST_NULL;
}

static void wrong_starts(const struct maker *maker)
{
    bool is_active = maker->make != persistent;
    MPI_Request r[2];
    int err;

    /* Open MPI starts an active one or crashes */
    if ((maker->make != active || on_mpich()) && begins("Start", maker->name)) {
        says = false;           /* the host may be shown a null request */
        r[0] = make(maker);
        err = step("Start", MPI_Start(&r[0]));
        clean_up(&r[0], is_active || err == MPI_SUCCESS);
        ends();
    }
    if ((maker->make != active || on_mpich()) && begins("Startall", maker->name)) {
        says = false;
        r[0] = persistent();
        r[1] = make(maker);
        err = step("Startall", MPI_Startall(2, r));
        clean_up(&r[0], err == MPI_SUCCESS);
        clean_up(&r[1], is_active || err == MPI_SUCCESS);
        ends();
    }
    /* Collopt frees active ones as MPI-3 has it for other persistent requests; Open MPI refuses */
    if (maker->make != active && begins("Request_free", maker->name)) {
        says = false;
        r[0] = make(maker);
        step("Request_free", MPI_Request_free(&r[0]));
        fprintf(answers, r[0] == MPI_REQUEST_NULL ? ", null" : ", as it was");
        clean_up(&r[0], is_active);
        ends();
    }
    if ((maker->make != active || !on_mpich()) && begins("Cancel", maker->name)) {
        says = false;
        r[0] = make(maker);
        step("Cancel", MPI_Cancel(&r[0]));
        clean_up(&r[0], is_active);
        ends();
    }
}

static void all_starts(void)
{
    MPI_Request r;

    for (int m = 0; m < MAKERS; m++)
        wrong_starts(&makers[m]);
    if (begins("Startall", "count -1")) {
        r = persistent();
        step("Startall", MPI_Startall(-1, &r));
        clean_up(&r, false);
        ends();
    }
}

static void no_requests(void)
{
#define STEP(name, what, ...) \
    if (begins(name, what)) { \
        step(name, __VA_ARGS__); \
        ends(); \
    }
    STEP("Start", "no request", MPI_Start(NULL))
    STEP("Startall", "no requests", MPI_Startall(1, NULL))
    STEP("Request_free", "no request", MPI_Request_free(NULL))
    STEP("Cancel", "no request", MPI_Cancel(NULL))
}

/* A copy of a handle that was freed; MPICH's are looked up. */
static void stale_requests(void)
{
    MPI_Request r, copy;

    for (int m = 0; m < MAKERS; m++) {
        if (makers[m].make != nonblocking || !on_mpich()
            || !begins("freed request", makers[m].name))
            continue;
        r = makers[m].make();
        copy = r;
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        if (r != MPI_REQUEST_NULL)
            MPI_Request_free(&r);
        r = copy;
        step("Start", MPI_Start(&r));
        ends();
    }
}

/* ---- other functions that are listened to ---------------------------------------------------- */

static void services(void)
{
    MPI_Comm comm = MPI_COMM_NULL, made;
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Request r;

    STEP("Comm_free", "null", MPI_Comm_free(&comm))
    if (on_mpich()) {
        STEP("Comm_free", "no communicator", MPI_Comm_free(NULL))
        STEP("Comm_disconnect", "no communicator", MPI_Comm_disconnect(NULL))
        STEP("Init", "twice", MPI_Init(NULL, NULL))
    } else {
        STEP("Type_free", "no datatype", MPI_Type_free(NULL))
    }
    STEP("Comm_disconnect", "null", MPI_Comm_disconnect(&comm))
    STEP("Op_free", "null", MPI_Op_free(&op))
    STEP("Op_free", "no operation", MPI_Op_free(NULL))
    STEP("Type_free", "null", MPI_Type_free(&type))
    STEP("Comm_set_info", "null communicator", MPI_Comm_set_info(MPI_COMM_NULL, MPI_INFO_NULL))
    STEP("Comm_set_info", "null info", MPI_Comm_set_info(own, MPI_INFO_NULL))
    STEP("Comm_dup_with_info", "null communicator",
         MPI_Comm_dup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &made))
    STEP("Comm_dup_with_info", "no result", MPI_Comm_dup_with_info(own, MPI_INFO_NULL, NULL))
    if (begins("Op_free", "predefined")) {
        op = MPI_SUM;
        step("Op_free", MPI_Op_free(&op));
        ends();
    }
    if (begins("Type_free", "predefined")) {
        type = MPI_INT;
        step("Type_free", MPI_Type_free(&type));
        ends();
    }
    for (int i = 0; i < 2; i++)
        if (begins("Comm_free", i ? "MPI_COMM_SELF" : "MPI_COMM_WORLD")) {
            comm = i ? MPI_COMM_SELF : MPI_COMM_WORLD;
            step("Comm_free", MPI_Comm_free(&comm));
            ends();
        }
#if COLLOPT_HAVE_IDUP_WITH_INFO
    STEP("Comm_idup_with_info", "null communicator",
         MPI_Comm_idup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &made, &r))
#endif
    (void)r;
    sum_all(own, 3, "after all of these");
}

/* ---- */

static void set_handlers(const char *mode)
{
    static void (*const functions_of[])(MPI_Comm *, int *, ...) = { of_world, of_self, of_own,
                                                                    of_inter };
    MPI_Comm comm[] = { MPI_COMM_WORLD, MPI_COMM_SELF, own, inter };
    MPI_Errhandler handler = MPI_ERRORS_RETURN;

    for (int i = 0; i < 4 && comm[i] != MPI_COMM_NULL; i++) {
        if (strcmp(mode, "user") == 0)
            MPI_Comm_create_errhandler(functions_of[i], &handler);
        if (strcmp(mode, "fatal") == 0)
            handler = MPI_ERRORS_ARE_FATAL;
#ifdef MPI_ERRORS_ABORT
        if (strcmp(mode, "abort") == 0)
            handler = MPI_ERRORS_ABORT;
#endif
        MPI_Comm_set_errhandler(comm[i], handler);
    }
}

static void open_answers(const char *path)
{
    char name[1024];

    snprintf(name, sizeof name, "%s.%d", path, world_rank);
    answers = fopen(name, "a");
    if (!answers) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
}

static void make_handles(void)
{
    MPI_Comm half;

    MPI_Op_create(keep, 1, &user);
    MPI_Type_contiguous(2, MPI_INT, &derived);
    MPI_Type_commit(&derived);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    inter = MPI_COMM_NULL;
    if (world_ranks < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank > 0, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_rank > 0 ? 0 : 1, 5, &inter);
    MPI_Comm_free(&half);
}

static int outside(bool late, int *argc, char ***argv)
{
    if (late) {
        begin(argc, argv, "test_invalid");
        sum_all(MPI_COMM_WORLD, 3, "before the end");
        MPI_Finalize();
    }
    return MPI_Allreduce(data, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "return";
    bool stops = strcmp(mode, "fatal") == 0 || strcmp(mode, "abort") == 0;

    if (strcmp(mode, "has_abort") == 0) {
#ifdef MPI_ERRORS_ABORT
        return 0;
#else
        return 1;
#endif
    }
    if (strcmp(mode, "early") == 0 || strcmp(mode, "late") == 0)
        return outside(mode[0] == 'l', &argc, &argv);
    begin(&argc, &argv, "test_invalid");
    if (stops) {
        only = argv[2];
        answers = stdout;
    } else {
        open_answers(argc > 2 ? argv[2] : "answers");
        from = argc > 3 ? atoi(argv[3]) : 0;
        without = argc > 4 ? argv[4] : NULL;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    make_handles();
    set_handlers(mode);
    for (int f = 0; f < FUNCTIONS; f++)
        for (size_t m = 0; m < sizeof mistakes / sizeof *mistakes; m++)
            try(&functions[f], &mistakes[m]);
    all_completions();
    all_starts();
    no_requests();
    stale_requests();
    services();
    check(!with_collopt() || only || from > 0 || calls_run(NULL, NULL) > 10,
          "collopt ran only %llu calls", (unsigned long long)calls_run(NULL, NULL));
    if (!stops)
        fclose(answers);
    return end();
}
