/* The environment, a variable to a line: each is taken, or passed over with a message; what is
 * taken means the same when it is written out. */
#include "config.h"

#include "parsers.h"
#include "settings/rules.h"
#include "settings/settings.h"
#include "model/machine.h"
#include "topology/host_file.h"

#include <stdlib.h>
#include <string.h>

enum { VARIABLES = 40, TEXT = 8192 };

static int warned;

static void count_warning(const char *sentence)
{
    is_sentence(sentence);
    warned++;
}

/* What a process keeps to its end. */
static void free_settings(struct collopt_settings *s)
{
    const struct collopt_setting_row *row;
    int n;

    row = collopt_setting_rows(&n);
    for (int i = 0; i < n; i++)
        if (row[i].kind >= COLLOPT_TEXT)
            free(*(char **)((char *)s + row[i].field));
    if (s->rules)
        collopt_rules_free((struct collopt_rules *)s->rules);
    if (s->machine)
        collopt_machine_free((struct collopt_machine_file *)s->machine);
    if (s->hosts)
        collopt_hosts_free((struct collopt_hosts *)s->hosts);
}

static void read_settings(struct collopt_settings *s, char *const *environment)
{
    int mistakes;

    warned = 0;
    mistakes = collopt_settings_from(s, environment, count_warning);
    if (mistakes != warned)
        wrong("%d mistakes, %d messages", mistakes, warned);
}

static void is_written_back(const struct collopt_settings *s)
{
    static char text[VARIABLES][TEXT];
    char *environment[VARIABLES + 1];
    struct collopt_settings again;
    const struct collopt_setting_row *row;
    size_t name;
    int n;

    row = collopt_setting_rows(&n);
    if (n > VARIABLES)
        wrong("VARIABLES is less than %d", n);
    for (int i = 0; i < n; i++) {
        name = (size_t)snprintf(text[i], TEXT, "%s=", row[i].name);
        collopt_setting_value_text(s, &row[i], text[i] + name, TEXT - name);
        environment[i] = text[i];
    }
    environment[n] = NULL;
    read_settings(&again, environment);
    for (int i = 0; i < n; i++)
        if (collopt_setting_hash(s, &row[i]) != collopt_setting_hash(&again, &row[i]))
            wrong("%s means something else", text[i]);
    free_settings(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size), *rest = text, *environment[VARIABLES + 1];
    struct collopt_settings s;
    int n = 0;

    while (rest && n < VARIABLES)
        environment[n++] = strsep(&rest, "\n");
    environment[n] = NULL;
    read_settings(&s, environment);
    if (size < TEXT / 2)
        is_written_back(&s);
    free_settings(&s);
    free(text);
    return 0;
}
