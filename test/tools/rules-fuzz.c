/* rules-fuzz N: N files of rules, made from a good one by a few random changes, the same in every
 * run.
 *
 * Each must be taken or be refused with a message; what is taken must decide on every problem, and
 * be checked to an end. */
#include "config.h"

#include "fake_registry.h"
#include "schedule/problem.h"
#include "shared/rules_check.h"
#include "settings/rules.h"
#include "topology/topology.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096 };

static const char good[] =
    "# collective  ranks  nodes  ppn  bytes  op  algorithm\n"
    "allreduce  *     1   *    0-2K   commutative  recursive_doubling  # 1.43\n"
    "allreduce  *     2-  2-   64K-   *            ring:segment=64K\r\n"
    "reduce     2-64  *   1-8  1G-4T  exact        -> tree:radix=4,segment=1M,dims=4x4x2\n"
    "reduce     8-    *   *    *      *            tree\n"
    "\n"
    "scan       8-    *   *    0      noncommutative  host\n"
    "*          *     *   *    *      *            auto\n";

static const char *const pieces[] = {
    "*",
    "-",
    "0-",
    "2-1",
    " ",
    "\t",
    "\n",
    "\r",
    "#",
    "->",
    "auto",
    "host",
    "ring",
    "tree:",
    "(",
    ")",
    "=",
    ":",
    ",",
    "x",
    "K",
    "8388608T",
    "16777216T",
    "18446744073709551615",
    "18446744073709551616",
    "allreduce",
    "exact",
    "\xef\xbb\xbf",
    "\xff",
    "%s%n",
    "-1",
    "\nallreduce * * * * * ring\n",
    "\n* * * * * * host\n",
};

static char text[LONGEST];
static size_t size;
static int told, mutation;

__attribute__((format(printf, 1, 2), noreturn))
static void fail(const char *format, ...)
{
    va_list ap;

    printf("FAIL: file %d: ", mutation);
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    printf("\n%.*s\n", (int)size, text);
    exit(1);
}

static void hear(void *data, int line, const char *sentence)
{
    int lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    if (data != text || line < 0 || line > lines || !*sentence || strlen(sentence) >= 1024
        || strchr(sentence, '\n'))
        fail("line %d: odd message: %s", line, sentence);
    told++;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* Puts N bytes in the place of OLD bytes at AT. */
static void replace(size_t at, size_t old, const char *bytes, size_t n)
{
    char copy[LONGEST];

    if (at + old > size || size - old + n > LONGEST || n > LONGEST)
        return;
    memcpy(copy, bytes, n);     /* which may lie in the text */
    memmove(text + at + n, text + at + old, size - at - old);
    memcpy(text + at, copy, n);
    size += n - old;
}

static void change(void)
{
    size_t at = test_random((unsigned)size + 1), span = test_random(40);
    const char *piece = pieces[test_random(sizeof pieces / sizeof *pieces)];
    char byte = (char)test_random(256);

    switch (test_random(6)) {
    case 0:
        replace(at, 1, &byte, 1);
        break;
    case 1:
        replace(at, 0, piece, strlen(piece));
        break;
    case 2:
        replace(at, span, "", 0);
        break;
    case 3:
        if (at + span <= size)
            replace(test_random((unsigned)size + 1), 0, text + at, span);
        break;
    case 4:
        size = test_random(20) ? size : at;
        break;
    case 5:
        replace(at, test_random(8), piece, strlen(piece));
        break;
    }
}

/* ---- what must hold -------------------------------------------------------------------------- */

static void decide(const struct collopt_rules *rules)
{
    static const size_t bytes[] = { 0, 1, 2048, 2049, 65536, (size_t)1 << 40, SIZE_MAX };
    struct collopt_topology t = { .nodes = 1 + (int)test_random(4),
                                  .largest = 1 + (int)test_random(8) };
    struct collopt_problem p = {
        .collective = (enum collopt_collective)test_random(COLLOPT_COLLECTIVES),
        .ranks = 2 + (int)test_random(100),
        .count = bytes[test_random(7)],
        .size = 1,
        .commutative = test_random(2),
        .topology = &t,
    };
    const struct collopt_rule *r = NULL;
    int line = 0;

    p.exact = p.commutative && test_random(2);
    while ((r = collopt_rules_next(rules, &p, r)) != NULL) {
        if (r->line <= line)
            fail("line %d comes behind line %d", r->line, line);
        line = r->line;
    }
}

/* In memory of just its size, that reading beyond it is noticed. */
static struct collopt_rules *parse(void)
{
    char *copy = malloc(size ? size : 1);
    struct collopt_rules *rules;

    memcpy(copy, text, size);
    rules = collopt_rules_parse("fuzz", copy, size, hear, text);
    free(copy);
    return rules;
}

static bool try(void)
{
    struct collopt_rules *rules;

    told = 0;
    rules = parse();
    if ((rules != NULL) != (told == 0))
        fail("%s with %d messages", rules ? "taken" : "refused", told);
    if (!rules)
        return false;
    for (int i = 0; i < 20; i++)
        decide(rules);
    if (collopt_rules_check(rules, hear, text) != told)
        fail("%d mistakes are told", told);
    collopt_rules_free(rules);
    return true;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 20000, taken = 0;

    for (mutation = 0; mutation < n; mutation++) {
        size = sizeof good - 1;
        memcpy(text, good, size);
        for (unsigned k = mutation ? 1 + test_random(4) : 0; k > 0; k--)
            change();
        taken += try();
        if (mutation == 0 && (!taken || told))
            fail("the good file has mistakes");
    }
    printf("%d files, %d taken, %d refused\n", n, taken, n - taken);
    return taken > n / 20 && taken < n - n / 20 ? 0 : 1;
}
