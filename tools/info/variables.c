/* collopt-info --variable: a row of src/settings/settings.c with the paragraphs of
 * doc/manual/variables.md. */
#include "config.h"

#include "info/variables.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WIDTH = 79, INDENT = 2 };

static const char prefix[] = "COLLOPT_";

static const char *nth_name(int i, const void *data)
{
    (void)data;
    return variable_texts[i].name;
}

static const char *text_of(const char *name)
{
    for (const struct variable_text *t = variable_texts; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t->text;
    return "";
}

static bool is_bare(const char *name)
{
    return strncasecmp(name, prefix, sizeof prefix - 2) != 0;
}

static const struct collopt_setting_row *row_named(const char *name)
{
    int n;
    const struct collopt_setting_row *rows = collopt_setting_rows(&n);

    for (int i = 0; i < n; i++)
        if (strcasecmp(rows[i].name, name) == 0
            || (is_bare(name) && strlen(rows[i].name) >= sizeof prefix
                && strcasecmp(rows[i].name + sizeof prefix - 1, name) == 0))
            return &rows[i];
    return NULL;
}

/* One line of the text over as many as it takes, those of an item under its first word. */
static void print_wrapped(const char *line, size_t length)
{
    int item = length > 2 && line[0] == '*' ? INDENT : 0, column = 0;

    for (size_t i = 0, n; i < length; i += n + 1) {
        n = strcspn(line + i, " \n");
        if (column && column + 1 + (int)n > WIDTH) {
            putchar('\n');
            column = 0;
        }
        column += printf("%*s%.*s", column ? 1 : i ? INDENT + item : INDENT, "", (int)n, line + i);
    }
    putchar('\n');
}

static int unknown(const char *name)
{
    char whole[80], hint[COLLOPT_HINT];
    int n = 0;

    while (variable_texts[n].name)
        n++;
    snprintf(whole, sizeof whole, "%s%s", is_bare(name) ? prefix : "", name);
    fprintf(stderr,
            "collopt-info: --variable: there is no variable \"%s\";%s collopt-info --all lists "
            "them\n",
            name, collopt_hint(hint, " did you mean ", whole, n, nth_name, NULL));
    return 2;
}

const char *variable_scope(const struct collopt_setting_row *row)
{
    return row->scope == COLLOPT_AGREED ? "Must be the same on all ranks."
           : row->scope == COLLOPT_SET_AGREED ? "Must be set on all ranks or on none." : "";
}

int variable_print(const char *name, const struct collopt_settings *s)
{
    const struct collopt_setting_row *row = row_named(name);
    char value[512];

    if (!row)
        return unknown(name);
    collopt_setting_value_text(s, row, value, sizeof value);
    printf("%s=%s\n", row->name, row->values);
    printf("  here \"%s\"; default \"%s\"\n", value, row->preset);
    for (const char *line = text_of(row->name); *line; line += strcspn(line, "\n") + 1) {
        if (*line != '*')
            putchar('\n');
        print_wrapped(line, strcspn(line, "\n"));
    }
    if (*variable_scope(row))
        printf("\n  %s\n", variable_scope(row));
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
