/* A journal: what one process leaves in its segment for all others of a group, in order.
 *
 * The owner writes records, and each reader reads them at a pace of its own. A record has a number,
 * and a payload, in the record if that is short, else in a block of its own. The owner writes both
 * and then stores the number (release); a reader looks for it (acquire), reads the payload where it
 * is, and stores how many records it has passed (release) in a line of its own. Numbers begin with
 * 1, have 64 bits and are never reset.
 *
 * Records lie in pages that form a list, so a journal never is full as long as there is memory:
 * nobody has to read before the owner goes on. What all readers have passed is used again.  An
 * owner that has no memory for a record breaks the journal off, and readers see that none comes.
 *
 * Readers find a journal under its number in the owner's segment. The owner takes it from there,
 * and frees its memory, when it has closed it and all readers have too. So a reader must close each
 * journal of its group, and a number stands for one journal until then.
 *
 * Each word has one writer. No MPI here, and one thread at a time on each side. */
#ifndef COLLOPT_SHM_JOURNAL_H
#define COLLOPT_SHM_JOURNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/segment.h"

enum {
    COLLOPT_RECORDS = 31,       /* of a page */
    /* bytes; 48 of them in the first cache line */
    COLLOPT_RECORD_INLINE = COLLOPT_SHM_LINE - 16
};

struct collopt_record {
    _Alignas(COLLOPT_SHM_LINE) _Atomic uint64_t number;
    uint32_t mark;              /* of the caller's */
    /* where the payload is, in lines from the segment's start; 0: here */
    uint32_t block;
    char payload[COLLOPT_RECORD_INLINE];
};

struct collopt_page {
    struct collopt_record record[COLLOPT_RECORDS];
    /* offset; written before the last record's number */
    _Alignas(COLLOPT_SHM_LINE) uint64_t next;
};

struct collopt_journal_head;    /* how far its readers have come */

struct collopt_piece {          /* of the owner's memory */
    void *at;
    size_t size;
    uint64_t until;             /* free when all readers have passed this record */
};

struct collopt_journal {        /* the owner's side */
    unsigned number;            /* its own, in the segment's directory */
    int readers;
    struct collopt_journal_head *head;
    struct collopt_page *page, *next;   /* NEXT: the one after it, made for its last record */
    int used;                   /* records of PAGE that are written */
    uint64_t written;           /* records */
    uint64_t passed;            /* records that the owner itself no longer needs */
    struct collopt_piece block; /* of the record that is being written; AT NULL: it has none */
    struct collopt_piece *pieces;       /* a ring of the pieces that are not passed by all readers
                                         * yet */
    size_t first, waiting, room;        /* in it: the oldest, how many there are, and can be */
    size_t bytes;               /* of them */
};

struct collopt_reader {         /* a reader's side */
    const char *base;           /* of the owner's segment, as mapped in this process */
    struct collopt_journal_head *head;
    _Atomic uint64_t *passed;   /* how far this reader has come, in HEAD */
    const struct collopt_page *page;    /* NULL: not opened yet */
    int at;                     /* of the next record in PAGE */
    uint64_t number;            /* of the next record, less 1: records that were passed */
    uint64_t told;              /* of which the owner knows */
};

/* Makes a journal of this process for READERS, of which the owner is number OWNER, and publishes
 * it; false: no room. */
bool collopt_journal_make(struct collopt_journal *j, unsigned number, int readers, int owner);
/* Where the payload of the next record is to be written; NULL: no room now. */
char *collopt_journal_payload(struct collopt_journal *j, size_t bytes);
/* Bytes that wait until readers have passed them. */
static inline size_t collopt_journal_backlog(const struct collopt_journal *j)
{
    return j->bytes;
}
/* There is no memory for the next record: nothing more is written. */
void collopt_journal_break_off(struct collopt_journal *j);
/* The record is complete. */
void collopt_journal_write(struct collopt_journal *j, unsigned mark);
/* The owner no longer needs what it has written in the first PASSED records. */
static inline void collopt_journal_pass(struct collopt_journal *j, uint64_t passed)
{
    j->passed = passed;
}
/* Nothing more is written. True: all readers have closed the journal too, and its memory is freed.
 * False: call this again. */
bool collopt_journal_close(struct collopt_journal *j);

/* Was the journal broken off, after the last record that was looked at? */
bool collopt_reader_is_cut_off(const struct collopt_reader *r);
/* Opens the journal NUMBER of the process whose segment is mapped at BASE, as reader READER of it;
 * false: it is not there yet. */
bool collopt_reader_open(struct collopt_reader *r, char *base, unsigned number, int reader);
/* The oldest record that was not passed; NULL: it is not there yet. */
static inline const struct collopt_record *collopt_reader_look(const struct collopt_reader *r)
{
    const struct collopt_record *record = &r->page->record[r->at];

    return atomic_load_explicit(&record->number, memory_order_acquire) == r->number + 1 ? record
                                                                                        : NULL;
}

static inline const char *collopt_reader_payload(const struct collopt_reader *r,
                                                 const struct collopt_record *record)
{
    return record->block ? r->base + (size_t)record->block * COLLOPT_SHM_LINE : record->payload;
}

/* The reader no longer needs the record from collopt_reader_look(). */
void collopt_reader_pass(struct collopt_reader *r);
/* Nothing more is read. */
void collopt_reader_close(struct collopt_reader *r);

#endif
