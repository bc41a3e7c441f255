/* The messages of schedules.
 *
 * A tag is the receiver's context id, the number of the call and the strand, from its highest digits to its lowest.  The
 * number of the call keeps messages that an error has left behind from those of a later call. */
#include "config.h"

#include "call.h"

/* A message in several places: its datatype holds addresses, so it is made for this call only. */
static int absolute_type(const struct collopt_plan *plan, const struct collopt_wire *w, MPI_Datatype *made)
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
    return (int)(c->call % COLLOPT_CONTEXT_CALLS) * COLLOPT_STRAND_TAGS + w->tag;
}

static int start(const struct collopt_comm *c, const struct collopt_wire *w, void *at, int count, MPI_Datatype type,
                 MPI_Request *request)
{
    if (w->message->send)
        return PMPI_Isend(at, count, type, w->peer, tag(c, w), c->hidden, request);
    return PMPI_Irecv(at, count, type, w->peer, tag(c, w), c->hidden, request);
}

int collopt_post(struct collopt_comm *c, struct collopt_plan *plan, int message)
{
    const struct collopt_wire *w = &plan->wire[message];
    MPI_Datatype made;
    int err;

    if (!w->absolute)
        return start(c, w, plan->place[w->place] + w->at, w->count, w->type, &plan->request[message]);
    if ((err = absolute_type(plan, w, &made)))
        return err;
    err = start(c, w, MPI_BOTTOM, 1, made, &plan->request[message]);
    collopt_host.Type_free(&made);
    return err;
}

/* Post and wait in one, where the host's own way of waiting will do. */
int collopt_receive_now(struct collopt_comm *c, struct collopt_plan *plan, int message)
{
    const struct collopt_wire *w = &plan->wire[message];
    int err;

    if (!c->polite && !w->absolute)
        return PMPI_Recv(plan->place[w->place] + w->at, w->count, w->type, w->peer, tag(c, w), c->hidden, MPI_STATUS_IGNORE);
    if ((err = collopt_post(c, plan, message)))
        return err;
    return collopt_wait(c, &plan->request[message]);
}

int collopt_send_now(struct collopt_comm *c, struct collopt_plan *plan, int message)
{
    const struct collopt_wire *w = &plan->wire[message];
    int err;

    if (!c->polite && !w->absolute)
        return PMPI_Send(plan->place[w->place] + w->at, w->count, w->type, w->peer, tag(c, w), c->hidden);
    if ((err = collopt_post(c, plan, message)))
        return err;
    return collopt_wait(c, &plan->request[message]);
}

/* Receives are cancelled, sends left to themselves: the communicator is in the state that the host's error left it in.  True if
 * anything was under way. */
bool collopt_abandon(struct collopt_plan *plan)
{
    bool any = false;

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
