/* Sets the messages of plans; see wires.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/plan/wires.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/links.h"
#include "mpi/plan/plan.h"
#include "schedule/block.h"
#include "schedule/bound.h"

/* Does R end where the user's memory may end?  Then the gap behind its last element may not
 * exist. */
static bool ends_memory(const struct collopt_plan *plan, const struct collopt_run *r)
{
    return r->place < COLLOPT_FIRST_SLOT && r->at + r->n == plan->data.end[r->place];
}

static MPI_Aint displacement_of(const struct collopt_wire *w, char *const *place, int which,
                                MPI_Aint origin)
{
    MPI_Aint address = 0;

    if (!place)
        return -w->at;
    PMPI_Get_address(place[which], &address);
    return address - origin;
}

/* The bytes of a message with gaps go as they lie, up to the end of the last element's data.  An
 * earlier run that ends the user's memory sends its own first bytes in the place of its last gap:
 * what is received as a gap means nothing. */
static int pieces_of(const struct collopt_plan *plan, const struct collopt_wire *w,
                     char *const *place, MPI_Aint origin, int *length, MPI_Aint *at)
{
    const struct collopt_message *m = w->message;
    int n = 0;

    for (int i = 0; i < m->runs; i++) {
        const struct collopt_run *r = &m->run[i];
        bool last = i == m->runs - 1,
             fill = w->units > 1 && m->send && !last && ends_memory(plan, r);
        int gap = w->units > 1 && (last || fill) ? plan->data.tail : 0;

        at[n] = displacement_of(w, place, r->place, origin)
            + (MPI_Aint)r->at * plan->element.extent;
        length[n++] = (int)r->n * w->units - gap;
        if (fill && gap > 0) {
            at[n] = at[n - 1];
            length[n++] = gap;
        }
    }
    return n;
}

int collopt_wire_type(const struct collopt_plan *plan, const struct collopt_wire *w,
                      char *const *place, MPI_Aint origin, MPI_Datatype *made)
{
    size_t room = 2 * (size_t)w->message->runs;
    int err = MPI_ERR_NO_MEM, *length = malloc(room * sizeof *length);
    MPI_Aint *at = malloc(room * sizeof *at);

    if (length && at
        && !(err = PMPI_Type_create_hindexed(pieces_of(plan, w, place, origin, length, at), length,
                                             at, w->unit, made)))
        err = PMPI_Type_commit(made);
    free(length);
    free(at);
    return err;
}

static bool one_place(const struct collopt_message *m)
{
    for (int i = 1; i < m->runs; i++)
        if (m->run[i].place != m->run[0].place)
            return false;
    return true;
}

/* Both ends know the length, and decide alike. */
static bool carries_gaps(const struct collopt_plan *plan, const struct collopt_message *m,
                         bool near)
{
    bool eager_without = m->n * plan->element.size <= plan->data.eager
        && m->n * (size_t)plan->element.extent > plan->data.eager;

    return plan->data.gaps && (near || !eager_without);
}

bool collopt_is_derived(const struct collopt_facts *f)
{
    return !f->predefined && !f->predefined_type;
}

/* Do the data of the user's datatype lie in the order in which they are sent?  Packs an element
 * twice whose bytes are their own positions, for which two bytes each are needed.  False for a
 * datatype that cannot be packed since it is not committed. */
bool collopt_lies_in_order(const struct collopt_comm *c, const struct collopt_facts *f)
{
    /* bytes; of longer elements packing is a small part of what they take */
    enum { MOST = 4096 };
    unsigned char lying[MOST], packed[MOST];

    if (!f->dense || f->size > MOST)
        return false;
    for (int part = 0; part < 2; part++) {
        int position = 0;

        for (size_t i = 0; i < f->size; i++)
            lying[i] = (unsigned char)(i >> 8 * part);
        if (PMPI_Pack(lying, 1, f->type, packed, MOST, &position, c->hidden)
            || (size_t)position != f->size || memcmp(lying, packed, f->size) != 0)
            return false;
    }
    return true;
}

/* Do the data lie in memory as in a message?  A user's datatype may have them in another order, and
 * another rank's datatype for the same data in yet another. */
bool collopt_is_plain(const struct collopt_plan *plan)
{
    return plan->data.ordered || (plan->element.dense && !collopt_is_derived(&plan->element));
}

/* Message I of a multicast has the data of an earlier one.  Returns the first of these, + 1. */
static int first_with_its_data(const struct collopt_plan *plan, int i)
{
    const struct collopt_message *message = plan->bound->message, *m = &message[i];
    int k = i - 1;

    while (message[k].member != m->member || message[k].run[0].place != m->run[0].place
           || message[k].run[0].at != m->run[0].at)
        k--;
    return plan->wire[k].repeats ? plan->wire[k].repeats : k + 1;
}

/* A message carries a tag of its receiver's. */
static bool set_wire(struct collopt_comm *c, struct collopt_plan *plan, const bool *near, int i)
{
    const struct collopt_message *m = &plan->bound->message[i];
    struct collopt_wire *w = &plan->wire[i];
    bool gaps = carries_gaps(plan, m, near && near[m->peer]);
    MPI_Datatype unit = gaps ? MPI_BYTE : plan->element.type;
    int units = gaps ? (int)plan->element.extent : 1;
    struct collopt_peer peer = collopt_peer(c, m->peer),
                        receiver = collopt_peer(c, m->send ? m->peer : c->rank);

    *w = (struct collopt_wire){ .peer = peer.rank,
                                .tag = receiver.tags + collopt_tag_of(m),
                                .count = (int)m->n * units - (gaps ? plan->data.tail : 0),
                                .place = m->run[0].place,
                                .at = (ptrdiff_t)m->run[0].at * plan->element.extent,
                                .type = unit,
                                .unit = unit,
                                .units = units,
                                .message = m };
    w->bytes = gaps ? (size_t)w->count : m->n * plan->element.size;
    w->repeats = m->repeats ? first_with_its_data(plan, i) : 0;
    w->flat = collopt_is_plain(plan) || (gaps && m->runs == 1);
    if (near && near[m->peer]
        && !(w->link = collopt_link_to(c, m, w->bytes)))
        return false;
    plan->data.derived |= w->link && collopt_is_derived(&plan->element);
    if (m->send)
        plan->sent[w->link ? COLLOPT_SENT_BY_SHM : COLLOPT_SENT_BY_HOST] += w->bytes;
    if (m->runs == 1)
        return true;
    w->count = 1;
    if (!one_place(m)) {
        w->absolute = true;
        return true;
    }
    w->made = collopt_wire_type(plan, w, NULL, 0, &w->type) == MPI_SUCCESS;
    return w->made;
}

static void find_ends(struct collopt_plan *plan)
{
    for (int i = 0; i < plan->bound->messages; i++)
        for (int k = 0; k < plan->bound->message[i].runs; k++) {
            const struct collopt_run *r = &plan->bound->message[i].run[k];

            if (r->place < COLLOPT_FIRST_SLOT && plan->data.end[r->place] < r->at + r->n)
                plan->data.end[r->place] = r->at + r->n;
        }
}

/* Marks the wires between ranks that send to one another.  OTHER is room for a flag of each. */
static void find_exchanges(const struct collopt_comm *c, struct collopt_plan *plan, bool *other)
{
    const struct collopt_message *m = plan->bound->message;

    for (int send = 0; send < 2; send++) {
        memset(other, 0, (size_t)c->ranks * sizeof *other);
        for (int i = 0; i < plan->bound->messages; i++)
            if (m[i].send != send)
                other[m[i].peer] = true;
        for (int i = 0; i < plan->bound->messages; i++)
            if (m[i].send == send)
                plan->wire[i].exchanged = other[m[i].peer];
    }
}

bool collopt_wires_set(struct collopt_comm *c, struct collopt_plan *plan)
{
    bool *of_rank = malloc((size_t)c->ranks * sizeof *of_rank), set = of_rank != NULL;
    bool any = set && plan->shm && collopt_links_near(c, of_rank);

    find_ends(plan);
    memset(plan->sent, 0, sizeof plan->sent);
    for (int i = 0; set && i < plan->bound->messages; i++) {
        set = set_wire(c, plan, any ? of_rank : NULL, i);
        plan->data.types_made |= plan->wire[i].made;
    }
    if (set && any)
        find_exchanges(c, plan, of_rank);
    free(of_rank);
    return collopt_links_settle(c) == MPI_SUCCESS && set;
}
