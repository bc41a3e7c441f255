/* Notes of reductions, and what the report says of waiting. */
#include "config.h"

#include "base/json.h"
#include "report/counters.h"
#include "report/notes.h"
#include "report/waits.h"
#include "schedule/problem.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct collopt_notes_row row(const char *name, int size_class, int collective)
{
    return (struct collopt_notes_row){
        .as = collopt_counted_passed(name, COLLOPT_PASS_OFF, size_class),
        .collective = collective };
}

static void call(struct collopt_notes *n, const char *name, int size_class, int collective,
                 uint64_t entered, uint64_t took)
{
    struct collopt_notes_row r = row(name, size_class, collective);
    struct collopt_note *note = collopt_notes_next(n);

    ck_assert_ptr_nonnull(note);
    collopt_notes_fill(n, note, &r, false, entered, took);
}

/* Waiting lasts until the last rank enters, or until the call is over. */
TEST(waiting_of_a_call)
{
    ck_assert_uint_eq(collopt_waiting(100, 50, 120), 20);
    ck_assert_uint_eq(collopt_waiting(100, 50, 150), 50);
    ck_assert_uint_eq(collopt_waiting(100, 50, 1000), 50);      /* it has not waited for that one */
    ck_assert_uint_eq(collopt_waiting(100, 50, 100), 0);
    ck_assert_uint_eq(collopt_waiting(100, 50, 90), 0);
    ck_assert_uint_eq(collopt_waiting(-100, 50, -80), 20);      /* another clock may be behind */
    ck_assert_uint_eq(collopt_waiting(100, 0, 200), 0);
}

TEST(who_depends_on_whom)
{
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        ck_assert_int_eq(collopt_depends(c),
                         c == COLLOPT_REDUCE                           ? COLLOPT_DEPENDS_AS_ROOT
                         : c == COLLOPT_SCAN || c == COLLOPT_EXSCAN ? COLLOPT_DEPENDS_ON_LOWER
                                                                    : COLLOPT_DEPENDS_ON_ALL);
}

/* Many notes in pieces, in order; the latest ones are not ended. */
TEST(notes_in_pieces)
{
    struct collopt_notes n = { 0 };
    struct collopt_note *open, *first = NULL;
    size_t calls = 0;

    for (size_t i = 0; i < 20000; i++)
        call(&n, i % 3 ? "Allreduce" : "Scan", (int)(i % 5),
             i % 3 ? COLLOPT_ALLREDUCE : COLLOPT_SCAN, 1000 + i, 7 * i);
    first = &n.first->note[0];
    open = collopt_notes_next(&n);
    call(&n, "Allreduce", 3, COLLOPT_ALLREDUCE, 99999, 1);
    ck_assert_ptr_eq(first, &n.first->note[0]);
    for (const struct collopt_notes_piece *p = n.first; p; p = p->next) {
        ck_assert_uint_le(p->size, COLLOPT_NOTES_PIECE);
        ck_assert(!p->next || p->used == p->size);
        for (size_t i = 0; i < p->used && calls < 20000; i++, calls++) {
            const struct collopt_notes_row *r = &n.row[p->note[i].row];

            ck_assert_uint_eq(p->note[i].entered, 1000 + calls);
            ck_assert_uint_eq(p->note[i].took, 7 * calls);
            ck_assert_int_eq(r->collective, calls % 3 ? COLLOPT_ALLREDUCE : COLLOPT_SCAN);
        }
    }
    ck_assert_uint_eq(n.rows, 10);
    ck_assert_uint_eq(collopt_notes_ended(&n), 20000);
    collopt_notes_fill(&n, open, &n.row[0], true, 1, 2);
    ck_assert_uint_eq(collopt_notes_ended(&n), 20002);
    ck_assert_uint_eq(open->root, 1);
    collopt_notes_free(&n);
    ck_assert_uint_eq(collopt_notes_ended(&n), 0);
}

static uint64_t hash_of(const int *kinds, int n, size_t calls, size_t *rows, const char *name)
{
    struct collopt_notes notes = { 0 };
    uint64_t h;

    for (int i = 0; i < n; i++)
        call(&notes, name, kinds[i], COLLOPT_ALLREDUCE, (uint64_t)rand() + 1, (uint64_t)rand());
    h = collopt_notes_hash(&notes, calls, rows);
    collopt_notes_free(&notes);
    return h;
}

/* Ranks agree if the same kinds of calls follow each other, whatever they are called and however
 * long they took. */
TEST(notes_of_the_same_calls)
{
    static const int a[] = { 3, 5, 3, 8 }, b[] = { 3, 3, 5, 8 }, c[] = { 3, 5, 3, 3 };
    size_t rows;
    uint64_t h = hash_of(a, 4, 4, &rows, "Allreduce");

    ck_assert_uint_eq(rows, 3);
    ck_assert(hash_of(a, 4, 4, &rows, "Allreduce") == h);
    ck_assert(hash_of(a, 4, 4, &rows, "Allreduce_c") == h);
    ck_assert(hash_of(b, 4, 4, &rows, "Allreduce") != h);
    ck_assert(hash_of(c, 4, 4, &rows, "Allreduce") != h);
    ck_assert(hash_of(c, 4, 3, &rows, "Allreduce") == hash_of(a, 4, 3, &rows, "Allreduce"));
    ck_assert_uint_eq(rows, 2);
}

/* Memory is bounded; what is freed can be used again. */
TEST(notes_have_a_limit)
{
    struct collopt_notes n = { 0 }, other = { 0 };
    size_t calls = 0, most = COLLOPT_NOTES_BYTES / sizeof(struct collopt_note);
    struct collopt_note *note;

    while ((note = collopt_notes_next(&n)))
        calls++;
    ck_assert(n.full);
    ck_assert_uint_le(calls, most);
    ck_assert_uint_ge(calls, most - most / 50);
    while (collopt_notes_next(&other))
        calls++;                /* a first piece is short */
    ck_assert_uint_le(calls, most);
    collopt_notes_free(&other);
    collopt_notes_free(&n);
    ck_assert_ptr_nonnull(collopt_notes_next(&other));
    collopt_notes_free(&other);
}

/* What a call is counted as is known from its start, when it ends only later. */
TEST(calls_that_end_later)
{
    struct collopt_notes n = { 0 };
    struct collopt_notes_row r = row("Iallreduce", 3, COLLOPT_ALLREDUCE);
    struct collopt_note *first = collopt_notes_next(&n), *second = collopt_notes_next(&n);
    size_t rows;

    r.later = true;
    ck_assert(collopt_notes_describe(&n, first, &r, false));
    ck_assert(collopt_notes_describe(&n, second, &r, true));
    second->entered = 200;
    ck_assert_uint_eq(collopt_notes_ended(&n), 0);
    first->entered = 100;
    ck_assert_uint_eq(collopt_notes_ended(&n), 2);
    collopt_notes_hash(&n, 2, &rows);
    ck_assert_uint_eq(rows, 1);
    ck_assert(n.row[first->row].later && second->root && !first->root);
    collopt_notes_close(&n);
    ck_assert_ptr_null(collopt_notes_next(&n));
    ck_assert_uint_eq(collopt_notes_ended(&n), 2);
    collopt_notes_free(&n);
}

/* Ranks 4 and 7: 4 is late; what is known of one alone is known of both. */
TEST(waits_of_ranks)
{
    struct collopt_waited late = { .calls = 10, .time = 3000000000, .waiting = 1000000000,
                                   .made_wait = 6000000000, .last = 9 },
                          prompt = { .calls = 10, .time = 9000000000, .waiting = 8000000000,
                                     .made_wait = 500000000, .last = 1 },
                          nothing = { 0 };
    struct collopt_waits all = collopt_waits_of(&prompt), other = collopt_waits_of(&late),
                         none = collopt_waits_of(&nothing);

    collopt_waits_of_rank(&all, 7);
    collopt_waits_of_rank(&other, 4);
    collopt_waits_of_rank(&none, 2);
    collopt_waits_add(&all, &none);
    collopt_waits_add(&all, &other);
    ck_assert_uint_eq(all.calls, 20);
    ck_assert_uint_eq(all.last, 10);
    ck_assert_uint_eq(all.waiting.ranks, 2);
    ck_assert_double_eq_tol(all.waiting.sum, 9, 1e-9);
    ck_assert_double_eq_tol(all.reducing.least, 1, 1e-9);
    ck_assert_double_eq_tol(all.reducing.most, 2, 1e-9);
    ck_assert_double_eq_tol(all.made_wait.most, 6, 1e-9);
    ck_assert_int_eq(all.late.rank, 4);
    ck_assert_uint_eq(all.late.last, 9);
    ck_assert_uint_eq(all.late.calls, 10);
    ck_assert_double_eq_tol(all.late.seconds, 6, 1e-9);
}

TEST(waits_as_json)
{
    struct collopt_waited w = { .calls = 2, .time = 3000000000, .waiting = 1000000000 };
    struct collopt_waits waits = collopt_waits_of(&w);
    char *text;
    size_t n;
    struct collopt_json j = { .to = open_memstream(&text, &n) };

    collopt_waits_of_rank(&waits, 0);
    collopt_json_object(&j, NULL);
    collopt_waits_json(&waits, &j, "n1");
    collopt_json_end(&j);
    fclose(j.to);
    ck_assert_ptr_null(strstr(text, "late"));           /* nobody has waited for it */
    ck_assert_msg(strstr(text, "\"reducing\": {") != NULL, "%s", text);
    free(text);
}

int main(void)
{
    return suite_run("waiting");
}
