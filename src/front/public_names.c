/* The functions of include/collopt.h by their exported names, forwarded to the backend's table; see
 * public.h. */
#if HAVE_CONFIG_H
# include "config.h"
#endif

#define COLLOPT_API __attribute__((visibility("default")))
#include "collopt.h"
#include "public.h"

#ifdef COLLOPT_STATIC
const struct collopt_public *collopt_public_table(void)
{
    return &collopt_public;
}
#endif

unsigned collopt_version(void)
{
    return COLLOPT_VERSION;
}

const char *collopt_collective_name(int i)
{
    const struct collopt_public *t = collopt_public_table();

    return t ? t->collective_name(i) : NULL;
}

int collopt_algorithm_count(const char *collective)
{
    const struct collopt_public *t = collopt_public_table();

    return t ? t->algorithm_count(collective) : -1;
}

const char *collopt_algorithm_name(const char *collective, int i)
{
    const struct collopt_public *t = collopt_public_table();

    return t ? t->algorithm_name(collective, i) : NULL;
}

const char *collopt_algorithm_summary(const char *collective, int i)
{
    const struct collopt_public *t = collopt_public_table();

    return t ? t->algorithm_summary(collective, i) : NULL;
}

int collopt_explain(const char *collective, int ranks, uint64_t bytes, int commutative, char *text,
                    size_t size)
{
    const struct collopt_public *t = collopt_public_table();

    return t ? t->explain(collective, ranks, bytes, commutative, text, size) : -1;
}

uint64_t collopt_calls(const char *collective, const char *algorithm)
{
    const struct collopt_public *t = collopt_public_table();

    return t ? t->calls(collective, algorithm) : 0;
}

uint64_t collopt_calls_passed(const char *mpi_name)
{
    const struct collopt_public *t = collopt_public_table();

    return t ? t->calls_passed(mpi_name) : 0;
}
