/* Measurements that come with collopt: files of rules and of fragments, each for one processor and
 * one version of an MPI library. Elsewhere there are none, and the model decides. MPI_Init compares
 * their hash beside that of the settings: where nodes differ, none are used. */
#ifndef COLLOPT_SETTINGS_BUNDLED_H
#define COLLOPT_SETTINGS_BUNDLED_H

#include <stdint.h>

struct collopt_machine_file;
struct collopt_rules;
struct collopt_settings;

struct collopt_bundled {
    struct collopt_rules *rules;                /* NULL: none */
    struct collopt_machine_file *machine;       /* NULL: none */
    uint64_t hash;              /* of both; nodes with different processors have different ones */
};

/* Read once per process, thread-safe.  None if the user has a machine file or COLLOPT_MACHINE, as
 * that is about another machine. Rank 0 warns about mistakes. */
const struct collopt_bundled *collopt_bundled(void);

/* For tests: finds them for ENVIRONMENT, and calls WARN with one sentence for each file that
 * cannot be used. */
void collopt_bundled_from(struct collopt_bundled *s, char *const *environment,
                          void (*warn)(const char *sentence));

#endif
