/* Choices as users write them: name[:key=value,...], nested choices in parentheses. */
#ifndef COLLOPT_CATALOGUE_EXPRESSION_H
#define COLLOPT_CATALOGUE_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/problem.h"

struct collopt_choice;

/* Parses TEXT for collective C.  On failure returns false and writes a sentence to MESSAGE that
 * names the mistake and what would be right. */
bool collopt_parse_choice(const char *text, enum collopt_collective c,
                          struct collopt_choice *choice, char *message, size_t size);
/* Bytes that suffice for any choice of the library, with all parameters. */
enum { COLLOPT_CHOICE_TEXT = 252 };
/* "ring:segment=64K", "host": the text parses to the same choice; returns the length as snprintf
 * does. */
int collopt_choice_text(const struct collopt_choice *choice, char *text, size_t size);

#endif
