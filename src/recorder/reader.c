/* Reads recordings; see reader.h.
 *
 * What was whole is found by copying all of it three times: a part is as it was written if its
 * sequence is even and the same in all copies, and its contents are those of the second, between
 * the first look at the sequence and the last.  The kernel may copy a line in any order, so one
 * copy alone says nothing. */
#include "config.h"

#include "recorder/reader.h"
#include "base/clock.h"
#include "schedule/problem.h"
#include "shm/segment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    COPIES = 3,
    LARGEST = 1 << 24,          /* bytes of a recording */
    MOST = 1 << 14              /* calls, communicators, names */
};

struct copies {
    char *copy[COPIES];         /* BYTES each */
    size_t bytes;
    struct collopt_recording head;
};

static bool fail(char *why, size_t size, const char *what)
{
    snprintf(why, size, "%s", what);
    return false;
}

void collopt_printable(char *to, const char *text, size_t size)
{
    size_t n = strnlen(text, size - 1);

    for (size_t i = 0; i < n; i++)
        to[i] = text[i] == '\t' ? ' ' : text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    to[n] = '\0';
}

/* ---- copying --------------------------------------------------------------------------------- */

static bool copy(int fd, void *to, size_t bytes)
{
    size_t done = 0;
    ssize_t n;

    while (done < bytes) {
        n = pread(fd, (char *)to + done, bytes - done, (off_t)(COLLOPT_SHM_LINE + done));
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* N parts of SIZE bytes, at AT. */
static bool lie_within(const struct copies *c, uint32_t at, uint32_t n, size_t size)
{
    return at % sizeof(uint64_t) == 0 && at >= sizeof c->head && at <= c->bytes
        && n <= (c->bytes - at) / size;
}

static bool is_sound(const struct copies *c)
{
    const struct collopt_recording *h = &c->head;

    return h->calls > 0 && h->calls <= MOST && h->comms <= MOST && h->names <= MOST
        && lie_within(c, h->calls_at, h->calls, sizeof(struct collopt_recorded_call))
        && lie_within(c, h->comms_at, h->comms, sizeof(struct collopt_recorded_comm))
        && lie_within(c, h->names_at, h->names, COLLOPT_RECORDED_TEXT)
        && lie_within(c, h->members_at, h->members, sizeof(int32_t));
}

static void free_copies(struct copies *c)
{
    for (int i = 0; i < COPIES; i++)
        free(c->copy[i]);
}

/* The head is that of the last copy: it may not change from one to the other, but for what is
 * counted there. */
static bool take_copies(struct copies *c, int fd, char *why, size_t size_of_why)
{
    c->bytes = c->head.bytes;
    for (int i = 0; i < COPIES; i++)
        if (!(c->copy[i] = malloc(c->bytes)))
            return fail(why, size_of_why, "no memory");
    for (int i = 0; i < COPIES; i++)
        if (!copy(fd, c->copy[i], c->bytes))
            return fail(why, size_of_why, "it is shorter than it says");
    memcpy(&c->head, c->copy[COPIES - 1], sizeof c->head);
    return c->head.bytes == c->bytes && is_sound(c)
        ? true : fail(why, size_of_why, "a part of it lies outside of it");
}

/* The part of SIZE bytes at AT, which begins with its sequence, as it was written; *CHANGING: it
 * was not whole. */
static const void *whole(const struct copies *c, size_t at, bool *changing)
{
    uint64_t sequence[COPIES];

    for (int i = 0; i < COPIES; i++)
        memcpy(&sequence[i], c->copy[i] + at, sizeof *sequence);
    if (sequence[0] == sequence[1] && sequence[1] == sequence[2] && sequence[0] % 2 == 0)
        return c->copy[1] + at;
    *changing = true;
    return NULL;
}

/* ---- communicators --------------------------------------------------------------------------- */

/* NULL also where the list is not believed. */
static int32_t *members_of(const struct copies *c, uint32_t at, int ranks)
{
    const struct collopt_recording *h = &c->head;
    size_t size = (size_t)ranks * sizeof(int32_t);
    int32_t *member;

    if (at < h->members_at || at % sizeof(int32_t)
        || (size_t)(at - h->members_at) + size > h->members * sizeof(int32_t)
        || !(member = malloc(size)))
        return NULL;
    memcpy(member, c->copy[1] + at, size);
    return member;
}

static void read_comm(const struct copies *c, const struct collopt_recorded_comm *from,
                      struct collopt_snapshot *s, int slot)
{
    struct collopt_seen_comm *to = &s->comm[s->comms];

    *to = (struct collopt_seen_comm){
        .id = from->id, .calls = from->calls, .starts = from->starts, .flags = from->flags,
        .slot = slot, .rank = from->rank, .ranks = from->ranks };
    collopt_printable(to->name, from->name, sizeof to->name);
    if (from->flags & COLLOPT_RECORDED_INTER)
        to->rank = to->ranks = 0;
    else if (to->ranks <= 0 || to->rank < 0 || to->rank >= to->ranks)
        return;
    else if (from->members != 0)
        to->member = members_of(c, from->members, to->ranks);
    s->comms++;
}

static void read_comms(const struct copies *c, struct collopt_snapshot *s)
{
    const struct collopt_recording *h = &c->head;

    for (uint32_t i = 0; i < h->comms; i++) {
        struct collopt_recorded_comm one;
        const void *at = whole(c, h->comms_at + i * sizeof one, &s->changing);

        if (!at)
            continue;
        memcpy(&one, at, sizeof one);
        if (one.id != 0)
            read_comm(c, &one, s, (int)i);
    }
    s->full = s->comms == h->comms;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int comm_in(const struct collopt_snapshot *s, int slot)
{
    for (size_t i = 0; i < s->comms; i++)
        if (s->comm[i].slot == slot)
            return (int)i;
    return -1;
}

static void read_call(const struct copies *c, const struct collopt_recorded_call *from,
                      struct collopt_snapshot *s)
{
    const struct collopt_recording *h = &c->head;
    struct collopt_seen_call *to = &s->call[s->calls];

    *to = (struct collopt_seen_call){
        .sequence = from->sequence, .entered = from->entered, .bytes = from->bytes,
        .count = from->count, .number = from->number, .comm = comm_in(s, from->comm),
        .collective = from->collective, .mode = from->mode, .state = from->state,
        .root = from->root, .waits_for = from->waits_for };
    if (from->name < h->names)
        collopt_printable(to->name, c->copy[1] + h->names_at + from->name * sizeof to->name,
                          sizeof to->name);
    if (to->collective < COLLOPT_COLLECTIVES && to->mode <= COLLOPT_RECORDED_INIT)
        s->calls++;
}

static int by_sequence(const void *a, const void *b)
{
    const struct collopt_seen_call *x = a, *y = b;

    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static void read_calls(const struct copies *c, struct collopt_snapshot *s)
{
    const struct collopt_recording *h = &c->head;

    for (uint32_t i = 0; i < h->calls; i++) {
        struct collopt_recorded_call one;
        const void *at = whole(c, h->calls_at + i * sizeof one, &s->changing);

        if (!at)
            continue;
        memcpy(&one, at, sizeof one);
        if (one.sequence != 0)
            read_call(c, &one, s);
    }
    qsort(s->call, s->calls, sizeof *s->call, by_sequence);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void read_head(const struct collopt_recording *h, struct collopt_snapshot *s)
{
    s->version = h->version;
    s->process = h->process;
    s->rank = -1;
    s->local_ranks = -1;
    collopt_printable(s->collopt, h->collopt, sizeof s->collopt);
    if (!h->begun || h->ranks <= 0 || h->rank < 0 || h->rank >= h->ranks)
        return;
    s->rank = h->rank;
    s->ranks = h->ranks;
    s->job = h->job;
    s->started = h->started;
    collopt_printable(s->host, h->host, sizeof s->host);
    collopt_printable(s->mpi, h->mpi, sizeof s->mpi);
}

static bool read_body(int fd, struct copies *c, struct collopt_snapshot *s, char *why,
                      size_t size_of_why)
{
    if (c->head.bytes < sizeof c->head || c->head.bytes > LARGEST)
        return fail(why, size_of_why, "its size is not that of a recording");
    if (!take_copies(c, fd, why, size_of_why))
        return false;
    s->call = calloc(c->head.calls, sizeof *s->call);
    s->comm = calloc((size_t)c->head.comms + 1, sizeof *s->comm);
    if (!s->call || !s->comm)
        return fail(why, size_of_why, "no memory");
    s->life = c->head.life;
    s->recorded = c->head.recorded;
    s->local_ranks = c->head.local_ranks;
    s->told = c->head.told;
    read_comms(c, s);
    read_calls(c, s);
    return true;
}

static uint64_t real_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool collopt_read(int fd, struct collopt_snapshot *s, char *why, size_t size_of_why)
{
    struct copies c = { .bytes = 0 };
    bool good = true;

    memset(s, 0, sizeof *s);
    *why = '\0';
    if (!copy(fd, &c.head, sizeof c.head) || c.head.magic != COLLOPT_RECORDER_MAGIC)
        return false;
    read_head(&c.head, s);
    if (s->version == COLLOPT_RECORDER_VERSION)
        good = read_body(fd, &c, s, why, size_of_why);
    s->taken = collopt_now();
    s->real = real_time();
    free_copies(&c);
    if (!good)
        collopt_snapshot_free(s);
    return good;
}

void collopt_snapshot_free(struct collopt_snapshot *s)
{
    for (size_t i = 0; i < s->comms; i++)
        free(s->comm[i].member);
    free(s->comm);
    free(s->call);
    s->comm = NULL;
    s->call = NULL;
    s->comms = s->calls = 0;
}
