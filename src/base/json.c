/* Writing JSON; see json.h for why. */
#include "config.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

/* The length of the UTF-8 sequence that starts at S, 0 if there is none. */
static int utf8(const unsigned char *s)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    int n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    uint32_t code = n ? s[0] & (0xffu >> (n == 1 ? 0 : n + 1)) : 0;

    for (int i = 1; i < n; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    return n;
}

static void quote(FILE *to, const char *text)
{
    putc('"', to);
    while (*text) {
        unsigned char c = (unsigned char)*text;
        int n = utf8((const unsigned char *)text);

        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < ' ' || c == 127 || n == 0)         /* what is not UTF-8 is taken for Latin-1 */
            fprintf(to, "\\u%04x", c);
        else
            fwrite(text, 1, (size_t)n, to);
        text += n ? n : 1;
    }
    putc('"', to);
}

static void next(struct collopt_json *j, const char *key)
{
    if (j->depth > 0 && j->filled[j->depth - 1])
        putc(',', j->to);
    if (j->depth > 2)
        fputs(j->filled[j->depth - 1] ? " " : "", j->to);
    else if (j->depth > 0)
        fprintf(j->to, "\n%*s", 2 * j->depth, "");
    if (j->depth > 0)
        j->filled[j->depth - 1] = true;
    if (key) {
        quote(j->to, key);
        fputs(": ", j->to);
    }
}

static void begin(struct collopt_json *j, const char *key, char open, char close)
{
    next(j, key);
    putc(open, j->to);
    assert(j->depth < (int)sizeof j->bracket);
    j->bracket[j->depth] = close;
    j->filled[j->depth] = false;
    j->depth++;
}

void collopt_json_object(struct collopt_json *j, const char *key)
{
    begin(j, key, '{', '}');
}

void collopt_json_array(struct collopt_json *j, const char *key)
{
    begin(j, key, '[', ']');
}

void collopt_json_end(struct collopt_json *j)
{
    j->depth--;
    if (j->filled[j->depth] && j->depth < 2)
        fprintf(j->to, "\n%*s", 2 * j->depth, "");
    putc(j->bracket[j->depth], j->to);
    if (j->depth == 0)
        putc('\n', j->to);
}

void collopt_json_text(struct collopt_json *j, const char *key, const char *value)
{
    next(j, key);
    if (value)
        quote(j->to, value);
    else
        fputs("null", j->to);
}

void collopt_json_count(struct collopt_json *j, const char *key, uint64_t value)
{
    next(j, key);
    fprintf(j->to, "%" PRIu64, value);
}

void collopt_json_thousandths(struct collopt_json *j, const char *key, int64_t value)
{
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;

    next(j, key);
    fprintf(j->to, "%s%" PRIu64 ".%03d", value < 0 ? "-" : "", size / 1000, (int)(size % 1000));
}

void collopt_json_real(struct collopt_json *j, const char *key, double value)
{
    char text[40];

    next(j, key);
    if (!isfinite(value)) {
        fputs("null", j->to);
        return;
    }
    collopt_digits_text(value, 9, text, sizeof text);
    fputs(text, j->to);
}

void collopt_json_flag(struct collopt_json *j, const char *key, bool value)
{
    next(j, key);
    fputs(value ? "true" : "false", j->to);
}
