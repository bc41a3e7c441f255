/* What the targets share; see parsers.h. */
#include "config.h"

#include "parsers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wrong(const char *format, ...)
{
    va_list ap;

    fputs("WRONG: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    abort();
}

char *bytes_of(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size ? size : 1);

    if (!bytes)
        exit(0);                /* no memory is nobody's mistake here */
    memcpy(bytes, size ? data : (const uint8_t *)"", size);
    return bytes;
}

char *text_of(const uint8_t *data, size_t size)
{
    char *text = size ? strndup((const char *)data, size) : strdup("");

    if (!text)
        exit(0);
    return text;
}

void is_sentence(const char *sentence)
{
    if (!*sentence || strchr(sentence, '\n') || strlen(sentence) >= 1024)
        wrong("an odd message: \"%s\"", sentence);
}

struct told nothing_told(const uint8_t *data, size_t size)
{
    struct told t = { .lines = 1 };

    for (size_t i = 0; i < size; i++)
        t.lines += data[i] == '\n';
    return t;
}

void hear(void *data, int line, const char *sentence)
{
    struct told *t = data;

    if (line < 0 || line > t->lines)
        wrong("line %d of %d: %s", line, t->lines, sentence);
    is_sentence(sentence);
    t->n++;
}

unsigned next_byte(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}
