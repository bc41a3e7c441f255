/* Shapes of machines by the user's word, the grids that communicators form in them, and what
 * follows for algorithms. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "algorithm.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "model/choose.h"
#include "model/machine.h"
#include "select/decide.h"
#include "topology/host_file.h"
#include "topology/intranode.h"
#include "topology/scheduler.h"
#include "suite.h"
#ifdef COLLOPT_HAVE_HWLOC
# include "lstopo.h"
#endif

enum { MOST_RANKS = 64 };

static const struct collopt_parameter dims = COLLOPT_DIMS(NULL);

/* "2x4" for a value of "dims"; "" for 0. */
static void dims_text(size_t value, char *text, size_t size)
{
    size_t n = 0;

    *text = '\0';
    for (int d = 0; d < collopt_list_length(&dims, value); d++)
        n += (size_t)snprintf(text + n, size - n, "%s%zu", d ? "x" : "",
                              collopt_list_at(&dims, value, d));
}

static struct collopt_shape shape_of(const char *text)
{
    struct collopt_shape shape;
    char message[256] = "";

    ck_assert_msg(collopt_parse_shape(text, &shape, message, sizeof message), "%s: %s", text,
                  message);
    return shape;
}

TEST(shapes_are_read)
{
    struct collopt_shape s = shape_of("torus:8x8x4");

    ck_assert(s.kind == COLLOPT_GRID && s.rings && s.sides == 3 && s.side[0] == 8
              && s.side[2] == 4);
    ck_assert_int_eq(collopt_shape_ranks(&s), 256);
    s = shape_of("mesh:16");
    ck_assert(s.kind == COLLOPT_GRID && !s.rings && s.sides == 1 && s.side[0] == 16);
    s = shape_of("nodes:4,4,2");
    ck_assert(s.kind == COLLOPT_NODES_OF && collopt_shape_ranks(&s) == 0);
    ck_assert_str_eq(s.nodes, "4,4,2");
    ck_assert(shape_of("cartesian").kind == COLLOPT_CARTESIAN);
    ck_assert(shape_of(NULL).kind == COLLOPT_AS_FOUND);
}

/* Ranks of the world that form a communicator, as first:last[:step], one behind the other. */
static int take_ranks(const char *text, int *world)
{
    int n = 0;

    while (*text) {
        int first, last, step, used;

        ck_assert_int_eq(sscanf(text, "%d:%d:%d%n", &first, &last, &step, &used), 3);
        for (int r = first; step > 0 ? r <= last : r >= last; r += step)
            world[2 * n++] = r;
        text += used;
        text += *text == ' ';
    }
    return n;
}

static const struct {
    const char *shape, *ranks, *dims;   /* "": no grid */
    unsigned rings;
} boxes[] = {
    { "torus:4x4", "0:15:1", "4x4", 3 },
    { "mesh:4x4", "0:15:1", "4x4", 0 },
    { "torus:4x4", "4:7:1", "4", 1 },                   /* a row */
    { "torus:4x4", "1:13:4", "4", 1 },                  /* a column */
    /* a square in the middle has no ends of its own */
    { "torus:4x4", "5:6:1 9:10:1", "2x2", 0 },
    { "torus:4x4", "4:11:1", "2x4", 2 },
    { "torus:4x4", "15:0:-1", "", 0 },                  /* another order */
    { "torus:4x4", "0:6:2", "", 0 },                    /* no box */
    { "torus:4x4", "3:6:1", "", 0 },
    { "torus:4x4", "0:3:1 8:11:1", "", 0 },             /* every other row */
    { "torus:4x4", "5:5:1", "", 0 },
    { "torus:4x4", "0:0:1 0:0:1", "", 0 },
    { "torus:2x3x4", "0:23:1", "2x3x4", 7 },
    { "torus:2x3x4", "12:23:1", "3x4", 3 },
    { "torus:2x1x4", "0:7:1", "2x4", 3 },               /* sides of one are none */
    { "torus:1x1", "0:0:1", "", 0 },
};

TESTS(boxes_are_found, 0, sizeof boxes / sizeof *boxes)
{
    struct collopt_topology t = { .nodes = 1 };
    struct collopt_shape shape = shape_of(boxes[_i].shape);
    int world[2 * MOST_RANKS], ranks = take_ranks(boxes[_i].ranks, world);
    char found[64];

    collopt_topology_box(&t, &shape, world, 2, ranks);
    dims_text(t.dims, found, sizeof found);
    ck_assert_msg(strcmp(found, boxes[_i].dims) == 0 && t.rings == boxes[_i].rings,
                  "%s of %s: dims %s, rings %u", boxes[_i].ranks, boxes[_i].shape, found, t.rings);
}

TEST(sides_too_long_are_no_grid)
{
    static int at[1024];
    struct collopt_topology t = { .nodes = 1 };
    struct collopt_shape line = { .kind = COLLOPT_GRID, .sides = 1, .side = { 1024 } };

    for (int r = 0; r < 1024; r++)
        at[r] = r;
    collopt_topology_box(&t, &line, at, 1, 1024);
    ck_assert(!t.wired && t.dims == 0);         /* a machine of links would have none of them */
    collopt_topology_grid(&t, 2, (const int[]){ 2, 1024 }, 0);
    ck_assert(t.dims == 0);
    collopt_topology_grid(&t, 3, (const int[]){ 1, 1023, 2 }, 5);
    ck_assert(t.dims == (1023 | 2 << COLLOPT_SIDE_BITS) && t.rings == 2);
}

/* ---- files of hosts -------------------------------------------------------------------------- */

struct told {
    int n, line;                /* of the last one */
    char sentence[512];
};

static void note(void *data, int line, const char *sentence)
{
    struct told *t = data;

    t->n++;
    t->line = line;
    snprintf(t->sentence, sizeof t->sentence, "%s", sentence);
}

static struct collopt_hosts *hosts_of(const char *text, struct told *told)
{
    *told = (struct told){ 0 };
    return collopt_hosts_parse("hosts", text, strlen(text), note, told);
}

TEST(hosts_are_read)
{
    struct told told;
    struct collopt_hosts *h = hosts_of(
        "\xef\xbb\xbf# a torus\r\ntorus:4x2\t# sides\r\n\r\nn0.site.org 0 0\r\n  n1 0 1\r\n"
        "n7 3 1",
        &told);
    struct collopt_hosts *same = hosts_of("torus:4x2\nn7 3 1\nn1 0 1\nn0.site.org 00 0\n", &told);
    struct collopt_hosts *switches = hosts_of("b r1/s2\na.x r1/s1\na.y /r1//s2/\nA r2/s9\n", &told);

    ck_assert(h && same && switches);
    ck_assert_int_eq(h->n, 3);
    ck_assert(h->shape.rings && collopt_shape_ranks(&h->shape) == 8);
    ck_assert_int_eq(h->host[collopt_host_named(h, "N7.site.org")].place, 7);
    ck_assert_int_eq(h->host[collopt_host_named(h, "n0")].place, 0);
    ck_assert_int_eq(collopt_host_named(h, "n0.other.org"), -1);        /* both are full names */
    ck_assert_int_eq(collopt_host_named(h, "n"), -1);
    ck_assert(h->hash == same->hash && h->hash != switches->hash);
    ck_assert_int_eq(switches->switches, 3);
    ck_assert_int_eq(switches->host[collopt_host_named(switches, "b")].place,
                     switches->host[collopt_host_named(switches, "a.y")].place);
    ck_assert_int_eq(switches->host[collopt_host_named(switches, "a")].place, 2);
    /* the only one that fits */
    ck_assert_int_eq(switches->host[collopt_host_named(switches, "a.z")].place, 2);
    collopt_hosts_free(h);
    collopt_hosts_free(same);
    collopt_hosts_free(switches);
    h = hosts_of("a.x s\na.y s\n", &told);
    ck_assert_int_eq(collopt_host_named(h, "a"), -1);                   /* either */
    collopt_hosts_free(h);
}

static const struct {
    const char *text;
    int line;
    const char *sentence;
} wrong_hosts[] = {
    { "", 0, "no hosts; it takes a line for each" },
    { "# nothing\n", 0, "no hosts" },
    { "torus:2x2\n", 0, "no hosts" },
    { "torus:2x\na 0 0\n", 1, "torus:2x: it takes up to 6 sides" },
    { "mesh:2x2\nmesh:2x2\na 0 0\n", 2, "one shape, before all hosts" },
    { "a s1\nmesh:2\n", 2, "one shape, before all hosts" },
    { "mesh:2x2\na 0\n", 2, "\"a\" has 1 word behind it; a host takes its 2 coordinates" },
    { "mesh:2x2\na 0 1 1\n", 2, "takes its 2 coordinates" },
    { "mesh:2x2\n\na 0 2\n", 3, "coordinate 2 of \"a\" is 2; it takes 0 to 1" },
    { "mesh:2x2\na -1 0\n", 2, "coordinate 1 of \"a\" is -1; it takes 0 to 1" },
    { "mesh:2x2\na 99999999999999999999 0\n", 2, "it takes 0 to 1" },
    { "mesh:2x2\na r1/s1\n", 2, "takes its 2 coordinates" },
    { "mesh:2x2\na 0 0\nb 0 0\n", 3, "\"b\" is at coordinates that are given in line 2 already" },
    { "mesh:2x2\nb 0 0\na 0 1\nB 1 1\n", 4, "\"B\" is in line 2 already" },
    { "a s1\nb s2\na s2\n", 3, "\"a\" is in line 1 already" },
    { "torus: 2x2\na 0 0\n", 1, "\"torus:\" has blanks in it; a shape is one word" },
    { "mesh 2\na 0\n", 1, "\"mesh\" has blanks in it" },
    { "tours:8x8\na 0 0\n", 1,
      "\"tours:8x8\" is neither a host nor a shape, such as torus:8x8x4 or mesh:16x16; did you "
      "mean torus:?" },
    { "# ours\nTorus:2x2\na 0 0\n", 2, "did you mean torus:?" },
    { "Mehs:2x2\na 0 0\n", 1, "did you mean mesh:?" },
    { "dragonfly:2x2\na 0 0\n", 1,
      "\"dragonfly:2x2\" is neither a host nor a shape, such as torus:8x8x4 or mesh:16x16" },
    { "mesh:2x2\na 0 0\nmash:2x2\n", 3, "did you mean mesh:?" },
    { "a 0 1 2 3 4 5 6 7 8\n", 1, "\"a\" has 9 words behind it" },
    { "h[1-4] s1\n", 1, "\"h[1-4]\" is no host; each has a line of its own" },
    { "a //\n", 1, "a host takes the path to its switch" },
    { "a\n", 1, "\"a\" has 0 words behind it; a host takes the path to its switch" },
    { "a 1 2\n", 1, "coordinates below a first line such as torus:8x8x4" },
    { "a s1\nb \x01\n", 2, "hosts are plain text" },
};

TESTS(wrong_hosts_are_refused, 0, sizeof wrong_hosts / sizeof *wrong_hosts)
{
    struct told told;

    ck_assert_msg(!hosts_of(wrong_hosts[_i].text, &told), "%s", wrong_hosts[_i].text);
    ck_assert_msg(told.n == 1 && told.line == wrong_hosts[_i].line
                      && strstr(told.sentence, wrong_hosts[_i].sentence),
                  "\"%s\": %d mistakes, line %d: %s", wrong_hosts[_i].text, told.n, told.line,
                  told.sentence);
}

/* Ranks on hosts of a torus 2x3: a b c / d e f. */
static const struct {
    const char *hosts, *dims;   /* "?": they do not fit */
    unsigned rings;
} on_hosts[] = {
    { "abcdef", "2x3", 3 },
    { "aabbccddeeff", "2x3x2", 7 },
    { "abc", "3", 1 },
    { "bbbcccddd", "?", 0 },
    { "bbeebbee", "?", 0 },
    { "bbee", "2x2", 3 },               /* a column, with two ranks each */
    { "abde", "2x2", 1 },               /* a column less: no link around */
    { "fedcba", "?", 0 },
    { "aab", "?", 0 },
    { "aabb", "2x2", 2 },
    { "aaaa", "", 0 },                  /* one host */
};

TESTS(ranks_lie_as_their_hosts, 0, sizeof on_hosts / sizeof *on_hosts)
{
    struct told told;
    struct collopt_hosts *h = hosts_of("torus:2x3\na 0 0\nb 0 1\nc 0 2\nd 1 0\ne 1 1\nf 1 2\n",
                                       &told);
    struct collopt_topology t = { .nodes = 1 };
    int host[2 * MOST_RANKS], ranks = (int)strlen(on_hosts[_i].hosts);
    char found[64];
    bool fit;

    for (int r = 0; r < ranks; r++)
        host[2 * r] = collopt_host_named(h, (char[]){ on_hosts[_i].hosts[r], '\0' });
    fit = collopt_topology_hosts(&t, h, host, 2, ranks);
    dims_text(t.dims, found, sizeof found);
    if (strcmp(on_hosts[_i].dims, "?") == 0)
        ck_assert_msg(!fit && !t.wired && t.dims == 0, "%s: %s", on_hosts[_i].hosts, found);
    else
        ck_assert_msg(fit && strcmp(found, on_hosts[_i].dims) == 0 && t.rings == on_hosts[_i].rings,
                      "%s: %s, rings %u", on_hosts[_i].hosts, found, t.rings);
    collopt_hosts_free(h);
}

/* ---- groups above nodes and inside them ------------------------------------------------------ */

static const struct {
    const char *address, *pattern, *switches;   /* "": none */
} slurm[] = {
    { "s0.s4.tux4", "switch.switch.node", "s0.s4" },
    { "s0.tux4.site.org", "switch.node", "s0" },
    { "s[0-1].s4.tux4", "switch.switch.node", "s[0-1].s4" },
    { "block1.tux4", "block.node", "block1" },
    /* no switches are known: what Slurm says by default */
    { "tux4", "node", "" },
    { "s0.tux4", "switch.switch.node", "" },
    { "s0..tux4", "switch.switch.node", "" },
    { "s0.", "switch.node", "" },
    { ".tux4", "switch.node", "" },
    { "s0.tux4", "switch.switch", "" },
    { "s0.tux4", "node.switch", "" },
    { "s0.tux4", "", "" },
    { "", "node", "" },
    { "", "", "" },
    { "", "switch.node", "" },
    { "s0", ".", "" },
};

TESTS(slurm_names_switches, 0, sizeof slurm / sizeof *slurm)
{
    size_t n = collopt_slurm_switches(slurm[_i].address, slurm[_i].pattern);

    ck_assert_msg(n == strlen(slurm[_i].switches)
                      && strncmp(slurm[_i].address, slurm[_i].switches, n) == 0,
                  "%s by %s: %zu characters", slurm[_i].address, slurm[_i].pattern, n);
}

TEST(spots_are_packed)
{
    struct collopt_spot known = { 253, 2046, 4094 }, far = { 255, 2047, 4095 },
                        none = { -1, -1, -1 };
    struct collopt_spot s = collopt_packed_spot(collopt_pack_spot(known));

    ck_assert(s.numa == 253 && s.cache == 2046 && s.core == 4094);
    /* beyond what there is room for: not known */
    s = collopt_packed_spot(collopt_pack_spot(far));
    ck_assert(s.numa == -1 && s.cache == -1 && s.core == -1);
    ck_assert_int_eq(collopt_pack_spot(none), 0);
    s = collopt_packed_spot(0);
    ck_assert(s.numa == -1 && s.cache == -1 && s.core == -1);
    ck_assert(collopt_pack_spot((struct collopt_spot){ 254, 2046, 4094 }) > 0);
}

#ifdef COLLOPT_HAVE_HWLOC
/* Two packages of two NUMA nodes; each of these has two caches of four cores of two processors. */
#define PACKAGES "pack:2 numa:2 l3:2 core:4 pu:2"

static const struct {
    const char *machine;
    int first, last, step;      /* the processors of a rank */
    struct collopt_spot spot;
} bound[] = {
    { PACKAGES, 0, 0, 1, { 0, 0, 0 } },
    { PACKAGES, 62, 63, 1, { 3, 7, 31 } },              /* both of a core */
    { PACKAGES, 1, 2, 1, { 0, 0, -1 } },                /* of two cores */
    { PACKAGES, 24, 31, 1, { 1, 3, -1 } },
    { PACKAGES, 16, 31, 1, { 1, -1, -1 } },
    { PACKAGES, 0, 31, 1, { -1, -1, -1 } },             /* a package */
    { PACKAGES, 0, 48, 48, { -1, -1, -1 } },
    { PACKAGES, 63, 64, 1, { -1, -1, -1 } },            /* one that is not there */
    /* no cache of level 3, one memory */
    { "pack:2 l2:2 core:2 pu:1", 2, 2, 1, { 0, 1, 2 } },
    { "numa:2 core:2 pu:1", 2, 3, 1, { 1, -1, -1 } },           /* no caches */
    /* memory beside a package, a die, a cache, a core */
    { "pack:2 [numa] l3:1 core:1 pu:1", 0, 0, 1, { 0, 0, 0 } },
    { "pack:2 [numa] l3:1 core:1 pu:1", 1, 1, 1, { 1, 1, 1 } },
    { "pack:1 die:2 [numa] l3:1 core:1 pu:1", 1, 1, 1, { 1, 1, 1 } },
    { "pack:2 die:2 [numa] core:2 pu:1", 4, 5, 1, { 2, -1, -1 } },
    { "pack:2 l3:2 [numa] core:2 pu:1", 6, 7, 1, { 3, 3, -1 } },
    { "pack:2 core:2 [numa] pu:2", 4, 5, 1, { 2, -1, 2 } },
    /* the smaller one of two */
    { "pack:2 [numa] group:2 [numa] core:2 pu:1", 2, 2, 1, { 1, -1, 2 } },
};

/* Where a rank of bound[I] is, on the machine that the environment names; each test is a process of
 * its own. */
static void in_its_place(int i, const char *as)
{
    unsigned long long mask[COLLOPT_MASK_WORDS] = { 0 };
    struct collopt_spot s, want = bound[i].spot;

    for (int k = bound[i].first; k <= bound[i].last; k += bound[i].step)
        mask[k / 64] |= 1ull << k % 64;
    s = collopt_spot(mask);
    ck_assert_msg(s.numa == want.numa && s.cache == want.cache && s.core == want.core,
                  "%s as %s, %d to %d: numa %d cache %d core %d", bound[i].machine, as,
                  bound[i].first, bound[i].last, s.numa, s.cache, s.core);
}

TESTS(spots_on_synthetic_machines, 0, sizeof bound / sizeof *bound)
{
    setenv("HWLOC_SYNTHETIC", bound[_i].machine, 1);
    in_its_place(_i, "described");
}

/* The same machines as lstopo records them, with everything: what collopt does not look for must
 * not take memory along. */
TESTS(spots_on_recorded_machines, 0, sizeof bound / sizeof *bound)
{
    lstopo_records(bound[_i].machine);
    in_its_place(_i, "recorded");
}
#endif

/* Letters are groups; nodes are those of the text before. */
static void take_groups(const char *text, const struct collopt_topology *base,
                        struct collopt_topology *t, int *group)
{
    int ranks = (int)strlen(text);
    uint64_t key[MOST_RANKS];

    for (int r = 0; r < ranks; r++)
        key[r] = (uint64_t)text[r] << 40;
    ck_assert(collopt_topology_group(t, base, key, group, ranks));
}

TEST(groups_take_the_place_of_nodes)
{
    static const struct collopt_topology one = { .nodes = 1 };
    const struct collopt_topology *groups[COLLOPT_GROUPINGS] = { NULL };
    struct collopt_topology nodes, numa, same;
    int of[3][MOST_RANKS];
    struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE,
                                 .ranks = 8,
                                 .count = 8,
                                 .size = 8,
                                 .commutative = true,
                                 .segments = 1,
                                 .topology = &nodes };
    struct collopt_choice choice;
    char message[256], text[256];
    const char *why;

    take_groups("aaaaaaaa", &one, &same, of[0]);
    ck_assert(same.nodes == 1 && same.inside && !same.scattered);
    take_groups("ddddbbbb", &one, &nodes, of[1]);
    ck_assert(nodes.nodes == 2 && nodes.largest == 4 && nodes.least == 4 && nodes.node[0] == 0
              && nodes.node[7] == 1);
    nodes.groups = groups;
    take_groups("ccaabbbx", &nodes, &numa, of[2]);
    ck_assert(numa.nodes == 4 && numa.largest == 3 && numa.least == 1 && !numa.scattered
              && !numa.inside);
    groups[COLLOPT_BY_NODE] = &nodes;
    groups[COLLOPT_BY_NUMA] = &numa;
    for (int by = COLLOPT_BY_NODE; by < COLLOPT_GROUPINGS; by++) {
        static const char *const named[] = { NULL,
                                             "leader:by=node",
                                             "leader:by=switch",
                                             "leader:by=numa",
                                             "leader:by=cache",
                                             "leader:by=core" };

        ck_assert_msg(
            collopt_parse_choice(named[by], p.collective, &choice, message, sizeof message), "%s",
            message);
        ck_assert_int_eq(collopt_choice_text(&choice, text, sizeof text), (int)strlen(named[by]));
        ck_assert_str_eq(text, named[by]);
        ck_assert_msg(collopt_choice_usable(&choice, &p, &why) == (groups[by] != NULL), "%s: %s",
                      named[by], why);
        if (groups[by]) {
            collopt_set_parameters(&p, &choice);
            ck_assert_ptr_eq(p.topology, groups[by]);
        }
    }
    ck_assert(collopt_parse_choice("leader", p.collective, &choice, message, sizeof message));
    collopt_set_parameters(&p, &choice);        /* P still has groups by NUMA */
    ck_assert_ptr_eq(p.topology, &nodes);
}

/* Capitals are what ranks were told of their nodes. */
TEST(keys_of_several_nodes_are_found)
{
    static const struct {
        const char *nodes, *told;
        int straddled;
    } all[] = {
        { "aaaabbbb", "AAAABBBB", 0 }, { "aaaabbbb", "AAAAAAAA", 1 }, { "aabbccdd", "AABBCCAA", 1 },
        { "abababab", "ABABABAB", 0 }, { "aaaabbbb", "ABCDEFGH", 0 }, { "aaaabbbb", "ABCDEFGA", 1 },
        { "aaaaaaaa", "AAAAAAAA", 0 }, { "abcdefgh", "AAAAAAAA", 1 }, { "a", "A", 0 },
    };
    static const struct collopt_topology one = { .nodes = 1 };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct collopt_topology nodes;
        uint64_t key[MOST_RANKS];
        int node[MOST_RANKS], ranks = (int)strlen(all[i].told), found;

        take_groups(all[i].nodes, &one, &nodes, node);
        for (int r = 0; r < ranks; r++)
            key[r] = (uint64_t)all[i].told[r];
        found = collopt_topology_straddled(&nodes, key, ranks);
        ck_assert_msg(found == all[i].straddled, "%s on %s: %d", all[i].told, all[i].nodes, found);
    }
}

/* A node's algorithm cannot have nodes of its own, nor be the host's. */
TEST(groups_are_not_nested)
{
    static const struct {
        const char *text, *says;
    } all[] = {
        { "leader:by=switch,node=(leader:by=node)",
          "leader goes by groups of ranks, which is not offered inside parentheses" },
        { "leader:net=(lanes:cuont=4)",
          "lanes goes by groups of ranks, which is not offered inside parentheses" },
        { "leader:net=(host)",
          "net cannot be host: only whole calls can be left to the MPI library" },
        { "leader:net=(rign)", "; did you mean ring?" },
        { "leader:net=(recursive_dubling)",
          "; did you mean recursive_doubling (or recursive_multiplying)?" },
        { "leader:net=(auto)", "allreduce has no algorithm \"auto\" (collopt-info" },
    };
    struct collopt_choice choice;
    char message[1024];

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ck_assert_msg(
            !collopt_parse_choice(all[i].text, COLLOPT_ALLREDUCE, &choice, message, sizeof message),
            "%s", all[i].text);
        ck_assert_msg(strstr(message, all[i].says), "%s: %s", all[i].text, message);
        ck_assert_msg(i == 2 || !strstr(message, "host"), "%s: %s", all[i].text, message);
        ck_assert_msg(!strstr(message, "node_aware"), "%s: %s", all[i].text, message);
    }
}

TEST(topologies_are_told)
{
    static const struct collopt_topology one = { .nodes = 1 };
    const struct collopt_topology *groups[COLLOPT_GROUPINGS] = { NULL };
    struct collopt_topology nodes, below;
    int of[2][MOST_RANKS];
    char text[256], little[12];

    collopt_topology_text(&one, 8, text, sizeof text);
    ck_assert_str_eq(text, "one node of 8 ranks");
    take_groups("aaaabbbb", &one, &nodes, of[0]);
    collopt_topology_text(&nodes, 8, text, sizeof text);
    ck_assert_str_eq(text, "2 nodes of 4 ranks");
    take_groups("aabacccc", &one, &nodes, of[0]);
    nodes.groups = groups;
    nodes.oversubscribed = true;
    take_groups("xxxxxxxx", &nodes, &below, of[1]);
    groups[COLLOPT_BY_SWITCH] = &below;
    groups[COLLOPT_BY_CACHE] = &nodes;
    collopt_topology_grid(&nodes, 2, (const int[]){ 4, 2 }, 3);
    collopt_topology_text(&nodes, 8, text, sizeof text);
    ck_assert_str_eq(
        text,
        "3 nodes of 1 to 4 ranks, which do not follow one another; 1 switch; 3 last-level caches; "
        "a grid of the program's, 4x2; more ranks than processors");
    collopt_topology_text(&nodes, 8, little, sizeof little);
    ck_assert_str_eq(little, "3 nodes of ");
    groups[COLLOPT_BY_SWITCH] = groups[COLLOPT_BY_CACHE] = NULL;
    nodes.wired = true;
    collopt_topology_text(&nodes, 8, text, sizeof text);
    ck_assert(strstr(text, "; a torus of 4x2; "));
    nodes.rings = 0;
    collopt_topology_text(&nodes, 8, text, sizeof text);
    ck_assert(strstr(text, "; a mesh of 4x2; "));
}

/* Parameters "dims" take the known grid, where its sides suit the algorithm. */
TEST(known_grids_are_presets)
{
    struct collopt_topology t = { .nodes = 1 };
    struct collopt_problem p = { .ranks = 24, .topology = &t };
    char text[64];

    collopt_topology_grid(&t, 3, (const int[]){ 2, 3, 4 }, 0);
    dims_text(collopt_preset_dims(&p, 1), text, sizeof text);
    ck_assert_str_eq(text, "2x3x4");
    dims_text(collopt_preset_dims(&p, 2), text, sizeof text);
    ck_assert_str_eq(text, "6x4");
    collopt_topology_grid(&t, 2, (const int[]){ 2, 12 }, 0);
    dims_text(collopt_preset_dims(&p, 2), text, sizeof text);
    ck_assert_str_eq(text, "2x12");
}

/* ---- machines, and what is chosen on them ---------------------------------------------------- */

enum { LARGEST_MACHINE = 4096 };

static const struct machine {
    /* as COLLOPT_TOPOLOGY says them; NULL: none, one node */
    const char *name, *grid, *nodes;
    int ranks;
    /* the grid is a Cartesian communicator's; more ranks than processors; a fast network */
    bool cartesian, crowded, fast;
} machines[] = {
    { "two", NULL, NULL, 2, false, false, false },
    { "hosts", NULL, "1", 8, false, false, false },
    { "cluster", NULL, "16", 64, false, false, true },
    { "64 hosts", NULL, "1", 64, false, false, true },
    { "256 hosts", NULL, "1", 256, false, false, true },
    { "64 hosts over TCP", NULL, "1", 64, false, false, false },
    { "8 hosts of 8 over TCP", NULL, "8", 64, false, false, false },
    { "laptop", NULL, NULL, 8, false, false, false },
    { "full laptop", NULL, NULL, 16, false, true, false },
    { "torus 8x8", "torus:8x8", "1", 64, false, false, true },
    { "torus 4x4x4", "torus:4x4x4", "1", 64, false, false, true },
    { "torus 5x4x4", "torus:5x4x4", "1", 80, false, false, true },
    { "torus 16x8x8", "torus:16x8x8", "1", 1024, false, false, true },
    { "torus 16x16x16", "torus:16x16x16", "1", 4096, false, false, true },
    { "ring", "torus:12", "1", 12, false, false, true },
    { "mesh 8x8", "mesh:8x8", "1", 64, false, false, true },
    /* its links round the ends would be the same ones */
    { "mesh 2x2x2", "mesh:2x2x2", "1", 8, false, false, true },
    { "program's 8x8", "torus:8x8", "1", 64, true, false, true },
    { "2x4", NULL, "4", 8, false, false, true },
    { "4, 4, 8", NULL, "4,4,8", 16, false, false, true },
    { "64x1", NULL, "1", 64, false, false, true },
    { "16x16", NULL, "16", 256, false, false, true },
    { "16x16 on TCP", NULL, "16", 256, false, false, false },
    { "4x2 on TCP", NULL, "2", 8, false, false, false },
    { "16 dealt to", NULL, "cyclic:16", 256, false, false, true },
    { "2x2x8 in a node", NULL, NULL, 32, false, false, false },
    { "8 on 2", NULL, NULL, 8, false, true, false },
};

static const struct decision {
    const char *machine;
    enum collopt_collective collective;
    size_t bytes;
    bool commutative;
    /* what its text begins with, or one of several separated by |; !: none of them */
    const char *algorithm, *why;
} decisions[] = {
    /* Recorded maps, and what must be so whatever the figures of the model are.  WHY: any. */
#define WHOLE "recursive_doubling|recursive_multiplying|leader|lanes|node_aware|binomial|knomial|" \
              "postal_tree|" \
              "pairwise_doubling|window_doubling"
#define CUT "ring|circulant|rabenseifner|swing|recursive_halving|pairwise|bucket|" \
    "elimination|lanes|recursive_splitting|near_splitting|strided_splitting"
#define BY_NODES "leader|lanes|node_aware"
    /* Eight bytes cost nothing to carry: what counts is rounds, the logarithm of the ranks, with
     * whole vectors. */
    { "2x4", COLLOPT_ALLREDUCE, 8, true, WHOLE, "" },
    { "4, 4, 8", COLLOPT_ALLREDUCE, 8, true, WHOLE, "" },
    { "64x1", COLLOPT_ALLREDUCE, 8, true, WHOLE, "" },
    { "64x1", COLLOPT_REDUCE, 8, false, WHOLE, "" },
    { "16x16", COLLOPT_ALLREDUCE, 8, true, WHOLE, "" },
    { "16x16", COLLOPT_REDUCE, 8, true, WHOLE, "" },
    { "16x16", COLLOPT_SCAN, 8, false, WHOLE, "" },
    { "2x2x8 in a node", COLLOPT_ALLREDUCE, 8, true, WHOLE, "" },
    /* Hosts of one rank: each port carries 2 m (p - 1) / p at least, which takes algorithms that
     * cut the vector; no nodes to go by. */
    { "64x1", COLLOPT_ALLREDUCE, 16 << 20, true, CUT, "" },
    { "64x1", COLLOPT_ALLREDUCE, 16 << 20, true, "!" BY_NODES, "" },
    { "64x1", COLLOPT_REDUCE_SCATTER_BLOCK, 4 << 20, true, CUT, "" },
    /* One node: the same of memory; groups by nodes would be one group. */
    { "2x2x8 in a node", COLLOPT_ALLREDUCE, 4 << 20, true, CUT, "" },
    { "2x2x8 in a node", COLLOPT_ALLREDUCE, 4 << 20, true, "!" BY_NODES, "" },
    { "2x2x8 in a node", COLLOPT_REDUCE, 4 << 20, true, "!" BY_NODES, "" },
    /* Sixteen ranks share a port, on which whole vectors of all ranks would be sixteen: it has to
     * be combined in the node first, or to leave the node once for all ranks, as in a ring, along
     * the few edges of a tree of neighbours that lead from node to node, or when near partners have
     * halved or split it before. */
#define ONCE \
    BY_NODES "|ring|two_tree|binary_tree|swing|recursive_splitting|strided_" \
             "splitting"
    { "16x16", COLLOPT_ALLREDUCE, 64 << 10, true, ONCE, "" },
    { "16x16", COLLOPT_ALLREDUCE, 4 << 20, true, ONCE, "" },
    { "16x16 on TCP", COLLOPT_ALLREDUCE, 64 << 10, true, ONCE, "" },
    { "16x16 on TCP", COLLOPT_ALLREDUCE, 4 << 20, true, ONCE, "" },
    { "16x16 on TCP", COLLOPT_REDUCE_SCATTER_BLOCK, 4 << 20, true, ONCE, "" },
    /* Ranks dealt to nodes: neighbours are never on one node, so that rings and trees leave nodes
     * with every message. */
    { "16 dealt to", COLLOPT_ALLREDUCE, 64 << 10, true, BY_NODES, "" },
    { "16 dealt to", COLLOPT_ALLREDUCE, 4 << 20, true, BY_NODES, "" },
    { "16 dealt to", COLLOPT_REDUCE, 1 << 20, true, BY_NODES, "" },
    /* And what is combined in a node is not in the ranks' order then. */
    { "16 dealt to", COLLOPT_ALLREDUCE, 1 << 20, false, "!" BY_NODES, "" },
    { "16 dealt to", COLLOPT_REDUCE, 1 << 20, false, "!" BY_NODES, "" },
    { "16 dealt to", COLLOPT_SCAN, 1 << 20, true, "!" BY_NODES, "" },
    /* Nodes of different size: so few ranks on the small ones that no lane may be missing there. */
    { "4, 4, 8", COLLOPT_ALLREDUCE, 4 << 20, true,
      "!recursive_doubling|lanes:count=8", "" },
    /* More ranks than processors: each message waits for a turn, and one rank that combines for all
     * makes the fewest. */
    { "8 on 2", COLLOPT_ALLREDUCE, 8, true, "linear|gather", "" },
    { "8 on 2", COLLOPT_REDUCE, 8, true, "linear", "" },

    /* One node: few rounds for short vectors, few bytes for long ones. */
    { "two", COLLOPT_ALLREDUCE, 256 << 10, true, "recursive_doubling|circulant", "predicted" },
    { "two", COLLOPT_ALLREDUCE, 4 << 20, true, "circulant", "" },
    { "two", COLLOPT_REDUCE, 4 << 20, false, "binomial", "predicted" },
    { "two", COLLOPT_SCAN, 64 << 10, true, "sweep", "predicted" },
    { "two", COLLOPT_REDUCE_SCATTER, 64 << 10, true, "circulant", "predicted" },
    { "laptop", COLLOPT_ALLREDUCE, 8, true, "recursive_doubling", "predicted" },
    { "laptop", COLLOPT_ALLREDUCE, 1 << 20, true, "circulant|recursive_splitting", "predicted" },
    { "hosts", COLLOPT_ALLREDUCE, 4 << 20, true, "ring", "long parts over TCP" },
    { "hosts", COLLOPT_REDUCE_SCATTER, 512 << 10, true, "ring", "long parts over TCP" },
    { "full laptop", COLLOPT_ALLREDUCE, 8, true, "gather|linear", "predicted" },
    { "full laptop", COLLOPT_REDUCE, 2048, false, "linear", "predicted" },
    { "full laptop", COLLOPT_REDUCE, 4096, false, "recursive_splitting:radix=4", "predicted" },
    { "full laptop", COLLOPT_SCAN, 32 << 10, false, "transpose", "predicted" },
    { "full laptop", COLLOPT_ALLREDUCE, 1 << 20, true, "knomial|circulant", "predicted" },
    /* Hosts with a rank each, over TCP: a message is dear. */
    { "4x2 on TCP", COLLOPT_ALLREDUCE, 4 << 20, true, "lanes:count=2", "long parts over TCP" },
    { "4x2 on TCP", COLLOPT_REDUCE_SCATTER_BLOCK, 1 << 20, true, "lanes:count=2",
      "long parts over TCP" },
    { "4x2 on TCP", COLLOPT_ALLREDUCE, 4 << 20, false, BY_NODES, "predicted" },
    { "4x2 on TCP", COLLOPT_REDUCE, 1 << 20, true, "leader|lanes|chain", "predicted" },
    { "hosts", COLLOPT_ALLREDUCE, 8, true, "recursive_doubling", "predicted" },
    { "hosts", COLLOPT_ALLREDUCE, 64 << 10, true, "rabenseifner|swing|recursive_splitting:radix=2",
      "predicted" },
    { "hosts", COLLOPT_ALLREDUCE, 64 << 10, false, "rabenseifner|recursive_splitting:radix=2",
      "predicted" },
    { "hosts", COLLOPT_SCAN, 1 << 20, true, "chain", "predicted" },
    /* Nodes of 16 ranks: trees of overlapping messages for the shortest, lanes for longer ones. */
    { "cluster", COLLOPT_REDUCE, 8, true, "postal_tree:|leader:node=(postal_tree", "predicted" },
    { "cluster", COLLOPT_ALLREDUCE, 16 << 10, true, "lanes", "predicted" },
    { "cluster", COLLOPT_SCAN, 512 << 10, true, "two_tree", "predicted" },
    /* Tori: all links at once; the shortest vectors by several messages at a time. */
    { "torus 8x8", COLLOPT_ALLREDUCE, 64 << 10, true,
      "recursive_splitting:radix=8,splits=1,chunks=1,strands=2", "predicted" },
    { "torus 8x8", COLLOPT_ALLREDUCE, 256 << 10, true, "swing_torus:dims=8x8", "predicted" },
    { "torus 8x8", COLLOPT_ALLREDUCE, 64 << 20, true, "bucket:dims=8x8", "predicted" },
    { "torus 8x8", COLLOPT_ALLREDUCE, 64 << 10, false, "recursive_splitting:radix=8", "predicted" },
    { "torus 8x8", COLLOPT_REDUCE, 1 << 20, true,
      "swing_torus:dims=8x8|torus:segment=", "predicted" },
    /* Chunks, one behind the other, where vectors are long; not over TCP, nor where links are not
     * told apart. */
    { "64 hosts", COLLOPT_ALLREDUCE, 32 << 10, true,
      "recursive_splitting:radix=4,splits=2,chunks=1", "predicted" },
    { "64 hosts", COLLOPT_ALLREDUCE, 4 << 20, true, "recursive_splitting:radix=4,splits=3,chunks=2",
      "predicted" },
    { "64 hosts", COLLOPT_REDUCE, 64 << 10, true, "recursive_splitting:radix=4,splits=2,chunks=2",
      "predicted" },
    { "64 hosts", COLLOPT_SCAN, 512 << 10, true, "transpose:width=4,radix=2,splits=3,chunks=4",
      "predicted" },
    { "256 hosts", COLLOPT_SCAN, 4 << 20, false, "transpose:width=4,radix=2,splits=3,chunks=4",
      "predicted" },
    { "256 hosts", COLLOPT_REDUCE, 4 << 20, true, "two_tree:segment=", "predicted" },
    { "torus 8x8", COLLOPT_REDUCE, 1 << 20, false, "mesh:segment=", "predicted" },
    { "torus 8x8", COLLOPT_REDUCE, 4 << 20, true, "torus_trees:segment=", "predicted" },
    { "torus 8x8", COLLOPT_REDUCE_SCATTER_BLOCK, 64 << 10, true, "recursive_splitting:radix=8",
      "predicted" },
    { "torus 8x8", COLLOPT_REDUCE_SCATTER, 1 << 20, true, "swing_torus:dims=8x8", "predicted" },
    { "torus 8x8", COLLOPT_SCAN, 8, true,
      "recursive_multiplying|recursive_doubling|pairwise_doubling", "predicted" },
    /* Along a line near messages have come when the farthest does. */
    { "torus 8x8", COLLOPT_SCAN, 4096, true, "recursive_multiplying:radix=8", "predicted" },
    { "torus 4x4x4", COLLOPT_REDUCE_SCATTER, 256, true, "recursive_splitting:radix=4",
      "predicted" },
    { "torus 4x4x4", COLLOPT_ALLREDUCE, 32 << 10, true, "recursive_splitting:radix=4",
      "predicted" },
    { "torus 4x4x4", COLLOPT_ALLREDUCE, 512 << 10, true,
      "recursive_splitting:radix=4,splits=2,chunks=1,strands=3", "predicted" },
    /* swing_torus wants even sides */
    { "torus 5x4x4", COLLOPT_ALLREDUCE, 4 << 20, true, "bucket:dims=5x4x4", "predicted" },
    { "torus 5x4x4", COLLOPT_REDUCE_SCATTER_BLOCK, 1 << 20, true, "bucket:dims=5x4x4",
      "predicted" },
    /* Groups of eight along each side, one after the other; what is left of the longest is a level
     * of its own. */
    { "torus 16x8x8", COLLOPT_REDUCE_SCATTER, 64 << 10, true,
      "recursive_splitting:radices=8x2x8x8,radix=8", "predicted" },
    { "torus 16x8x8", COLLOPT_ALLREDUCE, 8, true,
      "recursive_multiplying:radices=8x8x2x8|recursive_multiplying:radices=8x8x8x2", "predicted" },
    { "torus 16x8x8", COLLOPT_ALLREDUCE, 8 << 10, true, "recursive_splitting:radices=8x8x",
      "predicted" },
    { "torus 16x16x16", COLLOPT_ALLREDUCE, 16 << 20, true, "swing_torus:dims=16x16x16",
      "predicted" },
    { "ring", COLLOPT_ALLREDUCE, 1 << 20, true, "bucket:dims=12", "predicted" },
    /* Meshes: what goes round the ends would go all the way back. */
    { "mesh 8x8", COLLOPT_ALLREDUCE, 64 << 10, true,
      "recursive_splitting:radix=8,splits=1,chunks=1,strands=2", "predicted" },
    { "mesh 8x8", COLLOPT_ALLREDUCE, 256 << 10, true,
      "recursive_splitting:radices=2x4x2x4,radix=4,splits=3,chunks=1,strands=2", "predicted" },
    { "mesh 8x8", COLLOPT_ALLREDUCE, 256 << 10, false,
      "!recursive_splitting:radices=2x4x2x4,radix=4,splits=3,chunks=1,strands=2", "" },
    { "mesh 8x8", COLLOPT_REDUCE, 512 << 10, true, "mesh_trees:segment=", "predicted" },
    { "mesh 8x8", COLLOPT_REDUCE, 4 << 20, true, "mesh_trees:segment=", "predicted" },
    { "mesh 8x8", COLLOPT_ALLREDUCE, 4 << 20, true, "mesh_trees:segment=", "predicted" },
    { "mesh 8x8", COLLOPT_REDUCE_SCATTER_BLOCK, 1 << 20, true, "mesh:dims=8x8|swing_torus:dims=8x8",
      "predicted" },
    /* nothing is known of links */
    { "program's 8x8", COLLOPT_ALLREDUCE, 1 << 20, true, "recursive_splitting:radix=4",
      "predicted" },
};

/* Does TEXT begin with one of LIST, or, behind !, with none? */
static bool begins_with(const char *text, const char *list)
{
    bool none_of = *list == '!';

    list += none_of;
    for (size_t n; *list; list += n + (list[n] == '|')) {
        n = strcspn(list, "|");
        if (strncmp(text, list, n) == 0)
            return !none_of;
    }
    return none_of;
}

static const struct machine *machine_named(const char *name)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    ck_abort_msg("no machine %s", name);
    return NULL;
}

/* The topology of all of M's ranks, and its machine; NODE has room for them. */
static void survey(const struct machine *m, struct collopt_topology *t, int *node,
                   struct collopt_machine *machine)
{
    struct collopt_shape shape = shape_of(m->grid);
    int world[LARGEST_MACHINE];

    *t = (struct collopt_topology){ .nodes = 1, .node = node, .oversubscribed = m->crowded };
    for (int r = 0; r < m->ranks; r++) {
        world[r] = r;
        node[r] = m->nodes ? collopt_stated_node(m->nodes, r) : 0;
        t->nodes = node[r] >= t->nodes ? node[r] + 1 : t->nodes;
    }
    if (m->grid)
        collopt_topology_box(t, &shape, world, 1, m->ranks);
    t->wired = t->wired && !m->cartesian;
    ck_assert(collopt_topology_measure(t, m->ranks));
    collopt_machine_pick(machine, collopt_network_of(t, m->fast), false, NULL);
}

TESTS(decisions_are_known, 0, sizeof decisions / sizeof *decisions)
{
    const struct decision *d = &decisions[_i];
    const struct machine *m = machine_named(d->machine);
    struct collopt_topology t;
    struct collopt_machine network;
    int node[LARGEST_MACHINE];
    struct collopt_problem p = { .collective = d->collective,
                                 .ranks = m->ranks,
                                 .size = 8,
                                 .commutative = d->commutative,
                                 .count = (d->bytes + 7) / 8,
                                 .segments = 1,
                                 .topology = &t,
                                 .machine = &network };
    struct collopt_decision chosen;
    struct collopt_choice choice;
    char text[256];

    survey(m, &t, node, &network);
    collopt_select(&p, &chosen);
    choice = chosen.choice;
    collopt_set_parameters(&p, &choice);
    memcpy(choice.value, p.value, sizeof choice.value);
    collopt_choice_text(&choice, text, sizeof text);
    ck_assert_msg(
        begins_with(text, d->algorithm) && strncmp(chosen.why, d->why, strlen(d->why)) == 0,
        "%s, %s of %zu bytes: %s (%s), not %s (%s)", m->name,
        collopt_collective_names[d->collective], d->bytes, text, chosen.why, d->algorithm, d->why);
}

/* A Reduce_scatter of which one rank gets everything is a Reduce; where all get something, it
 * isn't. */
TEST(one_part_is_a_reduce)
{
    static const struct {
        size_t first, rest;
        const char *algorithm;
    } shapes[] = { { 1, 0, "reduce_scatterv:reduce=(postal_tree" },
                   { 1, 1, "recursive_splitting:radix=4" },
                   { 1 << 19, 0, "reduce_scatterv:reduce=(two_tree:segment=" },
                   { 0, 1, "recursive_splitting:radix=4" } };
    struct collopt_topology t;
    struct collopt_machine network;
    int node[LARGEST_MACHINE];
    size_t counts[64];
    struct collopt_problem p = { .collective = COLLOPT_REDUCE_SCATTER,
                                 .ranks = 64,
                                 .size = 8,
                                 .commutative = true,
                                 .segments = 1,
                                 .counts = counts,
                                 .topology = &t,
                                 .machine = &network };
    struct collopt_decision chosen;
    char text[256];

    survey(machine_named("64 hosts"), &t, node, &network);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        p.count = counts[0] = shapes[i].first;
        for (int r = 1; r < p.ranks; r++)
            p.count += counts[r] = shapes[i].rest;
        collopt_select(&p, &chosen);
        collopt_choice_text(&chosen.choice, text, sizeof text);
        ck_assert_msg(begins_with(text, shapes[i].algorithm), "%zu and %zu elements: %s, not %s",
                      shapes[i].first, shapes[i].rest, text, shapes[i].algorithm);
    }
}

/* What the model likes best on a machine, from 64 KiB on, of each collective. */
static void each_candidate(const char *machine, bool commutative,
                           void (*look)(const char *text, const char *where))
{
    const struct machine *m = machine_named(machine);
    struct collopt_topology t;
    struct collopt_machine network;
    int node[LARGEST_MACHINE];

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        for (size_t bytes = 64 << 10; bytes <= 16 << 20; bytes *= 2) {
            struct collopt_problem p = { .collective = (enum collopt_collective)c,
                                         .ranks = m->ranks,
                                         .size = 8,
                                         .commutative = commutative,
                                         .count = bytes / 8,
                                         .segments = 1,
                                         .topology = &t,
                                         .machine = &network };
            struct collopt_candidate best[8];
            char text[2 * COLLOPT_CHOICE_TEXT], where[120];
            int n;

            survey(m, &t, node, &network);
            n = collopt_choose(&p, 8, best);
            snprintf(where, sizeof where, "%s, %s of %zu bytes", m->name,
                     collopt_collective_names[c], bytes);
            for (int i = 0; i < n; i++) {
                collopt_choice_text(&best[i].choice, text, sizeof text);
                look(text, where);
            }
        }
}

static void has_no_chunks(const char *text, const char *where)
{
    ck_assert_msg(!strstr(text, "chunks=2") && !strstr(text, "chunks=4"), "%s: %s", where, text);
}

static void has_no_strands(const char *text, const char *where)
{
    ck_assert_msg(!strstr(text, "strands=2") && !strstr(text, "strands=3"), "%s: %s", where, text);
}

static void has_room(const char *text, const char *where)
{
    ck_assert_msg(strlen(text) < COLLOPT_CHOICE_TEXT, "%s: no room for %s", where, text);
}

/* Neither among all ranks nor between leaders or lanes. */
TEST(no_chunks_over_tcp)
{
    each_candidate("64 hosts over TCP", true, has_no_chunks);
    each_candidate("8 hosts of 8 over TCP", true, has_no_chunks);
}

TEST(strands_are_for_grids_and_operations_that_commute)
{
    each_candidate("64 hosts", true, has_no_strands);
    each_candidate("8 hosts of 8 over TCP", true, has_no_strands);
    each_candidate("torus 4x4x4", false, has_no_strands);
    each_candidate("mesh 8x8", false, has_no_strands);
}

/* Otherwise tuning results would be lost. */
TEST(choices_have_room)
{
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
        each_candidate(machines[m].name, true, has_room);
}

int main(void)
{
    return suite_run("topology");
}
