/* Writes and reads dumps; see dump.h.
 *
 *     @collopt-ps KEY KIND FIELD... @
 *
 * Launchers put words before a line and mix the lines of several nodes, so each is marked at both
 * ends, and says by its KEY what it belongs to.  A text has a = in front; what would tear a line is
 * written as %20.  What is read is checked as a recording is: it comes from other machines. */
#include "config.h"

#include "base/list.h"
#include "ps/dump.h"
#include "schedule/problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "@collopt-ps "

enum { MEMBERS = 128, KEY = 48, LINE = 4096 };

/* ---- writing --------------------------------------------------------------------------------- */

static void put_text(FILE *to, const char *text)
{
    fputs(" =", to);
    for (; *text; text++)
        if (*text == ' ' || *text == '%' || *text == '@')
            fprintf(to, "%%%02x", (unsigned)*text);
        else
            putc(*text, to);
}

static void write_members(FILE *to, const char *key, const struct collopt_seen_comm *c)
{
    for (int at = 0; c->member && at < c->ranks; at += MEMBERS) {
        fprintf(to, MARK "%s members %d %d", key, c->slot, at);
        for (int i = at; i < c->ranks && i < at + MEMBERS; i++)
            fprintf(to, " %" PRId32, c->member[i]);
        fputs(" @\n", to);
    }
}

static void write_comm(FILE *to, const char *key, const struct collopt_seen_comm *c)
{
    fprintf(to, MARK "%s comm %d %" PRIx64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %d %d", key,
            c->slot, c->id, c->calls, c->starts, c->flags, c->rank, c->ranks);
    put_text(to, c->name);
    fputs(" @\n", to);
    write_members(to, key, c);
}

static void write_call(FILE *to, const char *key, const struct collopt_snapshot *s,
                       const struct collopt_seen_call *c)
{
    fprintf(to, MARK "%s call %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32
            " %u %u %u %d %d", key, c->comm < 0 ? -1 : s->comm[c->comm].slot, c->sequence,
            c->entered, c->bytes, c->count, c->number, c->collective, c->mode, c->state, c->root,
            c->waits_for);
    put_text(to, c->name);
    fputs(" @\n", to);
}

static void write_process(FILE *to, const char *key, const struct collopt_snapshot *s)
{
    fprintf(to, MARK "%s process %" PRIu32 " %d %d %d %" PRIx64 " %" PRIu64, key, s->version,
            s->process, s->rank, s->ranks, s->job, s->started);
    fprintf(to, " %" PRIu32 " %d %" PRIu64 " %d %d", s->life, s->local_ranks, s->recorded, s->full,
            s->changing);
    fprintf(to, " %" PRIu64 " %" PRIu64 " %d %d %d %d", s->taken, s->real, s->pid, s->status,
            s->moved, s->other_clock);
    put_text(to, s->host);
    put_text(to, s->mpi);
    put_text(to, s->collopt);
    put_text(to, s->sleeps_in);
    fprintf(to, " %d @\n", s->queued);
    for (size_t i = 0; i < s->comms; i++)
        write_comm(to, key, &s->comm[i]);
    for (size_t i = 0; i < s->calls; i++)
        write_call(to, key, s, &s->call[i]);
}

void dump_write(FILE *to, const struct collopt_processes *p)
{
    char host[32] = "", key[KEY];

    gethostname(host, sizeof host - 1);
    collopt_printable(host, host, sizeof host);
    fprintf(to, MARK "%s.%d node %u %u @\n", host, (int)getpid(), p->unreadable, p->broken);
    for (size_t i = 0; i < p->n; i++) {
        snprintf(key, sizeof key, "%s.%d.%zu", host, (int)getpid(), i);
        write_process(to, key, &p->list[i]);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

struct keys {                   /* of the processes, in their order */
    char (*list)[KEY];
    size_t n;
};

struct reading {
    struct collopt_processes *p;
    struct keys keys;
    int nodes;
    char *at;                   /* the fields of a line that are still to be read */
    bool good;                  /* of this line */
    bool no_memory;
};

static char *next_field(struct reading *r)
{
    static char nothing[] = "";
    char *field = strtok_r(NULL, " ", &r->at);

    r->good = r->good && field;
    return field ? field : nothing;
}

static uint64_t next_number(struct reading *r, int base)
{
    char *field = next_field(r), *end;
    uint64_t value = strtoull(field, &end, base);

    r->good = r->good && end != field && !*end && *field != '-';
    return value;
}

static int next_int(struct reading *r, int least)
{
    char *field = next_field(r), *end;
    long value = strtol(field, &end, 10);

    r->good = r->good && end != field && !*end && value >= least && value <= INT32_MAX;
    return r->good ? (int)value : least;
}

static void next_text(struct reading *r, char to[COLLOPT_RECORDED_TEXT])
{
    char text[COLLOPT_RECORDED_TEXT] = "";
    const char *field = next_field(r);
    unsigned code;

    r->good = r->good && *field == '=';
    for (size_t n = 0; r->good && *++field && n + 1 < sizeof text; n++) {
        text[n] = *field;
        if (*field == '%' && sscanf(field, "%%%2x", &code) == 1 && field[1] && field[2]) {
            text[n] = (char)code;
            field += 2;
        }
    }
    collopt_printable(to, text, COLLOPT_RECORDED_TEXT);
}

static void read_process(struct reading *r, struct collopt_snapshot *s)
{
    int status;

    s->version = (uint32_t)next_number(r, 10);
    s->process = next_int(r, 0);
    s->rank = next_int(r, -1);
    s->ranks = next_int(r, 0);
    s->job = next_number(r, 16);
    s->started = next_number(r, 10);
    s->life = (uint32_t)next_number(r, 10);
    s->local_ranks = next_int(r, -1);
    s->recorded = next_number(r, 10);
    s->full = next_int(r, 0);
    s->changing = next_int(r, 0);
    s->taken = next_number(r, 10);
    s->real = next_number(r, 10);
    s->pid = next_int(r, 0);
    status = next_int(r, 0);
    s->moved = next_int(r, 0);
    s->other_clock = next_int(r, 0);
    next_text(r, s->host);
    next_text(r, s->mpi);
    next_text(r, s->collopt);
    next_text(r, s->sleeps_in);
    s->queued = *r->at && next_int(r, 0);       /* others may not say it */
    s->status = (char)status;
    r->good = r->good && s->rank < s->ranks + (s->rank < 0)
        && (status == 0 || (status >= 'A' && status <= 'z'));
}

static void add_process(struct reading *r, const char *key)
{
    struct collopt_snapshot s = { .version = 0 };

    read_process(r, &s);
    if (!r->good)
        return;
    if (!collopt_room(r->p->list, r->p->n) || !collopt_room(r->keys.list, r->keys.n)) {
        r->no_memory = true;
        return;
    }
    snprintf(r->keys.list[r->keys.n++], KEY, "%s", key);
    r->p->list[r->p->n++] = s;
}

static struct collopt_seen_comm *comm_at(struct collopt_snapshot *s, int slot)
{
    for (size_t i = 0; i < s->comms; i++)
        if (s->comm[i].slot == slot)
            return &s->comm[i];
    return NULL;
}

static void add_comm(struct reading *r, struct collopt_snapshot *s)
{
    struct collopt_seen_comm c = { .slot = next_int(r, 0) };

    c.id = next_number(r, 16);
    c.calls = (uint32_t)next_number(r, 10);
    c.starts = (uint32_t)next_number(r, 10);
    c.flags = (uint32_t)next_number(r, 10);
    c.rank = next_int(r, 0);
    c.ranks = next_int(r, 0);
    next_text(r, c.name);
    r->good = r->good && !comm_at(s, c.slot)
        && (c.flags & COLLOPT_RECORDED_INTER || c.rank < c.ranks);
    if (r->good && collopt_room(s->comm, s->comms))
        s->comm[s->comms++] = c;
    else
        r->no_memory = r->no_memory || r->good;
}

static void add_members(struct reading *r, struct collopt_snapshot *s)
{
    struct collopt_seen_comm *c = comm_at(s, next_int(r, 0));
    int at = next_int(r, 0);

    if (!r->good || !c || c->ranks > COLLOPT_RECORDED_MEMBERS)
        return;
    if (!c->member) {
        if (!(c->member = malloc((size_t)c->ranks * sizeof *c->member))) {
            r->no_memory = true;
            return;
        }
        for (int i = 0; i < c->ranks; i++)
            c->member[i] = -1;
    }
    for (int i = at; r->good && i < c->ranks && *r->at; i++)
        c->member[i] = next_int(r, -1);
}

static void add_call(struct reading *r, struct collopt_snapshot *s)
{
    int slot = next_int(r, -1);
    struct collopt_seen_comm *c = comm_at(s, slot);
    struct collopt_seen_call e = { .comm = c ? (int)(c - s->comm) : -1 };

    e.sequence = next_number(r, 10);
    e.entered = next_number(r, 10);
    e.bytes = next_number(r, 10);
    e.count = next_number(r, 10);
    e.number = (uint32_t)next_number(r, 10);
    e.collective = (uint8_t)next_int(r, 0);
    e.mode = (uint8_t)next_int(r, 0);
    e.state = (uint8_t)next_int(r, 0);
    e.root = next_int(r, -1);
    e.waits_for = next_int(r, -1);
    next_text(r, e.name);
    r->good = r->good && e.collective < COLLOPT_COLLECTIVES && e.mode <= COLLOPT_RECORDED_INIT;
    if (r->good && collopt_room(s->call, s->calls))
        s->call[s->calls++] = e;
    else
        r->no_memory = r->no_memory || r->good;
}

static void add_node(struct reading *r)
{
    unsigned unreadable = (unsigned)next_int(r, 0), broken = (unsigned)next_int(r, 0);

    if (!r->good)
        return;
    r->nodes++;
    r->p->unreadable += unreadable;
    r->p->broken += broken;
}

/* The lines of a process mostly follow each other. */
static struct collopt_snapshot *of_key(struct reading *r, const char *key)
{
    for (size_t i = r->keys.n; i-- > 0;)
        if (strcmp(r->keys.list[i], key) == 0)
            return &r->p->list[i];
    return NULL;
}

static void read_line(struct reading *r, char *line)
{
    char *from = strstr(line, MARK), *end = from ? strstr(from, " @") : NULL;
    const char *key, *kind;
    struct collopt_snapshot *s = NULL;

    if (!end)
        return;
    *end = '\0';
    r->good = true;
    r->at = from + sizeof MARK - 1;
    key = next_field(r);
    kind = next_field(r);
    if (strcmp(kind, "node") == 0)
        add_node(r);
    else if (strcmp(kind, "process") == 0)
        add_process(r, key);
    else if (!(s = of_key(r, key)))
        return;
    else if (strcmp(kind, "comm") == 0)
        add_comm(r, s);
    else if (strcmp(kind, "members") == 0)
        add_members(r, s);
    else if (strcmp(kind, "call") == 0)
        add_call(r, s);
}

bool dump_read(FILE *file, struct collopt_processes *p, int *dumps)
{
    struct reading r = { .p = p };
    char line[LINE];

    r.keys.list = NULL;
    for (size_t i = 0; i < p->n; i++)           /* those of other files have no lines here */
        if (collopt_room(r.keys.list, r.keys.n))
            r.keys.list[r.keys.n++][0] = '\0';
        else
            r.no_memory = true;
    while (!r.no_memory && fgets(line, sizeof line, file))
        read_line(&r, line);
    free(r.keys.list);
    *dumps += r.nodes;
    return !r.no_memory;
}
