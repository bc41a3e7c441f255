/* Settings for one run: algorithms with parameters that they can take, and what else changes the way of a call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "soak.h"

/* ---- algorithms -------------------------------------------------------------------------------------------------- */

static const struct collopt_algorithm *any_algorithm(struct soak_random *r, enum collopt_collective c, bool grouped)
{
    const struct collopt_algorithm *of[200];
    size_t n = 0;

    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a && n < sizeof of / sizeof *of; a++)
        if ((*a)->collective == c && (grouped || !(*a)->grouped))
            of[n++] = *a;
    return of[soak_below(r, n)];
}

static void word(struct soak_random *r, const char *words, char *text, size_t size)
{
    size_t n = 1, i;

    for (const char *s = words; *s; s++)
        n += *s == '|';
    for (i = soak_below(r, n); i > 0; i--)
        words = strchr(words, '|') + 1;
    snprintf(text, size, "%.*s", (int)strcspn(words, "|"), words);
}

/* Dims for so many ranks. */
static void list(struct soak_random *r, int ranks, char *text, size_t size)
{
    size_t used = 0;
    int left = ranks;

    text[0] = '\0';
    for (int d = 2; left > 1 && used + 8 < size; d++)
        while (left % d == 0 && used + 8 < size) {
            int n = d;

            left /= d;
            if (left % d == 0 && soak_chance(r, 3)) {
                n *= d;
                left /= d;
            }
            used += (size_t)snprintf(text + used, size - used, "%s%d", used ? "x" : "", n);
        }
    if (used == 0)
        snprintf(text, size, "1");
}

static void parameter(struct soak_random *r, const struct collopt_parameter *p, int ranks, char *text, size_t size)
{
    static const size_t bytes[] = { 1, 8, 100, 256, 1000, 4000, 4096, 8192, 30000, 65536, 1 << 20 };
    size_t value = p->bytes ? bytes[soak_below(r, sizeof bytes / sizeof *bytes)] : p->least + soak_below(r, 9);

    value = value < p->least ? p->least : value > p->most ? p->most : value;
    if (p->algorithm)
        snprintf(text, size, "(%s)", any_algorithm(r, p->of, false)->name);
    else if (p->list_bits)
        list(r, ranks, text, size);
    else if (p->words)
        word(r, p->words, text, size);
    else
        snprintf(text, size, "%zu", value);
}

static void algorithm(struct soak_random *r, enum collopt_collective c, int ranks, char *text, size_t size)
{
    const struct collopt_algorithm *a = any_algorithm(r, c, true);
    size_t used = (size_t)snprintf(text, size, "%s", a->name);
    char mark = ':';

    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++) {
        char value[200];

        if (soak_chance(r, 3))
            continue;
        parameter(r, &a->parameter[i], ranks, value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "%c%s=%s", mark, a->parameter[i].name, value);
        mark = ',';
    }
}

/* Some parameters do not go together; then others are drawn. */
void soak_algorithm(struct soak_random *r, int collective, int ranks, char text[SOAK_WORDS])
{
    enum collopt_collective c = (enum collopt_collective)collective;
    struct collopt_choice choice;
    char why[300];

    do
        algorithm(r, c, ranks, text, SOAK_WORDS);
    while (!collopt_parse_choice(text, c, &choice, why, sizeof why));
}

static void force(struct soak_random *r, enum collopt_collective c, int ranks)
{
    char text[SOAK_WORDS];

    if (soak_chance(r, 3))
        return;
    soak_algorithm(r, (int)c, ranks, text);
    if (soak_chance(r, 30))
        snprintf(text, sizeof text, "host");
    printf("COLLOPT_");
    for (const char *s = collopt_collective_names[c]; *s; s++)
        putchar(*s == '_' ? *s : *s - 'a' + 'A');
    printf("=%s\n", text);
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static void one_of(struct soak_random *r, size_t once_in, const char *name, size_t n, const char *const value[])
{
    bool now = soak_chance(r, once_in);
    size_t i = soak_below(r, n);

    if (now)
        printf("%s=%s\n", name, value[i]);
}

#define ONE_OF(r, once_in, name, ...) \
    one_of(r, once_in, name, sizeof (const char *[]){ __VA_ARGS__ } / sizeof(char *), (const char *[]){ __VA_ARGS__ })

/* How the ranks of the world lie; of Cartesian communicators, as the program says. */
static void lie(struct soak_random *r, int ranks)
{
    static const char *const grid[] = { "torus", "mesh" };
    char dims[200];

    list(r, ranks, dims, sizeof dims);
    if (soak_chance(r, 8))
        printf("COLLOPT_TOPOLOGY=%s:%s\n", grid[soak_below(r, 2)], dims);
    else
        ONE_OF(r, 8, "COLLOPT_TOPOLOGY", "cartesian", "none");
}

void soak_settings(int ranks)
{
    struct soak_random random = soak_draw(0, 77), *r = &random;

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        force(r, (enum collopt_collective)c, ranks);
    ONE_OF(r, 3, "COLLOPT_CUT", "40", "256", "1000", "4096", "10000", "100000");
    ONE_OF(r, 3, "COLLOPT_NODE_RANKS", "1", "2", "3", "1,3,2", "cyclic:2", "cyclic:3");
    ONE_OF(r, 6, "COLLOPT_CHECK", "on");
    ONE_OF(r, 4, "COLLOPT_WAIT", "spin", "yield");
    ONE_OF(r, 4, "COLLOPT_SCRATCH", "0", "5000", "100K");
    ONE_OF(r, 5, "COLLOPT_ISA", "generic");
    ONE_OF(r, 10, "COLLOPT_COMMUNICATORS", "2", "3");
    ONE_OF(r, 2, "COLLOPT_PCONTROL", "on");
    ONE_OF(r, 8, "COLLOPT_REPORT", "/dev/null");
    lie(r, ranks);
    if (soak_chance(r, 6)) {
        ONE_OF(r, 1, "COLLOPT_REPRODUCIBLE", "placement", "exact");
        return;
    }
    ONE_OF(r, 6, "COLLOPT_ADAPT", "on");
    ONE_OF(r, 1, "COLLOPT_AFTER", "1", "1", "1", "1", "1", "1", "2", "4");
}

bool soak_settings_host(void)
{
    const char *after = getenv("COLLOPT_AFTER");
    extern char **environ;

    for (char **e = environ; *e; e++)
        if (strncmp(*e, "COLLOPT_", 8) == 0 && strstr(*e, "=host"))
            return true;
    return !with_collopt() || getenv("COLLOPT_ADAPT") || getenv("COLLOPT_COMMUNICATORS")
        || (!getenv("COLLOPT_REPRODUCIBLE") && (!after || strcmp(after, "1") != 0));
}
