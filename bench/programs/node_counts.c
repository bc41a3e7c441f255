/* Counts the bytes that an Allreduce by shared memory moves on a node of many cores, by schedules.
 *
 *     node_counts [--ranks=P] [--machine=FILE --caches=N] [--bytes=BYTES]... [--algorithm=WORDS]...
 *
 * Prints a table in CSV: for every size the chosen algorithm and others, and beside them what other
 * libraries do as their sources describe it.  Nothing is measured.
 *
 *     lines    cache lines of 64 bytes that change owner for the busiest rank: of flags and of
 *              payload
 *     read     bytes that the busiest rank reads, in vectors; written: that it writes
 *     syncs    flags that somebody waits for one after another, on the longest path, a rank looking
 *              at one at a time
 *     predicted  by the model, in us; of collopt's algorithms only
 *
 * Counted as src/shm carries messages: the sender copies them into its segment, in pieces, those of
 * a multicast once; folds read them there if the program may (views); what is stored first is read
 * and written once more.
 *
 * Others, from their sources (one vector of N bytes, P ranks):
 *     release_gather   MPICH, src/mpid/ch4/shm/posix/release_gather: whole vectors up a tree of
 *                      degree 4 (2 above 2 KiB) by cells of 8 KiB and operations of two operands,
 *                      down one of degree 64
 *     xhc              Open MPI, ompi/mca/coll/xhc, above 4 KiB with XPMEM: the members of a group
 *                      each reduce a part of the vector into the leader's; the result is copied
 *                      from it.  Counted for groups by last-level cache
 *     ext_mpi          eth-cscs/ext_mpi_collectives, "1 -P P" with XPMEM: every rank folds its part
 *                      of all, and copies the others'; three barriers by dissemination
 *     tuned            Open MPI, coll/tuned over messages that are copied in and out: recursive
 *                      doubling up to 10000 bytes, else a ring */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "model/choose.h"
#include "model/machine.h"
#include "model/model.h"
#include "shared/replay.h"
#include "schedule/bind.h"
#include "schedule/block.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"
#include "shm/channel.h"
#include "topology/topology.h"

enum { LINE = 64, SIZE = 8, MOST_RANKS = 512, MOST_ASKED = 16 };
/* bytes of a message at most; HOST: of one that the host carries; COPIED: of one that is copied to
 * OUT though it could be read in place */
enum { PIECE = 2048, MULTICAST = 64 << 10, HOST = 1 << 30, COPIED = 1024 };

static struct asked {
    int ranks, caches;
    const char *machine;
    size_t bytes[MOST_ASKED];
    const char *algorithm[MOST_ASKED];
    int sizes, algorithms;
} asked = { 128, 1, NULL, { 8, 64, 1024, 8192, 1 << 20 },
            { "alltoall", "lanes:by=cache", "two_tree" }, 0, 0 };

struct counts {
    double lines, read, written, syncs;         /* read and written in vectors */
};

/* ---- ours ------------------------------------------------------------------------------------ */

/* A short message is in its cell, behind the number; of a longer one the number alone is. */
static double lines_of(size_t bytes)
{
    size_t in_first = bytes <= COLLOPT_INLINE ? COLLOPT_HEAD : 0;

    return bytes <= in_first ? 1 : 1 + (double)((bytes - in_first + LINE - 1) / LINE);
}

static void add_step(const struct collopt_bound *b, const struct collopt_step *s, struct counts *c)
{
    size_t n = s->kind == COLLOPT_FOLD || s->kind == COLLOPT_COPY ? s->run[0].n * SIZE : 0;
    int first_view = COLLOPT_FIRST_SLOT + b->slots - b->views;
    const struct collopt_message *m = s->message >= 0 ? &b->message[s->message] : NULL;
    bool sends = s->kind == COLLOPT_POST_SEND || s->kind == COLLOPT_SEND;
    bool receives = s->kind == COLLOPT_POST_RECEIVE || s->kind == COLLOPT_RECEIVE;

    c->read += (double)n * (s->runs - 1);
    c->written += (double)n;
    if (!m || !(sends || receives) || m->repeats)
        return;
    c->lines += lines_of(m->n * SIZE);
    if (sends || m->run[0].place < first_view) {
        c->read += (double)(m->n * SIZE);
        c->written += (double)(m->n * SIZE);
    }
}

static struct counts work_of(const struct collopt_bound *b)
{
    struct counts c = { 0, 0, 0, 0 };

    for (int i = 0; i < b->strands; i++)
        for (const struct collopt_step *s = b->strand[i]; s->kind != COLLOPT_END; s++)
            add_step(b, s, &c);
    return c;
}

/* All programs, as a plan binds them where all ranks are near. */
static struct counts count(const struct collopt_problem *p, const struct collopt_algorithm *a)
{
    static struct collopt_bound *program[MOST_RANKS];
    bool near[MOST_RANKS];
    const struct collopt_cut host[] = { { .above = HOST / SIZE, .piece = HOST / SIZE }, { 0 } },
                             cut[] = {
        { .above = PIECE / SIZE, .piece = PIECE / SIZE, .in_turn = true },
        { 0 }
    }, multicast[] = {
        { .above = MULTICAST / SIZE, .piece = MULTICAST / SIZE, .in_turn = true },
        { 0 }
    };
    const struct collopt_nearby nearby = { .rank = near, .cuts = cut, .multicast = multicast,
                                           .views = true, .copied = COPIED / SIZE };
    const struct collopt_clock flags = { .alpha = 1 };
    struct counts most = { 0, 0, 0, 0 };
    struct collopt_pairs pairs;
    char why[200] = "no memory";

    for (int r = 0; r < p->ranks; r++) {
        struct collopt_schedule *s = collopt_schedule_new(a, p, r, 0);
        struct counts c;

        for (int i = 0; i < p->ranks; i++)
            near[i] = i != r;
        program[r] = s ? collopt_bind_near(s, p, host, &nearby) : NULL;
        collopt_schedule_free(s);
        if (!program[r])
            break;
        c = work_of(program[r]);
        most.lines = larger(most.lines, c.lines);
        most.read = larger(most.read, c.read / (double)(p->count * SIZE));
        most.written = larger(most.written, c.written / (double)(p->count * SIZE));
    }
    if (!program[p->ranks - 1]
        || !collopt_pair(&pairs, p->ranks, (const struct collopt_bound *const *)program, why,
                         sizeof why)) {
        fprintf(stderr, "node_counts: %s: %s\n", a->name, why);
        exit(1);
    }
    most.syncs = collopt_replay(&pairs, &flags, NULL);
    collopt_unpair(&pairs);
    for (int r = 0; r < p->ranks; r++) {
        collopt_bound_free(program[r]);
        program[r] = NULL;
    }
    return most;
}

/* ---- others ---------------------------------------------------------------------------------- */

static int levels(int ranks, int degree)
{
    int n = 0;

    for (long reached = 1; reached < ranks; reached *= degree)
        n++;
    return n;
}

static struct counts release_gather(int p, size_t bytes)
{
    int k = bytes <= 2048 ? 4 : 2, cells = (int)((bytes + 8191) / 8192), up = levels(p, k);
    double lines = (double)((bytes + LINE - 1) / LINE);

    /* the root copies in, reads two operands for each child, copies out and in again */
    return (struct counts){ (k + 1) * (lines + 1) + lines, 1 + 2 * k + 2, 1 + k + 2,
                            (double)cells + k * up + levels(p, 64) - 1 };
}

static struct counts xhc(int p, size_t bytes, int caches)
{
    double lines = (double)((bytes + LINE - 1) / LINE), group = (double)p / caches;
    int tops = caches > 1 ? 2 : 1;

    return (struct counts){ tops * lines * (1 + 1 / group) + 4 * tops, tops + 1, tops / group + 1,
                            tops * (2.0 + (double)((bytes + 16383) / 16384)) };
}

static struct counts ext_mpi(int p, size_t bytes)
{
    double lines = (double)((bytes + LINE - 1) / LINE);

    return (struct counts){ 2 * lines + 3 * levels(p, 2), 2, 1 + 1.0 / p, 3 * levels(p, 2) };
}

static struct counts tuned(int p, size_t bytes)
{
    double lines = (double)((bytes + LINE - 1) / LINE), rounds = levels(p, 2);

    if (bytes <= 10000)
        return (struct counts){ 2 * rounds * (lines + 1), rounds * 4, rounds * 3, rounds };
    return (struct counts){ 4 * lines + 4 * (p - 1), 2 * 2 + 2 + 2, 2 * 2 + 1, 2 * (p - 1) };
}

/* ---- the table ------------------------------------------------------------------------------- */

/* PREDICTED: seconds; 0: there is no prediction. */
static void line(size_t bytes, const char *library, const char *algorithm, struct counts c,
                 double predicted)
{
    const char *quote = strchr(algorithm, ',') ? "\"" : "";

    printf("%d,%d,%zu,%s,%s%s%s,%.0f,%.3g,%.3g,%.0f,", asked.ranks, asked.caches, bytes, library,
           quote, algorithm, quote, c.lines, c.read, c.written, c.syncs);
    if (predicted > 0)
        printf("%.3g", predicted * 1e6);
    putchar('\n');
}

static void ours(struct collopt_problem p, const char *words)
{
    struct collopt_candidate best;
    struct collopt_choice choice;
    char message[200], name[80];

    if (words && !collopt_parse_choice(words, p.collective, &choice, message, sizeof message)) {
        fprintf(stderr, "node_counts: %s\n", message);
        exit(2);
    }
    if (!words) {
        collopt_choose(&p, 1, &best);
        choice = best.choice;
    }
    collopt_set_parameters(&p, &choice);
    snprintf(name, sizeof name, "%s%s", words ? "" : "chosen: ", choice.algorithm->name);
    if (collopt_usable(choice.algorithm, &p, NULL))
        line(p.count * SIZE, "collopt", words && asked.algorithms > 0 ? words : name,
             count(&p, choice.algorithm), collopt_model(choice.algorithm, &p));
}

static void table(const struct collopt_topology *t, const struct collopt_machine *m)
{
    printf("ranks,caches,bytes,library,algorithm,lines,read,written,syncs,predicted\n");
    for (const size_t *size = asked.bytes; *size > 0; size++) {
        size_t bytes = *size;
        struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE,
                                     .ranks = asked.ranks,
                                     .count = bytes / SIZE,
                                     .size = SIZE,
                                     .commutative = true,
                                     .segments = 1,
                                     .topology = t,
                                     .machine = m };

        ours(p, NULL);
        for (const char *const *words = asked.algorithm; *words; words++)
            ours(p, *words);
        line(bytes, "MPICH", "release_gather", release_gather(asked.ranks, bytes), 0);
        line(bytes, "Open MPI", "xhc", xhc(asked.ranks, bytes, asked.caches), 0);
        line(bytes, "ext_mpi", "direct", ext_mpi(asked.ranks, bytes), 0);
        line(bytes, "Open MPI", "tuned", tuned(asked.ranks, bytes), 0);
    }
}

static void tell(void *data, int at, const char *sentence)
{
    (void)data;
    fprintf(stderr, "node_counts: line %d: %s\n", at, sentence);
}

/* The lists end with 0 and NULL. */
static bool ask_bytes(const char *word)
{
    size_t bytes;
    char more;

    if (asked.sizes == MOST_ASKED - 1 || sscanf(word, "%zu%c", &bytes, &more) != 1 || bytes == 0
        || bytes % SIZE)
        return false;
    asked.bytes[asked.sizes++] = bytes;
    asked.bytes[asked.sizes] = 0;
    return true;
}

static bool ask_algorithm(const char *words)
{
    if (asked.algorithms == MOST_ASKED - 1)
        return false;
    asked.algorithm[asked.algorithms++] = words;
    asked.algorithm[asked.algorithms] = NULL;
    return true;
}

static bool understand(const char *word)
{
    if (sscanf(word, "--ranks=%d", &asked.ranks) == 1)
        return asked.ranks >= 2 && asked.ranks <= MOST_RANKS;
    if (sscanf(word, "--caches=%d", &asked.caches) == 1)
        return asked.caches >= 1;
    if (strncmp(word, "--algorithm=", strlen("--algorithm=")) == 0)
        return ask_algorithm(word + strlen("--algorithm="));
    if (strncmp(word, "--bytes=", strlen("--bytes=")) == 0)
        return ask_bytes(word + strlen("--bytes="));
    return strncmp(word, "--machine=", strlen("--machine=")) == 0
        && (asked.machine = word + strlen("--machine="));
}

int main(int words, char **word)
{
    static struct collopt_topology node = { .nodes = 1 }, caches;
    static const struct collopt_topology *groups[COLLOPT_GROUPINGS] = { [COLLOPT_BY_NODE] = &node };
    static uint64_t key[MOST_RANKS];
    static int cache[MOST_RANKS];
    struct collopt_machine_file *f = NULL;
    struct collopt_machine m;

    for (int i = 1; i < words; i++)
        if (!understand(word[i])) {
            fprintf(stderr, "usage: node_counts [--ranks=2..%d] [--machine=FILE] [--caches=N]"
                    " [--bytes=BYTES]... [--algorithm=WORDS]...\n"
                    "BYTES: a multiple of %d\n", MOST_RANKS, SIZE);
            return 2;
        }
    for (int r = 0; r < asked.ranks; r++)
        key[r] = (uint64_t)r * (unsigned)asked.caches / (unsigned)asked.ranks;
    node.groups = groups;
    if (!collopt_topology_group(&caches, &node, key, cache, asked.ranks))
        return 1;
    groups[COLLOPT_BY_CACHE] = &caches;
    if (asked.machine && !(f = collopt_machine_read(asked.machine, tell, NULL)))
        return 2;
    collopt_machine_pick(&m, collopt_network_of(&node, true), true, f);
    table(&node, &m);
    collopt_machine_free(f);
    return 0;
}
