/* Words and numbers in texts of users. */
#include "config.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* ---- the nearest word ------------------------------------------------------------------------ */

static int least(int a, int b)
{
    return a < b ? a : b;
}

char collopt_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

int collopt_compare_words(const char *a, const char *b, size_t n)
{
    size_t i = 0;

    while (i < n && a[i] && collopt_lower(a[i]) == collopt_lower(b[i]))
        i++;
    return i == n ? 0 : (unsigned char)collopt_lower(a[i]) - (unsigned char)collopt_lower(b[i]);
}

/* Edit distance: letters added, removed or swapped with their neighbour cost less than changed
 * ones; case is ignored. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 64, MOVED = 2, CHANGED = 3 };
    int row[3][LONGEST + 1];
    int *before = row[0], *above = row[1], *here = row[2];
    int m = (int)strnlen(a, LONGEST), n = (int)strnlen(b, LONGEST);

    for (int j = 0; j <= n; j++)
        above[j] = j * MOVED;
    for (int i = 1; i <= m; i++) {
        int *spare = before;

        here[0] = i * MOVED;
        for (int j = 1; j <= n; j++) {
            bool same = collopt_lower(a[i - 1]) == collopt_lower(b[j - 1]);

            here[j] =
                least(above[j - 1] + (same ? 0 : CHANGED), least(above[j], here[j - 1]) + MOVED);
            if (i > 1 && j > 1 && collopt_lower(a[i - 1]) == collopt_lower(b[j - 2])
                && collopt_lower(a[i - 2]) == collopt_lower(b[j - 1]))
                here[j] = least(here[j], before[j - 2] + MOVED);
        }
        before = above;
        above = here;
        here = spare;
    }
    return above[n];
}

int collopt_nearest(const char *word, int n, const char *(*nth)(int i, const void *data),
                    const void *data)
{
    return collopt_nearest_but(word, n, nth, data, -1);
}

int collopt_nearest_but(const char *word, int n, const char *(*nth)(int i, const void *data),
                        const void *data, int but)
{
    /* a word of which about half the letters are wrong gets no suggestion */
    int nearest = -1, nearest_distance = (int)strlen(word) + 3;

    for (int i = 0; i < n; i++) {
        int d = distance(word, nth(i, data));

        if (i != but && d < nearest_distance) {
            nearest = i;
            nearest_distance = d;
        }
    }
    return nearest;
}

const char *collopt_hint(char hint[COLLOPT_HINT], const char *lead, const char *word, int n,
                         const char *(*nth)(int i, const void *data), const void *data)
{
    int nearest = collopt_nearest(word, n, nth, data);

    hint[0] = '\0';
    if (nearest >= 0)
        snprintf(hint, COLLOPT_HINT, "%s%s?", lead, nth(nearest, data));
    return hint;
}

int collopt_word_among(const char *what, const char *word, int n,
                       const char *(*nth)(int i, const void *data), char *message, size_t size)
{
    struct collopt_text t = { .text = message, .size = size };
    int nearest = collopt_nearest(word, n, nth, NULL);

    for (int i = 0; i < n; i++)
        if (strcmp(nth(i, NULL), word) == 0)
            return i;
    collopt_add(&t, "there is no %s \"%.60s\"; there is ", what, word);
    for (int i = 0; i < n; i++)
        collopt_add(&t, "%s%s", i ? ", " : "", nth(i, NULL));
    /* "*" is near to everything short */
    if (nearest >= 0 && strcmp(nth(nearest, NULL), "*") != 0)
        collopt_add(&t, "; did you mean %s?", nth(nearest, NULL));
    return -1;
}

/* ---- lists of words, and texts that grow ----------------------------------------------------- */

const char *collopt_word(const char *words, int i, size_t *n)
{
    while (words && i-- > 0) {
        words = strchr(words, '|');
        words = words ? words + 1 : NULL;
    }
    *n = words ? strcspn(words, "|") : 0;
    return words;
}

int collopt_word_index(const char *words, const char *text, size_t n)
{
    const char *word;
    size_t length;

    for (int i = 0; (word = collopt_word(words, i, &length)); i++)
        if (length == n && memcmp(word, text, n) == 0)
            return i;
    return -1;
}

bool collopt_add(struct collopt_text *t, const char *format, ...)
{
    va_list ap;
    int n;

    if (t->n + 1 >= t->size)
        return false;
    va_start(ap, format);
    n = vsnprintf(t->text + t->n, t->size - t->n, format, ap);
    va_end(ap);
    if (n > 0)
        t->n += (size_t)n < t->size - t->n ? (size_t)n : t->size - t->n - 1;
    return false;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static const char units[] = "KMGT";

bool collopt_parse_number(const char *text, size_t n, bool bytes, size_t *value)
{
    size_t v = 0, i = 0;
    int shift = 0;

    for (; i < n && text[i] >= '0' && text[i] <= '9'; i++) {
        size_t digit = (size_t)(text[i] - '0');

        if (v > (SIZE_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    if (i == 0)
        return false;
    if (bytes && i == n - 1) {
        const char *unit = strchr(units, text[i] & ~0x20);

        if (!unit || !*unit)
            return false;
        shift = 10 * (int)(unit - units + 1);
        i++;
    }
    if (i != n || v > SIZE_MAX >> shift)
        return false;
    *value = v << shift;
    return true;
}

bool collopt_parse_size(const char *text, size_t *value)
{
    return collopt_parse_number(text, strlen(text), true, value);
}

bool collopt_parse_range(const char *word, struct collopt_range *range)
{
    const char *dash = strchr(word, '-');

    *range = (struct collopt_range){ 0, SIZE_MAX };
    if (strcmp(word, "*") == 0)
        return true;
    if (!collopt_parse_number(word, dash ? (size_t)(dash - word) : strlen(word), true,
                              &range->least))
        return false;
    if (!dash)
        range->most = range->least;
    return !dash || !dash[1] || collopt_parse_size(dash + 1, &range->most);
}

void collopt_size_text(size_t value, char *text, size_t size)
{
    int unit = 0;

    while (value && units[unit] && value % 1024 == 0) {
        value /= 1024;
        unit++;
    }
    if (unit)
        snprintf(text, size, "%zu%c", value, units[unit - 1]);
    else
        snprintf(text, size, "%zu", value);
}

/* ---- decimals -------------------------------------------------------------------------------- */

bool collopt_parse_decimal(const char *text, double *value, const char **end)
{
    double scale = 1, n = 0;
    int digits = 0;

    for (; *text >= '0' && *text <= '9'; text++, digits++)
        n = 10 * n + (*text - '0');
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++, digits++) {
            n = 10 * n + (*text - '0');
            scale *= 10;
        }
    *value = n / scale;
    *end = text;
    return digits > 0 && digits <= 18;
}

/* The decimal point of a locale may have several bytes. */
static int with_point(char *text)
{
    char *to = text;

    for (const char *c = text; *c; c++)
        if (strchr("0123456789+-einfa", *c))
            *to++ = *c;
        else if (to == text || to[-1] != '.')
            *to++ = '.';
    *to = '\0';
    return (int)(to - text);
}

int collopt_fixed_text(double value, int behind, char *text, size_t size)
{
    snprintf(text, size, "%.*f", behind, value);
    return with_point(text);
}

int collopt_digits_text(double value, int digits, char *text, size_t size)
{
    snprintf(text, size, "%.*g", digits, value);
    return with_point(text);
}

void collopt_seconds_text(double seconds, char *text, size_t size)
{
    const char *unit = seconds < 9.9995e-3 ? "us" : seconds < 9.9995 ? "ms" : "s";
    double value = seconds * (*unit == 'u' ? 1e6 : *unit == 'm' ? 1e3 : 1);
    char number[24];

    collopt_fixed_text(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, number, sizeof number);
    snprintf(text, size, "%s %s", number, unit);
}
