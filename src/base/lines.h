/* Reads settings files, such as rules and machines, line by line: comments after #, line ends of
 * Unix and Windows, mistakes reported with their lines. */
#ifndef COLLOPT_BASE_LINES_H
#define COLLOPT_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Reports one mistake; LINE 0: of the file as a whole. */
typedef void collopt_tell_mistake(void *data, int line, const char *sentence);

struct collopt_lines {
    const char *what;           /* "rules": the kind of text, for messages */
    collopt_tell_mistake *tell; /* NULL: no reports */
    void *data;
    int line, mistakes;         /* current line; mistakes so far */
};

/* Returns false, so that a reader can `return collopt_mistake(...)`. */
__attribute__((format(printf, 2, 3)))
bool collopt_mistake(struct collopt_lines *l, const char *format, ...);

/* Several mistakes in a file make one message: the first one, and how many there are. */
struct collopt_mistakes {
    const char *file;
    int n;
    char first[640];
};

/* A collopt_tell_mistake whose DATA is struct collopt_mistakes. */
void collopt_note_mistake(void *data, int line, const char *sentence);
/* LISTER: the command that lists all mistakes, or "". */
void collopt_mistakes_text(const struct collopt_mistakes *m, const char *lister, char *text,
                           size_t size);

/* Passes each line of TEXT, without comment and line end, to READ, which may modify it. */
void collopt_lines_read(struct collopt_lines *l, const char *text, size_t size,
                        void (*read)(struct collopt_lines *l, char *line));

#endif
