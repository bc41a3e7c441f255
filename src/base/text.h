/* Words, numbers, sizes and ranges in texts of users: the nearest valid word, 1.5, 64K and 65536,
 * 2-16. */
#ifndef COLLOPT_BASE_TEXT_H
#define COLLOPT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Word I of "on|off", which has *N bytes; NULL: there are fewer. */
const char *collopt_word(const char *words, int i, size_t *n);
/* The index of TEXT, N bytes, among them; -1. */
int collopt_word_index(const char *words, const char *text, size_t n);
/* The index of the word nearest to WORD by edit distance; -1 if none is near. */
int collopt_nearest(const char *word, int n, const char *(*nth)(int i, const void *data),
                    const void *data);
/* The same without word BUT: the second nearest, where BUT is the nearest. */
int collopt_nearest_but(const char *word, int n, const char *(*nth)(int i, const void *data),
                        const void *data, int but);
/* Writes LEAD, the nearest word and "?" to HINT, or nothing if none is near; returns HINT. */
enum { COLLOPT_HINT = 120 };
const char *collopt_hint(char hint[COLLOPT_HINT], const char *lead, const char *word, int n,
                         const char *(*nth)(int i, const void *data), const void *data);
/* The index of WORD among N words; -1, with a sentence in MESSAGE, "there is no WHAT "WORD"; there
 * is ...", if it is none of them. */
int collopt_word_among(const char *what, const char *word, int n,
                       const char *(*nth)(int i, const void *data), char *message, size_t size);
/* Letters of ASCII without regard to case, whatever the locale that the program has set; as
 * strncasecmp() compares. */
char collopt_lower(char c);
int collopt_compare_words(const char *a, const char *b, size_t n);
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
/* "1.5", whatever the locale that the program has set; no sign, no exponent, at most 18 digits.
 * *END is what follows. */
bool collopt_parse_decimal(const char *text, double *value, const char **end);
/* A text of at most SIZE bytes.  collopt_add() appends to it and drops what does not fit; it
 * returns false, so that a parser can return its result. */
struct collopt_text {
    char *text;
    size_t size, n;
};
__attribute__((format(printf, 2, 3)))
bool collopt_add(struct collopt_text *t, const char *format, ...);
/* As printf's "%.*f" and "%.*g" write VALUE, with this decimal point. Return the length. */
int collopt_fixed_text(double value, int behind, char *text, size_t size);
int collopt_digits_text(double value, int digits, char *text, size_t size);
/* "12.3 us": three digits, and no more than four before a unit. */
void collopt_seconds_text(double seconds, char *text, size_t size);
/* Writes VALUE in the shortest form: 65536 is "64K". */
void collopt_size_text(size_t value, char *text, size_t size);

#endif
