/* Finds and reads the measurements that come with collopt; see bundled.h. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>

#include "settings/bundled.h"
#include "base/arithmetic.h"
#include "base/hash.h"
#include "base/log.h"
#include "model/machine.h"
#include "settings/rules.h"
#include "settings/search_path.h"
#include "settings/settings.h"

static void tell(void (*warn)(const char *sentence), const struct collopt_mistakes *m)
{
    char message[768], sentence[1024];

    collopt_mistakes_text(m, "", message, sizeof message);
    snprintf(sentence, sizeof sentence,
             "a file of measurements that comes with collopt is not used: %s", message);
    if (warn)
        warn(sentence);
}

void collopt_bundled_from(struct collopt_bundled *s, char *const *environment,
                          void (*warn)(const char *sentence))
{
    char path[4096];
    struct collopt_mistakes m = { .file = path };

    *s = (struct collopt_bundled){ 0 };
    if (collopt_bundled_file(environment, collopt_host_name, "rules", path, sizeof path)
        && !(s->rules = collopt_rules_read(path, collopt_note_mistake, &m)))
        tell(warn, &m);
    m.n = 0;
    if (collopt_bundled_file(environment, collopt_host_name, "machine", path, sizeof path)
        && !(s->machine = collopt_machine_read(path, collopt_note_mistake, &m)))
        tell(warn, &m);
    s->hash =
        (s->rules ? s->rules->hash : 0) ^ (s->machine ? s->machine->hash * COLLOPT_HASH_PRIME : 0);
}

static struct collopt_bundled bundled;

static void warn(const char *sentence)
{
    collopt_warn("%s", sentence);
}

extern char **environ;

/* Numbers in files are the same on all ranks, however their programs round. A privileged process
 * reads no files that its user's environment leads to. */
static void read_shipped(void)
{
    uint64_t arithmetic = collopt_default_fpenv();

    if (collopt_settings()->bundled)
        collopt_bundled_from(&bundled, getauxval(AT_SECURE) ? NULL : environ, warn);
    collopt_arithmetic_of(arithmetic);
}

const struct collopt_bundled *collopt_bundled(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_shipped);
    return &bundled;
}
