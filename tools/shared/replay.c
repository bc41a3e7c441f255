/* The timed replay: a discrete-event simulation of bound programs on the one-port model.
 *
 * Time stands still while strands run: they post, find what they wait for, and stop where they must
 * wait. Then transfers that have both ports free start, and time moves on to the next end of a
 * transfer or a fold. Where several could start, a port takes the one that its rank posted
 * first. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "shared/replay.h"
#include "schedule/bound.h"

/* ---- what a rank does ------------------------------------------------------------------------ */

static size_t combined(const struct collopt_step *step)
{
    return step->run[0].n * (size_t)(step->runs - (step->kind == COLLOPT_FOLD ? 2 : 1));
}

static void weigh_step(const struct collopt_step *step, struct collopt_load *load)
{
    if (step->kind == COLLOPT_FOLD || step->kind == COLLOPT_PREFIXES)
        load->combined += combined(step);
    if (step->kind == COLLOPT_COPY) {
        load->copies++;
        load->copied += step->run[0].n;
    }
}

void collopt_weigh(const struct collopt_bound *b, struct collopt_load *load)
{
    *load = (struct collopt_load){ 0 };
    for (int i = 0; i < b->messages; i++) {
        const struct collopt_message *m = &b->message[i];

        *(m->send ? &load->sends : &load->receives) += 1;
        *(m->send ? &load->sent : &load->received) += m->n;
    }
    for (int s = 0; s < b->strands; s++)
        for (const struct collopt_step *step = b->strand[s]; step->kind != COLLOPT_END; step++)
            weigh_step(step, load);
    for (int i = 0; i < b->slots; i++)
        load->scratch += b->slot[i];
}

/* ---- which send meets which receive ---------------------------------------------------------- */

enum { NOBODY = -1 };

struct flow {                   /* all messages from one rank to another with one tag */
    int from, to, tag;
    int strand[2];              /* that posts the receives, the sends; NOBODY at first */
    uint32_t head, tail;        /* sends not met yet, linked by mate[]; NONE */
};

static const uint32_t NONE = UINT32_MAX;

struct flows {
    struct flow *flow;
    size_t mask;
};

static size_t mixed(uint64_t from, uint64_t to, uint64_t tag)
{
    uint64_t h = (from << 32 ^ to) * 0x9e3779b97f4a7c15u + tag * 0xc2b2ae3d27d4eb4fu;

    h ^= h >> 29;
    return (size_t)(h * 0xbf58476d1ce4e5b9u >> 20);
}

static struct flow *find_flow(struct flows *f, int from, int to, int tag)
{
    for (size_t i = mixed((uint64_t)from, (uint64_t)to, (uint64_t)tag);; i++) {
        struct flow *at = &f->flow[i & f->mask];

        if (at->from == from && at->to == to && at->tag == tag)
            return at;
        if (at->from == NOBODY) {
            *at = (struct flow){ from, to, tag, { NOBODY, NOBODY }, NONE, NONE };
            return at;
        }
    }
}

struct pairing {
    struct collopt_pairs *pairs;
    struct flows flows;
    char *why;
    size_t size;
};

static bool complain(struct pairing *p, int rank, const struct collopt_message *m, const char *what)
{
    snprintf(p->why, p->size, "rank %d: message %d, a %s rank %d with tag %d of %zu elements, %s",
             rank, (int)(m - p->pairs->program[rank]->message),
             m->send ? "send to" : "receive from", m->peer, m->tag, m->n, what);
    return false;
}

static bool add_send(struct pairing *p, struct flow *f, uint32_t number)
{
    p->pairs->mate[number] = NONE;
    if (f->head == NONE)
        f->head = number;
    else
        p->pairs->mate[f->tail] = number;
    f->tail = number;
    return true;
}

static bool add_receive(struct pairing *p, struct flow *f, uint32_t number, int rank,
                        const struct collopt_message *m)
{
    uint32_t send = f->head;

    if (send == NONE)
        return complain(p, rank, m, "has no other end");
    f->head = p->pairs->mate[send];
    p->pairs->mate[send] = number;
    p->pairs->mate[number] = send;
    if (p->pairs->program[m->peer]->message[send - p->pairs->first[m->peer]].n != m->n)
        return complain(p, rank, m, "meets one of another length");
    return true;
}

static bool add_message(struct pairing *p, int rank, int strand, int index, bool sends)
{
    const struct collopt_message *m = &p->pairs->program[rank]->message[index];

    if (m->send != sends)
        return true;
    if (m->peer < 0 || m->peer >= p->pairs->ranks || m->peer == rank)
        return complain(p, rank, m, "has no such peer");

    struct flow *f = find_flow(&p->flows, sends ? rank : m->peer, sends ? m->peer : rank, m->tag);
    uint32_t number = (uint32_t)(p->pairs->first[rank] + (size_t)index);

    if (f->strand[sends] != NOBODY && f->strand[sends] != strand)
        return complain(p, rank, m,
                        "is posted by another strand than the one before it: their order is open");
    f->strand[sends] = strand;
    return sends ? add_send(p, f, number) : add_receive(p, f, number, rank, m);
}

static bool add_posts(struct pairing *p, int rank, bool sends)
{
    const struct collopt_bound *b = p->pairs->program[rank];

    for (int s = 0; s < b->strands; s++)
        for (const struct collopt_step *step = b->strand[s]; step->kind != COLLOPT_END; step++)
            if (step->kind == COLLOPT_POST_SEND || step->kind == COLLOPT_POST_RECEIVE
                || step->kind == COLLOPT_RECEIVE || step->kind == COLLOPT_SEND)
                if (!add_message(p, rank, s, step->message, sends))
                    return false;
    return true;
}

static bool unmet(struct pairing *p)
{
    for (size_t i = 0; i <= p->flows.mask; i++) {
        const struct flow *f = &p->flows.flow[i];

        if (f->from != NOBODY && f->head != NONE) {
            complain(p, f->from,
                     &p->pairs->program[f->from]->message[f->head - p->pairs->first[f->from]],
                     "has no other end");
            return true;
        }
    }
    return false;
}

static bool pair_all(struct pairing *p)
{
    for (int sends = 1; sends >= 0; sends--)
        for (int r = 0; r < p->pairs->ranks; r++)
            if (!add_posts(p, r, sends))
                return false;
    return !unmet(p);
}

bool collopt_pair(struct collopt_pairs *pairs, int ranks,
                  const struct collopt_bound *const *program, char *why, size_t size)
{
    struct pairing p = { .pairs = pairs, .why = why, .size = size };
    size_t messages = 0, room = 64;
    bool good = false;

    *pairs = (struct collopt_pairs){ .ranks = ranks, .program = program };
    pairs->first = malloc(((size_t)ranks + 1) * sizeof *pairs->first);
    for (int r = 0; pairs->first && r <= ranks; r++) {
        pairs->first[r] = messages;
        messages += r < ranks ? (size_t)program[r]->messages : 0;
    }
    while (room < 2 * messages)
        room *= 2;
    p.flows.mask = room - 1;
    p.flows.flow = malloc(room * sizeof *p.flows.flow);
    pairs->mate = malloc((messages + 1) * sizeof *pairs->mate);
    if (pairs->first && pairs->mate && p.flows.flow && messages < NONE) {
        for (size_t i = 0; i < room; i++)
            p.flows.flow[i].from = NOBODY;
        for (size_t i = 0; i < messages; i++)
            pairs->mate[i] = NONE;
        good = pair_all(&p);
    } else {
        snprintf(why, size, "no memory for %zu messages", messages);
    }
    free(p.flows.flow);
    if (!good)
        collopt_unpair(pairs);
    return good;
}

void collopt_unpair(struct collopt_pairs *pairs)
{
    free(pairs->first);
    free(pairs->mate);
    *pairs = (struct collopt_pairs){ 0 };
}

/* ---- the events ------------------------------------------------------------------------------ */

struct event {                  /* send MESSAGE leaves its ports, receive MESSAGE is there, or a
                                 * fold of STRAND ends */
    double time;
    size_t order;               /* of those at one time, first come first */
    uint32_t message, strand;   /* one of them NONE */
};

static bool earlier(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

struct heap {
    struct event *event;
    size_t n;
};

static void put(struct heap *h, struct event e)
{
    size_t at = h->n++;

    for (; at > 0 && earlier(&e, &h->event[(at - 1) / 2]); at = (at - 1) / 2)
        h->event[at] = h->event[(at - 1) / 2];
    h->event[at] = e;
}

static struct event take(struct heap *h)
{
    struct event top = h->event[0], last = h->event[--h->n];
    size_t at = 0;

    for (size_t child = 1; child < h->n; child = 2 * at + 1) {
        if (child + 1 < h->n && earlier(&h->event[child + 1], &h->event[child]))
            child++;
        if (!earlier(&h->event[child], &last))
            break;
        h->event[at] = h->event[child];
        at = child;
    }
    h->event[at] = last;
    return top;
}

/* ---- the machine ----------------------------------------------------------------------------- */

struct strand {
    int rank;
    const struct collopt_step *first, *step;
    bool queued, folding;
};

struct port {                   /* one direction of one rank */
    bool busy, looked;          /* looked: already among the ports to look at */
    uint32_t posts;
    uint32_t head, tail;        /* sends that are ready and not started, oldest first */
    uint32_t best;              /* among those that could start now */
};

enum { IN_PORT, OUT_PORT };

struct transfer {               /* of a send, kept under the send's number */
    uint32_t next[2];           /* in the lists of its two ports */
};

struct message_state {
    bool posted, started, done;
    uint32_t ordinal;           /* among the posts of its rank and direction */
    uint32_t waits;             /* strand that waits for it, or NONE */
};

struct replay {
    const struct collopt_pairs *pairs;
    const struct collopt_clock *machine;
    double now, *finish;
    size_t orders;
    size_t *strand_of;          /* [ranks + 1] first strand of each rank */
    struct strand *strand;
    double *processor;          /* [ranks] free from then on */
    struct port *port[2];       /* [ranks] each */
    struct message_state *state;        /* by message number */
    struct transfer *transfer;
    int *rank;                  /* of each message number */
    struct heap heap;
    uint32_t *queue;            /* ring of strands that can run */
    size_t head, queued;
    uint32_t *look;             /* ports whose lists may have something to start: 2 rank +
                                 * direction */
    size_t looks;
    uint32_t *candidate;
    size_t ended;
};

static size_t strands_of(const struct replay *r)
{
    return r->strand_of[r->pairs->ranks];
}

static void wake(struct replay *r, uint32_t strand)
{
    if (strand == NONE || r->strand[strand].queued || r->strand[strand].folding)
        return;
    r->strand[strand].queued = true;
    r->queue[(r->head + r->queued++) % strands_of(r)] = strand;
}

static void look_at(struct replay *r, int rank, int direction)
{
    struct port *port = &r->port[direction][rank];

    if (!port->looked)
        r->look[r->looks++] = 2 * (uint32_t)rank + (uint32_t)direction;
    port->looked = true;
}

static const struct collopt_message *message(const struct replay *r, uint32_t number)
{
    int rank = r->rank[number];

    return &r->pairs->program[rank]->message[number - r->pairs->first[rank]];
}

static void append(struct replay *r, uint32_t send, int rank, int direction)
{
    struct port *port = &r->port[direction][rank];

    r->transfer[send].next[direction] = NONE;
    if (port->head == NONE)
        port->head = send;
    else
        r->transfer[port->tail].next[direction] = send;
    port->tail = send;
    look_at(r, rank, direction);
}

static void post(struct replay *r, uint32_t number)
{
    int rank = r->rank[number];
    bool sends = message(r, number)->send;
    uint32_t mate = r->pairs->mate[number], send = sends ? number : mate;

    r->state[number].posted = true;
    r->state[number].ordinal = r->port[sends ? OUT_PORT : IN_PORT][rank].posts++;
    if (!r->state[mate].posted)
        return;
    append(r, send, r->rank[send], OUT_PORT);
    append(r, send, r->rank[r->pairs->mate[send]], IN_PORT);
}

/* True when the message is complete; else the strand will be woken when it is. */
static bool complete(struct replay *r, uint32_t strand, uint32_t number)
{
    if (!r->state[number].done)
        r->state[number].waits = strand;
    return r->state[number].done;
}

static void tell_work(const struct replay *r, int rank, const struct collopt_step *step,
                      double start)
{
    if (r->machine->work)
        r->machine->work(rank, step, start, r->machine->data);
}

static bool fold(struct replay *r, uint32_t strand, const struct collopt_step *step)
{
    struct strand *s = &r->strand[strand];
    double cost = r->machine->gamma * (double)combined(step);
    double start = r->now > r->processor[s->rank] ? r->now : r->processor[s->rank];

    tell_work(r, s->rank, step, start);
    if (cost <= 0 && start <= r->now)
        return true;
    r->processor[s->rank] = start + cost;
    s->folding = true;
    put(&r->heap, (struct event){ start + cost, r->orders++, NONE, strand });
    return false;
}

/* One step; false when the strand cannot go on now. */
static bool run_step(struct replay *r, uint32_t strand)
{
    struct strand *s = &r->strand[strand];
    const struct collopt_step *step = s->step;
    uint32_t number = (uint32_t)(r->pairs->first[s->rank] + (size_t)step->message);

    switch (step->kind) {
    case COLLOPT_POST_RECEIVE:
    case COLLOPT_POST_SEND:
        post(r, number);
        return true;
    case COLLOPT_SEND:
    case COLLOPT_RECEIVE:
        if (!r->state[number].posted)
            post(r, number);
        return complete(r, strand, number);
    case COLLOPT_WAIT:
        return complete(r, strand, number);
    case COLLOPT_FOLD:
    case COLLOPT_PREFIXES:
        return fold(r, strand, step);
    case COLLOPT_COPY:
        tell_work(r, s->rank, step, r->now);
        return true;
    case COLLOPT_AWAIT: {
        const struct strand *other = &r->strand[r->strand_of[s->rank] + (size_t)step->strand];

        return other->step - other->first >= step->step;
    }
    case COLLOPT_END:
        break;
    }
    return false;
}

static void stepped(struct replay *r, uint32_t strand)
{
    struct strand *s = &r->strand[strand];

    s->step++;
    for (size_t i = r->strand_of[s->rank]; i < r->strand_of[s->rank + 1]; i++)
        if (r->strand[i].step->kind == COLLOPT_AWAIT)
            wake(r, (uint32_t)i);
    if (s->step->kind == COLLOPT_END) {
        r->ended++;
        if (r->finish && r->finish[s->rank] < r->now)
            r->finish[s->rank] = r->now;
    }
}

static void run_strands(struct replay *r)
{
    while (r->queued) {
        uint32_t strand = r->queue[r->head];

        r->head = (r->head + 1) % strands_of(r);
        r->queued--;
        while (r->strand[strand].step->kind != COLLOPT_END && run_step(r, strand))
            stepped(r, strand);
        r->strand[strand].queued = false;
    }
}

/* ---- transfers ------------------------------------------------------------------------------- */

static void start_transfer(struct replay *r, uint32_t send)
{
    const struct collopt_message *m = message(r, send);
    double end = r->now
        + (r->machine->takes ? r->machine->takes(r->rank[send], m->peer, m->n, r->machine->data)
                             : r->machine->alpha + r->machine->beta * (double)m->n);

    r->state[send].started = true;
    r->port[OUT_PORT][r->rank[send]].busy = r->port[IN_PORT][m->peer].busy = true;
    put(&r->heap, (struct event){ end, r->orders++, send, NONE });
    if (r->machine->transfer)
        r->machine->transfer(r->rank[send], m->peer, m, r->now, end, r->machine->data);
}

static void done(struct replay *r, uint32_t number)
{
    r->state[number].done = true;
    wake(r, r->state[number].waits);
}

static void free_port(struct replay *r, int rank, int direction)
{
    r->port[direction][rank].busy = false;
    look_at(r, rank, direction);
}

static void end_transfer(struct replay *r, uint32_t send)
{
    uint32_t receive = r->pairs->mate[send];
    int from = r->rank[send], to = r->rank[receive];
    double delay = r->machine->delay ? r->machine->delay(from, to, r->machine->data) : 0;

    free_port(r, from, OUT_PORT);
    done(r, send);
    free_port(r, to, IN_PORT);
    if (delay > 0)
        put(&r->heap, (struct event){ r->now + delay, r->orders++, receive, NONE });
    else
        done(r, receive);
}

static bool both_free(const struct replay *r, uint32_t send)
{
    return !r->port[OUT_PORT][r->rank[send]].busy
        && !r->port[IN_PORT][r->rank[r->pairs->mate[send]]].busy;
}

/* Takes out of the list what has started, and collects what could start. */
static size_t collect(struct replay *r, int rank, int direction, size_t n)
{
    struct port *port = &r->port[direction][rank];
    uint32_t *link = &port->head, last = NONE;

    for (uint32_t send = *link; send != NONE; send = *link) {
        if (r->state[send].started) {
            *link = r->transfer[send].next[direction];
            continue;
        }
        if (!port->busy && both_free(r, send))
            r->candidate[n++] = send;
        last = send;
        link = &r->transfer[send].next[direction];
    }
    port->tail = last;
    port->looked = false;
    return n;
}

static struct port *port_of(const struct replay *r, uint32_t send, int direction)
{
    return &r->port[direction][r->rank[direction == OUT_PORT ? send : r->pairs->mate[send]]];
}

static uint32_t ordinal(const struct replay *r, uint32_t send, int direction)
{
    return r->state[direction == OUT_PORT ? send : r->pairs->mate[send]].ordinal;
}

/* Every port would rather take what its rank posted first. */
static void find_best(struct replay *r, const uint32_t *candidate, size_t n)
{
    for (int d = 0; d < 2; d++) {
        for (size_t i = 0; i < n; i++)
            port_of(r, candidate[i], d)->best = NONE;
        for (size_t i = 0; i < n; i++) {
            uint32_t *best = &port_of(r, candidate[i], d)->best;

            if (*best == NONE || ordinal(r, candidate[i], d) < ordinal(r, *best, d))
                *best = candidate[i];
        }
    }
}

/* Starts what is best at both its ports (if nothing is, the first one), and keeps what still can
 * start. */
static size_t start_best(struct replay *r, uint32_t *candidate, size_t n)
{
    size_t started = 0, kept = 0;

    find_best(r, candidate, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t send = candidate[i];

        if (port_of(r, send, OUT_PORT)->best == send && port_of(r, send, IN_PORT)->best == send &&
            !r->state[send].started) {
            start_transfer(r, send);
            started++;
        }
    }
    if (started == 0)
        start_transfer(r, candidate[0]);
    for (size_t i = 0; i < n; i++)
        if (!r->state[candidate[i]].started && both_free(r, candidate[i]))
            candidate[kept++] = candidate[i];
    return kept;
}

static void start_transfers(struct replay *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->looks; i++)
        n = collect(r, (int)(r->look[i] / 2), (int)(r->look[i] % 2), n);
    r->looks = 0;
    while (n > 0)
        n = start_best(r, r->candidate, n);
}

static void next_events(struct replay *r)
{
    r->now = r->heap.event[0].time;
    while (r->heap.n && r->heap.event[0].time <= r->now) {
        struct event e = take(&r->heap);

        if (e.message != NONE && message(r, e.message)->send) {
            end_transfer(r, e.message);
        } else if (e.message != NONE) {
            done(r, e.message);
        } else {
            r->strand[e.strand].folding = false;
            stepped(r, e.strand);
            wake(r, e.strand);
        }
    }
}

/* ---- setting up ------------------------------------------------------------------------------ */

static bool make_room(struct replay *r)
{
    size_t ranks = (size_t)r->pairs->ranks, messages = r->pairs->first[ranks];

    r->strand_of = calloc(ranks + 1, sizeof *r->strand_of);
    if (!r->strand_of)
        return false;
    for (size_t i = 0; i < ranks; i++)
        r->strand_of[i + 1] = r->strand_of[i] + (size_t)r->pairs->program[i]->strands;
    r->strand = calloc(strands_of(r) + 1, sizeof *r->strand);
    r->queue = calloc(strands_of(r) + 1, sizeof *r->queue);
    r->processor = calloc(ranks, sizeof *r->processor);
    r->port[0] = calloc(ranks, sizeof *r->port[0]);
    r->port[1] = calloc(ranks, sizeof *r->port[1]);
    r->look = calloc(2 * ranks, sizeof *r->look);
    r->state = calloc(messages + 1, sizeof *r->state);
    r->transfer = calloc(messages + 1, sizeof *r->transfer);
    r->rank = calloc(messages + 1, sizeof *r->rank);
    /* at most both ends of each message */
    r->candidate = calloc(messages + 1, sizeof *r->candidate);
    r->heap.event = calloc(messages + strands_of(r) + 1, sizeof *r->heap.event);
    return r->strand && r->queue && r->processor && r->port[0] && r->port[1] && r->look && r->state
        && r->transfer && r->rank && r->candidate && r->heap.event;
}

static void free_room(struct replay *r)
{
    free(r->strand_of);
    free(r->strand);
    free(r->queue);
    free(r->processor);
    free(r->port[0]);
    free(r->port[1]);
    free(r->look);
    free(r->state);
    free(r->transfer);
    free(r->rank);
    free(r->candidate);
    free(r->heap.event);
}

static void line_up(struct replay *r)
{
    for (int i = 0; i < r->pairs->ranks; i++) {
        const struct collopt_bound *b = r->pairs->program[i];

        if (r->finish)
            r->finish[i] = 0;
        for (int d = 0; d < 2; d++)
            r->port[d][i].head = r->port[d][i].tail = NONE;
        for (int m = 0; m < b->messages; m++) {
            r->rank[r->pairs->first[i] + (size_t)m] = i;
            r->state[r->pairs->first[i] + (size_t)m].waits = NONE;
        }
        for (int s = 0; s < b->strands; s++) {
            size_t number = r->strand_of[i] + (size_t)s;

            r->strand[number] = (struct strand){ .rank = i, .first = b->strand[s],
                                                 .step = b->strand[s] };
            r->ended += b->strand[s]->kind == COLLOPT_END;
            wake(r, (uint32_t)number);
        }
    }
}

double collopt_replay(const struct collopt_pairs *pairs, const struct collopt_clock *machine,
                      double *finish)
{
    struct replay r = { .pairs = pairs, .machine = machine, .finish = finish };
    double time = -1;

    if (make_room(&r)) {
        line_up(&r);
        for (;;) {
            run_strands(&r);
            start_transfers(&r);
            if (r.heap.n == 0)
                break;
            next_events(&r);
        }
        if (r.ended == strands_of(&r))
            time = r.now;
    }
    free_room(&r);
    return time;
}
