/* The report: gathered from the counters, combined over ranks, written as JSON or as a table.
 *
 * A record is the sum of one key: collective, algorithm and size class, or MPI name, reason and
 * size class. Keys are texts, so that records of different processes can be brought together.
 * doc/report.md describes what is written. */
#include "config.h"

#include "report/report.h"
#include "base/arithmetic.h"
#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/text.h"
#include "collopt.h"
#include "report/counters.h"
#include "report/makings.h"
#include "report/output.h"
#include "report/shares.h"
#include "report/timing.h"
#include "report/waits.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "select/tuning_results.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record {
    char what[40], how[56];     /* collective and algorithm; or MPI name and reason */
    int64_t passed;             /* 1: calls that fell back */
    int64_t size_class;         /* -1: not known, of calls that fell back */
    uint64_t bytes;             /* of all ranks */
    uint64_t group_least, group_most;   /* ranks of the communicators, of calls that fell back */
    uint64_t sent[COLLOPT_SENT];        /* bytes, by all ranks */
    struct collopt_spread rank; /* seconds of a rank that has made such calls */
    struct collopt_spread call; /* of a call: its RANKS are calls */
    struct collopt_waits waits;
};

/* Communicators that the program has made and freed (makings.h), of all ranks. */
struct makings {
    struct collopt_spread seconds;      /* for that, of a rank that has made any */
    uint64_t made, hardly_used, reductions;
};

struct collopt_report {
    struct collopt_spread seconds;      /* run time since MPI_Init; without ranks: not known */
    struct collopt_spread reductions;   /* of these, in reductions */
    struct collopt_shares shares;       /* of both, rank by rank */
    struct collopt_waits waits; /* of all calls */
    char late_host[64];         /* where the late rank of these runs */
    uint64_t timed_calls;       /* of all ranks, not those inside of others */
    double clock_error;         /* seconds; 0: the ranks have one clock */
    struct makings makings;
    size_t records;
    struct record *record;
    struct collopt_tuning_results results;
};

/* ---- records --------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    int order = (int)(x->passed - y->passed);

    if (order == 0)
        order = strcmp(x->what, y->what);
    if (order == 0)
        order = strcmp(x->how, y->how);
    if (order == 0)
        order = (x->size_class > y->size_class) - (x->size_class < y->size_class);
    return order;
}

static struct record *find(const struct collopt_report *r, const struct record *key)
{
    for (size_t i = 0; i < r->records; i++)
        if (by_key(&r->record[i], key) == 0)
            return &r->record[i];
    return NULL;
}

/* Adds what another process has done. There is room. */
static void add(struct collopt_report *r, const struct record *other)
{
    struct record *sum = find(r, other);

    if (!sum) {
        r->record[r->records++] = *other;
        return;
    }
    sum->bytes += other->bytes;
    for (int i = 0; i < COLLOPT_SENT; i++)
        sum->sent[i] += other->sent[i];
    sum->group_least = other->group_least < sum->group_least ? other->group_least
                                                             : sum->group_least;
    sum->group_most = other->group_most > sum->group_most ? other->group_most : sum->group_most;
    collopt_spread_widen(&sum->rank, &other->rank);
    collopt_spread_widen(&sum->call, &other->call);
    collopt_waits_add(&sum->waits, &other->waits);
}

/* ---- this process ---------------------------------------------------------------------------- */

/* To be called in the default floating-point environment: the program may trap inexact results. */

static double seconds_of(uint64_t nanoseconds)
{
    return (double)nanoseconds / 1e9;
}

static struct collopt_spread of_one(uint64_t nanoseconds)
{
    double seconds = seconds_of(nanoseconds);

    return (struct collopt_spread){ 1, seconds, seconds, seconds };
}

struct gathering {
    struct collopt_report *report;
    uint64_t reductions;
    struct collopt_waited waited;
    bool failed;
};

static void gather_waited(struct gathering *g, const struct collopt_sum *s)
{
    if (!s->algorithm && s->reason == COLLOPT_PASS_NESTED)
        return;
    collopt_waited_add(&g->waited, &s->counter.waited);
    g->report->timed_calls += s->counter.time > 0 ? s->counter.calls : 0;
}

static struct collopt_spread sum_of(const struct collopt_spread *a,
                                    const struct collopt_spread *b)
{
    double sum = a->sum + b->sum;

    return (struct collopt_spread){ a->ranks | b->ranks, sum, sum, sum };
}

/* Of one rank, which has both. */
static struct collopt_waits both(const struct collopt_waits *a, const struct collopt_waits *b)
{
    return (struct collopt_waits){
        .calls = a->calls + b->calls,
        .last = a->last + b->last,
        .waiting = sum_of(&a->waiting, &b->waiting),
        .reducing = sum_of(&a->reducing, &b->reducing),
        .made_wait = sum_of(&a->made_wait, &b->made_wait),
        .following = a->following + b->following,
        .following_seconds = sum_of(&a->following_seconds, &b->following_seconds),
        .at_once = a->at_once + b->at_once,
        .at_once_seconds = sum_of(&a->at_once_seconds, &b->at_once_seconds),
        .late = { .rank = -1, .last = a->last + b->last, .calls = a->calls + b->calls,
                  .seconds = a->late.seconds + b->late.seconds } };
}

static void gather(const struct collopt_sum *s, void *data)
{
    struct gathering *g = data;
    const struct collopt_counter *c = &s->counter;
    struct record one = { .passed = !s->algorithm,
                          .size_class = s->size_class,
                          .bytes = c->bytes,
                          .group_least = c->group_least,
                          .group_most = c->group_most,
                          .rank = of_one(c->time),
                          .call = { c->calls, seconds_of(c->time), seconds_of(c->least),
                                    seconds_of(c->most) },
                          .waits = collopt_waits_of(&c->waited) };
    struct record *same;

    gather_waited(g, s);
    memcpy(one.sent, c->sent, sizeof one.sent);
    if (s->algorithm || s->reason != COLLOPT_PASS_NESTED)
        g->reductions += c->time;               /* nested calls are inside of others */
    if (s->algorithm) {
        snprintf(one.what, sizeof one.what, "%s", collopt_counted_as(s->algorithm));
        snprintf(one.how, sizeof one.how, "%s", s->algorithm->name);
    } else {
        snprintf(one.what, sizeof one.what, "MPI%s%s", strncmp(s->name, "X_", 2) == 0 ? "" : "_",
                 s->name);
        snprintf(one.how, sizeof one.how, "%s", collopt_reason_names[s->reason]);
    }
    if (!collopt_room(g->report->record, g->report->records)) {
        g->failed = true;
        return;
    }
    same = find(g->report, &one);           /* one name may have two entries in this process, with
                                             * different spellings */
    if (same) {
        one.rank = sum_of(&same->rank, &one.rank);
        one.waits = both(&same->waits, &one.waits);
        same->waits = (struct collopt_waits){ .late.rank = -1 };
        same->rank = (struct collopt_spread){ 0 };
    }
    add(g->report, &one);
}

/* The time in reductions, where overlapping calls of several threads count once.  ALL_CALLS: the
 * sum of the times of all calls. */
static uint64_t in_reductions(uint64_t all_calls)
{
    uint64_t covered = collopt_timing_covered();

    return covered > 0 && covered < all_calls ? covered : all_calls;
}

static struct makings makings_of(struct collopt_makings m)
{
    struct makings found = { .made = m.made, .hardly_used = m.hardly_used,
                             .reductions = m.reductions };

    if (m.made > 0)
        found.seconds = of_one(m.time);
    return found;
}

struct collopt_report *collopt_report_gather(uint64_t time)
{
    struct gathering g = { .report = calloc(1, sizeof *g.report) };
    uint64_t arithmetic;

    if (!g.report)
        return NULL;
    arithmetic = collopt_default_fpenv();
    collopt_visit_sums(gather, &g);
    if (time > 0)
        g.report->seconds = of_one(time);
    g.report->reductions = of_one(in_reductions(g.reductions));
    g.report->waits = collopt_waits_of(&g.waited);
    g.report->makings = makings_of(collopt_makings());
    collopt_arithmetic_of(arithmetic);
    if (!collopt_tuning_results_copy(&g.report->results) || g.failed) {
        collopt_report_free(g.report);
        return NULL;
    }
    return g.report;
}

void collopt_report_of_rank(struct collopt_report *r, int rank, int ranks, const char *host)
{
    struct collopt_share share = { .seconds = r->seconds,
                                   .reductions = r->reductions,
                                   .waiting = r->waits.waiting,
                                   .made_wait = r->waits.made_wait,
                                   .calls = r->waits.calls,
                                   .last = r->waits.last };

    collopt_waits_of_rank(&r->waits, rank);
    for (size_t i = 0; i < r->records; i++)
        collopt_waits_of_rank(&r->record[i].waits, rank);
    snprintf(r->late_host, sizeof r->late_host, "%s", host);
    collopt_share_bounds(&share, rank, ranks);
    snprintf(share.host, sizeof share.host, "%s", host);
    if (collopt_shares_room(&r->shares, 1))
        collopt_shares_add(&r->shares, &share);
}

void collopt_report_clock(struct collopt_report *r, uint64_t error)
{
    r->clock_error = (double)error / 1e9;
}

void collopt_report_free(struct collopt_report *r)
{
    if (!r)
        return;
    free(r->record);
    collopt_tuning_results_free(&r->results);
    collopt_shares_free(&r->shares);
    free(r);
}

/* ---- between processes of one job: one build, one byte order --------------------------------- */

struct head {
    char magic[16];
    uint64_t record_size, records, share_size, shares, result_size, results;
    struct collopt_spread seconds, reductions;
    struct collopt_waits waits;
    char late_host[64];
    uint64_t timed_calls;
    double clock_error;
    struct makings makings;
};

static const char magic[16] = "collopt-report8";

static void *append(void *to, const void *list, size_t bytes)
{
    if (bytes)
        memcpy(to, list, bytes);
    return (char *)to + bytes;
}

size_t collopt_report_pack(const struct collopt_report *r, void *buffer, size_t size)
{
    struct head head = { .record_size = sizeof *r->record, .records = r->records,
                         .share_size = sizeof *r->shares.list, .shares = r->shares.n,
                         .result_size = sizeof *r->results.list, .results = r->results.n,
                         .seconds = r->seconds, .reductions = r->reductions, .waits = r->waits,
                         .timed_calls = r->timed_calls, .clock_error = r->clock_error,
                         .makings = r->makings };
    size_t records = r->records * sizeof *r->record, shares = r->shares.n * sizeof *r->shares.list;
    size_t results = r->results.n * sizeof *r->results.list,
           all = sizeof head + records + shares + results;
    void *at = buffer;

    if (size < all)
        return all;
    memcpy(head.magic, magic, sizeof magic);
    memcpy(head.late_host, r->late_host, sizeof head.late_host);
    at = append(at, &head, sizeof head);
    at = append(at, r->record, records);
    at = append(at, r->shares.list, shares);
    append(at, r->results.list, results);
    return all;
}

static bool terminated(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static bool good_record(const struct record *e)
{
    return terminated(e->what, sizeof e->what) && terminated(e->how, sizeof e->how)
        && (e->passed == 0 || e->passed == 1) && e->size_class >= -e->passed
        && e->size_class <= COLLOPT_SIZE_CLASSES;
}

static bool good_result(const struct collopt_tuning_result *l)
{
    return terminated(l->algorithm, sizeof l->algorithm) && l->collective >= 0
        && l->collective < COLLOPT_COLLECTIVES && l->size_class >= 0
        && l->size_class <= COLLOPT_SIZE_CLASSES && l->samples > 0;
}

/* Do the SIZE bytes behind HEAD have the length that it says? */
static bool fits(const struct head *head, size_t size)
{
    if (memcmp(head->magic, magic, sizeof magic) != 0
        || !terminated(head->late_host, sizeof head->late_host)
        || head->record_size != sizeof(struct record)
        || head->share_size != sizeof(struct collopt_share)
        || head->result_size != sizeof(struct collopt_tuning_result)
        || head->records > size / sizeof(struct record))
        return false;
    size -= head->records * sizeof(struct record);
    if (head->shares > size / sizeof(struct collopt_share))
        return false;
    size -= head->shares * sizeof(struct collopt_share);
    return size % sizeof(struct collopt_tuning_result) == 0
        && head->results == size / sizeof(struct collopt_tuning_result);
}

/* Adds the data at AT, or only checks them. */
static bool merge(struct collopt_report *r, const struct head *head, const char *at, bool look)
{
    struct collopt_tuning_result result;
    struct collopt_share share;
    struct record record;
    bool good = true;

    for (uint64_t i = 0; i < head->records && good; i++, at += sizeof record) {
        memcpy(&record, at, sizeof record);
        good = good_record(&record);
        if (!look)
            add(r, &record);
    }
    for (uint64_t i = 0; i < head->shares && good; i++, at += sizeof share) {
        memcpy(&share, at, sizeof share);
        good = collopt_share_good(&share);
        if (!look)
            collopt_shares_add(&r->shares, &share);
    }
    for (uint64_t i = 0; i < head->results && good; i++, at += sizeof result) {
        memcpy(&result, at, sizeof result);
        good = good_result(&result);
        if (!look)
            collopt_tuning_results_add(&r->results, &result);
    }
    return good;
}

static void merge_head(struct collopt_report *r, const struct head *head)
{
    if (head->waits.late.seconds > r->waits.late.seconds)
        memcpy(r->late_host, head->late_host, sizeof r->late_host);
    collopt_waits_add(&r->waits, &head->waits);
    collopt_spread_widen(&r->seconds, &head->seconds);
    collopt_spread_widen(&r->reductions, &head->reductions);
    r->timed_calls += head->timed_calls;
    r->clock_error = head->clock_error > r->clock_error ? head->clock_error
                                                         : r->clock_error;
    collopt_spread_widen(&r->makings.seconds, &head->makings.seconds);
    r->makings.made += head->makings.made;
    r->makings.hardly_used += head->makings.hardly_used;
    r->makings.reductions += head->makings.reductions;
}

bool collopt_report_merge(struct collopt_report *r, const void *buffer, size_t size)
{
    const char *at = (const char *)buffer + sizeof(struct head);
    struct head head;
    uint64_t arithmetic;

    if (size < sizeof head)
        return false;
    memcpy(&head, buffer, sizeof head);
    if (!fits(&head, size - sizeof head) || !merge(r, &head, at, true)
        || !collopt_room_for(r->record, r->records, head.records)
        || !collopt_shares_room(&r->shares, head.shares)
        || !collopt_tuning_results_room(&r->results, head.results))
        return false;
    arithmetic = collopt_default_fpenv();
    merge_head(r, &head);
    merge(r, &head, at, false);
    collopt_arithmetic_of(arithmetic);
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The vectors of a size class have FROM .. TO bytes. */
static void class_bounds(int64_t size_class, uint64_t *from, uint64_t *to)
{
    *from = size_class ? (UINT64_C(1) << (size_class - 1)) + 1 : 0;
    /* readers of JSON want signed numbers */
    *to = size_class >= 63 ? INT64_MAX : UINT64_C(1) << size_class;
}

static void json_class(struct collopt_json *j, int64_t size_class)
{
    uint64_t from, to;

    class_bounds(size_class, &from, &to);
    collopt_json_count(j, "bytes_from", from);
    collopt_json_count(j, "bytes_to", to);
}

static void json_waits(struct collopt_json *j, const struct record *e)
{
    if (e->waits.calls == 0)
        return;
    collopt_json_object(j, "waiting");
    collopt_waits_json(&e->waits, j, NULL);
    collopt_json_end(j);
}

static void json_run(struct collopt_json *j, const struct record *e)
{
    collopt_json_object(j, NULL);
    collopt_json_text(j, "collective", e->what);
    collopt_json_text(j, "algorithm", e->how);
    json_class(j, e->size_class);
    collopt_json_count(j, "ranks", e->rank.ranks);
    collopt_json_count(j, "calls", e->call.ranks);
    collopt_json_count(j, "bytes", e->bytes);
    collopt_json_object(j, "sent");
    collopt_json_count(j, "messages", e->sent[COLLOPT_SENT_BY_HOST]);
    collopt_json_count(j, "shared_memory", e->sent[COLLOPT_SENT_BY_SHM]);
    collopt_json_end(j);
    collopt_spread_json(&e->rank, j, "seconds");
    collopt_spread_json(&e->call, j, "seconds_per_call");
    json_waits(j, e);
    collopt_json_end(j);
}

static void json_passed(struct collopt_json *j, const struct record *e)
{
    collopt_json_object(j, NULL);
    collopt_json_text(j, "name", e->what);
    collopt_json_text(j, "reason", e->how);
    if (e->size_class >= 0)
        json_class(j, e->size_class);
    collopt_json_count(j, "ranks", e->rank.ranks);
    collopt_json_count(j, "calls", e->call.ranks);
    if (e->size_class >= 0) {
        collopt_json_count(j, "bytes", e->bytes);
        collopt_json_object(j, "communicators");
        collopt_json_count(j, "ranks_min", e->group_least);
        collopt_json_count(j, "ranks_max", e->group_most);
        collopt_json_end(j);
    }
    if (e->rank.most > 0) {
        collopt_spread_json(&e->rank, j, "seconds");
        collopt_spread_json(&e->call, j, "seconds_per_call");
    }
    json_waits(j, e);
    collopt_json_end(j);
}

static double mean(const struct collopt_tuning_result *l)
{
    return 1e-9 * (double)l->time / (double)l->samples;
}

/* L->samples are ranks of communicators that all have so many ranks. */
static void json_result(struct collopt_json *j, const struct collopt_tuning_result *l)
{
    collopt_json_object(j, NULL);
    collopt_json_text(j, "collective", collopt_collective_names[l->collective]);
    collopt_json_count(j, "ranks", (uint64_t)l->ranks);
    collopt_json_count(j, "nodes", (uint64_t)l->nodes);
    collopt_json_count(j, "ppn", (uint64_t)l->ppn);
    collopt_json_text(j, "op", collopt_kind_name(l->kind));
    collopt_json_flag(j, "uneven", l->uneven != 0);
    json_class(j, l->size_class);
    collopt_json_text(j, "algorithm", l->algorithm);
    collopt_json_real(j, "seconds", mean(l));
    collopt_json_count(j, "communicators", l->samples / (uint64_t)l->ranks);
    collopt_json_count(j, "chosen", l->chosen / (uint64_t)l->ranks);
    collopt_json_end(j);
}

static void version_text(char *text, size_t size)
{
    snprintf(text, size, "%d.%d.%d", COLLOPT_VERSION_MAJOR, COLLOPT_VERSION_MINOR,
             COLLOPT_VERSION_PATCH);
}

static void json_share(struct collopt_json *j, const struct collopt_share *s)
{
    collopt_json_object(j, NULL);
    collopt_json_count(j, "ranks_from", s->from);
    collopt_json_count(j, "ranks_to", s->to);
    collopt_json_text(j, "host", s->host[0] ? s->host : NULL);
    collopt_spread_json(&s->seconds, j, "seconds");
    collopt_spread_json(&s->reductions, j, "reductions");
    if (s->calls > 0) {
        collopt_spread_json(&s->waiting, j, "waiting");
        collopt_spread_json(&s->made_wait, j, "made_wait");
        collopt_json_count(j, "calls", s->calls);
        collopt_json_count(j, "last", s->last);
    }
    collopt_json_end(j);
}

static void json_shares(struct collopt_json *j, const struct collopt_shares *shares)
{
    if (shares->n == 0)
        return;
    collopt_json_array(j, "by_rank");
    for (size_t i = 0; i < shares->n; i++)
        json_share(j, &shares->list[i]);
    collopt_json_end(j);
}

static void json_waiting(struct collopt_json *j, const struct collopt_report *r)
{
    if (r->waits.calls == 0)
        return;
    collopt_json_object(j, "waiting");
    collopt_json_count(j, "of_calls", r->timed_calls);
    collopt_json_real(j, "clock_error", r->clock_error);
    collopt_waits_json(&r->waits, j, r->late_host);
    collopt_waits_hints_json(&r->waits, j);
    collopt_json_end(j);
}

static void json_makings(struct collopt_json *j, const struct makings *m)
{
    if (m->made == 0)
        return;
    collopt_json_object(j, "communicators");
    collopt_json_count(j, "made", m->made);
    collopt_spread_json(&m->seconds, j, "seconds");
    collopt_json_count(j, "hardly_used", m->hardly_used);
    collopt_json_count(j, "reductions", m->reductions);
    collopt_json_end(j);
}

/* Raised where a reader of earlier reports would misread those of now: not by new members. */
enum { SCHEMA = 1 };

static void write_json(const struct collopt_report *r, FILE *to, const struct collopt_report_by *by)
{
    struct collopt_json j = { .to = to };
    char version[32];

    version_text(version, sizeof version);
    collopt_json_object(&j, NULL);
    collopt_json_text(&j, "collopt", version);
    collopt_json_count(&j, "schema", SCHEMA);
    collopt_json_text(&j, "mpi", by->mpi);
    collopt_json_count(&j, "ranks", (uint64_t)by->ranks);
    collopt_json_flag(&j, "combined", by->rank == COLLOPT_ALL_RANKS);
    if (by->rank != COLLOPT_ALL_RANKS)
        collopt_json_count(&j, "rank", (uint64_t)by->rank);
    if (by->aborted)
        collopt_json_flag(&j, "aborted", true);
    collopt_spread_json(&r->seconds, &j, "seconds");
    collopt_spread_json(&r->reductions, &j, "reductions");
    json_waiting(&j, r);
    json_makings(&j, &r->makings);
    json_shares(&j, &r->shares);
    collopt_json_array(&j, "run");
    for (size_t i = 0; i < r->records; i++)
        if (!r->record[i].passed)
            json_run(&j, &r->record[i]);
    collopt_json_end(&j);
    collopt_json_array(&j, "passed");
    for (size_t i = 0; i < r->records; i++)
        if (r->record[i].passed)
            json_passed(&j, &r->record[i]);
    collopt_json_end(&j);
    collopt_json_array(&j, "learnt");
    for (size_t i = 0; i < r->results.n; i++)
        json_result(&j, &r->results.list[i]);
    collopt_json_end(&j);
    collopt_json_end(&j);
}

/* "0.000012": seconds, and other figures; in a text of the caller's. */
struct figure {
    char text[32];
};

static const char *figure(double value, int behind, struct figure *f)
{
    collopt_fixed_text(value, behind, f->text, sizeof f->text);
    return f->text;
}

/* Nonblocking reductions overlap: what they take together may be more than all of the time. */
static void write_share(const struct collopt_report *r, FILE *to)
{
    const struct collopt_spread *all = &r->seconds, *part = &r->reductions;
    struct figure mean, of, share, most;

    if (all->ranks > 0 && all->sum > 0 && part->ranks > 0)
        fprintf(to, "  reductions took %s of %s s (%s%%) in the mean of the ranks, %s s at most\n",
                figure(part->sum / (double)part->ranks, 6, &mean),
                figure(all->sum / (double)all->ranks, 6, &of),
                figure(part->sum < all->sum ? 100 * part->sum / all->sum : 100, 1, &share),
                figure(part->most, 6, &most));
}

static void write_late(const struct collopt_late *l, const char *host, uint64_t ranks, FILE *to)
{
    struct figure last, made_wait;

    if (l->seconds > 0)
        fprintf(to, "; rank %" PRId64 "%s%s was last in %s%% of calls: the ranks waited %s s "
                "for it", l->rank, host[0] ? " on " : "", host,
                figure(100 * (double)l->last / (double)l->calls, 1, &last),
                figure(l->seconds / (double)ranks, 6, &made_wait));
}

static void write_waiting(const struct collopt_report *r, FILE *to)
{
    const struct collopt_waits *w = &r->waits;
    struct figure waiting, reducing, error;
    double ranks = (double)w->waiting.ranks;

    if (r->timed_calls == 0)
        return;
    if (w->calls == 0) {
        fprintf(to, "  how much of this was waiting for late ranks is not known\n");
        return;
    }
    fprintf(to, "  of this, %s s were waiting for late ranks, %s s reducing",
            figure(w->waiting.sum / ranks, 6, &waiting),
            figure(w->reducing.sum / ranks, 6, &reducing));
    write_late(&w->late, r->late_host, w->waiting.ranks, to);
    if (w->calls < r->timed_calls)
        fprintf(to, " (known of %" PRIu64 " of %" PRIu64 " calls)", w->calls, r->timed_calls);
    if (r->clock_error > 0)
        fprintf(to, " (clocks related within %s us)", figure(1e6 * r->clock_error, 1, &error));
    fputc('\n', to);
}

static void write_sent(const struct collopt_report *r, FILE *to)
{
    uint64_t sent[COLLOPT_SENT] = { 0 };

    for (size_t i = 0; i < r->records; i++)
        for (int k = 0; k < COLLOPT_SENT; k++)
            sent[k] += r->record[i].sent[k];
    if (sent[COLLOPT_SENT_BY_HOST] + sent[COLLOPT_SENT_BY_SHM] > 0)
        fprintf(to, "  collopt sent %" PRIu64 " bytes by messages, %" PRIu64 " by shared memory\n",
                sent[COLLOPT_SENT_BY_HOST], sent[COLLOPT_SENT_BY_SHM]);
}

/* The first line of MPI, what the MPI library says of itself: "MPICH Version:\t4.0.2" as MPICH
 * 4.0.2. */
static void write_mpi(const char *mpi, FILE *to)
{
    static const char word[] = " Version:";
    size_t n = strcspn(mpi, "\n"), before = strcspn(mpi, ":");

    if (before < n && before + 1 >= sizeof word - 1
        && strncmp(mpi + before + 2 - sizeof word, word, sizeof word - 1) == 0) {
        size_t name = before + 2 - sizeof word, gap = strspn(mpi + before + 1, " \t");

        fprintf(to, "%.*s ", (int)name, mpi);
        mpi += before + 1 + gap;
        n -= before + 1 + gap;
    }
    fprintf(to, "%.*s\n", (int)n, mpi);
}

static void write_head(const struct collopt_report_by *by, FILE *to)
{
    char version[32];

    version_text(version, sizeof version);
    fprintf(to, "collopt: report of version %s on ", version);
    write_mpi(by->mpi ? by->mpi : "", to);
    if (by->rank == COLLOPT_ALL_RANKS)
        fprintf(to, "collopt: all %d ranks\n", by->ranks);
    else
        fprintf(to, "collopt: rank %d of %d%s\n", by->rank, by->ranks,
                by->aborted ? ", which called MPI_Abort" : "");
}

/* A column: the mean of the ranks; empty: not known. */
static const char *waiting_of(const struct record *e, struct figure *f)
{
    const struct collopt_spread *s = &e->waits.waiting;
    struct figure mean;

    if (s->ranks == 0)
        return "";
    snprintf(f->text, sizeof f->text, " %11.30s", figure(s->sum / (double)s->ranks, 6, &mean));
    return f->text;
}

/* The rows of calls that fell back have another form. */
static void write_row(const struct record *e, FILE *to)
{
    const char *const line = e->passed ? "  %-24s %-31s %11s %8s %6s %11s %11s %11s%s\n"
                                       : "  %-20s %-24s %12s %12s %6s %11s %11s %11s%s\n";
    char size[24] = "", calls[24], ranks[24];
    struct figure least, mean, most, waiting;
    uint64_t from, bound;

    if (e->size_class >= 0) {
        class_bounds(e->size_class, &from, &bound);
        collopt_size_text(bound, size, sizeof size);
    }
    snprintf(calls, sizeof calls, "%" PRIu64, e->call.ranks);
    snprintf(ranks, sizeof ranks, "%" PRIu64, e->rank.ranks);
    fprintf(to, line, e->what, e->how, size, calls, ranks, figure(e->rank.least, 6, &least),
            figure(e->rank.sum / (double)e->rank.ranks, 6, &mean), figure(e->rank.most, 6, &most),
            waiting_of(e, &waiting));
}

/* HEAD is over the rows, if there are any. */
static bool write_rows(const struct collopt_report *r, bool passed, const char *head, FILE *to)
{
    bool any = false;

    for (size_t i = 0; i < r->records; i++) {
        if (r->record[i].passed != passed)
            continue;
        if (!any)
            fprintf(to, "%s %6s %11s %11s %11s%s\n", head, "ranks", "seconds min", "mean", "max",
                    "     waiting");
        any = true;
        write_row(&r->record[i], to);
    }
    return any;
}

static void write_table(const struct collopt_report *r, FILE *to,
                        const struct collopt_report_by *by)
{
    write_head(by, to);
    write_share(r, to);
    write_waiting(r, to);
    write_sent(r, to);
    if (!write_rows(r, false, "  collective           algorithm                "
                              " bytes up to        calls", to))
        fprintf(to, "  collopt ran no collective\n");
    write_rows(r, true, "  passed through to the MPI library                       "
                        " bytes up to    calls", to);
}

static void write_results(const struct collopt_tuning_results *results, FILE *to)
{
    const char *const line = "  %-20s %-24s %12s %6s %14s %11s  %s\n";

    if (results->n)
        fprintf(to, line, "tried", "algorithm", "bytes up to", "ranks", "op", "us a call", "");
    for (size_t i = 0; i < results->n; i++) {
        const struct collopt_tuning_result *l = &results->list[i];
        char size[24], ranks[16];
        struct figure us;
        uint64_t from, bound;

        class_bounds(l->size_class, &from, &bound);
        collopt_size_text(bound, size, sizeof size);
        snprintf(ranks, sizeof ranks, "%d", (int)l->ranks);
        fprintf(to, line, collopt_collective_names[l->collective], l->algorithm, size, ranks,
                collopt_kind_name(l->kind), figure(1e6 * mean(l), 2, &us),
                l->chosen ? "chosen" : "");
    }
}

enum form { TABLE, JSON, RULES, TRACE };

static const char *name_of(enum form form)
{
    return form == RULES ? "COLLOPT_ADAPT_RULES: the rules"
        : form == TRACE  ? "COLLOPT_TRACE: the trace" : "COLLOPT_REPORT: the report";
}

static void look_ahead(enum form form, const char *where)
{
    int why = where && collopt_output_is_file(where) ? collopt_output_obstacle(where) : 0;

    if (why)
        collopt_warn("%s cannot be written to %s: %s; unless that changes before MPI_Finalize, "
                     "there will be none",
                     name_of(form), where, strerror(why));
}

void collopt_report_look_ahead(const char *where, const char *trace, const char *rules)
{
    look_ahead(JSON, where);
    look_ahead(TRACE, trace);
    look_ahead(RULES, rules);
}

struct written {
    struct collopt_report *report;
    enum form form;
    const struct collopt_report_by *by;
};

static void write_form(FILE *to, void *data)
{
    const struct written *w = data;
    struct collopt_report *r = w->report;
    uint64_t arithmetic = collopt_default_fpenv();

    if (r->records)
        qsort(r->record, r->records, sizeof *r->record, by_key);
    collopt_tuning_results_sort(&r->results);
    collopt_shares_sort(&r->shares);
    if (w->form == RULES) {
        collopt_tuning_results_write(&r->results, to);
    } else if (w->form == JSON) {
        write_json(r, to, w->by);
    } else {
        write_table(r, to, w->by);
        write_results(&r->results, to);
    }
    collopt_arithmetic_of(arithmetic);
}

static bool write_report(struct collopt_report *r, enum form form, const char *where,
                         const struct collopt_report_by *by)
{
    struct written w = { r, form, by };
    bool done = collopt_output(where, by->rank, write_form, &w);

    if (!done)
        collopt_warn("%s could not be written to %s: %s", name_of(form), where, strerror(errno));
    return done;
}

bool collopt_report_write(struct collopt_report *r, const char *where,
                          const struct collopt_report_by *by)
{
    return write_report(r, strcmp(where, "stderr") == 0 ? TABLE : JSON, where, by);
}

bool collopt_report_rules(struct collopt_report *r, const char *where)
{
    return write_report(r, RULES, where,
                        &(struct collopt_report_by){ .rank = COLLOPT_ALL_RANKS });
}
