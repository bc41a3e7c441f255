/* The switches above this host, as the scheduler's environment names them. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "topology/scheduler.h"

/* The host's name, which comes last, may have dots of its own. */
size_t collopt_slurm_switches(const char *address, const char *pattern)
{
    const char *at = address;

    for (; *pattern; pattern += strcspn(pattern, ".") + 1) {
        bool last = pattern[strcspn(pattern, ".")] == '\0';

        if (last)
            return strcmp(pattern, "node") == 0 && *at && at > address ? (size_t)(at - address) - 1
                                                                       : 0;
        if (at[strcspn(at, ".")] == '\0' || *at == '.')
            return 0;
        at += strcspn(at, ".") + 1;
    }
    return 0;
}

/* FNV-1a, but never 0, which stands for no switch. */
static uint32_t hash_of(const char *text, size_t n)
{
    uint32_t h = 0x811c9dc5u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x01000193u;
    return h ? h : 1;
}

bool collopt_launched_switches(uint32_t *pattern, uint32_t *branch, uint32_t *address)
{
    const char *path = getenv("SLURM_TOPOLOGY_ADDR"),
               *kinds = getenv("SLURM_TOPOLOGY_ADDR_PATTERN");
    size_t n = path && kinds ? collopt_slurm_switches(path, kinds) : 0;

    if (n == 0)
        return false;
    *pattern = hash_of(kinds, strlen(kinds));
    *branch = hash_of(path, n);
    *address = hash_of(path, strlen(path));
    return true;
}
