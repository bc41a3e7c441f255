/* Files of rules: what is read, what is refused and with which words, which rule decides, and what
 * collopt-tune finds beyond that. */
#include "config.h"

#include "fake_registry.h"
#include "schedule/problem.h"
#include "shared/rules_check.h"
#include "settings/rules.h"
#include "settings/settings.h"
#include "topology/topology.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char told[8192];         /* "LINE: sentence\n" for each mistake */

static void hear(void *data, int line, const char *sentence)
{
    size_t n = strlen(told);

    (void)data;
    snprintf(told + n, sizeof told - n, "%d: %s\n", line, sentence);
}

static struct collopt_rules *parse_bytes(const char *text, size_t size)
{
    told[0] = '\0';
    return collopt_rules_parse("site.rules", text, size, hear, NULL);
}

static struct collopt_rules *parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

/* ---- reading --------------------------------------------------------------------------------- */

static const char site[] =
    "# collective ranks nodes ppn bytes op algorithm\n"
    "allreduce *     1  *   0-2K  commutative ring:segment=64K   # 1.43\n"
    "\n"
    "reduce\t2-64\t2-\t4\t1G-4T\tnoncommutative\t->\ttree:radix=4\r\n"
    "  scan 8- * * 8388608T- exact host\n"
    "* * * * * * auto";

static void same_range(const struct collopt_rule *r, enum collopt_measure m, size_t least,
                       size_t most)
{
    ck_assert_msg(r->box.range[m].least == least && r->box.range[m].most == most,
                  "line %d: %s %zu-%zu", r->line, collopt_measure_names[m], r->box.range[m].least,
                  r->box.range[m].most);
}

TEST(reading)
{
    struct collopt_rules *r = parse(site);
    const size_t all = SIZE_MAX;

    ck_assert_msg(r, "%s", told);
    ck_assert_str_eq(r->file, "site.rules");
    ck_assert_int_eq(r->n, 4);
    ck_assert_int_eq(r->rule[0].line, 2);
    ck_assert_uint_eq(r->rule[0].box.collectives, 1u << COLLOPT_ALLREDUCE);
    ck_assert_uint_eq(r->rule[0].box.kinds, COLLOPT_KIND_EXACT | COLLOPT_KIND_ROUNDING);
    ck_assert_str_eq(r->rule[0].choice.algorithm->name, "ring");
    ck_assert_uint_eq(r->rule[0].choice.value[0], 65536);
    same_range(&r->rule[0], COLLOPT_BY_RANKS, 0, all);
    same_range(&r->rule[0], COLLOPT_BY_NODES, 1, 1);
    same_range(&r->rule[0], COLLOPT_BY_BYTES, 0, 2048);
    ck_assert_int_eq(r->rule[1].line, 4);
    ck_assert_uint_eq(r->rule[1].box.kinds, COLLOPT_KIND_ORDERED);
    same_range(&r->rule[1], COLLOPT_BY_RANKS, 2, 64);
    same_range(&r->rule[1], COLLOPT_BY_NODES, 2, all);
    same_range(&r->rule[1], COLLOPT_BY_PPN, 4, 4);
    same_range(&r->rule[1], COLLOPT_BY_BYTES, (size_t)1 << 30, (size_t)4 << 40);
    ck_assert_uint_eq(r->rule[1].choice.value[0], 4);
    same_range(&r->rule[2], COLLOPT_BY_BYTES, (size_t)1 << 63, all);
    ck_assert(!r->rule[2].automatic && !r->rule[2].choice.algorithm);
    ck_assert_int_eq(r->rule[3].line, 6);
    ck_assert(r->rule[3].automatic);
    ck_assert_uint_eq(r->rule[3].box.collectives, (1u << COLLOPT_COLLECTIVES) - 1);
    ck_assert_uint_eq(r->rule[3].box.kinds, COLLOPT_KINDS);
    collopt_rules_free(r);
}

TEST(nothing_to_read)
{
    static const char *const all[] = { "",        "\n",    "\r\n\r\n",    "# nothing\n",
                                       "   \t\n", "#\0\n", "\xef\xbb\xbf" };
    const struct collopt_topology t = { .nodes = 1 };
    const struct collopt_problem p = { .ranks = 2, .count = 1, .size = 1, .topology = &t };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct collopt_rules *r = parse(all[i]);

        ck_assert_msg(r && r->n == 0 && r->hash == 0, "%zu: %s", i, told);
        ck_assert_ptr_null(collopt_rules_next(r, &p, NULL));
        collopt_rules_free(r);
    }
}

#define ALL "* * * * * "
#define RANGES \
    "it takes *, a number such as 8 or 64K, LEAST-MOST such as 2-16, or LEAST- such as 64K-"
#define COLUMNS \
    "a rule has 7: collective ranks nodes ppn bytes op algorithm, none of them with spaces in it"

static const struct {
    const char *text, *says;
} refused[] = {
    { "scan", "1: 1 column; " COLUMNS },
    { "scan * * * * host", "1: 6 columns; " COLUMNS },
    { "\n\nscan * * * * * -> host 1.4\n", "3: 9 columns; " COLUMNS },
    { "scan * * * * * tree: radix=4", "1: 8 columns; " COLUMNS },
    { "alreduce * * * * * host",
      "1: there is no collective \"alreduce\"; there is *, reduce, allreduce, reduce_scatter, "
      "reduce_scatter_block, scan, exscan; did you mean allreduce?" },
    { "x * * * * * host",
      "1: there is no collective \"x\"; there is *, reduce, allreduce, reduce_scatter, "
      "reduce_scatter_block, scan, "
      "exscan" },
    { "scan * * * * comutative host",
      "1: there is no kind of operation \"comutative\"; there is *, commutative, noncommutative, "
      "exact; "
      "did you mean commutative?" },
    { "scan -4 * * * * host", "1: ranks \"-4\" is not a range; " RANGES },
    { "scan * 4: * * * host", "1: nodes \"4:\" is not a range; " RANGES },
    { "scan * * 1-2-3 * * host", "1: ppn \"1-2-3\" is not a range; " RANGES ", or oversubscribed" },
    { "scan * oversubscribed * * * host", "1: nodes \"oversubscribed\" is not a range; " RANGES },
    { "scan * * * 1X * host", "1: bytes \"1X\" is not a range; " RANGES },
    { "scan * * * 16777216T- * host", "1: bytes \"16777216T-\" is not a range; " RANGES },
    { "scan * * * 64K-2K * host",
      "1: bytes \"64K-2K\" is an empty range; the lesser number comes first" },
    { ALL "* ring",
      "1: collective * takes auto or host; an algorithm such as \"ring\" needs a line for each "
      "collective" },
    { "allreduce " ALL "rign",
      "1: allreduce has no algorithm \"rign\"; it has host, auto, ring, recursive_doubling; did "
      "you mean ring?" },
    { "allreduce " ALL "dual_root:segment=8K\nscan " ALL "binary_tree",
      "1: allreduce has no algorithm \"dual_root\" since collopt 0.1.0; the nearest is two_tree\n"
      "2: scan has no algorithm \"binary_tree\" since collopt 0.1.0; the nearest is two_tree" },
    { "exscan " ALL "ring", "1: exscan has no algorithm \"ring\"; it has host, auto" },
    { "allreduce " ALL "ring:segment=1", "1: segment=1 is not from 8 to 1G" },
    { "allreduce " ALL "auto:x=1", "1: auto takes no parameters" },
    { "scan\v " ALL "host", "1: a control character (byte 11) in column 5; rules are plain text" },
    { "x\ny\n" ALL "* auto\nz",
      "1: 1 column; " COLUMNS "\n2: 1 column; " COLUMNS "\n4: 1 column; " COLUMNS },
};

TESTS(refusals, 0, sizeof refused / sizeof *refused)
{
    struct collopt_rules *r = parse(refused[_i].text);

    ck_assert_msg(!r, "%s is taken", refused[_i].text);
    told[strlen(told) - 1] = '\0';
    ck_assert_msg(strcmp(told, refused[_i].says) == 0, "%s: %s", refused[_i].text, told);
}

TEST(odd_bytes)
{
    static char text[5000];

    ck_assert_ptr_null(parse_bytes("scan\0* * * * host", 17));
    ck_assert_msg(strncmp(told, "1: a control character (byte 0) in column 5", 43) == 0, "%s",
                  told);
    memset(text, ' ', sizeof text);
    memcpy(text, "* * * * * * auto", 16);
    ck_assert_ptr_null(parse_bytes(text, sizeof text));
    ck_assert_str_eq(told, "1: longer than 1023 characters\n");
    text[16] = '#';
    ck_assert_msg(parse_bytes(text, sizeof text), "a long comment: %s", told);
}

/* ---- files ----------------------------------------------------------------------------------- */

static char folder[] = "/tmp/test_rules.XXXXXX";

static const char *path(const char *name)
{
    static char text[128];

    snprintf(text, sizeof text, "%s/%s", folder, name);
    return text;
}

static const char *write_file(const char *name, const char *text)
{
    FILE *f = fopen(path(name), "w");

    ck_assert_msg(f && fputs(text, f) >= 0 && fclose(f) == 0, "cannot write %s", path(name));
    return path(name);
}

static struct collopt_rules *read_file(const char *file)
{
    told[0] = '\0';
    return collopt_rules_read(file, hear, NULL);
}

TEST(files)
{
    struct collopt_rules *r;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    r = read_file(write_file("a", site));
    ck_assert_msg(r && r->n == 4 && strcmp(r->file, path("a")) == 0, "%s", told);
    r = read_file(write_file("empty", ""));
    ck_assert_msg(r && r->n == 0, "%s", told);
    ck_assert_ptr_null(read_file(path("none")));
    ck_assert_str_eq(told, "0: No such file or directory\n");
    ck_assert_ptr_null(read_file(folder));
    ck_assert_str_eq(told, "0: not a regular file\n");
    ck_assert_int_eq(mkfifo(path("fifo"), 0600), 0);
    ck_assert_ptr_null(read_file(path("fifo")));
    ck_assert_str_eq(told, "0: not a regular file\n");
    ck_assert_ptr_null(read_file("/dev/zero"));
    ck_assert_int_eq(truncate(write_file("long", ""), (off_t)1 << 40), 0);
    ck_assert_ptr_null(read_file(path("long")));
    ck_assert_msg(strncmp(told, "0: longer than 16777216 bytes", 29) == 0, "%s", told);
    for (int i = 0; i < 4; i++)
        unlink(path(((const char *[]){ "a", "empty", "fifo", "long" })[i]));
    rmdir(folder);
}

/* ---- which rule decides ---------------------------------------------------------------------- */

static const char choices[] =
    "allreduce *   1  *   0-2K   commutative     ring\n"                /* 1 */
    "allreduce *   1  *   0-2K   exact           recursive_doubling\n"  /* 2 */
    "allreduce *   2- 3-4 *      *               ring\n"                /* 3 */
    "allreduce 2-8 *  *   2K-64K noncommutative  recursive_doubling\n"  /* 4 */
    "reduce    16  *  *   0      *               tree\n"                /* 5 */
    "scan      *   *  *   8M-    *               host\n"                /* 6 */
    "*         *   *  9   *      *               host\n";               /* 7 */

TEST(matching)
{
    static const struct {
        enum collopt_collective collective;
        int ranks, nodes, largest;
        size_t count;           /* of 8 bytes */
        bool commutative, exact;
        int line[3];
    } all[] = {
        { COLLOPT_ALLREDUCE, 4, 1, 0, 1, true, false, { 1 } },
        { COLLOPT_ALLREDUCE, 4, 1, 0, 1, true, true, { 1, 2 } },
        { COLLOPT_ALLREDUCE, 4, 1, 0, 0, true, true, { 1, 2 } },
        { COLLOPT_ALLREDUCE, 4, 1, 0, 256, true, false, { 1 } },
        { COLLOPT_ALLREDUCE, 4, 1, 0, 257, true, true, { 0 } },
        { COLLOPT_ALLREDUCE, 4, 1, 0, 256, false, false, { 4 } },
        { COLLOPT_ALLREDUCE, 4, 1, 0, 255, false, false, { 0 } },
        { COLLOPT_ALLREDUCE, 8, 1, 0, 8192, false, false, { 4 } },
        { COLLOPT_ALLREDUCE, 8, 1, 0, 8193, false, false, { 0 } },
        { COLLOPT_ALLREDUCE, 9, 1, 0, 8192, false, false, { 7 } },
        { COLLOPT_ALLREDUCE, 6, 2, 3, 1, false, false, { 3 } },
        { COLLOPT_ALLREDUCE, 6, 2, 4, 1024, false, false, { 3, 4 } },
        { COLLOPT_ALLREDUCE, 6, 2, 5, 1, true, true, { 0 } },
        { COLLOPT_REDUCE, 16, 4, 4, 0, true, true, { 5 } },
        { COLLOPT_REDUCE, 16, 4, 9, 0, false, false, { 5, 7 } },
        { COLLOPT_REDUCE, 16, 4, 4, 1, true, true, { 0 } },
        { COLLOPT_SCAN, 2, 1, 0, 1 << 20, true, false, { 6 } },
        { COLLOPT_SCAN, 2, 1, 0, (1 << 20) - 1, true, false, { 0 } },
        { COLLOPT_SCAN, 2, 1, 0, SIZE_MAX / 8, true, false, { 6 } },
        { COLLOPT_EXSCAN, 9, 1, 0, 5, false, false, { 7 } },
    };
    struct collopt_rules *r = parse(choices);

    ck_assert_msg(r, "%s", told);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct collopt_topology t = { .nodes = all[i].nodes, .largest = all[i].largest };
        struct collopt_problem p = { .collective = all[i].collective,
                                     .ranks = all[i].ranks,
                                     .count = all[i].count,
                                     .size = 8,
                                     .commutative = all[i].commutative,
                                     .exact = all[i].exact,
                                     .topology = &t };
        const struct collopt_rule *found = NULL;

        for (int k = 0; k < 3; k++) {
            found = collopt_rules_next(r, &p, found);
            ck_assert_msg((found ? found->line : 0) == all[i].line[k], "problem %zu: line %d", i,
                          found ? found->line : 0);
            if (!found)
                break;
        }
    }
    collopt_rules_free(r);
}

/* ---- what ranks compare ---------------------------------------------------------------------- */

static uint64_t hash_of(const char *text)
{
    struct collopt_rules *r = parse(text);
    uint64_t h;

    ck_assert_msg(r, "%s: %s", text, told);
    h = r->hash;
    collopt_rules_free(r);
    return h;
}

TEST(hashes)
{
    static const char *const differ[] = {
        "",
        "scan 8 * * * * host",
        "exscan 8 * * * * host",
        "scan 9 * * * * host",
        "scan 8- * * * * host",
        "scan * 8 * * * host",
        "scan * * 8 * * host",
        "scan * * * 8 * host",
        "scan 8 * * * exact host",
        "scan 8 * * * * auto",
        "* 8 * * * * host",
        "scan 8 * * * * host\nscan 9 * * * * host",
        "scan 9 * * * * host\nscan 8 * * * * host",
        "allreduce 8 * * * * ring",
        "allreduce 8 * * * * ring:segment=64K",
        "allreduce 8 * * * * recursive_doubling",
    };
    static const char *const alike[] = {
        "scan 8 * * * * host\n",
        "\n# x\r\n  scan\t8 * * * * -> host\r\n",
        "\xef\xbb\xbfscan 8-8 0- * 0-18446744073709551615 * host#",
    };

    for (size_t i = 0; i < sizeof differ / sizeof *differ; i++)
        for (size_t k = 0; k < i; k++)
            ck_assert_msg(hash_of(differ[i]) != hash_of(differ[k]), "%s and %s", differ[i],
                          differ[k]);
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        ck_assert_msg(hash_of(alike[i]) == hash_of(differ[1]), "%s", alike[i]);
}

static char warned[2048];

static void warn(const char *sentence)
{
    size_t n = strlen(warned);

    snprintf(warned + n, sizeof warned - n, "%s\n", sentence);
}

static int settings_with(struct collopt_settings *s, const char *file)
{
    char variable[200];
    char *const environment[] = { variable, NULL };

    warned[0] = '\0';
    snprintf(variable, sizeof variable, "COLLOPT_RULES=%s", file);
    return collopt_settings_from(s, environment, warn);
}

TEST(settings)
{
    struct collopt_settings none, a, b, other, bad;
    char want[400];

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(settings_with(&none, ""), 0);
    ck_assert_ptr_null(none.rules);
    ck_assert_int_eq(settings_with(&a, write_file("a", "scan 8 * * * * host\n")), 0);
    ck_assert(a.rules && a.rules->n == 1 && strcmp(a.rules_file, path("a")) == 0);
    ck_assert_int_eq(settings_with(&b, write_file("b", "# copy\nscan 8 * * * * host\n")), 0);
    ck_assert_int_eq(settings_with(&other, write_file("b", "scan 9 * * * * host\n")), 0);
    ck_assert(a.hash != none.hash && a.hash == b.hash && a.hash != other.hash);
    ck_assert_int_eq(settings_with(&bad, write_file("b", "\nscan 8 * * * * hst\n")), 1);
    ck_assert(!bad.rules && !bad.rules_file && bad.hash == none.hash);
    snprintf(want, sizeof want,
             "COLLOPT_RULES is not used: %s:2: scan has no algorithm \"hst\"; it has host, auto; "
             "did you mean host?\n",
             path("b"));
    ck_assert_str_eq(warned, want);
    ck_assert_int_eq(settings_with(&bad, write_file("b", "x\ny\n")), 1);
    ck_assert_msg(strstr(warned, ":1: 1 column; ")
                      && strstr(warned, "; it has 2 mistakes, which collopt-tune --check lists\n"),
                  "%s", warned);
    ck_assert_int_eq(settings_with(&bad, path("none")), 1);
    ck_assert_msg(strstr(warned, "/none: No such file or directory\n"), "%s", warned);
    unlink(path("a"));
    unlink(path("b"));
    rmdir(folder);
}

/* ---- what collopt-tune finds ----------------------------------------------------------------- */

#define END "* * * * * * auto\n"
#define TAKES(n) "is never reached: line " n " takes all that it matches\n"
#define ABOVE "is never reached: the lines above take all that it matches\n"
#define OVERLAPS(mine, theirs) \
    mine " overlaps with " theirs " of line 1, which goes first; ranges that follow one another " \
    "have one end in common at most\n"
#define NO_END \
    "0: the last line is missing, by which one knows a file that was cut short: * * * * * * auto " \
    "(or host)\n"

static const struct {
    const char *text, *says;
} checked[] = {
    { site, "" },
    { END, "" },
    { "* * * * * * host\n", "" },
    { "", NO_END },
    { "scan * * * * * host\n", NO_END },
    { "* * * * * exact auto\n", NO_END },
    { END "scan * * * * * host\n", "2: " TAKES("1") NO_END },
    { END END, "2: " TAKES("1") },
    { "allreduce * * * * * ring\n" END "* * * * * * host\n", "3: " TAKES("2") },
    { "* * * * * * host\n* 0- * * * * auto\n" END, "2: " TAKES("1") "3: " TAKES("1") },
    /* one line inside another */
    { "scan 2-8 * * * * host\nscan 4-8 * * * * auto\n" END, "2: " TAKES("1") },
    { "scan 4-8 * * * * host\nscan 2-8 * * * * auto\n" END, "" },
    { "scan 1- * * * * host\nscan * * * * * auto\n" END, "2: " TAKES("1") },
    { "scan * * * * commutative host\nscan * * * * exact host\n" END, "2: " TAKES("1") },
    { "scan * * * * exact host\nscan * * * * commutative host\n" END, "" },
    { "* * * * 0-1K * host\nexscan 3 2 2 1K * host\n" END, "2: " TAKES("1") },
    /* several together */
    { "scan * * * 0-2K * host\nscan * * * 2K- * host\nscan 7 * * * * auto\n" END, "3: " ABOVE },
    { "scan * * * 0-2K * host\nscan * * * 2050- * host\nscan 7 * * * * auto\n" END, "" },
    { "scan * * * * commutative host\nscan 1-7 * * * noncommutative host\nscan 8- * * * "
      "noncommutative host\nscan * * * * * auto\n" END,
      "4: " ABOVE },
    { "scan 4-9 * * 4-9 * host\nscan 2-3 * * * * host\nscan 2-12 * * 0-3 * host\nscan 2-9 * * 4-9 "
      "* auto\nscan 2-9 * * 4-10 * auto\n" END,
      "4: " ABOVE },
    { "scan * * * * * host\nexscan * * * * * host\nreduce * * * * * host\nallreduce * * * * * "
      "host\nreduce_scatter * * * * * host\n"
      "reduce_scatter_block * * * * * host\n" END,
      "" },
    /* ranges that overlap; not those that follow one another, nor one inside the other, nor where
     * all differs */
    { "scan * * * 0-4K * host\nscan * * * 2K-8K * auto\n" END,
      "2: " OVERLAPS("bytes 2K-8K", "0-4K") },
    { "scan 8- * * 4K * host\nscan 2-16 * * 4K * auto\n" END, "2: " OVERLAPS("ranks 2-16", "8-") },
    { "scan 2-8 * * 0-4K * host\nscan 4-16 * * 2K-8K * auto\n" END,
      "2: ranks 4-16 and bytes 2K-8K overlap with 2-8 and 0-4K of line 1, which goes first; ranges "
      "that follow one another have one end "
      "in common at most\n" },
    { "scan 2-8 * * 0-4K * host\nscan 4-16 * * 1K-2K * auto\nscan 8-16 * * 2K-8K * auto\n" END,
      "" },
    { "scan * * * 0-4K * host\nscan * * * 4K-8K * auto\nscan * * * 4K- * host\n" END, "" },
    { "scan * * * 4-8 * host\nscan * * * 2-16 * auto\n" END, "" },
    { "scan 2 * * 0-4K * host\nscan 3 * * 2K-8K * auto\n" END, "" },
    { "scan * * * 0-4K exact host\nscan * * * 2K-8K commutative auto\n" END, "" },
    { "allreduce * * * 0-4K * ring\nallreduce * * * 2K-8K * host\n" END, "" },
    /* what may be passed over leaves something */
    { "reduce * * * * * tree\nreduce * * * * * host\n" END, "" },
    { "allreduce * * * * * ring\nallreduce * * * * noncommutative host\n" END, "" },
    { "allreduce * * * * commutative ring\nallreduce * * * * exact host\n" END, "2: " TAKES("1") },
    { "allreduce * * * * * recursive_doubling\nallreduce 8 * * 8 * ring\n" END, "2: " TAKES("1") },
    /* what cannot be */
    { "scan 0 * * * * host\n" END, "1: no communicator has these ranks\n" },
    { "scan 1 * * * * host\n" END, "" }, /* collopt runs MPI_COMM_SELF too */
    { "scan * 0 * * * host\n" END, "1: no communicator has these nodes\n" },
    { "scan * * 4G * * host\n" END, "1: no communicator has these ppn\n" },
    { "scan 4 8 * * * host\n" END, "1: no communicator has these ranks, nodes and ppn together\n" },
    { "scan 4 2- 4 * * host\n" END,
      "1: no communicator has these ranks, nodes and ppn together\n" },
    { "scan 9 2 4 * * host\n" END, "1: no communicator has these ranks, nodes and ppn together\n" },
    { "scan 4 * 4 * * host\nscan 8 2-4 4 * * host\nscan 9 3 4 * * host\n" END, "" },
    { "reduce 7 * * * * tree:dims=7\n" END, "1: tree cannot serve 7 ranks: it is odd\n" },
    { "scan 7-9 * * * * host\nreduce 7-7 * * * exact tree:dims=7\n" END,
      "2: tree cannot serve 7 ranks: it is odd\n" },
    /* a grid may be known */
    { "reduce 7-8 * * * * tree:dims=7\nreduce 9 * * * * tree\nreduce 7-70 * * * * "
      "tree:dims=7\n" END,
      "" },
    { "allreduce * * * * noncommutative ring\n" END,
      "1: ring does not serve these operations; op may be commutative\n" },
};

TESTS(checks, 0, sizeof checked / sizeof *checked)
{
    struct collopt_rules *r = parse(checked[_i].text);
    int n = 0, found;

    ck_assert_msg(r, "%s: %s", checked[_i].text, told);
    found = collopt_rules_check(r, hear, NULL);
    ck_assert_msg(strcmp(told, checked[_i].says) == 0, "%sgives %s", checked[_i].text, told);
    for (const char *c = told; *c; c++)
        n += *c == '\n';
    ck_assert_int_eq(found, n);
    collopt_rules_free(r);
}

/* A file as a program would write it, of thousands of lines, takes no time to speak of. */
TEST(many)
{
    enum { RANKS = 24, SIZES = 30 };
    static char text[COLLOPT_COLLECTIVES * RANKS * SIZES * 64 + 64];
    struct collopt_rules *r;
    size_t n = 0;

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        for (int p = 0; p < RANKS; p++)
            for (int s = 0; s < SIZES; s++)
                n += (size_t)snprintf(text + n, sizeof text - n, "%s %d * * %zu-%zu * host\n",
                                      collopt_collective_names[c], p + 2, (size_t)1 << s,
                                      ((size_t)2 << s) - 1);
    snprintf(text + n, sizeof text - n, END);
    r = parse(text);
    ck_assert_msg(r && r->n == COLLOPT_COLLECTIVES * RANKS * SIZES + 1, "%s", told);
    ck_assert_msg(collopt_rules_check(r, hear, NULL) == 0, "%s", told);
    collopt_rules_free(r);
}

int main(void)
{
    return suite_run("rules");
}
