/* See trace.h.  An event is one object on one line.  A blocking reduction has a slice, with waiting
 * and reducing inside where they are known; others have the two ends of an asynchronous slice. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/trace.h"
#include "base/json.h"
#include "report/notes.h"
#include "report/output.h"
#include "report/traced.h"
#include "schedule/problem.h"

struct timeline {
    struct collopt_json json;
    const struct collopt_trace_by *by;
    const struct collopt_traced **call;
    size_t calls;
    uint64_t *number;           /* [rows + 1]: calls so far */
};

/* ---- parts of events ------------------------------------------------------------------------- */

/* Opens an event of this PHASE on a ROW. */
static void begin(struct timeline *t, const char *phase, const char *name, int row)
{
    collopt_json_object(&t->json, NULL);
    collopt_json_text(&t->json, "ph", phase);
    collopt_json_text(&t->json, "name", name);
    collopt_json_count(&t->json, "pid", (uint64_t)t->by->rank);
    collopt_json_count(&t->json, "tid", (uint64_t)row);
}

static void end(struct timeline *t)
{
    collopt_json_end(&t->json);
}

static void metadata(struct timeline *t, const char *what, int row, const char *name)
{
    begin(t, "M", what, row);
    collopt_json_object(&t->json, "args");
    collopt_json_text(&t->json, "name", name);
    end(t);
    end(t);
}

static void sort_index(struct timeline *t, const char *what, int row, int index)
{
    begin(t, "M", what, row);
    collopt_json_object(&t->json, "args");
    collopt_json_count(&t->json, "sort_index", (uint64_t)index);
    end(t);
    end(t);
}

/* Microseconds. */
static void span(struct timeline *t, int64_t from, int64_t to)
{
    collopt_json_thousandths(&t->json, "ts", from);
    collopt_json_thousandths(&t->json, "dur", to - from);
}

static void title(const struct collopt_traced_comm *c, char *text, size_t size)
{
    const char *name = *c->name ? c->name : c->id ? "communicator" : "intercommunicator";

    snprintf(text, size, "%s, %d rank%s (%d)", name, c->ranks, c->ranks == 1 ? "" : "s", c->row);
}

static void arguments(struct timeline *t, const struct collopt_traced *c)
{
    static const char *const form[] = { "blocking", "nonblocking", "persistent", "nonblocking" };
    char id[24];

    collopt_json_object(&t->json, "args");
    collopt_json_text(&t->json, "collective", collopt_collective_names[c->collective]);
    collopt_json_text(&t->json, "form", form[c->form]);
    collopt_json_count(&t->json, "call", ++t->number[c->comm->row]);
    if (c->count != COLLOPT_NOT_TRACED)
        collopt_json_count(&t->json, "count", c->count);
    if (c->bytes != COLLOPT_NOT_TRACED)
        collopt_json_count(&t->json, "bytes", c->bytes);
    collopt_json_text(&t->json, "algorithm", c->by ? c->by : "MPI library");
    if (!c->by && c->why)
        collopt_json_text(&t->json, "why", c->why);
    snprintf(id, sizeof id, "%016" PRIx64, c->comm->id);
    collopt_json_text(&t->json, "communicator", id);
    end(t);
}

/* "MPI_Allreduce", "MPIX_Allreduce_init" */
static void function(const struct collopt_traced *c, char *text, size_t size)
{
    snprintf(text, size, c->name[0] == 'X' && c->name[1] == '_' ? "MPI%s" : "MPI_%s", c->name);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void part(struct timeline *t, const struct collopt_traced *c, const char *name,
                 const char *colour, int64_t from, int64_t to)
{
    if (to <= from)
        return;
    begin(t, "X", name, c->comm->row);
    collopt_json_text(&t->json, "cname", colour);
    span(t, from, to);
    end(t);
}

/* Both ends are moved to the common clock, so that calls do not overlap there. */
static void blocking(struct timeline *t, const struct collopt_traced *c, const char *name)
{
    int64_t from = t->by->time(c->entered), to = t->by->time(c->entered + c->took), arrived;

    begin(t, "X", name, c->comm->row);
    span(t, from, to);
    arguments(t, c);
    end(t);
    if (!c->waiting || *c->waiting == COLLOPT_NOTES_UNKNOWN)
        return;
    arrived = t->by->time(c->entered + *c->waiting);
    part(t, c, "waiting", "terrible", from, arrived);
    part(t, c, "reducing", "good", arrived, to);
}

/* "b" and "e" belong together by ID among those of this process. */
static void end_of_async(struct timeline *t, const struct collopt_traced *c, const char *phase,
                         const char *name, size_t id, uint64_t time)
{
    char text[24];

    begin(t, phase, name, c->comm->row);
    collopt_json_text(&t->json, "cat", "reduction");
    collopt_json_object(&t->json, "id2");
    snprintf(text, sizeof text, "0x%zx", id);
    collopt_json_text(&t->json, "local", text);
    end(t);
    collopt_json_thousandths(&t->json, "ts", t->by->time(time));
}

static void asynchronous(struct timeline *t, const struct collopt_traced *c, const char *name,
                         size_t id)
{
    end_of_async(t, c, "b", name, id, c->entered);
    arguments(t, c);
    end(t);
    if (c->took == COLLOPT_NOT_ENDED)
        return;
    end_of_async(t, c, "e", name, id, c->entered + c->took);
    end(t);
}

static void event(struct timeline *t, const struct collopt_traced *c, size_t id)
{
    char name[64];

    function(c, name, sizeof name);
    if (c->form == COLLOPT_TRACED_BLOCKING)
        blocking(t, c, name);
    else
        asynchronous(t, c, name, id);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void about(struct timeline *t)
{
    const struct collopt_trace_by *by = t->by;

    collopt_json_object(&t->json, "otherData");
    collopt_json_text(&t->json, "collopt", PACKAGE_VERSION);
    collopt_json_text(&t->json, "mpi", by->mpi);
    collopt_json_text(&t->json, "host", by->host);
    collopt_json_count(&t->json, "rank", (uint64_t)by->rank);
    collopt_json_count(&t->json, "ranks", (uint64_t)by->ranks);
    collopt_json_count(&t->json, "started", by->started);
    collopt_json_text(&t->json, "clock", by->common ? "common" : "own");
    collopt_json_thousandths(&t->json, "clock_error", (int64_t)by->clock_error);
    collopt_json_count(&t->json, "calls", t->calls);
    collopt_json_count(&t->json, "dropped", collopt_traced_dropped());
    end(t);
}

static void rows(struct timeline *t)
{
    char text[128];

    snprintf(text, sizeof text, "rank %d on %s", t->by->rank, t->by->host);
    metadata(t, "process_name", 0, text);
    sort_index(t, "process_sort_index", 0, t->by->rank);
    for (const struct collopt_traced_comm *c = collopt_traced_comms(); c; c = c->next) {
        title(c, text, sizeof text);
        metadata(t, "thread_name", c->row, text);
        sort_index(t, "thread_sort_index", c->row, c->row);
    }
}

static void write_all(FILE *to, void *data)
{
    struct timeline *t = data;

    t->json.to = to;
    collopt_json_object(&t->json, NULL);
    about(t);
    collopt_json_text(&t->json, "displayTimeUnit", "ns");
    collopt_json_array(&t->json, "traceEvents");
    rows(t);
    for (size_t i = 0; i < t->calls; i++)
        event(t, t->call[i], i + 1);
    end(t);
    end(t);
}

static size_t number_of_rows(void)
{
    size_t n = 0;

    for (const struct collopt_traced_comm *c = collopt_traced_comms(); c; c = c->next)
        n++;
    return n;
}

/* Those since BY->since, which come last. */
static void drop_earlier(struct timeline *t)
{
    size_t first = 0;

    while (first < t->calls && t->call[first]->entered < t->by->since)
        first++;
    t->call += first;
    t->calls -= first;
}

bool collopt_trace_write(const char *where, const struct collopt_trace_by *by)
{
    struct timeline t = { .by = by };
    const struct collopt_traced **call = t.call = collopt_traced_sorted(&t.calls);
    bool done;

    t.number = calloc(number_of_rows() + 1, sizeof *t.number);
    errno = ENOMEM;
    done = t.number && call;
    if (done) {
        drop_earlier(&t);
        done = collopt_output(where, by->rank, write_all, &t);
    }
    free(call);
    free(t.number);
    return done;
}
