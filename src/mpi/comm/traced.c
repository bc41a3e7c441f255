/* See traced.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "mpi/comm/traced.h"
#include "mpi/comm/members.h"

static void forget(struct collopt_comm *c)
{
    collopt_traced_leave_comm(collopt_part(c, COLLOPT_PART_TRACED));
    collopt_part_attach(c, COLLOPT_PART_TRACED, NULL, NULL);
}

/* 0: an intercommunicator, or not known. */
static uint64_t id_of(const struct collopt_comm *c)
{
    bool intra = c->status != COLLOPT_INTERCOMM && c->ranks > 0;
    int *member = intra ? malloc((size_t)c->ranks * sizeof *member) : NULL;
    uint64_t id = 0;

    if (member && collopt_members_find(collopt_comm_of(c), c->ranks, member))
        id = collopt_members_hash(member, c->ranks);
    free(member);
    return id;
}

static struct collopt_traced_comm *add_row(struct collopt_comm *c)
{
    static const struct collopt_part_ops ops = { .end = forget };
    struct collopt_traced_comm about = { .id = id_of(c), .rank = c->rank, .ranks = c->ranks }, *row;
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;

    PMPI_Comm_get_name(collopt_comm_of(c), name, &length);
    snprintf(about.name, sizeof about.name, "%.*s", (int)sizeof about.name - 1, name);
    row = collopt_traced_comm(&about);
    if (row)
        collopt_part_attach(c, COLLOPT_PART_TRACED, row, &ops);
    return row;
}

static const struct collopt_traced_comm *row_of(struct collopt_comm *c)
{
    const struct collopt_traced_comm *row = collopt_part(c, COLLOPT_PART_TRACED);

    return row || !collopt_traced_has_room() ? row : add_row(c);
}

struct collopt_traced *collopt_trace(struct collopt_comm *c, struct collopt_traced call)
{
    call.comm = row_of(c);
    return collopt_traced_add(&call);
}

struct collopt_traced collopt_trace_describe(struct collopt_comm *c,
                                             const struct collopt_call *call,
                                             struct collopt_traced what)
{
    what.comm = row_of(c);
    what.name = call->name;
    what.collective = call->collective;
    what.count = !collopt_call_scatters(call) ? call->count
        : what.bytes != COLLOPT_NOT_TRACED    ? collopt_call_elements(call, c->ranks)
                                              : COLLOPT_NOT_TRACED;
    return what;
}

struct collopt_traced *collopt_trace_call(struct collopt_comm *c, const struct collopt_call *call,
                                          struct collopt_traced what)
{
    what = collopt_trace_describe(c, call, what);
    return collopt_traced_add(&what);
}
