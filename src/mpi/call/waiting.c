/* The ranks of each communicator bring the times together at which they entered its reductions, in
 * pieces.
 *
 * No rank may wait for one that does not come.  So all this happens in MPI_Finalize, where all
 * ranks meet, also for communicators that were freed long ago, by messages on a communicator of all
 * (among.h).  First the ranks of MPI_COMM_WORLD agree that for each group that has notes all its
 * members have them.  Then each rank goes through its groups in one order that is the same
 * everywhere, by hash: the first group of all that is not done is the next one of all its members,
 * so some group can always go on. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/call/waiting.h"
#include "base/hash.h"
#include "mpi/comm/noted.h"
#include "mpi/host/host.h"
#include "mpi/node/among.h"
#include "mpi/node/clocks.h"
#include "mpi/node/world.h"
#include "report/counters.h"

enum {
    PIECE = COLLOPT_NOTES_PIECE,
    SHORT = 12,                 /* size class: up to 4 KiB */
    BLAMES = 4 << 20            /* ranks of a communicator times rows, at most */
};

_Static_assert((int)PIECE <= (int)COLLOPT_AMONG_PIECE, "a scan takes one piece");

/* Later than any time: a note that is not to count, on one rank and so on all. */
static const int64_t not_known = INT64_MAX;

/* The latest of some ranks to enter each call of a piece. */
struct latest {
    int64_t time[PIECE];
    int64_t rank[PIECE];
};

struct merge {
    struct collopt_among among; /* the ranks of a communicator */
    const struct collopt_notes *notes;
    const struct collopt_notes_piece *piece;
    /* the next one of the waits for calls that go on after their end */
    const struct collopt_notes_piece *waits;
    size_t next_wait;
    uint64_t since;
    size_t rows;
    struct collopt_waited *waited;      /* [rows] */
    int64_t *blame;             /* [ranks][rows]: ns that this rank has waited for each */
    int64_t own[PIECE];
    struct latest of_all, of_lower;     /* OF_LOWER: of this rank and those before it */
    uint64_t short_end;         /* of the call before, if that was short; else 0 */
};

static bool knows_clocks;

void collopt_waiting_begin(MPI_Comm all)
{
    knows_clocks = collopt_clocks_begin(all);
    if (knows_clocks)
        collopt_noted_begin();
}

/* ---- a piece --------------------------------------------------------------------------------- */

typedef int reduction(struct collopt_among *a, int64_t *x, size_t n, collopt_among_op *op);

/* By REDUCE, for all or for those up to this one.  Of several that entered at the same time, the
 * one with the highest rank is the latest. */
static int find_latest(struct merge *m, size_t n, reduction *reduce, struct latest *l)
{
    int err;

    memcpy(l->time, m->own, n * sizeof *l->time);
    err = reduce(&m->among, l->time, n, collopt_among_greatest);
    for (size_t i = 0; i < n; i++)
        l->rank[i] = m->own[i] == l->time[i] ? m->among.rank : -1;
    return err ? err : reduce(&m->among, l->rank, n, collopt_among_greatest);
}

static enum collopt_depends depends(const struct merge *m, const struct collopt_note *note)
{
    return collopt_depends(m->notes->row[note->row].collective);
}

/* All ranks depend on each other in it, and its time is that of messages more than of data. */
static bool is_short(const struct merge *m, const struct collopt_note *note)
{
    int size_class = collopt_counted_size_class(&m->notes->row[note->row].as);

    return depends(m, note) == COLLOPT_DEPENDS_ON_ALL && !m->notes->row[note->row].later
        && size_class >= 0 && size_class <= SHORT;
}

/* Could NOTE have been one call with that before it? */
static void look_for_row(struct merge *m, const struct collopt_note *note, uint64_t waiting)
{
    struct collopt_waited *w = &m->waited[note->row];
    bool brief = m->among.ranks > 1 && is_short(m, note);

    if (brief && m->short_end > 0 && note->entered - m->short_end < COLLOPT_NOTES_AT_ONCE) {
        w->following++;
        w->following_time += note->took - waiting;
    }
    m->short_end = brief ? note->entered + note->took : 0;
}

/* The note of the call that has waited for NOTE's, if that has gone on after its end; else NOTE. */
static const struct collopt_note *wait_of(struct merge *m, const struct collopt_note *note)
{
    if (!m->notes->row[note->row].later)
        return note;
    if (m->next_wait == m->waits->used) {
        m->waits = m->waits->next;
        m->next_wait = 0;
    }
    return &m->waits->note[m->next_wait++];
}

static void look_for_haste(struct merge *m, const struct collopt_note *note,
                           const struct collopt_note *wait)
{
    struct collopt_waited *w = &m->waited[note->row];

    if (wait == note || !wait->root || m->among.ranks == 1)
        return;
    w->at_once++;
    w->at_once_time += wait->took;
}

static void account(struct merge *m, const struct collopt_note *note, size_t i)
{
    struct collopt_waited *w = &m->waited[note->row];
    const struct collopt_note *wait = wait_of(m, note);
    enum collopt_depends on = depends(m, note);
    const struct latest *l = on == COLLOPT_DEPENDS_ON_LOWER ? &m->of_lower : &m->of_all;
    uint64_t waiting;

    if (m->of_all.time[i] == not_known) {
        m->short_end = 0;
        return;
    }
    waiting = on == COLLOPT_DEPENDS_AS_ROOT && !note->root
        ? 0 : collopt_waiting(collopt_clocks_common(wait->entered), wait->took, l->time[i]);
    look_for_haste(m, note, wait);
    w->calls++;
    w->time += note->took;
    w->waiting += waiting;
    w->last += m->of_all.rank[i] == m->among.rank;
    m->blame[(size_t)l->rank[i] * m->rows + note->row] += (int64_t)waiting;
    if (m->piece->waiting)
        m->piece->waiting[note - m->piece->note] = waiting;
    look_for_row(m, note, waiting);
}

static int merge_piece(struct merge *m, const struct collopt_note *note, size_t n)
{
    bool scans = false;
    int err;

    for (size_t i = 0; i < n; i++) {
        m->own[i] = note[i].entered < m->since ? not_known
                                               : collopt_clocks_common(note[i].entered);
        scans |= depends(m, &note[i]) == COLLOPT_DEPENDS_ON_LOWER;
    }
    err = find_latest(m, n, collopt_among_allreduce, &m->of_all);
    if (!err && scans)
        err = find_latest(m, n, collopt_among_scan, &m->of_lower);
    for (size_t i = 0; i < n && !err; i++)
        account(m, &note[i], i);
    return err;
}

/* ---- a communicator -------------------------------------------------------------------------- */

/* Of how many calls all ranks have notes. */
static int agree_on_calls(struct merge *m, size_t *calls)
{
    int64_t least = (int64_t)collopt_notes_ended(m->notes);
    int err = collopt_among_allreduce(&m->among, &least, 1, collopt_among_least);

    *calls = (size_t)least;
    return err;
}

static bool reserve(struct merge *m)
{
    if (m->rows > BLAMES / (size_t)m->among.ranks)
        return false;
    m->waited = calloc(m->rows, sizeof *m->waited);
    m->blame = calloc(m->rows * (size_t)m->among.ranks, sizeof *m->blame);
    return m->waited && m->blame;
}

/* Are the notes of so many CALLS those of the same calls on all ranks, which all have memory? */
static int agree_on_notes(struct merge *m, size_t calls, bool *agreed)
{
    uint64_t hash = collopt_notes_hash(m->notes, calls, &m->rows);
    int64_t least[3] = { (int64_t)hash, (int64_t)~hash, reserve(m) };
    int err = collopt_among_allreduce(&m->among, least, 3, collopt_among_least);

    *agreed = !err && least[0] == ~least[1] && least[2];
    return err;
}

static int merge_pieces(struct merge *m, size_t calls)
{
    int err = MPI_SUCCESS;

    for (const struct collopt_notes_piece *p = m->notes->first; calls > 0 && !err; p = p->next) {
        size_t n = p->size < calls ? p->size : calls;

        m->piece = p;
        err = merge_piece(m, p->note, n);
        calls -= n;
    }
    return err;
}

/* Each rank learns how long the others have waited for it. */
static int tell_blame(struct merge *m)
{
    const int64_t *mine = m->blame + (size_t)m->among.rank * m->rows;
    int err = collopt_among_allreduce(&m->among, m->blame, m->rows * (size_t)m->among.ranks,
                                      collopt_among_sum);

    for (size_t i = 0; i < m->rows && !err; i++) {
        m->waited[i].made_wait = (uint64_t)mine[i];
        if (m->waited[i].calls > 0)
            collopt_count_waited(&m->notes->row[i].as, &m->waited[i]);
    }
    return err;
}

static int merge_notes(struct merge *m)
{
    size_t calls;
    bool agreed;
    int err = agree_on_calls(m, &calls);

    if (err || calls == 0)
        return err;
    err = agree_on_notes(m, calls, &agreed);
    if (!err && agreed)
        err = merge_pieces(m, calls);
    if (!err && agreed)
        err = tell_blame(m);
    free(m->waited);
    free(m->blame);
    m->waited = NULL;
    m->blame = NULL;
    return err;
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct in_order {
    const struct collopt_noted *noted;
    size_t order;               /* of their first calls */
};

static int by_members(const void *a, const void *b)
{
    const struct in_order *x = a, *y = b;
    uint64_t p = x->noted->members, q = y->noted->members;

    return p != q ? (p > q) - (p < q) : (x->order > y->order) - (x->order < y->order);
}

static bool same_members(const struct in_order *a, const struct in_order *b)
{
    return a->noted->members == b->noted->members;
}

/* If each communicator is on all its ranks' lists, the sum over all ranks is zero. */
static uint64_t checksum(const struct in_order *list, size_t n)
{
    uint64_t sum = 0, nth = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t key;

        nth = i > 0 && same_members(&list[i - 1], &list[i]) ? nth + 1 : 0;
        key = collopt_mix((size_t)(list[i].noted->members + nth * COLLOPT_HASH_PRIME));
        sum += list[i].noted->rank > 0 ? -key : key * (uint64_t)(list[i].noted->ranks - 1);
    }
    return sum;
}

static size_t length(const struct collopt_noted *n)
{
    size_t length = 0;

    for (; n; n = n->next)
        length++;
    return length;
}

/* NULL: no memory. */
static struct in_order *sorted(const struct collopt_noted *first, size_t *n)
{
    struct in_order *list;

    *n = length(first);
    list = malloc((*n + 1) * sizeof *list);
    if (!list)
        return NULL;
    for (size_t i = 0; i < *n; i++, first = first->next)
        list[i] = (struct in_order){ first, i };
    qsort(list, *n, sizeof *list, by_members);
    return list;
}

static void merge_all(struct merge *m, MPI_Comm all, const struct in_order *list, size_t n)
{
    int err = MPI_SUCCESS;

    for (size_t i = 0; i < n && !err; i++) {
        const struct collopt_noted *noted = list[i].noted;

        m->among.comm = all;
        m->among.tag = COLLOPT_TAG_REPORT;
        m->among.member = noted->member;
        m->among.rank = noted->rank;
        m->among.ranks = noted->ranks;
        m->notes = &noted->notes;
        m->waits = noted->waits.first;
        m->next_wait = 0;
        m->short_end = 0;
        err = merge_notes(m);
    }
}

/* Have all ranks what all others expect of them? */
static bool complete(MPI_Comm all, bool lost, const struct in_order *list, size_t n)
{
    uint64_t own[2] = { list ? checksum(list, n) : 0, lost }, sum[2];

    return !collopt_host.Allreduce(own, sum, 2, MPI_UINT64_T, MPI_SUM, all) && sum[0] == 0
        && sum[1] == 0;
}

bool collopt_waiting_end(MPI_Comm all, uint64_t since)
{
    bool lost;
    size_t n = 0;
    struct in_order *list = sorted(collopt_noted_all(&lost), &n);
    struct merge *m = calloc(1, sizeof *m);

    knows_clocks = collopt_clocks_end() && knows_clocks;
    if (complete(all, lost || !knows_clocks || !list || !m, list, n)) {
        m->since = since;
        merge_all(m, all, list, n);
    }
    free(m);
    free(list);
    return knows_clocks;
}
