/* Bundled machines, and files that say what a machine is like; see machine.h. */
#include "config.h"

#include "model/machine.h"
#include "base/arithmetic.h"
#include "base/contents.h"
#include "base/hash.h"
#include "base/lines.h"
#include "base/text.h"
#include "model/fragments.h"
#include "model/host_times.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

/* ---- bundled ones ---------------------------------------------------------------------------- */

const char *const collopt_network_names[COLLOPT_NETWORKS] = { "shared memory",
                                                              "shared memory of several caches",
                                                              "fast network", "TCP", "torus" };

#define US  * 1e-6
#define GB_PER_S(rate)  (1e-9 / (rate))
#define WIRE(latency_, overhead_, rate, eager_, handshake_) \
    { .latency = latency_, .overhead = overhead_, .byte = GB_PER_S(rate), \
      .shared = GB_PER_S(rate), .eager = eager_, \
      .handshake = handshake_, .group = 64, .taper = 2 }

#define NO_GROUPS .group = 1e9, .taper = 1

/* Two processes that both run: messages of more than 4 KiB are copied by one of them out of the
 * other's memory. LATENCY is 0.2 us between neighbours; nodes of a network mostly have two sockets,
 * between which a message takes about twice as long in all, and all ranks wait for such ones. */
#define IN_A_NODE(latency_) \
    { .latency = latency_, .overhead = 0.1 US, .byte = GB_PER_S(14), .shared = GB_PER_S(100), \
      .eager = 4000, \
      .handshake = 2 US, NO_GROUPS }
#define NEAR    IN_A_NODE(0.2 US)
#define FAR     IN_A_NODE(0.55 US)

/* The same by shared memory (src/shm): one cache line changes its owner, and there is no handshake.
 * The sender copies to where the receiver reads. */
#define BY_SHM(latency_) \
    { .latency = latency_, .overhead = 0.03 US, .byte = GB_PER_S(14), .shared = GB_PER_S(100), \
      .eager = 1e18, NO_GROUPS }

static const struct collopt_way near_by_shm = BY_SHM(0.1 US), far_by_shm = BY_SHM(0.2 US);

#define REST .combine = GB_PER_S(60), .cache = 2 << 20, .exit = GB_PER_S(50), .turn = 3 US
#define FAST WIRE(0.9 US, 0.2 US, 12.5, 8192, 1.5 US)

const struct collopt_machine collopt_bundled_machines[COLLOPT_NETWORKS] = {
    [COLLOPT_SHARED_MEMORY] = { .way = { NEAR, NEAR, FAST }, REST },
    [COLLOPT_SEVERAL_CACHES] = { .way = { NEAR, FAR, FAST }, REST },
    [COLLOPT_FAST_NETWORK] = { .way = { NEAR, FAR, FAST }, REST },
    [COLLOPT_TCP] = { .way = { NEAR, FAR, WIRE(10 US, 15 US, 0.125, 65536, 40 US) }, REST },
    [COLLOPT_TORUS] = { .way = { NEAR, FAR, WIRE(0, 0.2 US, 12.5, 8192, 0) }, .hop = 1 US, REST },
};

enum collopt_network collopt_network_of(const struct collopt_topology *t, bool fast)
{
    if (t->wired)
        return COLLOPT_TORUS;
    if (t->nodes == 1)
        return collopt_topology_caches(t) ? COLLOPT_SEVERAL_CACHES : COLLOPT_SHARED_MEMORY;
    return fast ? COLLOPT_FAST_NETWORK : COLLOPT_TCP;
}

/* ---- what a file may say --------------------------------------------------------------------- */

#define FIELD(f) offsetof(struct collopt_machine, f)
#define ONE(word, level, where) \
    { word ".latency", COLLOPT_TIME, FIELD(way[level].latency), 0, 1, \
      "an empty message on its way " where }, \
    { word ".overhead", COLLOPT_TIME, FIELD(way[level].overhead), 0, 1, \
      "each message keeps its sender busy, and its receiver" }, \
    { word ".bandwidth", COLLOPT_RATE, FIELD(way[level].byte), 1, 1e15, \
      "of one message " where ", which none disturbs" }
#define WAY(word, level, where) \
    ONE(word, level, where), \
    { word ".shared", COLLOPT_RATE, FIELD(way[level].shared), 1, 1e15, \
      "of all messages of a node together " where }, \
    { word ".eager", COLLOPT_LENGTH, FIELD(way[level].eager), 0, 1e18, \
      "longer messages need a handshake" }, \
    { word ".handshake", COLLOPT_TIME, FIELD(way[level].handshake), 0, 1, "what that takes" }

const struct collopt_machine_key collopt_machine_keys[COLLOPT_MACHINE_KEYS] = {
    WAY("node", COLLOPT_IN_NODE, "inside it"),
    WAY("net", COLLOPT_OVER_NET, "between nodes"),
    { "net.hop", COLLOPT_TIME, FIELD(hop), 0, 1, "grids: each link on the way" },
    { "net.group", COLLOPT_RATIO, FIELD(way[COLLOPT_OVER_NET].group), 2, 1e9,
      "nodes farther apart have a share of the upper links" },
    { "net.taper", COLLOPT_RATIO, FIELD(way[COLLOPT_OVER_NET].taper), 1, 1000,
      "how much less that is than what leaves a node; 1: full bisection" },
    { "combine.bandwidth", COLLOPT_RATE, FIELD(combine), 1, 1e15, "results of MPI_Reduce_local" },
    { "turn.time", COLLOPT_TIME, FIELD(turn), 0, 1,
      "more ranks than processors: until another rank is run" },
    ONE("cache", COLLOPT_IN_CACHE, "under a last-level cache"),
    { "cache.size", COLLOPT_LENGTH, FIELD(cache), 0, 1e18,
      "of all levels, for each rank; what finds no room shares node.shared" },
    { "cache.exit", COLLOPT_RATE, FIELD(exit), 1, 1e15,
      "of all messages together that leave one last-level cache" },
    { "node.group", COLLOPT_RATIO, FIELD(way[COLLOPT_IN_NODE].group), 2, 1e9,
      "caches farther apart have a share of links" },
    { "node.taper", COLLOPT_RATIO, FIELD(way[COLLOPT_IN_NODE].taper), 1, 1000,
      "how much less that is than cache.exit" },
};

static double *field(struct collopt_machine *m, int key)
{
    return (double *)((char *)m + collopt_machine_keys[key].field);
}

static const char *nth_key(int i, const void *data)
{
    (void)data;
    return collopt_machine_keys[i].name;
}

static const struct unit {
    const char *name;
    enum collopt_quantity quantity;
    double factor;
} units[] = {                   /* of each quantity the largest first */
    { "s", COLLOPT_TIME, 1 }, { "ms", COLLOPT_TIME, 1e-3 }, { "us", COLLOPT_TIME, 1e-6 },
    { "ns", COLLOPT_TIME, 1e-9 },
    { "GB/s", COLLOPT_RATE, 1e9 }, { "MB/s", COLLOPT_RATE, 1e6 }, { "kB/s", COLLOPT_RATE, 1e3 },
    { "B/s", COLLOPT_RATE, 1 },
    { "MiB", COLLOPT_LENGTH, 1048576 }, { "KiB", COLLOPT_LENGTH, 1024 }, { "B", COLLOPT_LENGTH, 1 },
    { "", COLLOPT_RATIO, 1 },
};

enum { UNITS = sizeof units / sizeof *units };

static const char *const examples[] = { "a number and a unit, such as 1.5 us (or s, ms, ns)",
                                        "a number and a unit, such as 12.5 GB/s (or B/s, kB/s, "
                                        "MB/s)",
                                        "a number and a unit, such as 64 KiB (or B, MiB)",
                                        "a number without a unit, such as 2" };
static const char *const base_units[] = { " s", " B/s", " B", "" };

/* ---- reading --------------------------------------------------------------------------------- */

enum { SHOWN = 60, LARGEST = 1 << 20 };

struct reader {
    struct collopt_lines in;    /* the first member: a reader is what its lines are read for */
    struct collopt_machine_file *machine;
    int line_of[COLLOPT_MACHINE_KEYS];
};

/* The number of a key's name; -1 after a complaint. */
static int key_named(struct reader *r, const char *name)
{
    char hint[COLLOPT_HINT];

    for (int i = 0; i < COLLOPT_MACHINE_KEYS; i++)
        if (strcmp(collopt_machine_keys[i].name, name) == 0)
            return i;
    collopt_hint(hint, " did you mean ", name, COLLOPT_MACHINE_KEYS, nth_key, NULL);
    collopt_mistake(&r->in, "there is no key \"%.*s\";%s collopt(7) lists them", SHOWN, name,
                    hint);
    return -1;
}

/* Parses a value with its unit, "1.5 us"; the number has no sign. */
static bool parse_value(const struct collopt_machine_key *k, const char *text, double *value)
{
    const char *unit;

    if (!collopt_parse_decimal(text, value, &unit))
        return false;
    unit += strspn(unit, " \t");
    for (int i = 0; i < UNITS; i++)
        if (units[i].quantity == k->quantity && strcmp(units[i].name, unit) == 0) {
            *value *= units[i].factor;
            return true;
        }
    return false;
}

/* Ranks compare hashes, and then decide by the values: so 1 us and 1000 ns, which may differ in
 * their last bit, are made the same, and what still differs has another hash. VALUE is not
 * negative. */
static double rounded(double value)
{
    const uint64_t kept = ~((UINT64_C(1) << 25) - 1);       /* of 52 bits behind the point: eight
                                                             * digits */
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    bits = (bits + (UINT64_C(1) << 24)) & kept;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

static void set(struct reader *r, int key, const char *text)
{
    const struct collopt_machine_key *k = &collopt_machine_keys[key];
    char least[32], most[32];
    double value;

    collopt_digits_text(k->least, 6, least, sizeof least);
    collopt_digits_text(k->most, 6, most, sizeof most);
    if (!parse_value(k, text, &value))
        collopt_mistake(&r->in, "%s = \"%.*s\" is not understood; it takes %s", k->name, SHOWN,
                        text, examples[k->quantity]);
    else if (value < k->least || value > k->most)
        collopt_mistake(&r->in, "%s = %.*s is out of range; it takes %s to %s%s", k->name, SHOWN,
                        text, least, most, base_units[k->quantity]);
    else if (r->line_of[key])
        collopt_mistake(&r->in, "%s is given in line %d already", k->name, r->line_of[key]);
    else {
        *field(&r->machine->machine, key) =
            rounded(k->quantity == COLLOPT_RATE ? 1 / value : value);
        r->machine->given |= 1u << key;
        r->line_of[key] = r->in.line;
    }
}

/* "host openmpi allreduce ...": WORDS are those behind the first. */
static void set_host_time(struct reader *r, char *words, const char *text)
{
    static const struct collopt_machine_key time = { .name = "host", .quantity = COLLOPT_TIME,
                                                     .most = 1e6 };
    double value;

    if (!r->machine->host_times)
        r->machine->host_times = calloc(1, sizeof *r->machine->host_times);
    if (!r->machine->host_times)
        collopt_mistake(&r->in, "no memory");
    else if (!parse_value(&time, text, &value) || !(value > 0) || value > time.most)
        collopt_mistake(&r->in, "the host's time \"%.*s\" is not understood; it takes %s", SHOWN,
                        text, examples[COLLOPT_TIME]);
    else
        collopt_host_times_take(r->machine->host_times, &r->in, words, rounded(value));
}

/* "fragment reduce ...": WORDS are those behind the first. */
static void set_fragment(struct reader *r, char *words, const char *text)
{
    static const struct collopt_machine_key length = { .name = "fragment",
                                                       .quantity = COLLOPT_LENGTH, .least = 1,
                                                       .most = 1e15 };
    double value;

    if (!r->machine->fragments)
        r->machine->fragments = calloc(1, sizeof *r->machine->fragments);
    if (!r->machine->fragments)
        collopt_mistake(&r->in, "no memory");
    else if (!parse_value(&length, text, &value) || value < length.least || value > length.most)
        collopt_mistake(&r->in, "the fragments' length \"%.*s\" is not understood; it takes %s",
                        SHOWN, text, examples[COLLOPT_LENGTH]);
    else
        collopt_fragments_take(r->machine->fragments, &r->in, words, value);
}

/* The rest of TEXT after its first word, WORD; NULL: TEXT starts with another word. */
static char *behind(char *text, const char *word)
{
    size_t n = strlen(word);

    return strncmp(text, word, n) == 0 && (text[n] == ' ' || text[n] == '\t') ? text + n : NULL;
}

/* Without blanks at both ends; TEXT is changed. */
static char *trimmed(char *text)
{
    size_t n;

    text += strspn(text, " \t");
    for (n = strlen(text); n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'); n--)
        text[n - 1] = '\0';
    return text;
}

static void take_line(struct collopt_lines *in, char *line)
{
    struct reader *r = (struct reader *)in;
    char *equals = strchr(line, '='), *text = trimmed(line), *words;
    int key;

    if (!*text)
        return;
    if (!equals) {
        collopt_mistake(&r->in,
                        "\"%.*s\" is no line of a machine; it takes key = value unit, such as "
                        "net.latency = 1.2 us",
                        SHOWN, text);
        return;
    }
    *equals = '\0';
    text = trimmed(line);
    if ((words = behind(text, "host")) != NULL)
        set_host_time(r, words, trimmed(equals + 1));
    else if ((words = behind(text, "fragment")) != NULL)
        set_fragment(r, words, trimmed(equals + 1));
    else if ((key = key_named(r, text)) >= 0)
        set(r, key, trimmed(equals + 1));
}

static uint64_t hash_of_times(uint64_t h, const struct collopt_host_times *all)
{
    for (int i = 0; all && i < all->n; i++) {
        const struct collopt_host_time *t = &all->time[i];
        char text[200];

        snprintf(text, sizeof text, "%d %d %d %zu %zu %zu %zu\n", t->mpi, t->collective, t->exact,
                 t->ranks, t->nodes, t->ppn, t->bytes);
        h = collopt_hash_bytes(collopt_hash_text(h, text), &t->seconds, sizeof t->seconds);
    }
    return h;
}

static uint64_t hash(const struct collopt_machine_file *f)
{
    uint64_t h = COLLOPT_HASH_START;

    for (int i = 0; i < COLLOPT_MACHINE_KEYS; i++)
        if (f->given >> i & 1) {
            h = collopt_hash_bytes(h, &i, sizeof i);
            h = collopt_hash_bytes(h, (const char *)&f->machine + collopt_machine_keys[i].field,
                                   sizeof(double));
        }
    return collopt_fragments_hash(hash_of_times(h, f->host_times), f->fragments);
}

struct collopt_machine_file *collopt_machine_parse(const char *file, const char *text, size_t size,
                                                   collopt_tell_mistake *tell, void *data)
{
    struct reader r = { .in = { .what = "machines", .tell = tell, .data = data },
                        .machine = calloc(1, sizeof *r.machine) };

    if (!r.machine || !(r.machine->file = strdup(file)))
        collopt_mistake(&r.in, "no memory");
    else
        collopt_lines_read(&r.in, text, size, take_line);
    if (r.in.mistakes == 0 && !r.machine->given && !r.machine->host_times
        && !r.machine->fragments) {
        r.in.line = 0;          /* such a file would be like none to ranks that compare what it
                                 * says, and unlike to a choice */
        collopt_mistake(&r.in, "no numbers; it takes lines such as net.latency = 1.2 us");
    }
    if (r.in.mistakes == 0) {
        r.machine->hash = hash(r.machine);
        return r.machine;
    }
    collopt_machine_free(r.machine);
    return NULL;
}

struct collopt_machine_file *collopt_machine_read(const char *file, collopt_tell_mistake *tell,
                                                  void *data)
{
    size_t size;
    char *text = collopt_contents(file, LARGEST, &size, tell, data);
    struct collopt_machine_file *machine =
        text ? collopt_machine_parse(file, text, size, tell, data) : NULL;

    free(text);
    return machine;
}

void collopt_machine_free(struct collopt_machine_file *f)
{
    if (!f)
        return;
    collopt_host_times_free(f->host_times);
    free(f->fragments);
    free(f->file);
    free(f);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The largest unit in which VALUE is at least 1, rounded to seven digits; else the smallest. */
static const struct unit *unit_for(enum collopt_quantity quantity, double value)
{
    const struct unit *last = NULL;

    for (int i = 0; i < UNITS; i++) {
        if (units[i].quantity != quantity)
            continue;
        last = &units[i];
        if (value * (1 + 5e-8) >= last->factor)
            return last;
    }
    return last;
}

/* Seven digits, without zeros behind them and without an exponent. */
static void write_number(char *text, size_t size, double value)
{
    int behind = 7, n;

    for (double v = value; v >= 1 && behind > 0; v /= 10)
        behind--;
    n = collopt_fixed_text(value, behind, text, size);
    for (; behind > 0 && n > 0 && text[n - 1] == '0'; n--)
        text[n - 1] = '\0';
    if (behind > 0 && n > 0 && text[n - 1] == '.')
        text[n - 1] = '\0';
}

bool collopt_machine_write(FILE *to, const struct collopt_machine *m, unsigned given,
                           const char *const *comment)
{
    struct collopt_machine copy = *m;

    for (int i = 0; i < COLLOPT_MACHINE_KEYS; i++) {
        const struct collopt_machine_key *k = &collopt_machine_keys[i];
        double value = k->quantity == COLLOPT_RATE ? 1 / *field(&copy, i) : *field(&copy, i);
        const struct unit *unit = unit_for(k->quantity, value);
        char number[64];

        if (!(given >> i & 1))
            continue;
        write_number(number, sizeof number, value / unit->factor);
        fprintf(to, "%-17s = %s%s%s", k->name, number, *unit->name ? " " : "", unit->name);
        if (comment && comment[i])
            fprintf(to, "  # %s", comment[i]);
        putc('\n', to);
    }
    return !ferror(to);
}

/* ---- picking --------------------------------------------------------------------------------- */

/* Files of before "cache" keys, and machines on which only two ranks of a node were measured. */
static void set_cache_as_node(struct collopt_machine *m, unsigned given)
{
    static const size_t alike[] = { offsetof(struct collopt_way, latency),
                                    offsetof(struct collopt_way, overhead),
                                    offsetof(struct collopt_way, byte) };
    char *cache = (char *)&m->way[COLLOPT_IN_CACHE], *node = (char *)&m->way[COLLOPT_IN_NODE];

    for (int i = 0; i < COLLOPT_MACHINE_KEYS; i++)
        for (size_t k = 0; k < sizeof alike / sizeof *alike; k++)
            if (given >> i & 1
                && collopt_machine_keys[i].field == FIELD(way[COLLOPT_IN_NODE]) + alike[k])
                memcpy(cache + alike[k], node + alike[k], sizeof(double));
    m->way[COLLOPT_IN_CACHE].eager = m->way[COLLOPT_IN_NODE].eager;
    m->way[COLLOPT_IN_CACHE].handshake = m->way[COLLOPT_IN_NODE].handshake;
}

uint64_t collopt_message_time(const struct collopt_way *w)
{
    uint64_t arithmetic = collopt_default_fpenv();
    uint64_t time = (uint64_t)((w->latency + 2 * w->overhead) * 1e9);

    collopt_arithmetic_of(arithmetic);
    return time;
}

size_t collopt_eager(const struct collopt_way *w)
{
    uint64_t arithmetic = collopt_default_fpenv();
    size_t bytes = (size_t)w->eager;

    collopt_arithmetic_of(arithmetic);
    return bytes;
}

void collopt_machine_pick(struct collopt_machine *m, enum collopt_network network, bool shm,
                          const struct collopt_machine_file *file)
{
    struct collopt_machine said;

    *m = collopt_bundled_machines[network];
    m->shm = shm;
    if (shm) {
        m->way[COLLOPT_IN_CACHE] = near_by_shm;
        m->way[COLLOPT_IN_NODE] = network == COLLOPT_SHARED_MEMORY ? near_by_shm : far_by_shm;
    }
    if (!file)
        return;
    said = file->machine;
    for (int i = 0; i < COLLOPT_MACHINE_KEYS; i++)
        if (file->given >> i & 1)
            *field(m, i) = *field(&said, i);
    set_cache_as_node(m, file->given);
    for (int i = 0; i < COLLOPT_MACHINE_KEYS; i++)
        if (file->given >> i & 1)
            *field(m, i) = *field(&said, i);
    m->host_times = file->host_times;
    m->fragments = file->fragments;
}
