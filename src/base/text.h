/* Words, sizes and ranges in texts of users: the nearest valid word, 64K and 65536, 2-16. */
#ifndef COLLOPT_BASE_TEXT_H
#define COLLOPT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The index of the word nearest to WORD by edit distance; -1 if none is near. */
int collopt_nearest(const char *word, int n, const char *(*nth)(int i, const void *data),
                    const void *data);
/* Parses "64K", "3G", "512": bytes with K, M, G, T as powers of 1024; rejects signs, garbage and
 * overflow. */
bool collopt_parse_size(const char *text, size_t *value);
/* The same of the first N characters of TEXT; BYTES: with a unit, else a plain number. */
bool collopt_parse_number(const char *text, size_t n, bool bytes, size_t *value);
/* "8", "2-16", "64K-", or "*" for all. Whether it is empty (16-2) is for the caller to check. */
struct collopt_range {
    size_t least, most;         /* inclusive */
};
bool collopt_parse_range(const char *word, struct collopt_range *range);
/* The other way, shortest form first: 65536 is "64K". */
void collopt_size_text(size_t value, char *text, size_t size);

#endif
