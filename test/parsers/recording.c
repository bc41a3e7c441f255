/* Recordings of processes, which may be made by anybody: read, or refused with a reason; what is
 * read is brought together and said in words.
 *
 * The input is up to PROCESSES recordings with few calls and communicators, one behind the other.
 * In front of each, a byte says whether its head is as it comes, or says where the parts lie. */
#include "config.h"

#include "parsers.h"
#include "recorder/diagnosis.h"
#include "recorder/reader.h"
#include "recorder/sentences.h"
#include "schedule/problem.h"
#include "shm/segment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PROCESSES = 4, CALLS = 3, COMMS = 2, NAMES = 2, MEMBERS = 6 };

struct recording {
    struct collopt_recording head;
    struct collopt_recorded_call call[CALLS];
    struct collopt_recorded_comm comm[COMMS];
    char name[NAMES][COLLOPT_RECORDED_TEXT];
    int32_t member[MEMBERS];
};

#define AT(part) (uint32_t)offsetof(struct recording, part)

static void set_head(struct collopt_recording *h)
{
    h->magic = COLLOPT_RECORDER_MAGIC;
    h->version = COLLOPT_RECORDER_VERSION;
    h->bytes = sizeof(struct recording);
    h->calls_at = AT(call), h->calls = CALLS;
    h->comms_at = AT(comm), h->comms = COMMS;
    h->names_at = AT(name), h->names = NAMES;
    h->members_at = AT(member), h->members = MEMBERS;
}

/* Lists lie where the communicators say; the first bits of what they say choose a right place. */
static void set_members(struct recording *r)
{
    for (int i = 0; i < COMMS; i++)
        if (r->comm[i].members % 2)
            r->comm[i].members = AT(member) + (uint32_t)(i * (MEMBERS / COMMS) * 4);
}

static void is_text(const char *text)
{
    for (int i = 0; text[i]; i++)
        if (i + 1 >= COLLOPT_RECORDED_TEXT || text[i] < ' ' || text[i] > '~')
            wrong("a text that is not printable");
}

static void is_sound(const struct collopt_snapshot *s)
{
    is_text(s->host), is_text(s->mpi), is_text(s->collopt);
    for (size_t i = 0; i < s->comms; i++) {
        const struct collopt_seen_comm *c = &s->comm[i];

        is_text(c->name);
        if (!(c->flags & COLLOPT_RECORDED_INTER) && (c->rank < 0 || c->rank >= c->ranks))
            wrong("rank %d of %d", c->rank, c->ranks);
    }
    for (size_t i = 0; i < s->calls; i++) {
        is_text(s->call[i].name);
        if (s->call[i].comm >= (int)s->comms || s->call[i].collective >= COLLOPT_COLLECTIVES)
            wrong("a call of communicator %d", s->call[i].comm);
    }
}

static void read_one(int fd, const void *bytes, size_t size, struct collopt_snapshot *list,
                     size_t *n)
{
    struct collopt_snapshot *s = &list[*n];
    char why[160];

    if (ftruncate(fd, 0) || pwrite(fd, bytes, size, COLLOPT_SHM_LINE) != (ssize_t)size)
        exit(0);
    if (collopt_read(fd, s, why, sizeof why)) {
        is_sound(s);
        ++*n;
    } else if (s->calls || s->comms) {
        wrong("refused, and not freed");
    }
}

/* What the reader of /proc adds. */
static void look_at_process(struct collopt_snapshot *s, unsigned bits)
{
    s->pid = 1 + (int)(bits & 3);
    s->status = "RSDTXZ"[bits % 6];
    s->moved = bits & 8;
    s->other_clock = bits & 16;
    if (bits & 32)
        memcpy(s->sleeps_in, "futex_wait", sizeof "futex_wait");
}

static void hear_line(void *data, const char *line)
{
    (void)data;
    if (strchr(line, '\n'))
        wrong("two lines in one: %s", line);
}

static void diagnose(const struct collopt_snapshot *list, size_t n)
{
    struct collopt_diagnosis *d = collopt_diagnose(list, n, 1000000000);

    for (size_t i = 0; d && i < d->jobs; i++)
        for (int complete = 0; complete < 2; complete++) {
            d->job[i].complete = complete;
            collopt_tell_job(&d->job[i], hear_line, NULL);
        }
    collopt_diagnosis_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct collopt_snapshot list[PROCESSES];
    size_t n = 0;

    if (fd < 0 && (fd = memfd_create("recording", MFD_CLOEXEC)) < 0)
        exit(0);
    for (int i = 0; i < PROCESSES && size > 1; i++) {
        struct recording r = { .head = { .magic = 0 } };
        size_t part = size - 1 < sizeof r ? size - 1 : sizeof r, before = n;
        unsigned bits = *data;

        memcpy(&r, data + 1, part);
        if (bits & 128)
            set_head(&r.head);
        set_members(&r);
        read_one(fd, &r, bits & 64 ? part : sizeof r, list, &n);
        if (n > before)
            look_at_process(&list[before], bits);
        data += part + 1;
        size -= part + 1;
    }
    diagnose(list, n);
    for (size_t i = 0; i < n; i++)
        collopt_snapshot_free(&list[i]);
    return 0;
}
