/* Files that say what a machine is like: what is read, what is refused and with which words, and
 * that what was written can be read. */
#include "config.h"

#include "model/machine.h"
#include "settings/settings.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char told[4096];         /* "LINE: sentence\n" for each mistake */

static void hear(void *data, int line, const char *sentence)
{
    size_t n = strlen(told);

    (void)data;
    snprintf(told + n, sizeof told - n, "%d: %s\n", line, sentence);
}

static struct collopt_machine_file *parse(const char *text)
{
    told[0] = '\0';
    return collopt_machine_parse("site.machine", text, strlen(text), hear, NULL);
}

static bool near(double a, double b)
{
    return a <= b * 1.000001 && a >= b * 0.999999;
}

TEST(reading)
{
    struct collopt_machine_file *f = parse("# two nodes\n\n"
                                           "net.latency = 1.25 us   # 1.2 to 1.3\r\n"
                                           "\tnet.overhead=250 ns\n"
                                           " net.bandwidth  =  12.5 GB/s\n"
                                           "node.shared = 40000 MB/s\n"
                                           "net.eager = 64 KiB\n"
                                           "net.group = 32\nnet.taper = 1.5\n"
                                           "turn.time = 0.00001 s");

    ck_assert_msg(f, "%s", told);
    ck_assert_str_eq(f->file, "site.machine");
    ck_assert(near(f->machine.way[COLLOPT_OVER_NET].latency, 1.25e-6));
    ck_assert(near(f->machine.way[COLLOPT_OVER_NET].overhead, 250e-9));
    ck_assert(near(f->machine.way[COLLOPT_OVER_NET].byte, 0.08e-9));
    ck_assert(near(f->machine.way[COLLOPT_IN_NODE].shared, 0.025e-9));
    ck_assert(near(f->machine.way[COLLOPT_OVER_NET].eager, 65536));
    ck_assert(near(f->machine.turn, 10e-6));
    ck_assert(near(f->machine.way[COLLOPT_OVER_NET].group, 32));
    ck_assert(near(f->machine.way[COLLOPT_OVER_NET].taper, 1.5));
    ck_assert_int_eq(__builtin_popcount(f->given), 8);
    collopt_machine_free(f);
}

static const struct {
    const char *text, *says;
} refused[] = {
    { "", "0: no numbers; it takes lines such as net.latency = 1.2 us\n" },
    { "# net.latency = 1 us\n\n", "0: no numbers; it takes lines such as net.latency = 1.2 us\n" },
    { "net.latncy = 1 us\n",
      "1: there is no key \"net.latncy\"; did you mean net.latency? collopt(7) lists them\n" },
    { "\nfrequency = 1 us\n", "2: there is no key \"frequency\"; collopt(7) lists them\n" },
    { "net.latency 1 us\n",
      "1: \"net.latency 1 us\" is no line of a machine; it takes key = value unit, such as "
      "net.latency = 1.2 us\n" },
    { "net.latency = 1\n",
      "1: net.latency = \"1\" is not understood; it takes a number and a unit, such as 1.5 us (or "
      "s, ms, ns)\n" },
    { "net.latency = 1 GB/s\n",
      "1: net.latency = \"1 GB/s\" is not understood; it takes a number and a unit, such as 1.5 us "
      "(or s, ms, ns)\n" },
    { "net.latency = -1 us\n",
      "1: net.latency = \"-1 us\" is not understood; it takes a number and a unit, such as 1.5 us "
      "(or s, ms, ns)\n" },
    { "net.latency = 1e-6 s\n",
      "1: net.latency = \"1e-6 s\" is not understood; it takes a number and a unit, such as 1.5 us "
      "(or s, ms, ns)\n" },
    { "net.bandwidth = . GB/s\n",
      "1: net.bandwidth = \". GB/s\" is not understood; it takes a number and a unit, such as 12.5 "
      "GB/s (or B/s, kB/s, MB/s)\n" },
    { "net.eager = 64K\n",
      "1: net.eager = \"64K\" is not understood; it takes a number and a unit, such as 64 KiB (or "
      "B, MiB)\n" },
    { "net.taper = 2 us\n",
      "1: net.taper = \"2 us\" is not understood; it takes a number without a unit, such as 2\n" },
    { "net.taper = 2:1\n",
      "1: net.taper = \"2:1\" is not understood; it takes a number without a unit, such as 2\n" },
    { "net.taper = 0.5\n", "1: net.taper = 0.5 is out of range; it takes 1 to 1000\n" },
    { "net.bandwidth = 0 GB/s\n",
      "1: net.bandwidth = 0 GB/s is out of range; it takes 1 to 1e+15 B/s\n" },
    { "net.latency = 2 s\n", "1: net.latency = 2 s is out of range; it takes 0 to 1 s\n" },
    { "net.hop = 1 us\nnet.hop = 2 us\n", "2: net.hop is given in line 1 already\n" },
    { "net.hop = 1 us\n= 2 us\nnet.hop\a = 1 us",
      "2: there is no key \"\"; collopt(7) lists them\n3: a control character (byte 7) in column "
      "8; machines are plain text\n" },
};

TESTS(refusals, 0, sizeof refused / sizeof *refused)
{
    ck_assert(parse(refused[_i].text) == NULL);
    ck_assert_msg(strcmp(told, refused[_i].says) == 0, "%s gives %s", refused[_i].text, told);
}

/* What was written as TEXT; to be freed. */
static char *written(const struct collopt_machine *m, unsigned given, const char *const *comment)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);

    ck_assert(to && collopt_machine_write(to, m, given, comment));
    fclose(to);
    return text;
}

TEST(writing)
{
    const struct collopt_machine m = {
        .way = { { .latency = 40e-9, .overhead = 1e-9, .byte = 1 / 20e9 },
                 { 1.5e-6, 0, 1 / 12.5e9, 1 / 123456.7, 65536, 2e-9, 16, 1 },
                 { 0.1234567, 1e-10, 1 / 7.0, 1e-15, 1, 1, 48, 2.5 } },
        .combine = 1 / 3e9,
        .hop = 1e-6,
        .turn = 0,
        .cache = 536870912,
        .exit = 1 / 46e9,
    };
    const char *comment[COLLOPT_MACHINE_KEYS] = { "median of 7" };
    unsigned all = (1u << COLLOPT_MACHINE_KEYS) - 1;
    char *text = written(&m, all, comment), *again;
    struct collopt_machine_file *f = parse(text);

    ck_assert_msg(f, "%s%s", text, told);
    ck_assert_msg(strncmp(text,
                          "node.latency      = 1.5 us  # median of 7\nnode.overhead     = 0 "
                          "ns\nnode.bandwidth    = 12.5 GB/s\n"
                          "node.shared       = 123.4567 kB/s\nnode.eager        = 64 KiB\n",
                          120)
                      == 0,
                  "%s", text);
    ck_assert_uint_eq(f->given, all);
    for (int i = 0; i < COLLOPT_MACHINE_KEYS; i++) {
        double was = *(const double *)((const char *)&m + collopt_machine_keys[i].field);
        double is = *(const double *)((const char *)&f->machine + collopt_machine_keys[i].field);

        ck_assert_msg(near(is, was), "%s: %g written, %g read from %s",
                      collopt_machine_keys[i].name, was, is, text);
    }
    again = written(&f->machine, all, comment);
    ck_assert_str_eq(again, text);
    free(again);
    free(text);
    text = written(&m, 2, NULL);
    ck_assert_str_eq(text, "node.overhead     = 0 ns\n");
    free(text);
    collopt_machine_free(f);
}

TESTS(shipped_ones_can_be_written, 0, COLLOPT_NETWORKS)
{
    char *text = written(&collopt_bundled_machines[_i], (1u << COLLOPT_MACHINE_KEYS) - 1, NULL);
    struct collopt_machine_file *f = parse(text);

    ck_assert_msg(f, "%s: %s%s", collopt_network_names[_i], text, told);
    collopt_machine_free(f);
    free(text);
}

TEST(picking)
{
    struct collopt_machine_file *f = parse("net.latency = 7 us\n");
    struct collopt_machine m;

    collopt_machine_pick(&m, COLLOPT_TCP, false, NULL);
    ck_assert(memcmp(&m, &collopt_bundled_machines[COLLOPT_TCP], sizeof m) == 0);
    collopt_machine_pick(&m, COLLOPT_TORUS, false, f);
    ck_assert(near(m.way[COLLOPT_OVER_NET].latency, 7e-6));
    ck_assert(m.hop == collopt_bundled_machines[COLLOPT_TORUS].hop);
    collopt_machine_free(f);
}

/* ---- as a setting ---------------------------------------------------------------------------- */

static char folder[] = "/tmp/collopt-machine-XXXXXX", warned[2048];

static void note(const char *sentence)
{
    snprintf(warned, sizeof warned, "%s", sentence);
}

static int settings_with(struct collopt_settings *s, const char *text)
{
    char name[64], variable[128];
    char *const environment[] = { variable, NULL };
    FILE *to;

    snprintf(name, sizeof name, "%s/m", folder);
    to = text ? fopen(name, "w") : NULL;
    if (to) {
        fputs(text, to);
        fclose(to);
    }
    snprintf(variable, sizeof variable, "COLLOPT_MACHINE=%s", name);
    *warned = '\0';
    return collopt_settings_from(s, environment, note);
}

TEST(settings)
{
    struct collopt_settings none, a, b;
    char want[256];

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(settings_with(&none, NULL), 1);
    ck_assert(!none.machine && !none.machine_file);
    snprintf(want, sizeof want, "COLLOPT_MACHINE is not used: %s/m: No such file or directory",
             folder);
    ck_assert_str_eq(warned, want);
    ck_assert_int_eq(settings_with(&a, "net.hop = 1 us"), 0);
    ck_assert(a.machine && a.machine->given);
    ck_assert_int_eq(settings_with(&b, "# the same\nnet.hop = 1000 ns  # measured\n"), 0);
    ck_assert(a.hash == b.hash && a.hash != none.hash);
    ck_assert(a.machine->machine.hop == b.machine->machine.hop);
    ck_assert_int_eq(settings_with(&b, "net.hop = 2 us"), 0);
    ck_assert(a.hash != b.hash);
    /* another choice may follow from it */
    ck_assert_int_eq(settings_with(&b, "net.hop = 1.0000001 us"), 0);
    ck_assert(a.hash != b.hash && a.machine->machine.hop != b.machine->machine.hop);
    ck_assert_int_eq(settings_with(&b, "net.hop = 2\nx\n"), 1);
    ck_assert(!b.machine && b.hash == none.hash);
    ck_assert_msg(
        strstr(warned, "/m:1: net.hop = \"2\" is not")
            && strstr(warned, "; it has 2 mistakes, which collopt-info --check-machine lists"),
        "%s", warned);
    snprintf(want, sizeof want, "%s/m", folder);
    unlink(want);
    rmdir(folder);
}

int main(void)
{
    return suite_run("machine");
}
