/* The file that says where hosts are; see host_file.h. */
#include "config.h"

#include "topology/host_file.h"
#include "base/contents.h"
#include "base/hash.h"
#include "base/lines.h"
#include "base/list.h"
#include "base/text.h"
#include "topology/topology.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 60, LARGEST = 1 << 24, WORDS = COLLOPT_SIDES + 2 };

struct reader {
    struct collopt_lines in;    /* first, so that a callback can convert its pointer */
    struct collopt_hosts *hosts;
    bool lost;                  /* the shape was not understood, so coordinates cannot be checked */
};

/* ---- one line -------------------------------------------------------------------------------- */

/* Cuts LINE into words and keeps the first WORDS; returns how many there are. */
static int cut(char *line, char *word[WORDS])
{
    char *rest;
    int n = 0;

    for (char *w = strtok_r(line, " \t", &rest); w; w = strtok_r(NULL, " \t", &rest), n++)
        if (n < WORDS)
            word[n] = w;
    return n;
}

static struct collopt_where *new_host(struct reader *r, const char *name)
{
    struct collopt_hosts *h = r->hosts;

    if (!collopt_room(h->host, h->n))
        return NULL;
    h->host[h->n] = (struct collopt_where){ .name = strdup(name), .line = r->in.line };
    return h->host[h->n].name ? &h->host[h->n++] : NULL;
}

/* The coordinate, from 0 to SIDE - 1; -1: TEXT is none. */
static int coordinate(const char *text, int side)
{
    size_t n;

    return collopt_parse_number(text, strlen(text), false, &n) && n < (size_t)side ? (int)n : -1;
}

static void on_grid(struct reader *r, int words, char **word)
{
    const struct collopt_shape *s = &r->hosts->shape;
    struct collopt_where *host;
    int place = 0;

    if (words != 1 + s->sides) {
        collopt_mistake(&r->in,
                        "\"%.*s\" has %d word%s behind it; a host takes its %d coordinate%s", SHOWN,
                        word[0], words - 1, words == 2 ? "" : "s", s->sides,
                        s->sides == 1 ? "" : "s");
        return;
    }
    for (int d = 0; d < s->sides; d++) {
        int c = coordinate(word[1 + d], s->side[d]);

        if (c < 0) {
            collopt_mistake(&r->in, "coordinate %d of \"%.*s\" is %.*s; it takes 0 to %d", d + 1,
                            SHOWN, word[0], SHOWN, word[1 + d], s->side[d] - 1);
            return;
        }
        place = place * s->side[d] + c;
    }
    host = new_host(r, word[0]);
    if (host)
        host->place = place;
    else
        collopt_mistake(&r->in, "no memory");
}

/* rack1/switch3, of /rack1//switch3/. */
static void simplify(char *path)
{
    char *to = path;

    for (const char *from = path; *from; from++)
        if (*from != '/' || (to > path && to[-1] != '/'))
            *to++ = *from;
    if (to > path && to[-1] == '/')
        to--;
    *to = '\0';
}

static void below_switches(struct reader *r, int words, char **word)
{
    struct collopt_where *host;

    if (words == 2)
        simplify(word[1]);
    if (words != 2 || !*word[1]) {
        collopt_mistake(&r->in,
                        "\"%.*s\" has %d word%s behind it; a host takes the path to its switch, "
                        "such as rack1/switch3, or coordinates below a first line such as "
                        "torus:8x8x4",
                        SHOWN, word[0], words - 1, words == 2 ? "" : "s");
        return;
    }
    host = new_host(r, word[0]);
    if (!host || !(host->path = strdup(word[1])))
        collopt_mistake(&r->in, "no memory");
}

static void take_shape(struct reader *r, char *text)
{
    char message[256];

    if (r->hosts->n > 0 || r->hosts->shape.kind == COLLOPT_GRID)
        collopt_mistake(&r->in, "%.*s: there is one shape, before all hosts", SHOWN, text);
    else if ((r->lost = !collopt_parse_shape(text, &r->hosts->shape, message, sizeof message)))
        collopt_mistake(&r->in, "%.*s: %s", SHOWN, text, message);
}

/* Is WORD a shape, or its beginning?  In the first line "torus 8x8x4" is no host's either. */
static bool begins_shape(const struct reader *r, const char *word)
{
    bool first = r->hosts->n == 0 && r->hosts->shape.kind != COLLOPT_GRID;

    return strncmp(word, "torus:", 6) == 0 || strncmp(word, "mesh:", 5) == 0
        || (first && (strcmp(word, "torus") == 0 || strcmp(word, "mesh") == 0));
}

static const char *nth_kind(int i, const void *data)
{
    static const char *const kinds[] = { "torus:", "mesh:" };

    (void)data;
    return kinds[i];
}

/* WORD is alone on its line and has a colon: a host it cannot be. */
static void complain_of_kind(struct reader *r, const char *word)
{
    char kind[16];
    char hint[COLLOPT_HINT];

    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(word, ":") + 1, word);
    collopt_mistake(
        &r->in, "\"%.*s\" is neither a host nor a shape, such as torus:8x8x4 or mesh:16x16%s",
        SHOWN, word, collopt_hint(hint, "; did you mean ", kind, 2, nth_kind, NULL));
    r->lost = true;
}

static void take_line(struct collopt_lines *in, char *line)
{
    struct reader *r = (struct reader *)in;
    char *word[WORDS];
    int words = cut(line, word);

    if (words == 0 || r->lost)
        return;
    if (begins_shape(r, word[0])) {
        if ((r->lost = words > 1))
            collopt_mistake(&r->in,
                            "\"%.*s\" has blanks in it; a shape is one word, such as torus:8x8x4",
                            SHOWN, word[0]);
        else
            take_shape(r, word[0]);
    } else if (words == 1 && strchr(word[0], ':'))
        complain_of_kind(r, word[0]);
    else if (strpbrk(word[0], "[],"))
        collopt_mistake(&r->in,
                        "\"%.*s\" is no host; each has a line of its own (Slurm: scontrol show "
                        "hostnames \"%.*s\")",
                        SHOWN, word[0], SHOWN, word[0]);
    else if (r->hosts->shape.kind == COLLOPT_GRID)
        on_grid(r, words, word);
    else
        below_switches(r, words, word);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return collopt_compare_words(((const struct collopt_where *)a)->name,
                                 ((const struct collopt_where *)b)->name, SIZE_MAX);
}

static int by_place(const void *a, const void *b)
{
    const struct collopt_where *x = a, *y = b;

    return x->path ? strcmp(x->path, y->path) : (x->place > y->place) - (x->place < y->place);
}

/* The later line of two that say what only one can say. */
static void complain_of_two(struct reader *r, const struct collopt_where *a,
                            const struct collopt_where *b, const char *what)
{
    const struct collopt_where *later = a->line > b->line ? a : b,
                               *earlier = a->line > b->line ? b : a;

    r->in.line = later->line;
    collopt_mistake(&r->in, "\"%.*s\" %s in line %d already", SHOWN, later->name, what,
                    earlier->line);
}

/* Numbers the switches, by their paths. */
static void number_switches(struct collopt_hosts *h)
{
    qsort(h->host, (size_t)h->n, sizeof *h->host, by_place);
    for (int i = 0; i < h->n; i++) {
        h->switches += i == 0 || strcmp(h->host[i - 1].path, h->host[i].path) != 0;
        h->host[i].place = h->switches - 1;
    }
}

static void finish(struct reader *r)
{
    struct collopt_hosts *h = r->hosts;

    if (h->n == 0) {
        r->in.line = 0;
        collopt_mistake(&r->in, "no hosts; it takes a line for each, such as host17 rack1/switch3");
        return;
    }
    if (h->shape.kind != COLLOPT_GRID)
        number_switches(h);
    else
        qsort(h->host, (size_t)h->n, sizeof *h->host, by_place);
    for (int i = 1; i < h->n && h->shape.kind == COLLOPT_GRID; i++)
        if (h->host[i - 1].place == h->host[i].place)
            complain_of_two(r, &h->host[i - 1], &h->host[i], "is at coordinates that are given");
    qsort(h->host, (size_t)h->n, sizeof *h->host, by_name);
    for (int i = 1; i < h->n; i++)
        if (by_name(&h->host[i - 1], &h->host[i]) == 0)
            complain_of_two(r, &h->host[i - 1], &h->host[i], "is");
}

static uint64_t hash(const struct collopt_hosts *h)
{
    uint64_t sum = collopt_hash_text(COLLOPT_HASH_START, h->shape.rings ? "torus" : "mesh");
    char number[32];

    for (int d = 0; d < h->shape.sides; d++) {
        snprintf(number, sizeof number, "x%d", h->shape.side[d]);
        sum = collopt_hash_text(sum, number);
    }
    for (int i = 0; i < h->n; i++) {
        snprintf(number, sizeof number, " %d\n", h->host[i].place);
        sum = collopt_hash_text(collopt_hash_text(sum, h->host[i].name),
                                h->host[i].path ? h->host[i].path : "");
        sum = collopt_hash_text(sum, number);
    }
    return sum;
}

struct collopt_hosts *collopt_hosts_parse(const char *file, const char *text, size_t size,
                                          collopt_tell_mistake *tell, void *data)
{
    struct reader r = { .in = { .what = "hosts", .tell = tell, .data = data },
                        .hosts = calloc(1, sizeof *r.hosts) };

    if (!r.hosts || !(r.hosts->file = strdup(file)))
        collopt_mistake(&r.in, "no memory");
    else
        collopt_lines_read(&r.in, text, size, take_line);
    if (r.in.mistakes == 0)
        finish(&r);
    if (r.in.mistakes == 0) {
        r.hosts->hash = hash(r.hosts);
        return r.hosts;
    }
    collopt_hosts_free(r.hosts);
    return NULL;
}

struct collopt_hosts *collopt_hosts_read(const char *file, collopt_tell_mistake *tell, void *data)
{
    size_t size;
    char *text = collopt_contents(file, LARGEST, &size, tell, data);
    struct collopt_hosts *hosts = text ? collopt_hosts_parse(file, text, size, tell, data) : NULL;

    free(text);
    return hosts;
}

void collopt_hosts_free(struct collopt_hosts *h)
{
    if (!h)
        return;
    for (int i = 0; i < h->n; i++) {
        free(h->host[i].name);
        free(h->host[i].path);
    }
    free(h->host);
    free(h->file);
    free(h);
}

/* ---- looking up ------------------------------------------------------------------------------ */

/* The same up to the first dot, and one of them ends there. */
static bool same_short_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "."), m = strcspn(b, ".");

    return n == m && (!a[n] || !b[m]) && collopt_compare_words(a, b, n) == 0;
}

int collopt_host_named(const struct collopt_hosts *h, const char *name)
{
    struct collopt_where key = { .name = (char *)name };
    const struct collopt_where *exact =
        bsearch(&key, h->host, (size_t)h->n, sizeof *h->host, by_name);
    int found = -1;

    if (exact)
        return (int)(exact - h->host);
    for (int i = 0; i < h->n; i++) {
        if (!same_short_name(h->host[i].name, name))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

/* ---- the grid that ranks form ---------------------------------------------------------------- */

/* How many ranks each host has, if it is as many on all and each one's follow one another; 0. */
static int ranks_each(const int *host, int stride, int ranks)
{
    int each = 1;

    while (each < ranks && host[(size_t)stride * (size_t)each] == host[0])
        each++;
    for (int r = 0; r < ranks; r++)
        if (host[(size_t)stride * (size_t)r] != host[(size_t)stride * (size_t)(r / each * each)])
            return 0;
    return ranks % each == 0 ? each : 0;
}

bool collopt_topology_hosts(struct collopt_topology *t, const struct collopt_hosts *h, int *host,
                            int stride, int ranks)
{
    struct collopt_shape shape = h->shape;
    int each = ranks_each(host, stride, ranks);

    if (each == ranks)          /* all on one host */
        return true;
    if (shape.kind != COLLOPT_GRID || each == 0 || (each > 1 && shape.sides == COLLOPT_SIDES)
        || collopt_shape_ranks(&shape) > INT_MAX / each)
        return false;
    if (each > 1)
        shape.side[shape.sides++] = each;
    for (int r = 0; r < ranks; r++) {
        int *at = &host[(size_t)stride * (size_t)r];

        *at = h->host[*at].place * each + r % each;
    }
    collopt_topology_box(t, &shape, host, stride, ranks);
    return t->wired;
}
