/* Texts line by line; see lines.h. */
#if HAVE_CONFIG_H
# include "config.h"
#endif

#include "lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 1024 };

bool collopt_mistake(struct collopt_lines *l, const char *format, ...)
{
    char sentence[1024];
    va_list ap;

    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    l->mistakes++;
    if (l->tell)
        l->tell(l->data, l->line, sentence);
    return false;
}

/* N bytes without the end of the line. */
static bool read_line(struct collopt_lines *l, const char *text, size_t n, void (*read)(struct collopt_lines *l, char *line))
{
    const char *comment = memchr(text, '#', n);
    char line[LINE];

    if (comment)
        n = (size_t)(comment - text);
    else if (n > 0 && text[n - 1] == '\r')
        n--;
    if (n >= LINE)
        return collopt_mistake(l, "longer than %d characters", LINE - 1);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ' && text[i] != '\t')
            return collopt_mistake(l, "a control character (byte %d) in column %zu; %s are plain text", text[i], i + 1, l->what);
    memcpy(line, text, n);
    line[n] = '\0';
    read(l, line);
    return true;
}

void collopt_lines_read(struct collopt_lines *l, const char *text, size_t size, void (*read)(struct collopt_lines *l, char *line))
{
    static const char mark[] = "\xef\xbb\xbf";      /* which some editors put in front of UTF-8 */

    if (size >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0) {
        text += sizeof mark - 1;
        size -= sizeof mark - 1;
    }
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t n = end ? (size_t)(end - text) : size;

        l->line++;
        read_line(l, text, n, read);
        n += end ? 1 : 0;
        text += n;
        size -= n;
    }
}
