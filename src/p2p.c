/* The messages of schedules: by shared memory (src/shm), or by the host.
 *
 * A tag is the receiver's context id, the number of the call and the strand, from its highest digits to its lowest.  The
 * number of the call keeps messages that an error has left behind from those of a later call.  The last number is
 * reserved for messages that set up channels. */
#include "config.h"

#include "call.h"
#include "shm/transport.h"

/* A message in several places: its datatype holds addresses, so it is made for this call only. */
int collopt_absolute_type(const struct collopt_plan *plan, const struct collopt_wire *w, MPI_Datatype *made)
{
    MPI_Aint base[plan->bound->slots + COLLOPT_FIRST_SLOT];

    for (int i = 0; i < w->message->runs; i++) {
        int place = w->message->run[i].place, err = PMPI_Get_address(plan->place[place], &base[place]);

        if (err)
            return err;
    }
    return collopt_wire_type(plan, w, base, made);
}

static int tag(const struct collopt_comm *c, const struct collopt_wire *w)
{
    return (int)(c->call % (COLLOPT_CONTEXT_CALLS - 1)) * COLLOPT_STRAND_TAGS + w->tag;
}

static int start(const struct collopt_comm *c, const struct collopt_wire *w, void *at, int count, MPI_Datatype type,
                 MPI_Request *request)
{
    if (w->message->send)
        return PMPI_Isend(at, count, type, w->peer, tag(c, w), c->hidden, request);
    return PMPI_Irecv(at, count, type, w->peer, tag(c, w), c->hidden, request);
}

int collopt_start(struct collopt_comm *c, struct collopt_plan *plan, int message)
{
    const struct collopt_wire *w = &plan->wire[message];
    MPI_Datatype made;
    int err;

    if (!w->absolute)
        return start(c, w, plan->place[w->place] + w->at, w->count, w->type, &plan->request[message]);
    if ((err = collopt_absolute_type(plan, w, &made)))
        return err;
    err = start(c, w, MPI_BOTTOM, 1, made, &plan->request[message]);
    collopt_host.Type_free(&made);
    return err;
}

int collopt_post(struct collopt_comm *c, struct collopt_plan *plan, int message)
{
    const struct collopt_wire *w = &plan->wire[message];

    if (!w->link)
        return collopt_start(c, plan, message);
    if (w->message->send)
        return collopt_shm_send(c, plan, message);
    collopt_shm_post(plan, message);
    return MPI_SUCCESS;
}

static bool is_late(const struct collopt_plan *plan, int message)
{
    for (int i = 0; i < plan->lates; i++)
        if (plan->late[i] == message)
            return true;
    return false;
}

int collopt_test_message(struct collopt_comm *c, struct collopt_plan *plan, int message, bool *done)
{
    const struct collopt_wire *w = &plan->wire[message];
    int err = plan->lates > 0 ? collopt_shm_send_late(c, plan) : MPI_SUCCESS;

    *done = false;
    if (err)
        return err;
    if (w->link && !w->message->send)
        return collopt_shm_receive(c, plan, message, done);
    if (plan->lates > 0 && is_late(plan, message))
        return MPI_SUCCESS;
    *done = plan->request[message] == MPI_REQUEST_NULL;
    return *done ? MPI_SUCCESS : collopt_test(&plan->request[message], done);
}

static int poll(struct collopt_comm *c, struct collopt_plan *plan, int message)
{
    enum { SOON = 64 };         /* looks before others are looked for */
    unsigned polls = 0;
    bool done;

    for (;;) {
        int err = collopt_test_message(c, plan, message, &done);

        if (!err && !done && plan->posteds > 0 && polls % SOON == SOON - 1)
            err = collopt_shm_drain(c, plan);
        if (err || done)
            return err;
        collopt_idle(c, &polls);
    }
}

/* The host may wait only for what is its own, and while no message of ours waits for room or is to be stored. */
int collopt_wait_message(struct collopt_comm *c, struct collopt_plan *plan, int message)
{
    const struct collopt_wire *w = &plan->wire[message];

    if (plan->lates > 0 || plan->posteds > 0 || (w->link && !w->message->send))
        return poll(c, plan, message);
    return collopt_wait(c, &plan->request[message]);
}

/* Post and wait in one, where the host's own way of waiting will do. */
int collopt_receive_now(struct collopt_comm *c, struct collopt_plan *plan, int message)
{
    const struct collopt_wire *w = &plan->wire[message];
    int err;

    if (w->link)
        return poll(c, plan, message);
    if (!c->polite && !w->absolute && plan->lates + plan->posteds == 0)
        return PMPI_Recv(plan->place[w->place] + w->at, w->count, w->type, w->peer, tag(c, w), c->hidden, MPI_STATUS_IGNORE);
    if ((err = collopt_post(c, plan, message)))
        return err;
    return collopt_wait_message(c, plan, message);
}

int collopt_send_now(struct collopt_comm *c, struct collopt_plan *plan, int message)
{
    const struct collopt_wire *w = &plan->wire[message];
    int err;

    if (!w->link && !c->polite && !w->absolute && plan->lates + plan->posteds == 0)
        return PMPI_Send(plan->place[w->place] + w->at, w->count, w->type, w->peer, tag(c, w), c->hidden);
    if ((err = collopt_post(c, plan, message)))
        return err;
    return collopt_wait_message(c, plan, message);
}

/* Receives are cancelled, sends left to themselves: the communicator is in the state that the host's error left it in.  True if
 * anything was under way. */
bool collopt_abandon(struct collopt_plan *plan)
{
    bool any = false;

    collopt_shm_abandon(plan);
    for (int i = 0; i < plan->bound->messages; i++) {
        if (plan->request[i] == MPI_REQUEST_NULL)
            continue;
        any = true;
        if (!plan->bound->message[i].send)
            PMPI_Cancel(&plan->request[i]);
        PMPI_Request_free(&plan->request[i]);
        plan->request[i] = MPI_REQUEST_NULL;
    }
    return any;
}
