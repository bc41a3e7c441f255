/* The environment, algorithm expressions and messages. */
#include "config.h"

#include "base/launcher.h"
#include "base/log.h"
#include "base/text.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "fake_registry.h"
#include "quiet_check.h"
#include "schedule/problem.h"
#include "settings/settings.h"
#include "topology/topology.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- reading an environment ------------------------------------------------------------------ */

static char warned[8192];       /* all warnings of the last reading, one per line */

static void note(const char *sentence)
{
    ck_assert_msg(strlen(sentence) < 1024 && *sentence, "odd sentence: %s", sentence);
    strncat(warned, sentence, sizeof warned - strlen(warned) - 2);
    strcat(warned, "\n");
}

static int read_one(struct collopt_settings *s, const char *variable)
{
    char *const environment[] = { (char *)"HOME=/root", (char *)variable, (char *)"PATH=/bin",
                                  NULL };

    warned[0] = '\0';
    return collopt_settings_from(s, environment, note);
}

static const struct collopt_setting_row *row_of(const char *name)
{
    int n;
    const struct collopt_setting_row *rows = collopt_setting_rows(&n);

    for (int i = 0; i < n; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    ck_abort_msg("no row %s", name);
    return NULL;
}

/* The message says what to write instead. */
TEST(variables_that_were)
{
    struct collopt_settings s;

    ck_assert_int_eq(read_one(&s, "COLLOPT_NODE_RANKS=4,4,2"), 1);
    ck_assert_str_eq(warned, "COLLOPT_NODE_RANKS is no variable any more and is ignored; write "
                             "COLLOPT_TOPOLOGY=nodes:4,4,2\n");
    ck_assert_int_eq(read_one(&s, "COLLOPT_FAKE_NODES=2"), 1);
    ck_assert_ptr_nonnull(strstr(warned, "write COLLOPT_TOPOLOGY=nodes:2"));
}

TEST(defaults)
{
    struct collopt_settings s;

    ck_assert_int_eq(read_one(&s, "X=1"), 0);
    ck_assert_str_eq(warned, "");
    ck_assert(s.on);
    ck_assert_int_eq(s.after, 0);
    ck_assert(!s.pcontrol && !s.check && !s.adapt);
    ck_assert_ptr_null(s.adapt_rules);
    ck_assert_int_eq(s.log, COLLOPT_LOG_WARN);
    ck_assert_ptr_null(s.report);
    ck_assert_int_eq(s.wait, COLLOPT_WAIT_AUTO);
    ck_assert_int_eq(s.gpu, COLLOPT_GPU_AUTO);
    ck_assert_uint_eq(s.cut, (size_t)1 << 30);
    ck_assert_uint_eq(s.scratch, (size_t)64 << 20);
    ck_assert_int_eq(s.communicators, 16384);
    ck_assert_ptr_null(s.isa);
    ck_assert_ptr_null(s.topology);
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        ck_assert_ptr_null(s.force[c]);
    ck_assert_int_eq(collopt_settings_from(&s, NULL, note), 0);
    ck_assert(s.on);
}

TEST(values)
{
    struct collopt_settings s;

    read_one(&s, "COLLOPT=off");
    ck_assert(!s.on);
    read_one(&s, "COLLOPT=0");
    ck_assert(!s.on);
    read_one(&s, "COLLOPT_PCONTROL=yes");
    ck_assert(s.pcontrol);
    read_one(&s, "COLLOPT_AFTER=1");
    ck_assert_int_eq(s.after, 1);
    read_one(&s, "COLLOPT_LOG=decide");
    ck_assert_int_eq(s.log, COLLOPT_LOG_DECIDE);
    read_one(&s, "COLLOPT_LOG=trace");
    ck_assert_int_eq(s.log, COLLOPT_LOG_TRACE);
    read_one(&s, "COLLOPT_REPORT=/tmp/a=b");
    ck_assert_str_eq(s.report, "/tmp/a=b");
    read_one(&s, "COLLOPT_WAIT=yield");
    ck_assert_int_eq(s.wait, COLLOPT_WAIT_YIELD);
    read_one(&s, "COLLOPT_GPU=native");
    ck_assert_int_eq(s.gpu, COLLOPT_GPU_NATIVE);
    read_one(&s, "COLLOPT_NODES=names");
    ck_assert_int_eq(s.nodes, COLLOPT_NODES_BY_NAMES);
    read_one(&s, "COLLOPT_OFFLOAD=host");
    ck_assert_int_eq(s.offload, COLLOPT_OFFLOAD_HOST);
    read_one(&s, "COLLOPT_CUT=64");
    ck_assert_uint_eq(s.cut, 64);
    read_one(&s, "COLLOPT_SCRATCH=3G");
    ck_assert_uint_eq(s.scratch, (size_t)3 << 30);
    read_one(&s, "COLLOPT_COMMUNICATORS=0");
    ck_assert_int_eq(s.communicators, 0);
    read_one(&s, "COLLOPT_ISA=avx2");
    ck_assert_str_eq(s.isa, "avx2");
    read_one(&s, "COLLOPT_ISA=auto");
    ck_assert_ptr_null(s.isa);
    read_one(&s, "COLLOPT_ALLREDUCE=ring:segment=64K");
    ck_assert_str_eq(s.force[COLLOPT_ALLREDUCE], "ring:segment=64K");
    read_one(&s, "COLLOPT_SCAN=host");
    ck_assert_str_eq(s.force[COLLOPT_SCAN], "host");
    ck_assert_str_eq(warned, "");
}

TEST(first_counts_and_empty_is_not_set)
{
    char *const environment[] = { (char *)"COLLOPT_AFTER=", (char *)"COLLOPT_WAIT=spin",
                                  (char *)"COLLOPT_WAIT=yield", (char *)"COLLOPT_CUT", NULL };
    struct collopt_settings s;

    ck_assert_int_eq(collopt_settings_from(&s, environment, note), 0);
    ck_assert_int_eq(s.after, 0);
    ck_assert_int_eq(s.wait, COLLOPT_WAIT_SPIN);
    ck_assert_uint_eq(s.cut, (size_t)1 << 30);
}

/* Names that stand for the place or the version of what is installed; those that are like them are
 * mistakes. */
TEST(what_module_files_set)
{
    char *const environment[] = { (char *)"COLLOPT_ROOT=/opt/collopt",
                                  (char *)"COLLOPT_VERSION=0.1.0",
                                  (char *)"COLLOPT_LIB=", (char *)"COLLOPT_DIR", NULL };
    char *const mistaken[] = { (char *)"COLLOPT_ROOTS=1", (char *)"COLLOPT_root=/opt/collopt",
                               NULL };
    struct collopt_settings s;

    *warned = '\0';
    ck_assert_int_eq(collopt_settings_from(&s, environment, note), 0);
    ck_assert_str_eq(warned, "");
    ck_assert_int_eq(collopt_settings_from(&s, mistaken, note), 2);
    ck_assert_msg(strstr(warned, "COLLOPT_ROOTS is not") && strstr(warned, "COLLOPT_root is not"),
                  "%s", warned);
}

/* What is set wrongly, and what the warning must say. */
static const struct {
    const char *variable, *says[4];
} wrong[] = {
    { "COLLOPT=of", { "COLLOPT=of", "on|off", "did you mean off?", "using on" } },
    { "COLLOPT_AFTER=0", { "COLLOPT_AFTER=0", "1 to 1000000000", "using auto" } },
    { "COLLOPT_AFTER=-1", { "COLLOPT_AFTER=-1", "a number", "using auto" } },
    { "COLLOPT_AFTER=99999999999999999999999", { "a number" } },
    { "COLLOPT_ADAPT_RULES=learnt",
      { "COLLOPT_ADAPT_RULES has no effect", "COLLOPT_ADAPT is off" } },
    { "COLLOPT_WAIT=spinn", { "spinn", "auto|spin|yield", "did you mean spin?", "using auto" } },
    { "COLLOPT_LOG=decided", { "warn|decide|trace", "did you mean decide?" } },
    { "COLLOPT_LOG=Trace", { "did you mean trace?" } },
    { "COLLOPT_TOPOLOGY=nodes:4,", { "=nodes:4,", "4,4,2", "cyclic:4", "using auto" } },
    { "COLLOPT_TOPOLOGY=nodes:4,0", { "cyclic:4" } },
    { "COLLOPT_TOPOLOGY=nodes:cyclic:", { "cyclic:4" } },
    { "COLLOPT_TOPOLOGY=nodes:9999999999", { "cyclic:4" } },
    { "COLLOPT_TOPOLOGY=ring:4",
      { "COLLOPT_TOPOLOGY=ring:4", "torus:8x8x4", "cartesian", "using auto" } },
    { "COLLOPT_TOPOLOGY=torus", { "torus:8x8x4" } },
    { "COLLOPT_TOPOLOGY=torus:8x", { "up to 6 sides of 1 to 1023", "torus:8x8x4" } },
    { "COLLOPT_TOPOLOGY=mesh:8x0", { "up to 6 sides", "mesh:8x8x4" } },
    { "COLLOPT_TOPOLOGY=mesh:1024", { "1 to 1023" } },
    { "COLLOPT_TOPOLOGY=mesh:1023x1023x1023x2x2x2", { "up to 6 sides" } },
    { "COLLOPT_TOPOLOGY=mesh:2x2x2x2x2x2x2", { "up to 6 sides" } },
    { "COLLOPT_TOPOLOGY=mesh:4x4,", { "up to 6 sides" } },
    { "COLLOPT_TOPOLOGY=nodes:", { "nodes: takes", "24" } },
    { "COLLOPT_TOPOLOGY=nodes:4,", { "4,4,2" } },
    { "COLLOPT_TOPOLOGY=file:",
      { "COLLOPT_TOPOLOGY=file: is not understood", "file: takes the name of a file" } },
    { "COLLOPT_TOPOLOGY=file:/nowhere/hosts",
      { "COLLOPT_TOPOLOGY is not used: /nowhere/hosts: No such file" } },
    { "COLLOPT_CUT=0", { "1 to ", "using 1G" } },
    { "COLLOPT_CUT=3G", { "COLLOPT_CUT=3G", "1 to 2147483647" } },
    { "COLLOPT_SCRATCH=64Q", { "bytes", "64K" } },
    { "COLLOPT_ALREDUCE=ring", { "COLLOPT_ALREDUCE", "COLLOPT_ALLREDUCE?", "collopt-info" } },
    { "COLLOPT_LGO=decide", { "COLLOPT_LGO", "did you mean COLLOPT_LOG?" } },
    { "COLLOPT_REDUCE_SCATER_BLOCK=host", { "did you mean COLLOPT_REDUCE_SCATTER_BLOCK?" } },
    { "COLLOPT_=1", { "COLLOPT_ is not" } },
    { "COLLOPT_after=1", { "did you mean COLLOPT_AFTER?" } },
    { "COLLOPT_ALLREDUCE=rign",
      { "allreduce has no algorithm \"rign\"", "host, auto, ring, recursive_doubling",
        "did you mean ring?", "not forced" } },
    { "COLLOPT_ALLREDUCE=census",
      { "allreduce has no algorithm \"census\" since collopt 0.1.0",
        "the nearest is recursive_multiplying", "not forced" } },
    { "COLLOPT_ALLREDUCE=ring:seg=1K",
      { "ring has no parameter \"seg\"", "segment", "not forced" } },
    { "COLLOPT_ALLREDUCE=ring:segment=4", { "segment=4", "8 to 1G" } },
    { "COLLOPT_EXSCAN=ring", { "exscan has no algorithm \"ring\"; it has host, auto" } },
};

TESTS(warnings, 0, sizeof wrong / sizeof *wrong)
{
    const char *variable = wrong[_i].variable;
    struct collopt_settings s, d;

    read_one(&d, "X=1");
    ck_assert_int_eq(read_one(&s, variable), 1);
    for (int k = 0; k < 4 && wrong[_i].says[k]; k++)
        ck_assert_msg(strstr(warned, wrong[_i].says[k]), "%s: no \"%s\" in: %s", variable,
                      wrong[_i].says[k], warned);
    ck_assert_msg(s.hash == d.hash, "%s: not the default", variable);
    ck_assert_ptr_null(s.force[COLLOPT_ALLREDUCE]);
}

/* Every row: its default is valid, and what is shown can be read again. */
TEST(rows_agree)
{
    int n;
    const struct collopt_setting_row *rows = collopt_setting_rows(&n);
    struct collopt_settings d;

    ck_assert_int_ge(n, 17);
    read_one(&d, "X=1");
    for (int i = 0; i < n; i++) {
        char variable[128], text[64] = "?";
        struct collopt_settings s;

        collopt_setting_value_text(&d, &rows[i], text, sizeof text);
        ck_assert_msg(strcmp(text, rows[i].preset) == 0, "%s: default %s is shown as %s",
                      rows[i].name, rows[i].preset, text);
        snprintf(variable, sizeof variable, "%s=%s", rows[i].name, rows[i].preset);
        ck_assert_msg(read_one(&s, variable) == 0, "%s: %s", variable, warned);
        ck_assert_msg(s.hash == d.hash, "%s", variable);
        ck_assert_msg(strlen(rows[i].help) > 10 && strlen(rows[i].help) < 100 && *rows[i].values,
                      "%s", rows[i].name);
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(rows[i].name, rows[k].name);
    }
}

TEST(round_trip)
{
    static const char *const set[] = {
        "COLLOPT=off",
        "COLLOPT_AFTER=17",
        "COLLOPT_BEYOND_WORLD=on",
        "COLLOPT_PCONTROL=on",
        "COLLOPT_LOG=trace",
        "COLLOPT_REPORT=stderr",
        "COLLOPT_WAIT=spin",
        "COLLOPT_SHM=off",
        "COLLOPT_SHM_SIZE=1M",
        "COLLOPT_GPU=host",
        "COLLOPT_OFFLOAD=ignore",
        "COLLOPT_NODES=names",
        "COLLOPT_CUT=1000",
        "COLLOPT_SCRATCH=12M",
        "COLLOPT_COMMUNICATORS=7",
        "COLLOPT_ISA=generic",
        "COLLOPT_ALLREDUCE=ring:segment=3K",
        "COLLOPT_REDUCE=tree:radix=4,segment=64K",
        "COLLOPT_SCAN=host",
        "COLLOPT_TOPOLOGY=torus:8x8x4",
        "COLLOPT_TOPOLOGY=mesh:1023x1023",
        "COLLOPT_TOPOLOGY=nodes:4,4,2",
        "COLLOPT_TOPOLOGY=nodes:cyclic:4",
        "COLLOPT_TOPOLOGY=cartesian",
        "COLLOPT_TOPOLOGY=none",
        "COLLOPT_REPRODUCIBLE=placement",
    };

    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        struct collopt_settings s;
        char name[64], text[64];
        size_t n = strcspn(set[i], "=");

        snprintf(name, sizeof name, "%.*s", (int)n, set[i]);
        ck_assert_msg(read_one(&s, set[i]) == 0, "%s", set[i]);
        collopt_setting_value_text(&s, row_of(name), text, sizeof text);
        ck_assert_str_eq(text, set[i] + n + 1);
    }
}

static uint64_t hash_with(const char *variable)
{
    struct collopt_settings s;

    ck_assert_msg(read_one(&s, variable) == 0, "%s", variable);
    return s.hash;
}

/* Does one of the N settings, VARIABLE=VALUE, set ROW? */
static bool among(const struct collopt_setting_row *row, int n, const char *const *set)
{
    size_t length = strlen(row->name);

    for (int i = 0; i < n; i++)
        if (strncmp(set[i], row->name, length) == 0 && set[i][length] == '=')
            return true;
    return false;
}

/* What such a file says counts; test_rules.c and test_machine.c have some. */
static bool is_read(const struct collopt_setting_row *row)
{
    return row->kind == COLLOPT_RULES_FILE || row->kind == COLLOPT_MACHINE_FILE;
}

/* This one means something beside another only: set, it changes the hash, whatever it is set to. */
static void hash_of_adapt_rules(void)
{
    char *const without[] = { (char *)"COLLOPT_ADAPT=on", NULL };
    char *const with[][3] = { { (char *)"COLLOPT_ADAPT=on", (char *)"COLLOPT_ADAPT_RULES=a", NULL },
                              { (char *)"COLLOPT_ADAPT=on", (char *)"COLLOPT_ADAPT_RULES=b",
                                NULL } };
    struct collopt_settings none, a, b;

    collopt_settings_from(&none, without, note);
    collopt_settings_from(&a, with[0], note);
    collopt_settings_from(&b, with[1], note);
    ck_assert(a.hash == b.hash && a.hash != none.hash);
}

/* Ranks must agree on what changes the hash, and on nothing else. */
TEST(hashes)
{
    static const char *const agreed[] = {
        "X=1",
        "COLLOPT=off",
        "COLLOPT_AFTER=1",
        "COLLOPT_BEYOND_WORLD=on",
        "COLLOPT_PCONTROL=on",
        "COLLOPT_CHECK=on",
        "COLLOPT_ADAPT=on",
        "COLLOPT_GPU=host",
        "COLLOPT_GPU=native",
        "COLLOPT_OFFLOAD=host",
        "COLLOPT_OFFLOAD=ignore",
        "COLLOPT_NODES=names",
        "COLLOPT_TOPOLOGY=torus:2x2",
        "COLLOPT_TOPOLOGY=mesh:2x2",
        "COLLOPT_TOPOLOGY=nodes:4",
        "COLLOPT_TOPOLOGY=cartesian",
        "COLLOPT_TOPOLOGY=none",
        "COLLOPT_SHM=off",
        "COLLOPT_SHM_SIZE=1M",
        "COLLOPT_REPRODUCIBLE=placement",
        "COLLOPT_REPRODUCIBLE=exact",
        "COLLOPT_CUT=64K",
        "COLLOPT_REPORT=a",
        "COLLOPT_TRACE=a",
        "COLLOPT_ALLREDUCE=ring",
        "COLLOPT_ALLREDUCE=ring:segment=64K",
        "COLLOPT_ALLREDUCE=host",
        "COLLOPT_SCAN=host",
        "COLLOPT_EXSCAN=host",
        "COLLOPT_REDUCE=host",
        "COLLOPT_REDUCE_SCATTER=host",
        "COLLOPT_REDUCE_SCATTER_BLOCK=host",
    };
    static const char *const local[] = {
        "COLLOPT_LOG=trace",       "COLLOPT_WAIT=spin",    "COLLOPT_SCRATCH=0",
        "COLLOPT_COMMUNICATORS=1", "COLLOPT_ISA=generic",  "COLLOPT=1",
        "COLLOPT_AFTER=auto",      "COLLOPT_ALLREDUCE=auto",
        "COLLOPT_ASYNC=thread",    "COLLOPT_RECORD=off",
        "COLLOPT_STALL=60",        "COLLOPT_STALL_ABORT=on",
        "COLLOPT_TRACE_SIZE=8K",
    };
    enum { N = sizeof agreed / sizeof *agreed, LOCAL = sizeof local / sizeof *local };
    int n;
    const struct collopt_setting_row *row = collopt_setting_rows(&n);

    for (int i = 0; i < n; i++)
        if (row[i].scope == COLLOPT_LOCAL)
            ck_assert_msg(among(&row[i], LOCAL, local), "%s is not among what is local",
                          row[i].name);
        else if (strcmp(row[i].name, "COLLOPT_ADAPT_RULES") != 0 && !is_read(&row[i]))
            ck_assert_msg(among(&row[i], N, agreed), "%s is not among what is agreed", row[i].name);
    hash_of_adapt_rules();
    for (int i = 0; i < N; i++)
        for (int k = 0; k < i; k++)
            ck_assert_msg(hash_with(agreed[i]) != hash_with(agreed[k]), "%s and %s", agreed[i],
                          agreed[k]);
    for (int i = 0; i < LOCAL; i++)
        ck_assert_msg(hash_with(local[i]) == hash_with("X=1"), "%s", local[i]);
    ck_assert(hash_with("COLLOPT_REPORT=a") == hash_with("COLLOPT_REPORT=b"));
    ck_assert(hash_with("COLLOPT_ALLREDUCE=ring:segment=64K")
              == hash_with("COLLOPT_ALLREDUCE=ring:segment=65536"));
}

/* VALUE and as many ",1" as make it long, and then LAST. */
static uint64_t hash_of_many_nodes(const char *value, const char *last)
{
    char text[2048];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", value);

    while (n < sizeof text - 8)
        n += (size_t)snprintf(text + n, sizeof text - n, ",1");
    snprintf(text + n, sizeof text - n, "%s", last);
    return hash_with(text);
}

TEST(long_values_count_to_their_end)
{
    ck_assert(hash_of_many_nodes("COLLOPT_TOPOLOGY=nodes:1", ",2")
              != hash_of_many_nodes("COLLOPT_TOPOLOGY=nodes:1", ",3"));
}

/* The host must not have the first calls. */
TEST(reproducible)
{
    char *const given[] = { (char *)"COLLOPT_REPRODUCIBLE=placement", (char *)"COLLOPT_AFTER=5",
                            NULL };
    char *const adaptive[] = { (char *)"COLLOPT_REPRODUCIBLE=placement", (char *)"COLLOPT_ADAPT=on",
                               (char *)"COLLOPT_ADAPT_RULES=learnt", NULL };
    struct collopt_settings s;

    ck_assert_int_eq(read_one(&s, "COLLOPT_REPRODUCIBLE=placement"), 0);
    ck_assert_int_eq(s.reproducible, COLLOPT_BY_PLACEMENT);
    ck_assert_int_eq(s.after, 1);
    ck_assert_int_eq(collopt_settings_from(&s, adaptive, note), 1);
    ck_assert(!s.adapt && !s.adapt_rules
              && strstr(warned, "COLLOPT_ADAPT has no effect: COLLOPT_REPRODUCIBLE is set"));
    ck_assert_int_eq(read_one(&s, "COLLOPT_REPRODUCIBLE=off"), 0);
    ck_assert_int_eq(s.after, 0);
    warned[0] = '\0';
    ck_assert_int_eq(collopt_settings_from(&s, given, note), 1);
    ck_assert_int_eq(s.after, 1);
    ck_assert_msg(strstr(warned, "COLLOPT_AFTER=5 has no effect"), "%s", warned);
    ck_assert_int_eq(read_one(&s, "COLLOPT_REPRODUCIBLE=placment"), 1);
    ck_assert_msg(strstr(warned, "did you mean placement?"), "%s", warned);
}

/* Nodes by the user's word. */
TEST(stated_nodes)
{
    static const struct {
        const char *text;
        int node[8];
    } all[] = {
        { "4", { 0, 0, 0, 0, 1, 1, 1, 1 } },        { "3,1,2", { 0, 0, 0, 1, 2, 2, 3, 3 } },
        { "1", { 0, 1, 2, 3, 4, 5, 6, 7 } },        { "100,1", { 0, 0, 0, 0, 0, 0, 0, 0 } },
        { "cyclic:3", { 0, 1, 2, 0, 1, 2, 0, 1 } },
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int r = 0; r < 8; r++)
            ck_assert_msg(collopt_stated_node(all[i].text, r) == all[i].node[r],
                          "%s, rank %d: node %d", all[i].text, r,
                          collopt_stated_node(all[i].text, r));
}

/* The source of collopt(7) has a heading for every variable, and for no other; their values and
 * defaults come from the rows. */
TEST(manual)
{
    const char *source = getenv("COLLOPT_SOURCE");
    char name[4096], line[1024];
    int n, found = 0, headings = 0;
    const struct collopt_setting_row *rows = collopt_setting_rows(&n);
    FILE *page;

    snprintf(name, sizeof name, "%s/doc/manual/variables.md", source ? source : ".");
    page = fopen(name, "r");
    ck_assert_msg(page, "cannot open %s", name);
    while (fgets(line, sizeof line, page)) {
        if (strncmp(line, "### ", 4) != 0)
            continue;
        headings++;
        line[strcspn(line, "\n")] = '\0';
        for (int i = 0; i < n; i++)
            found += strcmp(line + 4, rows[i].name) == 0;
    }
    fclose(page);
    ck_assert_msg(found == n && headings == n, "%s: %d of %d variables are there, of %d headings",
                  name, found, n, headings);
}

/* ---- expressions ----------------------------------------------------------------------------- */

TEST(sizes)
{
    static const struct {
        const char *text;
        size_t value;
        bool right;
    } all[] = {
        { "0", 0, true },
        { "1", 1, true },
        { "512", 512, true },
        { "64K", 65536, true },
        { "64k", 65536, true },
        { "3G", (size_t)3 << 30, true },
        { "1M", 1 << 20, true },
        { "2t", (size_t)2 << 40, true },
        { "18446744073709551615", SIZE_MAX, true },
        { "17179869183G", (size_t)17179869183u << 30, true },
        { "8388608T", (size_t)1 << 63, true },
        { "16777216T", 0, false },
        { "007", 7, true },
        { "18446744073709551616", 0, false },
        { "17179869184G", 0, false },
        { "", 0, false },
        { "K", 0, false },
        { "-1", 0, false },
        { "+1", 0, false },
        { " 1", 0, false },
        { "1 ", 0, false },
        { "1.5K", 0, false },
        { "1KB", 0, false },
        { "1P", 0, false },
        { "0x10", 0, false },
        { "1KK", 0, false },
        { "1\n", 0, false },
        { "1@", 0, false },
        { "1+", 0, false },
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t value = 0;

        ck_assert_msg(collopt_parse_size(all[i].text, &value) == all[i].right, "\"%s\"",
                      all[i].text);
        ck_assert_msg(value == all[i].value, "\"%s\" is %zu", all[i].text, value);
    }
}

TEST(sizes_back)
{
    for (int i = 0; i < 20000; i++) {
        size_t value = (size_t)test_random(1u << 30) << test_random(40), again = 0;
        char text[32];

        collopt_size_text(value, text, sizeof text);
        ck_assert_msg(collopt_parse_size(text, &again) && again == value, "%zu is written %s",
                      value, text);
    }
}

static bool parse(const char *text, enum collopt_collective c, struct collopt_choice *choice,
                  char *message)
{
    return collopt_parse_choice(text, c, choice, message, 512);
}

TEST(expressions)
{
    struct collopt_choice c;
    char message[512], text[64];

    ck_assert(parse("host", COLLOPT_SCAN, &c, message));
    ck_assert_ptr_null(c.algorithm);
    ck_assert(parse("ring", COLLOPT_ALLREDUCE, &c, message));
    ck_assert_str_eq(c.algorithm->name, "ring");
    ck_assert_uint_eq(c.value[0], 0);
    ck_assert(parse("ring:segment=64K", COLLOPT_ALLREDUCE, &c, message));
    ck_assert_uint_eq(c.value[0], 65536);
    ck_assert(parse("tree:segment=1,radix=64", COLLOPT_REDUCE, &c, message));
    ck_assert_uint_eq(c.value[0], 64);
    ck_assert_uint_eq(c.value[1], 1);
    ck_assert(parse("tree:dims=4x1023x1x2x3x5", COLLOPT_REDUCE, &c, message));
    ck_assert_uint_eq(c.value[2],
                      4u | 1023u << 10 | 1u << 20 | (size_t)2 << 30 | (size_t)3 << 40
                          | (size_t)5 << 50);
    ck_assert_int_gt(collopt_choice_text(&c, text, sizeof text), 0);
    ck_assert_str_eq(text, "tree:dims=4x1023x1x2x3x5");
    ck_assert_str_eq(message, "");
}

static const struct {
    const char *text;
    enum collopt_collective collective;
    const char *message;
} refused[] = {
    { "", COLLOPT_REDUCE, "the name of an algorithm expected at the end" },
    { ":", COLLOPT_REDUCE, "the name of an algorithm expected at \":\"" },
    { "tree:", COLLOPT_REDUCE, "the name of a parameter expected at the end" },
    { "tree:radix", COLLOPT_REDUCE, "\"=\" expected at the end" },
    { "tree:radix=", COLLOPT_REDUCE, "a value expected at the end" },
    { "tree:radix=4,", COLLOPT_REDUCE, "the name of a parameter expected at the end" },
    { "tree:radix=4;segment=2", COLLOPT_REDUCE, "\",\" or the end expected at \";segment=2\"" },
    { "tree radix=4", COLLOPT_REDUCE, "\":\" or the end expected at \" radix=4\"" },
    { "tree:radix=(ring", COLLOPT_REDUCE, "\")\" expected at the end" },
    { "tree:radix=()", COLLOPT_REDUCE, "the name of an algorithm expected at \")\"" },
    { "tree:radix=(ring:segment=1)", COLLOPT_REDUCE, "radix=(ring:segment=1) is not a number" },
    { "tree:radix=4)", COLLOPT_REDUCE, "\",\" or the end expected at \")\"" },
    { "tree:radix=4K", COLLOPT_REDUCE, "radix=4K is not a number" },
    { "tree:radix=1", COLLOPT_REDUCE, "radix=1 is not from 2 to 64" },
    { "tree:radix=65", COLLOPT_REDUCE, "radix=65 is not from 2 to 64" },
    { "tree:radix=4,radix=4", COLLOPT_REDUCE, "radix is given twice" },
    { "tree:radx=4", COLLOPT_REDUCE,
      "tree has no parameter \"radx\"; it has radix, segment, dims; did you mean radix?" },
    { "tree:dims=", COLLOPT_REDUCE, "a value expected at the end" },
    { "tree:dims=4x", COLLOPT_REDUCE, "dims=4x is not a list of numbers (such as 4x4x2)" },
    { "tree:dims=x4", COLLOPT_REDUCE, "dims=x4 is not a list of numbers (such as 4x4x2)" },
    { "tree:dims=4x-2", COLLOPT_REDUCE, "dims=4x-2 is not a list of numbers (such as 4x4x2)" },
    { "tree:dims=4x0x2", COLLOPT_REDUCE, "dims=0 is not from 1 to 1023" },
    { "tree:dims=4x1024", COLLOPT_REDUCE, "dims=1024 is not from 1 to 1023" },
    { "tree:dims=1x1x1x1x1x1x1", COLLOPT_REDUCE, "dims=1x1x1x1x1x1x1 has more than 6 numbers" },
    { "ring:segment=2G", COLLOPT_ALLREDUCE, "segment=2G is not from 8 to 1G" },
    { "ring:segment=x", COLLOPT_ALLREDUCE,
      "segment=x is not a number of bytes (such as 512, 64K, 1M)" },
    { "recursive_doubling:segment=8", COLLOPT_ALLREDUCE, "recursive_doubling takes no parameters" },
    { "host:segment=8", COLLOPT_ALLREDUCE, "host takes no parameters" },
    { "auto:segment=8", COLLOPT_ALLREDUCE, "auto takes no parameters" },
    { "tree", COLLOPT_ALLREDUCE,
      "allreduce has no algorithm \"tree\"; it has host, auto, ring, recursive_doubling" },
    { "recursivedoubling", COLLOPT_ALLREDUCE,
      "allreduce has no algorithm \"recursivedoubling\"; it has host, auto, ring, "
      "recursive_doubling; did you mean recursive_doubling?" },
    { "Ring", COLLOPT_ALLREDUCE,
      "allreduce has no algorithm \"Ring\"; it has host, auto, ring, recursive_doubling; did you "
      "mean ring?" },
    { "a:b=(a:b=(a:b=(a:b=(a:b=(a:b=(a:b=(a:b=(a:b=(a)))))))))", COLLOPT_REDUCE,
      "more than 8 nested parentheses" },
    { "tree:a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1", COLLOPT_REDUCE, "more than 8 parameters" },
};

TESTS(refusals, 0, sizeof refused / sizeof *refused)
{
    struct collopt_choice c = { .value = { 7 } };
    char message[512];

    ck_assert_msg(!parse(refused[_i].text, refused[_i].collective, &c, message), "%s is accepted",
                  refused[_i].text);
    ck_assert_msg(strcmp(message, refused[_i].message) == 0, "%s: %s", refused[_i].text, message);
    ck_assert_msg(c.value[0] == 7, "%s: the choice was written", refused[_i].text);
}

/* Whatever comes: no crash, messages inside their buffers, and what is accepted can be written and
 * read again. */
TEST(expressions_fuzzed)
{
    static const char *const seeds[] = {
        "ring:segment=64K",
        "tree:radix=4,segment=1M,dims=4x4x2",
        "host",
        "leader:node=(tree),net=(ring:segment=64K)",
    };
    static const char letters[] = "rtinghosecdx:=,()KMG0123456789 _-.\x7f\xff\n";

    for (int i = 0; i < 60000; i++) {
        enum collopt_collective collective = (enum collopt_collective)test_random(
            COLLOPT_COLLECTIVES);
        char text[128], message[64], again[128];
        struct collopt_choice c, d;
        size_t size = test_random(sizeof message + 1);

        snprintf(text, sizeof text, "%s", seeds[test_random(4)]);
        for (unsigned k = test_random(4); k > 0; k--)
            text[test_random((unsigned)strlen(text) + 1)] = letters[test_random(sizeof letters)];
        text[sizeof text - 1] = '\0';
        if (*text == '\0')
            continue;
        memset(message, 'm', sizeof message);
        if (!collopt_parse_choice(text, collective, &c, message, size)) {
            ck_assert_msg(size == 0 || memchr(message, '\0', size), "%s: message runs out of %zu",
                          text, size);
            ck_assert_msg(size < 2 || *message, "%s: refused without a word", text);
            for (size_t k = size; k < sizeof message; k++)
                quiet_check(message[k] == 'm', "%s: message written beyond %zu", text, size);
            continue;
        }
        collopt_choice_text(&c, again, sizeof again);
        ck_assert_msg(collopt_parse_choice(again, collective, &d, message, sizeof message),
                      "%s gives %s: %s", text, again, message);
        ck_assert_msg(c.algorithm == d.algorithm && memcmp(c.value, d.value, sizeof c.value) == 0,
                      "%s gives %s", text, again);
    }
}

TEST(environment_fuzzed)
{
    int n;
    const struct collopt_setting_row *rows = collopt_setting_rows(&n);
    static const char *const words[] = { "on", "auto", "ring", "64K", "3", "stderr", "", "host" };

    for (int i = 0; i < 20000; i++) {
        struct collopt_settings s;
        char variable[300];
        int before;

        snprintf(variable, sizeof variable, "%s=%s", rows[test_random((unsigned)n)].name,
                 words[test_random(8)]);
        for (unsigned k = test_random(3); k > 0; k--) {
            size_t at = test_random((unsigned)strlen(variable) + 1);

            variable[at] = (char)(1 + test_random(255));
        }
        if (test_random(50) == 0)
            snprintf(variable, sizeof variable, "COLLOPT_%0250d", i);
        before = read_one(&s, variable);
        ck_assert_msg((before == 0) == (*warned == '\0') && before <= 1, "%s: %d, %s", variable,
                      before, warned);
        free((char *)s.report);
        free((char *)s.isa);
        for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
            free((char *)s.force[c]);
    }
}

static void check_text_size(const struct collopt_choice *c, const char *whole)
{
    for (size_t size = 0; size <= strlen(whole) + 1; size++) {
        char text[64];

        memset(text, 'm', sizeof text);
        ck_assert_int_eq(collopt_choice_text(c, text, size), (int)strlen(whole));
        ck_assert_msg(size == 0 || strncmp(text, whole, size - 1) == 0, "%zu: %s", size, text);
        ck_assert_msg(text[size] == 'm', "%zu", size);
    }
}

TEST(choice_cut_short)
{
    struct collopt_choice c;
    char message[64];

    ck_assert(collopt_parse_choice("tree:radix=4,segment=64K", COLLOPT_REDUCE, &c, message,
                                   sizeof message));
    check_text_size(&c, "tree:radix=4,segment=64K");
}

/* ---- messages -------------------------------------------------------------------------------- */

/* What Open MPI is asked for goes before what its launcher has seen. */
TEST(yielding)
{
    static const struct {
        const char *asked, *crowded;
        bool yields;
    } of[] = {
        { NULL, NULL, false },     { "1", NULL, true },      { "2", NULL, true },
        { "0", NULL, false },      { "true", NULL, true },   { "Yes", NULL, true },
        { "enabled", NULL, true }, { "false", NULL, false }, { "", NULL, false },
        { "1x", NULL, false },     { NULL, "1", true },      { NULL, "0", false },
        { "0", "1", false },       { "1", "0", true },
    };

    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        clearenv();
        if (of[i].asked)
            setenv("OMPI_MCA_mpi_yield_when_idle", of[i].asked, 1);
        if (of[i].crowded)
            setenv("OMPI_MCA_mpi_oversubscribe", of[i].crowded, 1);
        ck_assert_msg(collopt_launched_to_yield() == of[i].yields, "number %zu", i);
    }
}

/* What SPEAK says on stderr, in a process with this one variable. */
static size_t heard(const char *name, const char *value, void (*speak)(void), char *text,
                    size_t size)
{
    int pipes[2];
    size_t n = 0;
    ssize_t got;
    pid_t child;

    ck_assert_int_eq(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        clearenv();
        if (name)
            setenv(name, value, 1);
        dup2(pipes[1], STDERR_FILENO);
        speak();
        _exit(0);
    }
    close(pipes[1]);
    while ((got = read(pipes[0], text + n, size - 1 - n)) > 0)
        n += (size_t)got;
    close(pipes[0]);
    waitpid(child, NULL, 0);
    text[n] = '\0';
    return n;
}

static void warn_hello(void)
{
    collopt_warn("hello %d", 42);
}

static void warn_controls(void)
{
    collopt_warn("a\nb\tc\x1b[31md");
}

static void warn_long(void)
{
    static char text[10000];

    memset(text, 'x', sizeof text - 1);
    collopt_warn("%s", text);
}

static void say_all(void)
{
    collopt_settings();
    collopt_say(COLLOPT_LOG_DECIDE, "decided");
    collopt_say(COLLOPT_LOG_TRACE, "traced");
}

static void settings_twice(void)
{
    collopt_settings();
    collopt_settings();
}

static void speak_as(void)
{
    collopt_warn("first");
    collopt_speak_as(3);
    collopt_warn("second");
    collopt_speak_as(0);
    collopt_warn("third");
}

TEST(messages)
{
    char text[4096];

    heard(NULL, NULL, warn_hello, text, sizeof text);
    ck_assert_str_eq(text, "collopt: hello 42\n");
    for (int i = 0; i < 4; i++) {
        const char *name = ((const char *[]){ "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                              "SLURM_PROCID" })[i];

        heard(name, "0", warn_hello, text, sizeof text);
        ck_assert_msg(strcmp(text, "collopt: hello 42\n") == 0, "%s=0: %s", name, text);
        heard(name, "12", warn_hello, text, sizeof text);
        ck_assert_msg(*text == '\0', "%s=12: %s", name, text);
        heard(name, "rank", warn_hello, text, sizeof text);
        ck_assert_msg(*text != '\0', "%s=rank", name);
    }
    heard(NULL, NULL, warn_controls, text, sizeof text);
    ck_assert_str_eq(text, "collopt: a b c [31md\n");
    ck_assert_uint_eq(heard(NULL, NULL, warn_long, text, sizeof text), 2048);
    ck_assert_str_eq(text + 2040, "xxxx...\n");
    heard("COLLOPT_LOG", "warn", say_all, text, sizeof text);
    ck_assert_str_eq(text, "");
    heard("COLLOPT_LOG", "decide", say_all, text, sizeof text);
    ck_assert_str_eq(text, "collopt: decided\n");
    heard("COLLOPT_LOG", "trace", say_all, text, sizeof text);
    ck_assert_str_eq(text, "collopt: decided\ncollopt: traced\n");
    heard(NULL, NULL, speak_as, text, sizeof text);
    ck_assert_str_eq(text, "collopt: first\ncollopt: third\n");
}

TEST(warned_once)
{
    char text[4096];

    heard("COLLOPT_WAIT", "sometimes", settings_twice, text, sizeof text);
    ck_assert_msg(
        strncmp(text, "collopt: COLLOPT_WAIT=sometimes is not understood: it takes auto|spin|yield",
                60)
                == 0
            && strchr(text, '\n') == text + strlen(text) - 1,
        "%s", text);
}

int main(void)
{
    return suite_run("settings");
}
