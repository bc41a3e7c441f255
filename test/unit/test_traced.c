/* The calls that COLLOPT_TRACE keeps, and the file that is made of them. */
#include "config.h"

#include "report/notes.h"
#include "report/trace.h"
#include "report/traced.h"
#include "schedule/problem.h"
#include "suite.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct collopt_traced_comm *comm(const char *name, uint64_t id)
{
    struct collopt_traced_comm about = { .id = id, .rank = 1, .ranks = 4 };

    snprintf(about.name, sizeof about.name, "%s", name);
    return collopt_traced_comm(&about);
}

static struct collopt_traced *call(const struct collopt_traced_comm *c, uint64_t entered,
                                   uint64_t took)
{
    return collopt_traced_add(&(struct collopt_traced){
        .comm = c, .name = "Scan", .collective = COLLOPT_SCAN, .entered = entered, .took = took,
        .bytes = 8, .count = 1 });
}

/* A row serves the next communicator that is alike, once the one that had it is freed. */
TEST(rows_are_used_again)
{
    struct collopt_traced_comm *a, *b, *other;

    collopt_traced_begin(1 << 20);
    a = comm("solver", 7);
    b = comm("solver", 7);
    other = comm("solver", 8);
    ck_assert_int_eq(a->row, 1);
    ck_assert_int_eq(b->row, 2);
    ck_assert_int_eq(other->row, 3);
    collopt_traced_leave_comm(a);
    ck_assert_ptr_ne(comm("mesh", 7), a);
    ck_assert_ptr_eq(comm("solver", 7), a);
    ck_assert_ptr_ne(comm("solver", 7), a);
}

/* The first ones are kept, across pieces; the others are counted. */
TEST(room_is_bounded)
{
    enum { KEPT = 3000, MORE = 10 };
    const struct collopt_traced **list;
    struct collopt_traced_comm *c;
    size_t n;

    collopt_traced_begin(sizeof *c + KEPT * sizeof **list);
    c = comm("", 1);
    ck_assert(collopt_traced_has_room());
    for (uint64_t i = 0; i < KEPT; i++)
        ck_assert_ptr_nonnull(call(c, 1 + i, 1));
    ck_assert(!collopt_traced_has_room());
    for (int i = 0; i < MORE; i++)
        ck_assert_ptr_null(call(c, 1, 1));
    ck_assert_ptr_null(comm("other", 2));
    ck_assert_ptr_null(call(NULL, 1, 1));
    ck_assert_uint_eq(collopt_traced_dropped(), MORE + 1);
    list = collopt_traced_sorted(&n);
    ck_assert_uint_eq(n, KEPT);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(list[i]->entered, 1 + i);
    free(list);
}

/* By entry; what has others inside comes first.  A call ends once. */
TEST(calls_in_order)
{
    const struct collopt_traced **list;
    struct collopt_traced_comm *c;
    struct collopt_traced *open;
    size_t n;

    collopt_traced_begin(1 << 20);
    c = comm("", 1);
    call(c, 50, 10);
    call(c, 20, 5);
    call(c, 20, 30);
    open = call(c, 30, COLLOPT_NOT_ENDED);
    collopt_traced_end(open);
    ck_assert_uint_ne(open->took, COLLOPT_NOT_ENDED);
    open->took = 4;
    collopt_traced_end(open);
    ck_assert_uint_eq(open->took, 4);
    collopt_traced_end(NULL);
    list = collopt_traced_sorted(&n);
    ck_assert_uint_eq(n, 4);
    ck_assert_uint_eq(list[0]->took, 30);
    ck_assert_uint_eq(list[1]->took, 5);
    ck_assert_ptr_eq(list[2], open);
    ck_assert_uint_eq(list[3]->entered, 50);
    free(list);
}

static int64_t later(uint64_t time)
{
    return (int64_t)time - 1500;
}

static json_t *written(const struct collopt_trace_by *by, const char *folder)
{
    char name[256];
    json_error_t error;
    json_t *whole;

    snprintf(name, sizeof name, "%s/trace", folder);
    ck_assert(collopt_trace_write(name, by));
    snprintf(name, sizeof name, "%s/trace.%d", folder, by->rank);
    whole = json_load_file(name, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(whole != NULL, "%s:%d: %s", name, error.line, error.text);
    unlink(name);
    return whole;
}

static const char *text_of(const json_t *events, size_t i, const char *key)
{
    return json_string_value(json_object_get(json_array_get(events, i), key));
}

static double number_of(const json_t *events, size_t i, const char *key)
{
    return json_number_value(json_object_get(json_array_get(events, i), key));
}

/* Waiting and reducing follow each other; what is not known is not there; times before SINCE and
 * times before the common beginning. */
TEST(events_of_calls)
{
    char folder[] = "/tmp/collopt-traced-XXXXXX";
    struct collopt_trace_by by = { .mpi = "MPI", .host = "a \"b\"", .rank = 2, .ranks = 4,
                                   .time = later, .common = true, .since = 1000,
                                   .clock_error = 250 };
    const uint64_t waiting = 300, unknown = COLLOPT_NOTES_UNKNOWN;
    struct collopt_traced *c;
    json_t *whole, *events;
    const size_t first = 4;     /* behind names */

    ck_assert_ptr_nonnull(mkdtemp(folder));
    collopt_traced_begin(1 << 20);
    call(comm("solver", 7), 900, 10);
    c = call(comm("mesh", 8), 1400, 1000);
    c->waiting = &waiting;
    c->why = "switched off";
    c = call(c->comm, 5000, 20);
    c->waiting = &unknown;
    c->by = "ring";
    c = call(c->comm, 6000, COLLOPT_NOT_ENDED);
    c->form = COLLOPT_TRACED_NONBLOCKING;
    whole = written(&by, folder);
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(whole, "otherData"),
                                                        "calls")), 3);
    events = json_object_get(whole, "traceEvents");
    ck_assert_uint_eq(json_array_size(events), first + 2 + 3 + 1 + 1);
    ck_assert_str_eq(text_of(events, first + 2, "name"), "MPI_Scan");
    ck_assert_double_eq_tol(number_of(events, first + 2, "ts"), -0.1, 1e-9);
    ck_assert_double_eq_tol(number_of(events, first + 2, "dur"), 1, 1e-9);
    ck_assert_str_eq(text_of(events, first + 3, "name"), "waiting");
    ck_assert_double_eq_tol(number_of(events, first + 3, "dur"), 0.3, 1e-9);
    ck_assert_str_eq(text_of(events, first + 4, "name"), "reducing");
    ck_assert_double_eq_tol(number_of(events, first + 4, "ts"), 0.2, 1e-9);
    ck_assert_double_eq_tol(number_of(events, first + 4, "dur"), 0.7, 1e-9);
    ck_assert_str_eq(text_of(events, first + 5, "ph"), "X");
    ck_assert_str_eq(text_of(events, first + 6, "ph"), "b");
    json_decref(whole);
    rmdir(folder);
}

/* Nothing was called; a folder in the place of the file. */
TEST(empty_and_impossible)
{
    char folder[] = "/tmp/collopt-traced-XXXXXX";
    struct collopt_trace_by by = { .mpi = "MPI", .host = "h", .ranks = 1, .time = later };
    json_t *whole;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    whole = written(&by, folder);
    ck_assert_uint_eq(json_array_size(json_object_get(whole, "traceEvents")), 2);
    json_decref(whole);
    ck_assert(!collopt_trace_write(folder, &by));
    ck_assert_int_eq(errno, EISDIR);
    ck_assert(!collopt_trace_write("/nowhere/trace", &by));
    ck_assert_int_eq(errno, ENOENT);
    rmdir(folder);
}

int main(void)
{
    return suite_run("traced");
}
