/* Medians and their intervals for scripts, so that there is one place that knows how:
 * bench/lib/statistics.c.
 *
 * Reads lines of numbers with as many columns each and prints a line for each column: how many
 * values, their median, the ends of its interval (95% from six values on, else the least and the
 * greatest), and how many are outliers. */
#include "config.h"

#include "lib/statistics.h"
#include "shared/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 64 };

struct column {
    double *value;
    int n, room;
};

static int fail(const char *why)
{
    fprintf(stderr, "collopt-statistics: %s\n", why);
    return 2;
}

static int add(struct column *c, double value)
{
    if (c->n == c->room) {
        int room = c->room ? 2 * c->room : 64;
        double *longer = realloc(c->value, (size_t)room * sizeof *longer);

        if (!longer)
            return fail("out of memory");
        c->value = longer;
        c->room = room;
    }
    c->value[c->n++] = value;
    return 0;
}

/* How many columns LINE has; -1: a word that is no number, or too many. */
static int read_line(char *line, double *value)
{
    char *rest, *word = strtok_r(line, " \t\n", &rest), *end;
    int n = 0;

    for (; word; word = strtok_r(NULL, " \t\n", &rest)) {
        if (n == COLUMNS)
            return -1;
        value[n++] = strtod(word, &end);
        if (*end)
            return -1;
    }
    return n;
}

static void print(struct column *c)
{
    double low, high, median = bench_quantile(c->value, c->n, 0.5);

    bench_median_interval(c->value, c->n, &low, &high);
    printf("%d %.9g %.9g %.9g %d\n", c->n, median, low, high, bench_outliers(c->value, c->n));
}

int main(void)
{
    static struct column column[COLUMNS];
    double value[COLUMNS];
    char *line = NULL;
    size_t room = 0;
    int columns = 0, n, failed;

    output_guard("collopt-statistics", 2);
    while (getline(&line, &room, stdin) > 0) {
        n = read_line(line, value);
        if (n < 1 || (columns && n != columns))
            return fail("each line must have as many numbers as the first");
        columns = n;
        for (int i = 0; i < n; i++)
            if ((failed = add(&column[i], value[i])))
                return failed;
    }
    free(line);
    for (int i = 0; i < columns; i++) {
        print(&column[i]);
        free(column[i].value);
    }
    return columns ? 0 : fail("no numbers were given");
}
