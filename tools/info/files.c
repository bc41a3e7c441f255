/* Asks the code that jobs ask, with the facts that they have. */
#include "config.h"

#include "info/files.h"
#include "info/installation.h"
#include "model/host_mpi.h"
#include "model/machine.h"
#include "settings/bundled.h"
#include "settings/rules.h"
#include "settings/search_path.h"
#include "settings/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

const char *const file_kinds[FILE_KINDS] = { "rules", "machine", "shipped_rules",
                                             "shipped_machine" };

/* The files that a job would have read; --check and the job report mistakes in them. */
struct read {
    bool done;
    struct collopt_settings settings;
    struct collopt_bundled shipped;
    struct files_used used;
};

static void read_as_job(struct read *r)
{
    r->done = true;
    collopt_settings_from(&r->settings, environ, NULL);
    if (r->settings.bundled)
        collopt_bundled_from(&r->shipped, environ, NULL);
    r->used = (struct files_used){ {
        [FILE_RULES] = r->settings.rules ? r->settings.rules->file : NULL,
        [FILE_MACHINE] = r->settings.machine ? r->settings.machine->file : NULL,
        [FILE_SHIPPED_RULES] = r->shipped.rules ? r->shipped.rules->file : NULL,
        [FILE_SHIPPED_MACHINE] = r->shipped.machine ? r->shipped.machine->file : NULL,
    } };
}

const struct files_used *files_used(int mpi)
{
    static struct read of[COLLOPT_MPIS];
    const char *name = collopt_host_name, *version = collopt_host_version;

    if (!of[mpi].done) {
        collopt_host_name = collopt_mpi_names[mpi];
        if (strcmp(name, collopt_host_name) != 0)
            collopt_host_version = built_with(collopt_host_name);
        read_as_job(&of[mpi]);
        collopt_host_name = name;
        collopt_host_version = version;
    }
    return &of[mpi].used;
}
