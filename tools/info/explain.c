/* The decision for a problem that is described by words, and what the model says of the others; see
 * explain.h. */
#include "config.h"

#include "base/json.h"
#include "base/text.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "info/explain.h"
#include "info/files.h"
#include "model/choose.h"
#include "model/host_times.h"
#include "model/machine.h"
#include "model/model.h"
#include "schedule/problem.h"
#include "select/decide.h"
#include "select/explain.h"
#include "select/measured.h"
#include "settings/rules.h"
#include "settings/settings.h"
#include "topology/topology.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 6, MOST_RANKS = 1 << 20, TEXT = 400 };

__attribute__((format(printf, 1, 2)))
static bool refuse(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    fputs("collopt-info: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    return false;
}

static bool number(const char *option, const char *text, size_t preset, size_t least, size_t most,
                   size_t *value)
{
    bool parsed;

    *value = preset;
    parsed = !text || collopt_parse_size(text, value);
    if (!text || (parsed && *value >= least && *value <= most))
        return true;
    return parsed ? refuse("--%s %s: it takes %zu to %zu", option, text, least, most)
                  : refuse("--%s %s: it takes a number, such as 8, 512, 64K or 1M", option, text);
}

static bool collective(const char *text, struct collopt_problem *p)
{
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        if (strcmp(text, collopt_collective_names[c]) == 0) {
            p->collective = (enum collopt_collective)c;
            return true;
        }
    return refuse("--explain %s: it takes reduce, allreduce, reduce_scatter, reduce_scatter_block, "
                  "scan or exscan",
                  text);
}

static bool operation(const char *text, struct collopt_problem *p)
{
    p->exact = strcmp(text, "exact") == 0;
    p->commutative = p->exact || strcmp(text, "sum") == 0;
    if (p->commutative || strcmp(text, "noncommutative") == 0)
        return true;
    return refuse("--op %s: it takes sum (commutes, rounds), exact (commutes, any order gives the "
                  "same) or noncommutative",
                  text);
}

/* Ranks one after another on NODES nodes, as evenly as can be. */
static bool place(int ranks, int nodes, struct collopt_topology *t)
{
    int *node = malloc((size_t)ranks * sizeof *node);

    for (int r = 0; node && r < ranks; r++)
        node[r] = (int)((long)r * nodes / ranks);
    t->nodes = nodes;
    t->node = node;
    return node && collopt_topology_measure(t, ranks);
}

/* As the user has stated for his jobs. */
static bool place_as_stated(int ranks, const char *stated, struct collopt_topology *t)
{
    int *node = malloc((size_t)ranks * sizeof *node);

    t->nodes = 0;
    for (int r = 0; node && r < ranks; r++) {
        node[r] = collopt_stated_node(stated, r);
        t->nodes = node[r] < t->nodes ? t->nodes : node[r] + 1;
    }
    t->node = node;
    return node && collopt_topology_measure(t, ranks);
}

/* The last-level caches of one node, as job ranks that are bound to cores one after another know
 * them. */
struct caches {
    struct collopt_topology level;
    const struct collopt_topology *groups[COLLOPT_GROUPINGS];
    int *cache;
};

static bool place_in_caches(struct caches *c, int ranks, int caches, struct collopt_topology *t)
{
    uint64_t *key = malloc((size_t)ranks * sizeof *key);
    bool placed;

    c->cache = malloc((size_t)ranks * sizeof *c->cache);
    t->groups = c->groups;
    for (int r = 0; key && r < ranks; r++)
        key[r] = (uint64_t)r * (unsigned)caches / (unsigned)ranks;
    placed = key && c->cache && collopt_topology_group(&c->level, t, key, c->cache, ranks);
    free(key);
    c->groups[COLLOPT_BY_NODE] = t;
    c->groups[COLLOPT_BY_CACHE] = &c->level;
    return placed;
}

static struct collopt_shape machine_of_jobs(void)
{
    struct collopt_shape shape;
    char message[256];          /* settings.c has warned of what cannot be parsed */

    collopt_parse_shape(collopt_settings()->topology, &shape, message, sizeof message);
    return shape;
}

/* NODES: what --nodes says, which goes before what is stated for jobs; a grid is one of as many
 * nodes as ranks. */
static bool place_ranks(const struct explain *e, int ranks, int nodes, struct collopt_topology *t)
{
    struct collopt_shape shape = machine_of_jobs();

    if (e->nodes)
        return place(ranks, nodes, t);
    if (shape.nodes && !e->topology)
        return place_as_stated(ranks, shape.nodes, t);
    return place(ranks, e->topology || collopt_shape_ranks(&shape) == ranks ? ranks : 1, t);
}

static void form_grid(const struct collopt_shape *shape, int ranks, struct collopt_topology *t)
{
    int *world = malloc((size_t)ranks * sizeof *world);

    for (int r = 0; world && r < ranks; r++)
        world[r] = r;
    if (world)
        collopt_topology_box(t, shape, world, 1, ranks);
    free(world);
}

#define HOSTS_UNKNOWN \
    "where its ranks lie a job finds by the names of its hosts, which are not known here"

#define COMM_UNKNOWN "that takes a communicator's dimensions, and there is none here"

static void say_unknown(const char *what)
{
    fprintf(stderr,
            "collopt-info: COLLOPT_TOPOLOGY=%s is ignored: %s; say it by --topology torus:2x2 or "
            "mesh:2x2, and --nodes\n",
            collopt_settings()->topology, what);
}

/* TEXT: of --topology, or NULL. */
static bool lay_out(const char *text, int ranks, struct collopt_topology *t)
{
    struct collopt_shape shape = machine_of_jobs();
    char message[256];

    if (!text && shape.kind == COLLOPT_HOSTS)
        say_unknown(HOSTS_UNKNOWN);
    if (!text && shape.kind == COLLOPT_CARTESIAN)
        say_unknown(COMM_UNKNOWN);
    if (!text && shape.kind == COLLOPT_GRID && collopt_shape_ranks(&shape) != ranks)
        fprintf(
            stderr,
            "collopt-info: COLLOPT_TOPOLOGY=%s has room for %d ranks, not for %d; it is ignored\n",
            collopt_settings()->topology, collopt_shape_ranks(&shape), ranks);
    if (!text && collopt_shape_ranks(&shape) == ranks)
        form_grid(&shape, ranks, t);
    if (!text)
        return true;
    if (!collopt_parse_shape(text, &shape, message, sizeof message))
        return refuse("--topology %s: %s", text, message);
    if (shape.kind == COLLOPT_HOSTS)
        return refuse("--topology %s: " HOSTS_UNKNOWN
                      "; it takes torus:8x8x4 or mesh:16x16; nodes are --nodes",
                      text);
    if (shape.kind != COLLOPT_GRID)
        return refuse("--topology %s: it takes torus:8x8x4 or mesh:16x16; nodes are --nodes", text);
    if (collopt_shape_ranks(&shape) != ranks)
        return refuse("--topology %s has room for %d ranks, not for %d", text,
                      collopt_shape_ranks(&shape), ranks);
    form_grid(&shape, ranks, t);
    return true;
}

static bool network(const char *text, const struct collopt_topology *t, struct collopt_machine *m,
                    enum collopt_network *n)
{
    if (text && strcmp(text, "tcp") != 0 && strcmp(text, "fast") != 0)
        return refuse("--network %s: it takes fast or tcp", text);
    *n = collopt_network_of(t, !text || strcmp(text, "fast") == 0);
    collopt_machine_as_set(m, *n, collopt_settings()->shm != COLLOPT_SHM_OFF, true);
    return true;
}

static bool host(const char *text, struct collopt_machine *m)
{
    for (int i = COLLOPT_OTHER_MPI + 1; text && i < COLLOPT_MPIS; i++)
        if (strcmp(text, collopt_mpi_names[i]) == 0)
            m->mpi = (enum collopt_mpi)i;
    return !text || m->mpi != COLLOPT_OTHER_MPI
        || refuse("--host %s: it takes openmpi or mpich, "
                  "with a version behind it as in openmpi-4.1 or without",
                  text);
}

static void name(const struct collopt_choice *c, char *text)
{
    if (c->algorithm)
        collopt_choice_text(c, text, TEXT);
    else
        snprintf(text, TEXT, "host");
}

static void print_host(const struct collopt_machine *m, double seconds)
{
    printf("%14.2f  MPI library (%s): measured\n", seconds * 1e6, collopt_mpi_names[m->mpi]);
}

/* Seconds; 0: not measured, or not for such a sum. */
static double host_time(const struct collopt_problem *p)
{
    return p->once || p->rows
        ? 0
        : collopt_host_measured(p->machine->host_times, p->machine->mpi, p);
}

/* The host, if it was measured, among ours. */
static void print_times(const struct collopt_problem *p)
{
    struct collopt_candidate best[SHOWN];
    char text[TEXT];
    int found = collopt_choose(p, SHOWN, best);
    double host = host_time(p);
    bool left = host > 0;

    printf("%14s  predicted for%s\n", "us", p->rows ? ", in exact accumulators" : "");
    for (int i = 0; i < found; i++) {
        if (left && host < best[i].seconds) {
            print_host(p->machine, host);
            left = false;
        }
        name(&best[i].choice, text);
        printf("%14.2f  %s\n", best[i].seconds * 1e6, text);
    }
    if (left)
        print_host(p->machine, host);
}

static void print_all_times(const struct collopt_problem *p)
{
    struct collopt_problem rows;

    print_times(p);
    if (p->once && collopt_problem_in_rows(p, &rows))
        print_times(&rows);
}

static void print_problem(const struct collopt_problem *p, enum collopt_network n)
{
    const struct collopt_machine_file *m = collopt_settings()->machine;
    char bytes[32];

    collopt_size_text(p->count * p->size, bytes, sizeof bytes);
    if (strspn(bytes, "0123456789") == strlen(bytes))
        strcat(bytes, " bytes");
    printf("%s of %s on %d ranks, ", collopt_collective_names[p->collective], bytes, p->ranks);
    if (p->anywhere)
        printf("wherever they are\n");
    else
        printf("%d node%s, %s%s%s%s\n", p->topology->nodes, p->topology->nodes == 1 ? "" : "s",
               collopt_network_names[n],
               p->topology->oversubscribed ? ", more ranks than processors" : "", m ? " and " : "",
               m ? m->file : "");
}

/* Of what is forced, the predicted time, too. */
static void print_choice(const struct collopt_problem *p)
{
    struct collopt_decision d;
    struct collopt_problem with = *p;
    char text[TEXT], time[40] = "";

    collopt_select_outside(p, &d);
    name(&d.choice, text);
    if (d.choice.algorithm && !p->anywhere && strncmp(d.why, "forced", strlen("forced")) == 0) {
        if (d.rows)
            collopt_problem_in_rows(p, &with);
        collopt_set_parameters(&with, &d.choice);
        snprintf(time, sizeof time, "; predicted %.3g us",
                 1e6 * collopt_model(d.choice.algorithm, &with));
    }
    printf("  %s (%s%s)\n", text, d.why, time);
    if (d.open && collopt_settings()->adapt)
        printf("  COLLOPT_ADAPT=on: the first calls try others too, and the fastest goes on\n");
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void json_prediction(struct collopt_json *j, const char *algorithm, double seconds,
                            bool measured, bool rows)
{
    collopt_json_object(j, NULL);
    collopt_json_text(j, "algorithm", algorithm);
    collopt_json_real(j, "seconds", seconds);
    collopt_json_flag(j, "measured", measured);
    collopt_json_flag(j, "exact_accumulators", rows);
    collopt_json_end(j);
}

static void json_candidates(struct collopt_json *j, const struct collopt_problem *p)
{
    struct collopt_candidate best[SHOWN];
    char text[TEXT];
    int found = collopt_choose(p, SHOWN, best);

    for (int i = 0; i < found; i++) {
        name(&best[i].choice, text);
        json_prediction(j, text, best[i].seconds, false, p->rows);
    }
}

/* The fastest candidates by the model, and the host where its times were measured; the choice may
 * be made by something else. */
static void json_predictions(struct collopt_json *j, const struct collopt_problem *p)
{
    struct collopt_problem rows;
    double host = p->anywhere ? 0 : host_time(p);

    collopt_json_array(j, "predictions");
    if (!p->anywhere)
        json_candidates(j, p);
    if (p->once && collopt_problem_in_rows(p, &rows))
        json_candidates(j, &rows);
    if (host > 0)
        json_prediction(j, "host", host, true, false);
    collopt_json_end(j);
}

/* "seconds" is missing where there is no prediction: of the host, and with COLLOPT_REPRODUCIBLE. */
static void json_choice(struct collopt_json *j, const struct collopt_problem *p)
{
    struct collopt_decision d;
    struct collopt_problem with = *p;
    char text[TEXT];

    collopt_select_outside(p, &d);
    name(&d.choice, text);
    collopt_json_text(j, "algorithm", text);
    collopt_json_text(j, "why", d.why);
    if (!d.choice.algorithm || p->anywhere)
        return;
    if (d.rows)
        collopt_problem_in_rows(p, &with);
    collopt_json_flag(j, "exact_accumulators", d.rows);
    collopt_set_parameters(&with, &d.choice);
    collopt_json_real(j, "seconds", collopt_model(d.choice.algorithm, &with));
}

static void write_json(const struct collopt_problem *p, enum collopt_network n)
{
    struct collopt_json j = { .to = stdout };

    collopt_json_object(&j, NULL);
    collopt_json_text(&j, "collective", collopt_collective_names[p->collective]);
    collopt_json_count(&j, "bytes", p->count * p->size);
    collopt_json_count(&j, "ranks", (uint64_t)p->ranks);
    collopt_json_count(&j, "nodes", (uint64_t)p->topology->nodes);
    collopt_json_text(&j, "network", collopt_network_names[n]);
    collopt_json_flag(&j, "crowded", p->topology->oversubscribed);
    json_choice(&j, p);
    json_predictions(&j, p);
    collopt_json_end(&j);
}

/* ---- what is left out ------------------------------------------------------------------------ */

/* Files in default places, and those that come with collopt, are for an MPI library, which only
 * --host names. */
static void print_left_out(void)
{
    const struct collopt_settings *s = collopt_settings();
    const char *named[FILE_KINDS] = { [FILE_RULES] = s->rules ? s->rules->file : NULL,
                                      [FILE_MACHINE] = s->machine ? s->machine->file : NULL };
    char last[4096] = "";

    for (int kind = 0; kind < FILE_KINDS; kind++)
        for (int i = COLLOPT_OTHER_MPI + 1; i < COLLOPT_MPIS; i++) {
            const char *file = files_used(i)->file[kind];

            if (!file || named[kind] || strcmp(file, last) == 0)
                continue;
            printf("  left out: %s, which a job would use; it counts with --host %s\n", file,
                   collopt_mpi_names[i]);
            snprintf(last, sizeof last, "%s", file);
        }
}

static void print(const struct collopt_problem *p, enum collopt_network n, bool host_named)
{
    print_problem(p, n);
    print_choice(p);
    if (!host_named)
        print_left_out();
    if (p->anywhere)            /* by no prediction */
        return;
    putchar('\n');
    print_all_times(p);
}

/* As a call has them.  False: no memory. */
static bool share_out(struct collopt_problem *p, size_t **counts)
{
    *counts = NULL;
    if (p->collective != COLLOPT_REDUCE_SCATTER)
        return true;
    *counts = malloc((size_t)p->ranks * sizeof **counts);
    if (*counts)
        collopt_even_counts(p->count, p->ranks, *counts);
    p->counts = *counts;
    return *counts != NULL;
}

int explain(const struct explain *e)
{
    struct collopt_topology t = { .nodes = 1 };
    struct caches caches = { .cache = NULL };
    struct collopt_machine machine;
    enum collopt_network n = COLLOPT_SHARED_MEMORY;
    struct collopt_problem p = { .segments = 1, .topology = &t, .machine = &machine };
    size_t ranks, nodes, bytes, root, used, *counts = NULL;
    bool placed = true;

    if (!collective(e->collective, &p) || !operation(e->op ? e->op : "sum", &p)
        || !number("ranks", e->ranks, 2, 2, MOST_RANKS, &ranks)
        || !number("nodes", e->nodes, 1, 1, ranks, &nodes)
        || !number("caches", e->caches, 1, 1, ranks, &used)
        || !number("bytes", e->bytes, 8, 0, SIZE_MAX / 2, &bytes)
        || !number("root", e->root, 0, 0, ranks - 1, &root))
        return 2;
    p.ranks = (int)ranks;
    p.root = p.collective == COLLOPT_REDUCE ? (int)root : 0;
    p.size = bytes % 8 == 0 ? 8 : 1;
    p.count = bytes / p.size;
    /* all parts have as many elements, one at least */
    if (p.collective == COLLOPT_REDUCE_SCATTER_BLOCK)
        p.count = p.count < ranks ? ranks : p.count / ranks * ranks;
    if (!place_ranks(e, p.ranks, (int)nodes, &t) || !lay_out(e->topology, p.ranks, &t))
        return 2;
    if (used > 1 && (t.nodes > 1 || t.wired)) {
        refuse("--caches %s: it takes 1, unless all ranks are on one node", e->caches);
        free((void *)t.node);
        return 2;
    }
    t.oversubscribed = e->crowded;
    if (used > 1)
        placed = place_in_caches(&caches, p.ranks, (int)used, &t);
    if (!network(e->network, p.topology, &machine, &n) || !host(e->host, &machine))
        return 2;
    collopt_explain_reproducible(&p);
    if (!placed || !share_out(&p, &counts)) {
        refuse("out of memory");
        free(caches.cache);
        free((void *)t.node);
        return 2;
    }
    if (e->json)
        write_json(&p, n);
    else
        print(&p, n, e->host != NULL);
    free(counts);
    free(caches.cache);
    free((void *)t.node);
    return 0;
}
