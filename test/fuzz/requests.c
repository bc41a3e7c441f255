/* Many nonblocking and persistent reductions under way at once, with messages of the program's own
 * around them, completed in any way that MPI has.
 *
 * A rank that waits in a call of the host's, or looks only at requests of its own, must not keep
 * others waiting: neither those whose reductions need this rank's part, nor the one that receives
 * its message. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { MOST = 40, OTHERS = 5, INTS = 40000, TAG = 4711 };

/* Of some completions nobody wants to know it. */
struct statuses {
    MPI_Status status[MOST + OTHERS];
};

static MPI_Status *wanted(struct statuses *s, struct fuzz_random *mine)
{
    return fuzz_chance(mine, 2) ? s->status : MPI_STATUSES_IGNORE;
}

/* The requests of a step: reductions, then others of the program's. */
struct requests {
    int n, all;
    MPI_Request request[MOST + OTHERS];
    MPI_Request aside[MOST];    /* see put_aside() */
    bool done[MOST + OTHERS];
    struct later *later[MOST];
    bool persistent[MOST];
    int message[INTS], inbox, outbox;
};

/* ---- completing ------------------------------------------------------------------------------ */

static bool any_by_host(const struct requests *q)
{
    for (int i = 0; i < q->n; i++)
        if (calls_by_host(q->later[i]))
            return true;
    return false;
}

static void right(const struct requests *q, int err, const char *how)
{
    check(err == MPI_SUCCESS, "%s: %s: error %d%s", fuzz_step_name(), how, err,
          any_by_host(q) ? "" : " (collopt)");
}

/* MPICH 4.0 takes persistent collectives of its own that have ended for complete ones ever again:
 * they leave the list meanwhile. */
static void put_aside(struct requests *q, int i)
{
    if (i >= q->n || !q->persistent[i] || !on_mpich() || !calls_by_host(q->later[i]))
        return;
    q->aside[i] = q->request[i];
    q->request[i] = MPI_REQUEST_NULL;
}

static void take_back(struct requests *q, int i)
{
    if (q->aside[i] != MPI_REQUEST_NULL)
        q->request[i] = q->aside[i];
    q->aside[i] = MPI_REQUEST_NULL;
}

static void end_request(struct requests *q, int i)
{
    if (!q->done[i])
        put_aside(q, i);
    q->done[i] = true;
}

static void note(struct requests *q, int i, const char *how)
{
    check(i >= 0 && i < q->all && !q->done[i], "%s: %s says that request %d is complete%s%s",
          fuzz_step_name(), how, i, i >= 0 && i < q->all ? ", once more" : "",
          any_by_host(q) ? "" : " (collopt)");
    if (i >= 0 && i < q->all)
        end_request(q, i);
}

static void note_all(struct requests *q, int from, int to)
{
    for (int i = from; i < to; i++)
        end_request(q, i);
}

static bool all_done(const struct requests *q, int from, int to)
{
    for (int i = from; i < to; i++)
        if (!q->done[i])
            return false;
    return true;
}

static int one_of(const struct requests *q, int from, int to, struct fuzz_random *mine)
{
    int i = from + (int)fuzz_below(mine, (size_t)(to - from));

    while (q->done[i])
        i = i + 1 < to ? i + 1 : from;
    return i;
}

static void by_wait(struct requests *q, int from, int to, struct fuzz_random *mine)
{
    int i = one_of(q, from, to, mine);

    right(q, MPI_Wait(&q->request[i], MPI_STATUS_IGNORE), "MPI_Wait");
    note(q, i, "MPI_Wait");
}

static void by_test(struct requests *q, int from, int to, struct fuzz_random *mine)
{
    int i = one_of(q, from, to, mine), flag = 0;

    right(q, MPI_Test(&q->request[i], &flag, MPI_STATUS_IGNORE), "MPI_Test");
    if (flag)
        note(q, i, "MPI_Test");
}

static void by_get_status(struct requests *q, int from, int to, struct fuzz_random *mine)
{
    int i = one_of(q, from, to, mine), flag = 0;

    right(q, MPI_Request_get_status(q->request[i], &flag, MPI_STATUS_IGNORE),
          "MPI_Request_get_status");
    if (!flag)
        return;
    right(q, MPI_Test(&q->request[i], &flag, MPI_STATUS_IGNORE), "MPI_Test");
    check(flag, "%s: MPI_Test does not see what MPI_Request_get_status has seen",
          fuzz_step_name());
    if (flag)
        note(q, i, "MPI_Request_get_status");
}

static void by_waitall(struct requests *q, int from, int to, struct fuzz_random *mine)
{
    struct statuses s;

    right(q, MPI_Waitall(to - from, q->request + from, wanted(&s, mine)), "MPI_Waitall");
    note_all(q, from, to);
}

/* MPICH 4.0 fails in it. */
static void by_testall(struct requests *q, int from, int to, struct fuzz_random *mine)
{
    struct statuses s;
    int flag = 0;

    if (on_mpich() && any_by_host(q)) {
        by_test(q, from, to, mine);
        return;
    }
    right(q, MPI_Testall(to - from, q->request + from, &flag, wanted(&s, mine)), "MPI_Testall");
    if (flag)
        note_all(q, from, to);
}

/* One that is inactive or null does not count, and where all are MPI says so. */
static void by_waitany(struct requests *q, int from, int to, struct fuzz_random *mine)
{
    int i = 0;

    (void)mine;
    right(q, MPI_Waitany(to - from, q->request + from, &i, MPI_STATUS_IGNORE), "MPI_Waitany");
    if (i == MPI_UNDEFINED)
        fail("%s: MPI_Waitany takes active requests for inactive ones", fuzz_step_name());
    else
        note(q, from + i, "MPI_Waitany");
}

static void by_testany(struct requests *q, int from, int to, struct fuzz_random *mine)
{
    int i = 0, flag = 0;

    (void)mine;
    right(q, MPI_Testany(to - from, q->request + from, &i, &flag, MPI_STATUS_IGNORE),
          "MPI_Testany");
    if (flag && i == MPI_UNDEFINED)
        fail("%s: MPI_Testany takes active requests for inactive ones", fuzz_step_name());
    else if (flag)
        note(q, from + i, "MPI_Testany");
}

static void note_some(struct requests *q, int from, int some, const int *index, const char *how)
{
    if (some == MPI_UNDEFINED)
        fail("%s: %s takes active requests for inactive ones", fuzz_step_name(), how);
    for (int k = 0; k < some && some != MPI_UNDEFINED; k++)
        note(q, from + index[k], how);
}

static void by_waitsome(struct requests *q, int from, int to, struct fuzz_random *mine)
{
    int some = 0, index[MOST + OTHERS];
    struct statuses s;

    right(q, MPI_Waitsome(to - from, q->request + from, &some, index, wanted(&s, mine)),
          "MPI_Waitsome");
    note_some(q, from, some, index, "MPI_Waitsome");
}

static void by_testsome(struct requests *q, int from, int to, struct fuzz_random *mine)
{
    int some = 0, index[MOST + OTHERS];
    struct statuses s;

    right(q, MPI_Testsome(to - from, q->request + from, &some, index, wanted(&s, mine)),
          "MPI_Testsome");
    note_some(q, from, some, index, "MPI_Testsome");
}

typedef void completing(struct requests *q, int from, int to, struct fuzz_random *mine);

static completing *const ways[] = { by_wait,    by_test,    by_get_status, by_waitall,  by_testall,
                                    by_waitany, by_testany, by_waitsome,   by_testsome };
enum { WAYS = sizeof ways / sizeof *ways };

/* FROM to TO: all in one way, or each time in another. */
static void complete(struct requests *q, int from, int to, struct fuzz_random *mine)
{
    size_t way = fuzz_below(mine, 2 * WAYS);

    while (!all_done(q, from, to) && failures() == 0)
        ways[way < WAYS ? way : fuzz_below(mine, WAYS)](q, from, to, mine);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* May the MPI library serve such calls, whatever it may do with blocking ones? */
static bool host_may_serve(void)
{
    static const char *const names[] = { "COLLOPT_SHM", "COLLOPT_SHM_SIZE", "COLLOPT_TOPOLOGY" };
    const char *hostile = getenv("HOSTILE");            /* of its seeds some make memory scarce */

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return true;
    return !with_collopt() || (hostile && strtoull(hostile, NULL, 10) % 3 == 0);
}

static void make(struct requests *q, const struct group *g, uint64_t number, bool host,
                 struct fuzz_random *r)
{
    bool crowded = fuzz_chance(r, 4);
    int n = 1 + (int)fuzz_below(r, crowded ? MOST : fuzz_chance(r, 4) ? MOST / 2 : 5);

    for (int i = 0; i < n; i++) {
        struct later *l = calls_later(g, number, i, crowded, host);

        if (!l)
            continue;
        q->later[q->n] = l;
        q->aside[q->n] = MPI_REQUEST_NULL;
        q->persistent[q->n] = HAVE_INIT && fuzz_chance(r, 3);
        if (q->persistent[q->n])
            calls_begin_later(l, true, &q->request[q->n]);
        q->n++;
    }
}

static void start(struct requests *q)
{
    for (int i = 0; i < q->n; i++) {
        watch_at(calls_words(q->later[i]));
        q->done[i] = false;
        if (q->persistent[i])
            right(q, MPI_Start(&q->request[i]), "MPI_Start");
        else
            calls_begin_later(q->later[i], false, &q->request[i]);
    }
}

/* A null request, an inactive one, and a message to oneself: those that are done from the beginning
 * do not count. */
static void add_others(struct requests *q)
{
    q->all = q->n;
    q->request[q->all++] = MPI_REQUEST_NULL;
    MPI_Recv_init(&q->inbox, 1, MPI_INT, 0, TAG + 1, MPI_COMM_SELF, &q->request[q->all++]);
    MPI_Irecv(&q->inbox, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &q->request[q->all++]);
    MPI_Isend(&q->outbox, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &q->request[q->all++]);
    q->done[q->n] = q->done[q->n + 1] = true;
}

/* A message from one rank to another before the latter begins, and one that leaves when the former
 * has ended all: it is received by a rank that has not. */
struct errands {
    int sender, receiver, first, last;          /* ranks; -1: there is none */
};

static struct errands draw_errands(const struct group *g, struct fuzz_random *r)
{
    struct errands e = { -1, -1, -1, -1 };
    size_t p = (size_t)g->ranks;

    if (p < 2 || g->users > 0)          /* its wildcards would take them */
        return e;
    if (fuzz_chance(r, 2)) {
        e.sender = (int)fuzz_below(r, p);
        e.receiver = (e.sender + 1 + (int)fuzz_below(r, p - 1)) % g->ranks;
    }
    if (fuzz_chance(r, 2)) {
        e.first = (int)fuzz_below(r, p);
        e.last = (e.first + 1 + (int)fuzz_below(r, p - 1)) % g->ranks;
    }
    return e;
}

static void begin_errands(struct requests *q, const struct group *g, const struct errands *e)
{
    if (g->rank == e->sender)
        MPI_Isend(q->message, INTS, MPI_INT, e->receiver, TAG, g->comm, &q->request[q->all++]);
    if (g->rank == e->receiver)
        MPI_Recv(q->message, INTS, MPI_INT, e->sender, TAG, g->comm, MPI_STATUS_IGNORE);
}

static void finish(struct requests *q, const struct group *g, const struct errands *e,
                   struct fuzz_random *mine)
{
    int x = 0;
    bool apart = fuzz_chance(mine, 2);          /* ours alone */

    watch_at("requests: a message of the program's");
    if (g->rank == e->last)
        MPI_Recv(&x, 1, MPI_INT, e->first, TAG + 1, g->comm, MPI_STATUS_IGNORE);
    watch_at("requests are completed");
    if (apart)
        complete(q, 0, q->n, mine);
    complete(q, 0, q->all, mine);
    if (g->rank == e->first)
        MPI_Send(&x, 1, MPI_INT, e->last, TAG + 1, g->comm);
}

static void judge(const struct requests *q)
{
    for (int i = 0; i < q->n && failures() == 0; i++)
        calls_judge_later(q->later[i]);
}

static void release(struct requests *q)
{
    MPI_Request_free(&q->request[q->n + 1]);
    for (int i = 0; i < q->n; i++) {
        take_back(q, i);
        if (q->persistent[i])
            MPI_Request_free(&q->request[i]);
        check(q->request[i] == MPI_REQUEST_NULL, "%s: a request is not null at its end",
              fuzz_step_name());
        calls_end_later(q->later[i]);
    }
    free(q);
}

/* The persistent ones once more. */
static void again(struct requests *q, struct fuzz_random *mine)
{
    for (int i = 0; i < q->n; i++)
        if (q->persistent[i]) {
            calls_refill(q->later[i]);
            take_back(q, i);
            q->done[i] = false;
            right(q, MPI_Start(&q->request[i]), "MPI_Start");
        }
    complete(q, 0, q->n, mine);
}

void requests_make(uint64_t number, bool host)
{
    struct fuzz_random random = fuzz_draw(number, 18), *r = &random,
                       mine = fuzz_draw(number, 9000 + (uint64_t)world_rank);
    const struct group *g = group_of(fuzz_below(r, GROUPS));
    struct errands e;
    struct requests *q;

    if (g->comm == MPI_COMM_NULL)
        return;
    q = calloc(1, sizeof *q);
    make(q, g, number, host || host_may_serve(), r);
    e = draw_errands(g, r);
    add_others(q);
    begin_errands(q, g, &e);
    start(q);
    finish(q, g, &e, &mine);
    judge(q);
    if (failures() == 0 && fuzz_chance(r, 2)) {
        again(q, &mine);
        judge(q);
    }
    release(q);
}
