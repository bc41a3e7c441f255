/* Writes, reads and frees journals; see journal.h. */
#include "config.h"

#include "shm/journal.h"

#include <stdlib.h>
#include <string.h>

enum {
    SEVERAL = 8,                /* short records that a reader passes before it says so */
    MANY = 4, MUCH = 1 << 18    /* pieces, bytes that wait before the owner looks what was passed */
};
static const uint64_t CLOSED = UINT64_MAX;

struct line {
    _Alignas(COLLOPT_SHM_LINE) _Atomic uint64_t passed;
};

struct collopt_journal_head {
    _Alignas(COLLOPT_SHM_LINE) uint64_t page;           /* offset of the first one */
    atomic_bool broken_off;
    struct line reader[];
};

static size_t head_size(int readers)
{
    return sizeof(struct collopt_journal_head) + (size_t)readers * sizeof(struct line);
}

static uint64_t offset_of(const void *at)
{
    return (uint64_t)((const char *)at - collopt_segment_base());
}

/* ---- the owner ------------------------------------------------------------------------------- */

/* Doubles the ring of pieces; false: no memory. */
static bool widen(struct collopt_journal *j)
{
    size_t room = j->room > 0 ? 2 * j->room : 16;
    struct collopt_piece *more = malloc(room * sizeof *more);

    if (!more)
        return false;
    for (size_t i = 0; i < j->waiting; i++)
        more[i] = j->pieces[(j->first + i) % j->room];
    free(j->pieces);
    j->pieces = more;
    j->first = 0;
    j->room = room;
    return true;
}

/* Is there place for the page and a block?  More is asked for before it is needed: what fails once
 * does no harm. */
static bool has_place(struct collopt_journal *j)
{
    if (2 * (j->waiting + 1) >= j->room && widen(j))
        return true;
    return j->waiting + 1 < j->room;
}

/* There is place for it. */
static void wait_for_readers(struct collopt_journal *j, void *at, size_t size, uint64_t until)
{
    j->pieces[(j->first + j->waiting) % j->room] = (struct collopt_piece){ at, size, until };
    j->waiting++;
    j->bytes += size;
}

static uint64_t passed_by_readers(const struct collopt_journal *j)
{
    uint64_t least = CLOSED;

    for (int r = 0; r < j->readers; r++) {
        uint64_t passed = atomic_load_explicit(&j->head->reader[r].passed, memory_order_acquire);

        least = passed < least ? passed : least;
    }
    return least;
}

static void reclaim(struct collopt_journal *j)
{
    uint64_t others = passed_by_readers(j), passed = others < j->passed ? others : j->passed;

    while (j->waiting > 0 && j->pieces[j->first].until <= passed) {
        collopt_segment_give_back(j->pieces[j->first].at, j->pieces[j->first].size);
        j->bytes -= j->pieces[j->first].size;
        j->first = (j->first + 1) % j->room;
        j->waiting--;
    }
}

static struct collopt_page *make_page(void)
{
    struct collopt_page *page = collopt_segment_take_room(sizeof *page);

    for (int i = 0; page && i < COLLOPT_RECORDS; i++)
        atomic_store_explicit(&page->record[i].number, 0, memory_order_relaxed);
    return page;
}

bool collopt_journal_make(struct collopt_journal *j, unsigned number, int readers, int owner)
{
    *j = (struct collopt_journal){ .number = number, .readers = readers };
    j->head = collopt_segment_take_room(head_size(readers));
    j->page = j->head ? make_page() : NULL;
    if (j->page) {
        j->head->page = offset_of(j->page);
        atomic_store_explicit(&j->head->broken_off, false, memory_order_relaxed);
        for (int r = 0; r < readers; r++)
            atomic_store_explicit(&j->head->reader[r].passed, r == owner ? CLOSED : 0,
                                  memory_order_relaxed);
        if (collopt_segment_publish(number, offset_of(j->head)))
            return true;
        collopt_segment_give_back(j->page, sizeof *j->page);
    }
    if (j->head)
        collopt_segment_give_back(j->head, head_size(readers));
    j->head = NULL;
    return false;
}

char *collopt_journal_payload(struct collopt_journal *j, size_t bytes)
{
    if (j->waiting >= MANY || j->bytes >= MUCH)
        reclaim(j);
    if (!j->next && 2 * j->used >= COLLOPT_RECORDS)
        j->next = make_page();
    if (!has_place(j) || (!j->next && j->used + 1 == COLLOPT_RECORDS))
        return NULL;
    if (bytes <= COLLOPT_RECORD_INLINE)
        return j->page->record[j->used].payload;
    j->block = (struct collopt_piece){ collopt_segment_take_room(bytes), bytes, 0 };
    return j->block.at;
}

void collopt_journal_write(struct collopt_journal *j, unsigned mark)
{
    struct collopt_record *record = &j->page->record[j->used];

    record->mark = mark;
    record->block = j->block.at ? (uint32_t)(offset_of(j->block.at) / COLLOPT_SHM_LINE) : 0;
    if (j->used + 1 == COLLOPT_RECORDS)
        j->page->next = offset_of(j->next);
    atomic_store_explicit(&record->number, ++j->written, memory_order_release);
    if (j->block.at)
        wait_for_readers(j, j->block.at, j->block.size, j->written);
    j->block.at = NULL;
    if (++j->used < COLLOPT_RECORDS)
        return;
    wait_for_readers(j, j->page, sizeof *j->page, j->written);
    j->page = j->next;
    j->next = NULL;
    j->used = 0;
}

void collopt_journal_break_off(struct collopt_journal *j)
{
    atomic_store_explicit(&j->head->broken_off, true, memory_order_release);
}

bool collopt_journal_close(struct collopt_journal *j)
{
    if (passed_by_readers(j) != CLOSED)
        return false;
    j->passed = j->written;
    reclaim(j);
    collopt_segment_publish(j->number, 0);
    collopt_segment_give_back(j->page, sizeof *j->page);
    if (j->next)
        collopt_segment_give_back(j->next, sizeof *j->next);
    collopt_segment_give_back(j->head, head_size(j->readers));
    free(j->pieces);
    j->pieces = NULL;
    return true;
}

/* ---- a reader -------------------------------------------------------------------------------- */

bool collopt_reader_open(struct collopt_reader *r, char *base, unsigned number, int reader)
{
    uint64_t offset = collopt_segment_find(base, number);
    struct collopt_journal_head *head = (struct collopt_journal_head *)(base + offset);

    if (!offset)
        return false;
    *r = (struct collopt_reader){ .base = base, .head = head,
                                  .passed = &head->reader[reader].passed,
                                  .page = (const struct collopt_page *)(base + head->page) };
    return true;
}

static void tell(struct collopt_reader *r, uint64_t passed)
{
    r->told = passed;
    atomic_store_explicit(r->passed, passed, memory_order_release);
}

void collopt_reader_pass(struct collopt_reader *r)
{
    bool large = r->page->record[r->at].block;

    r->number++;
    if (++r->at == COLLOPT_RECORDS) {
        r->page = (const struct collopt_page *)(r->base + r->page->next);
        r->at = 0;
    }
    if (large || r->number - r->told >= SEVERAL)
        tell(r, r->number);
}

bool collopt_reader_is_cut_off(const struct collopt_reader *r)
{
    return atomic_load_explicit(&r->head->broken_off, memory_order_acquire)
        && !collopt_reader_look(r);
}

void collopt_reader_close(struct collopt_reader *r)
{
    tell(r, CLOSED);
}
