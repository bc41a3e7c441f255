/* Profiling tools behind us: both they and we see every call once, whichever way it goes on.
 *
 * A tool gives its MPI_X, and goes on by calling PMPI_X, where it comes back to us, or by the next
 * PMPI_X after itself (dlsym with RTLD_NEXT), where it does not if it was loaded after us. It may
 * define PMPI_X as well, for Fortran bindings that call that. So each name has three functions
 * here, put in the way only where there is a tool:
 *
 *     by_mpi_X    MPI_X was called: the next tool's MPI_X
 *     by_pmpi_X   PMPI_X was called: the next tool's PMPI_X, unless it has it in hand; else our
 *                 work
 *     onward_X    for the names that we only listen to (COLLOPT_SERVICES): our work stands around
 *                 the call, and this is what it goes on with. So it is done even if the call never
 *                 comes back
 *
 * Reductions are our work in place of the host's, so there the call must come back. One that does
 * not is counted, and said.
 *
 * MPI_Init comes in twice where it comes back: the work is done at the first return, for the tool
 * may reduce at once. MPI_Finalize is not stood around, for the tool may reduce first; where it
 * does not come back, the backend hears of it by an attribute of MPI_COMM_SELF
 * (src/mpi/call/init.c).  MPI_Pcontrol is in pcontrol.c. */

#include "config.h"

#include <stdbool.h>
#include <stddef.h>

#include "front/tools.h"
#include "front/binding.h"
#include "front/front.h"

enum given { NOBODY, MPI_TOOL, PMPI_TOOL };

/* The innermost of a thread's active calls of one name. */
struct stage {
    enum given given;           /* who has it in hand */
    enum given next;            /* to whom onward_X gives it */
    unsigned reached;           /* how often our work or the host was reached by way of us */
};
static _Thread_local struct stage stages[COLLOPT_NAME_COUNT];

struct visit {
    enum collopt_name name;
    struct stage before;
    collopt_function function, tool;    /* what to call; the tool that is called, or NULL */
};

#define IS_SERVICE(function, id, ID, needs, parameters, arguments) [COLLOPT_NAME_##ID] = true,
static const bool service[COLLOPT_NAME_COUNT] = { COLLOPT_SERVICES(IS_SERVICE) };

static bool stands_around(const struct collopt_backend_table *backend, enum collopt_name name)
{
    return service[name] && name != COLLOPT_NAME_FINALIZE && backend && backend->entry[name];
}

static bool is_init(enum collopt_name name)
{
    return name == COLLOPT_NAME_INIT || name == COLLOPT_NAME_INIT_THREAD;
}

static enum given next_tool(enum collopt_name name, bool by_mpi)
{
    const struct collopt_binding *b = collopt_binding();

    if (by_mpi)
        return b->tool_mpi[name] ? MPI_TOOL : NOBODY;
    return b->tool_pmpi[name] && stages[name].given != PMPI_TOOL ? PMPI_TOOL : NOBODY;
}

/* Gives the call to tool NEXT.  NOBODY: gives it to our function if WORK is set, else to the
 * host. */
static void give(struct visit *v, enum given next, bool work)
{
    const struct collopt_binding *b = collopt_binding();
    struct stage *s = &stages[v->name];

    s->given = next;
    s->next = NOBODY;
    s->reached += next == NOBODY;
    v->tool = next == MPI_TOOL ? b->tool_mpi[v->name]
        : next == PMPI_TOOL    ? b->tool_pmpi[v->name]
                               : NULL;
    v->function = v->tool ? v->tool : work ? b->work[v->name] : b->host[v->name];
}

static struct visit arrive(enum collopt_name name, bool by_mpi)
{
    struct stage *s = &stages[name];
    struct visit v = { .name = name, .before = *s };
    enum given next = next_tool(name, by_mpi);
    bool around = stands_around(collopt_binding()->backend, name);
    bool comes_back = s->given == PMPI_TOOL || (s->given == MPI_TOOL && !by_mpi);

    if (!around || (comes_back && !is_init(name))) {
        give(&v, next, !around);
    } else {
        s->next = next;
        v.function = collopt_binding()->work[name];
    }
    return v;
}

static struct visit go_on(enum collopt_name name)
{
    struct visit v = { .name = name, .before = stages[name] };

    give(&v, v.before.next, false);
    return v;
}

static void leave(const struct visit *v, int err)
{
    struct stage *s = &stages[v->name];
    bool past = v->tool && err == 0 && s->reached == v->before.reached;

    s->given = v->before.given;
    s->next = v->before.next;
    s->reached += past;                 /* said once, if several tools are on the way */
    if (past && !service[v->name])
        collopt_bypassed(v->name, v->tool);
}

#define WAY(name, how, parameters, arguments) \
    static int name parameters \
    { \
        struct visit v = how; \
        int err = v.function ? ((int (*) parameters)v.function) arguments \
        : collopt_binding()->unsupported; \
        \
        leave(&v, err); \
        return err; \
    }
#define WAYS(function, id, ID, needs, parameters, arguments) \
    WAY(by_##function, arrive(COLLOPT_NAME_##ID, true), parameters, arguments) \
    WAY(by_P##function, arrive(COLLOPT_NAME_##ID, false), parameters, arguments) \
    WAY(onward_##function, go_on(COLLOPT_NAME_##ID), parameters, arguments)
COLLOPT_NAMES(WAYS)

#define ROW(function, id, ID, needs, parameters, arguments) \
    [COLLOPT_NAME_##ID] = { (collopt_function)by_##function, (collopt_function)by_P##function, \
                            (collopt_function)onward_##function },
static const struct {
    collopt_function by_mpi, by_pmpi, onward;
} ways[COLLOPT_NAME_COUNT] = { COLLOPT_NAMES(ROW) };

void collopt_stand_around_tools(const struct collopt_binding *b, struct collopt_front_table *front)
{
    for (int i = 0; i < COLLOPT_NAME_COUNT; i++)
        front->next[i] = service[i] && front->host[i] && (b->tool_mpi[i] || b->tool_pmpi[i])
            ? ways[i].onward
            : front->host[i];
}

void collopt_go_by_tools(struct collopt_binding *b)
{
    for (int i = 0; i < COLLOPT_NAME_COUNT; i++) {
        bool tools = ways[i].by_mpi && (b->tool_mpi[i] || b->tool_pmpi[i]);

        b->mpi[i] = tools ? ways[i].by_mpi : b->work[i];
        b->pmpi[i] = tools ? ways[i].by_pmpi : b->work[i];
    }
}
