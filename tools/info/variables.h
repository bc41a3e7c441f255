/* The manual's entries of environment variables, for users who have no manual at hand. */
#ifndef COLLOPT_TOOLS_INFO_VARIABLES_H
#define COLLOPT_TOOLS_INFO_VARIABLES_H

#include "settings/settings.h"

struct variable_text {
    /* paragraphs and items of lists ("* auto: ..."), each ended by a line feed */
    const char *name, *text;
};

/* One for each row of src/settings/settings.c; the last one has no name.  Made from
 * doc/manual/variables.md. */
extern const struct variable_text variable_texts[];

/* "The same on all ranks", or which ranks may differ; "" where all may. */
const char *variable_scope(const struct collopt_setting_row *row);
/* Prints the variable NAME, whose prefix may be missing, with its value in S; 0, or 2 after a
 * message if there is none. */
int variable_print(const char *name, const struct collopt_settings *s);

#endif
