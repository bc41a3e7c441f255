/* Texts of settings, such as rules and machines, line by line: comments behind #, lines that end as on Unix or Windows, and
 * mistakes that are told with their lines. */
#ifndef COLLOPT_LINES_H
#define COLLOPT_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Hears of one mistake; LINE 0: of the file as a whole. */
typedef void collopt_tell_mistake(void *data, int line, const char *sentence);

struct collopt_lines {
    const char *what;           /* "rules": what the text is, for messages */
    collopt_tell_mistake *tell; /* NULL: nobody hears */
    void *data;
    int line, mistakes;         /* where we are; how many there were */
};

/* Returns false, so that a reader can `return collopt_mistake(...)`. */
__attribute__((format(printf, 2, 3)))
bool collopt_mistake(struct collopt_lines *l, const char *format, ...);

/* Gives each line of TEXT, without its comment and its end, to READ, who may change it. */
void collopt_lines_read(struct collopt_lines *l, const char *text, size_t size,
                        void (*read)(struct collopt_lines *l, char *line));

#endif
