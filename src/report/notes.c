/* Notes in pieces, which grow, since many communicators have few calls. */
#include "config.h"

#include "report/notes.h"
#include "base/hash.h"
#include "base/list.h"
#include "schedule/problem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_PIECE = 32 };

bool collopt_notes_waiting;

static _Atomic size_t taken;            /* bytes, of all notes */

static bool take(size_t bytes)
{
    if (atomic_fetch_add_explicit(&taken, bytes, memory_order_relaxed) + bytes
        <= COLLOPT_NOTES_BYTES)
        return true;
    atomic_fetch_sub_explicit(&taken, bytes, memory_order_relaxed);
    return false;
}

static size_t bytes_of(size_t size)
{
    return sizeof(struct collopt_notes_piece) + size * sizeof(struct collopt_note)
        + (collopt_notes_waiting ? size * sizeof(uint64_t) : 0);
}

/* Behind the notes. */
static uint64_t *places_for_waiting(struct collopt_notes_piece *p)
{
    uint64_t *waiting = collopt_notes_waiting ? (uint64_t *)(p->note + p->size) : NULL;

    if (waiting)
        memset(waiting, 0xff, p->size * sizeof *waiting);       /* COLLOPT_NOTES_UNKNOWN */
    return waiting;
}

static struct collopt_notes_piece *new_piece(size_t size)
{
    struct collopt_notes_piece *p = take(bytes_of(size)) ? calloc(1, bytes_of(size)) : NULL;

    if (p) {
        p->size = size;
        p->waiting = places_for_waiting(p);
    }
    return p;
}

bool collopt_notes_grow(struct collopt_notes *n)
{
    size_t size = !n->last ? FIRST_PIECE
        : n->last->size < COLLOPT_NOTES_PIECE ? 2 * n->last->size : COLLOPT_NOTES_PIECE;
    struct collopt_notes_piece *p = n->full ? NULL : new_piece(size);

    if (!p) {
        n->full = true;         /* for good: the numbers of later calls would be wrong */
        return false;
    }
    if (n->last)
        n->last->next = p;
    else
        n->first = p;
    n->last = p;
    return true;
}

size_t collopt_notes_row(struct collopt_notes *n, const struct collopt_notes_row *row)
{
    for (size_t i = 0; i < n->rows; i++)
        if (collopt_notes_same(&n->row[i].as, &row->as))
            return n->latest_row = i;
    if (n->rows == COLLOPT_NOTES_ROWS || !collopt_room(n->row, n->rows))
        return COLLOPT_NOTES_ROWS;
    n->row[n->rows] = *row;
    return n->latest_row = n->rows++;
}

size_t collopt_notes_ended(const struct collopt_notes *n)
{
    size_t ended = 0;

    for (const struct collopt_notes_piece *p = n->first; p; p = p->next)
        for (size_t i = 0; i < p->used; i++, ended++)
            if (p->note[i].entered == 0)
                return ended;
    return ended;
}

uint64_t collopt_notes_hash(const struct collopt_notes *n, size_t calls, size_t *rows)
{
    uint64_t h = COLLOPT_HASH_START;

    *rows = 0;
    for (const struct collopt_notes_piece *p = n->first; calls > 0; p = p->next)
        for (size_t i = 0; i < p->used && calls > 0; i++, calls--) {
            size_t row = p->note[i].row;

            h = (h ^ row) * COLLOPT_HASH_PRIME;
            h = (h ^ (uint64_t)n->row[row].collective) * COLLOPT_HASH_PRIME;
            if (row >= *rows)
                *rows = row + 1;
        }
    return h;
}

void collopt_notes_close(struct collopt_notes *n)
{
    n->full = true;
}

void collopt_notes_free(struct collopt_notes *n)
{
    for (struct collopt_notes_piece *p = n->first, *next; p; p = next) {
        next = p->next;
        atomic_fetch_sub_explicit(&taken, bytes_of(p->size), memory_order_relaxed);
        free(p);
    }
    free(n->row);
    *n = (struct collopt_notes){ 0 };
}

enum collopt_depends collopt_depends(int collective)
{
    return collective == COLLOPT_REDUCE ? COLLOPT_DEPENDS_AS_ROOT
        : collopt_is_prefix(collective) ? COLLOPT_DEPENDS_ON_LOWER
                                                                     : COLLOPT_DEPENDS_ON_ALL;
}

uint64_t collopt_waiting(int64_t entered, uint64_t took, int64_t last)
{
    if (last <= entered)
        return 0;
    return (uint64_t)(last - entered) < took ? (uint64_t)(last - entered) : took;
}
