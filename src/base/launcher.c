/* Reads the launcher's environment variables. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <strings.h>

#include "base/launcher.h"
#include "base/text.h"

/* The number that the first of N variables holds; -1: none is set. */
static int launched(const char *const *variables, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = getenv(variables[i]);
        size_t value;

        if (text && collopt_parse_size(text, &value) && value <= INT_MAX)
            return (int)value;
    }
    return -1;
}

int collopt_launched_rank(void)
{
    static const char *const variables[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                             "SLURM_PROCID" };

    return launched(variables, sizeof variables / sizeof *variables);
}

int collopt_launched_local_ranks(void)
{
    static const char *const variables[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS" };

    return launched(variables, sizeof variables / sizeof *variables);
}

/* As Open MPI reads it. */
static bool says_yes(const char *value)
{
    static const char *const yes[] = { "true", "t", "yes", "y", "enabled" };
    char *end;
    long number = strtol(value, &end, 10);

    if (*value && *end == '\0')
        return number != 0;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (strcasecmp(value, yes[i]) == 0)
            return true;
    return false;
}

bool collopt_launched_to_yield(void)
{
    const char *asked = getenv("OMPI_MCA_mpi_yield_when_idle"),
               *crowded = getenv("OMPI_MCA_mpi_oversubscribe");

    return asked ? says_yes(asked) : crowded && says_yes(crowded);
}
