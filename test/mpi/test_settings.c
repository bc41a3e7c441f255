/* Does what it is told, checks the results, and says what collopt did of it.
 *
 *     test_settings [COMMAND[=N]]...
 *
 *     allreduce=5 reduce=3        so many calls on MPI_COMM_WORLD
 *     ordered=2                   so many MPI_Allreduce with an operation that does not commute
 *     bytes=4096                  the length of the vectors from now on
 *     pcontrol=0                  MPI_Pcontrol
 *     dup                         from now on, on a new duplicate
 *     cart=2x4                    from now on, on a new periodic Cartesian communicator with these
 *                                 dims
 *     halves                      from now on, on half the ranks of it: the lower ones, the upper
 *                                 ones
 *     info=allreduce=ring         an info key for it, collopt_allreduce
 *     info0=allreduce=ring        the same, but only rank 0 gives it
 *     infoturn=allreduce=ring     the same, one rank after the other, each told by a message;
 *                                 infoturn0: only rank 0 gives the key
 *     infodup=allreduce=ring      from now on, on a new duplicate with this info key
 *     infoidup=allreduce=ring     the same by MPI_Comm_idup_with_info, where there is one;
 *                                 infoidup0: only rank 0 gives the key
 *
 *     explain                     writes "rank 0: explained", and what collopt_explain() says of an
 *                                 allreduce in order
 *     calls=ring                  writes "rank 0: 5 calls of ring", of what collopt ran so far
 *     abort=1                     rank 1 calls MPI_Abort, and the others wait
 *     noabort=1                   rank 1 calls MPI_Abort on no communicator, which MPICH refuses
 *     files=64                    no file may be longer than so many bytes from now on
 *     unheard                     nobody reads standard error from now on: it is a pipe
 *     clock                       writes "rank 0: 1234 us", since it was last told so
 *
 * At the end each rank writes "rank 0: run 5 passed 3". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common.h"

struct state {
    MPI_Comm comm;
    int count;
};

static void allreduce(struct state *s, int n)
{
    while (n-- > 0)
        sum_all(s->comm, s->count, "allreduce");
}

static void reduce(struct state *s, int n)
{
    int ranks;

    MPI_Comm_size(s->comm, &ranks);
    while (n-- > 0)
        sum_to(s->comm, s->count, n % ranks, "reduce");
}

/* An element is a map x -> a x + b; the operation applies one after the other. */
struct map {
    unsigned a, b;
};

static struct map after(struct map first, struct map second)
{
    return (struct map){ first.a * second.a, first.b * second.a + second.b };
}

static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    struct map *left = in, *right = inout;

    (void)type;
    for (int i = 0; i < *n; i++)
        right[i] = after(left[i], right[i]);
}

static struct map map_of(int rank, int i)
{
    uint64_t m = mix((uint64_t)rank * 104729 + (uint64_t)i);

    return (struct map){ (unsigned)m | 1, (unsigned)(m >> 32) };
}

static void compose_all(struct state *s, MPI_Datatype type, MPI_Op op)
{
    int rank, ranks, n = s->count / 2;
    struct map *in = malloc(((size_t)n + 1) * sizeof *in),
               *out = malloc(((size_t)n + 1) * sizeof *out);

    MPI_Comm_rank(s->comm, &rank);
    MPI_Comm_size(s->comm, &ranks);
    for (int i = 0; i < n; i++)
        in[i] = map_of(rank, i);
    MPI_Allreduce(in, out, n, type, op, s->comm);
    for (int i = 0; i < n; i++) {
        struct map right = map_of(0, i);

        for (int r = 1; r < ranks; r++)
            right = after(right, map_of(r, i));
        if (out[i].a != right.a || out[i].b != right.b) {
            fail("ordered: element %d of %d is wrong", i, n);
            break;
        }
    }
    free(in);
    free(out);
}

static void ordered(struct state *s, int n)
{
    MPI_Datatype type;
    MPI_Op op;

    MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(compose, 0, &op);
    while (n-- > 0)
        compose_all(s, type, op);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

static void bytes(struct state *s, int n)
{
    s->count = n / (int)sizeof(int);
}

static void pcontrol(struct state *s, int n)
{
    (void)s;
    MPI_Pcontrol(n);
}

static void go_on_with(struct state *s, MPI_Comm made)
{
    if (s->comm != MPI_COMM_WORLD)
        MPI_Comm_free(&s->comm);
    s->comm = made;
}

static void on_duplicate(struct state *s, int n)
{
    MPI_Comm made;

    (void)n;
    MPI_Comm_dup(s->comm, &made);
    go_on_with(s, made);
}

static void halves(struct state *s, int n)
{
    int rank, ranks;
    MPI_Comm made;

    (void)n;
    MPI_Comm_rank(s->comm, &rank);
    MPI_Comm_size(s->comm, &ranks);
    MPI_Comm_split(s->comm, rank < ranks / 2, rank, &made);
    go_on_with(s, made);
}

/* WORD: "cart=2x4". */
static bool lay_out(struct state *s, const char *word)
{
    int side[3], around[3] = { 1, 1, 1 }, sides;
    MPI_Comm made;

    if (strncmp(word, "cart=", 5) != 0)
        return false;
    sides = sscanf(word + 5, "%dx%dx%d", &side[0], &side[1], &side[2]);
    MPI_Cart_create(s->comm, sides, side, around, 0, &made);
    go_on_with(s, made);
    return true;
}

/* VALUE: "allreduce=ring"; "" for an empty info. */
static MPI_Info make_info(const char *value)
{
    size_t n = strcspn(value, "=");
    char key[64];
    MPI_Info info;

    MPI_Info_create(&info);
    snprintf(key, sizeof key, "collopt_%.*s", (int)n, value);
    if (value[n])
        MPI_Info_set(info, key, value + n + 1);
    return info;
}

static MPI_Comm duplicate(MPI_Comm comm, MPI_Info info, bool at_once)
{
    MPI_Comm made;

#if COLLOPT_HAVE_IDUP_WITH_INFO
    if (!at_once) {
        MPI_Request request;

        MPI_Comm_idup_with_info(comm, info, &made, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return made;
    }
#endif
    (void)at_once;
    MPI_Comm_dup_with_info(comm, info, &made);
    return made;
}

/* Hosts keep what they are told and ask nobody, so that ranks may come one after the other. */
static void set_info(MPI_Comm comm, MPI_Info info, bool in_turn)
{
    int rank, ranks, token = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (in_turn && rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 77, comm, MPI_STATUS_IGNORE);
    MPI_Comm_set_info(comm, info);
    if (in_turn && rank < ranks - 1)
        MPI_Send(&token, 1, MPI_INT, rank + 1, 77, comm);
}

static bool inform(struct state *s, const char *word)
{
    size_t n = strcspn(word, "=");
    bool idup = strncmp(word, "infoidup", 8) == 0, turn;
    MPI_Info info;

    if (strncmp(word, "info", 4) != 0)
        return false;
    turn = strncmp(word, "infoturn", 8) == 0;
    info = make_info(word[n - 1] != '0' || world_rank == 0 ? word + n + 1 : "");
    if (idup || strncmp(word, "infodup", 7) == 0)
        go_on_with(s, duplicate(s->comm, info, !idup));
    else
        set_info(s->comm, info, turn);
    MPI_Info_free(&info);
    return true;
}

static bool tell_calls(const char *word)
{
    if (strncmp(word, "calls=", 6) != 0)
        return false;
    printf("rank %d: %llu calls of %s\n", world_rank, (unsigned long long)calls_run(NULL, word + 6),
           word + 6);
    return true;
}

static void explain(struct state *s, int n)
{
    char text[256] = "";
    int ranks;

    (void)n;
    MPI_Comm_size(s->comm, &ranks);
    if (collopt_explain)
        collopt_explain("allreduce", ranks, (uint64_t)s->count * sizeof(int), 0, text, sizeof text);
    printf("rank %d: explained %s\n", world_rank, text);
}

static void tell_time(struct state *s, int n)
{
    static double last;
    double now = MPI_Wtime();

    (void)s, (void)n;
    if (last > 0)
        printf("rank %d: %.0f us\n", world_rank, 1e6 * (now - last));
    last = now;
}

static void abort_at(struct state *s, int rank)
{
    if (world_rank == rank)
        MPI_Abort(MPI_COMM_WORLD, 3);
    sum_all(s->comm, 1, "aborted");
}

static void abort_nothing(struct state *s, int rank)
{
    (void)s;
    if (world_rank != rank)
        return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check(MPI_Abort(MPI_COMM_NULL, 3) != MPI_SUCCESS, "MPI_Abort without a communicator");
}

/* The launcher's standard output is a pipe, so only files of collopt's are meant. */
static void limit_files(struct state *s, int bytes)
{
    struct rlimit limit;

    (void)s;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = (rlim_t)bytes;
    if (setrlimit(RLIMIT_FSIZE, &limit))
        fail("files cannot be limited to %d bytes", bytes);
}

static void close_reader(struct state *s, int n)
{
    int end[2];

    (void)s, (void)n;
    if (pipe(end) || dup2(end[1], STDERR_FILENO) < 0)
        fail("there is no pipe for standard error");
    close(end[0]);
    close(end[1]);
}

static const struct command {
    const char *name;
    void (*run)(struct state *s, int n);
} commands[] = {
    { "allreduce", allreduce }, { "reduce", reduce },     { "ordered", ordered },
    { "bytes", bytes },         { "pcontrol", pcontrol }, { "dup", on_duplicate },
    { "halves", halves },       { "explain", explain },   { "clock", tell_time },
    { "abort", abort_at },      { "files", limit_files }, { "unheard", close_reader },
    { "noabort", abort_nothing },
};

static void obey(struct state *s, const char *word)
{
    size_t n = strcspn(word, "=");

    at(word);
    if (inform(s, word) || lay_out(s, word) || tell_calls(word))
        return;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strlen(commands[i].name) == n && memcmp(commands[i].name, word, n) == 0) {
            commands[i].run(s, word[n] ? atoi(word + n + 1) : 1);
            return;
        }
    fail("there is no command %s", word);
}

int main(int argc, char **argv)
{
    struct state s = { MPI_COMM_WORLD, 16 };

    begin(&argc, &argv, "test_settings");
    for (int i = 1; i < argc; i++)
        obey(&s, argv[i]);
    if (s.comm != MPI_COMM_WORLD)
        MPI_Comm_free(&s.comm);
    printf("rank %d: run %llu passed %llu\n", world_rank, (unsigned long long)calls_run(NULL, NULL),
           (unsigned long long)calls_passed(NULL));
    fflush(stdout);
    return end();
}
