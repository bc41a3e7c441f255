/* Texts line by line; see lines.h. */
#include "config.h"

#include "base/lines.h"

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

/* Passes one line, the N bytes at TEXT without the line end, to READ. */
static bool read_line(struct collopt_lines *l, const char *text, size_t n,
                      void (*read)(struct collopt_lines *l, char *line))
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
            return collopt_mistake(l,
                                   "a control character (byte %d) in column %zu; %s are plain text",
                                   text[i], i + 1, l->what);
    memcpy(line, text, n);
    line[n] = '\0';
    read(l, line);
    return true;
}

void collopt_lines_read(struct collopt_lines *l, const char *text, size_t size,
                        void (*read)(struct collopt_lines *l, char *line))
{
    static const char mark[] = "\xef\xbb\xbf";      /* the byte order mark, with which some editors
                                                     * begin UTF-8 */

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

void collopt_note_mistake(void *data, int line, const char *sentence)
{
    struct collopt_mistakes *m = data;

    if (m->n++ > 0)
        return;
    if (line > 0)
        snprintf(m->first, sizeof m->first, "%.200s:%d: %s", m->file, line, sentence);
    else
        snprintf(m->first, sizeof m->first, "%.200s: %s", m->file, sentence);
}

void collopt_mistakes_text(const struct collopt_mistakes *m, const char *lister, char *text,
                           size_t size)
{
    if (m->n == 1)
        snprintf(text, size, "%s", m->first);
    else
        snprintf(text, size, "%s; it has %d mistakes%s%s%s", m->first, m->n,
                 *lister ? ", which " : "", lister, *lister ? " lists" : "");
}
