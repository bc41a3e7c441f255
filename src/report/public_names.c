/* The functions of include/collopt.h by their exported names, forwarded to the backend's table; see
 * public.h. */
#include "config.h"

#define COLLOPT_API __attribute__((visibility("default")))
#include "collopt.h"
#include "front/public.h"

#ifdef COLLOPT_STATIC
# include "report/public.h"

static const struct collopt_public *public_table(void)
{
    return &collopt_public;
}
#else
# include "front/bind.h"
# include "front/binding.h"
# include "front/calls.h"

/* These functions may be called where there is no MPI, or not yet. */
static const struct collopt_public *public_table(void)
{
    const struct collopt_binding *b = collopt_front_bind_if_found(collopt_optional);

    return b && b->backend ? b->backend->public_table : NULL;
}
#endif

unsigned collopt_version(void)
{
    return COLLOPT_VERSION;
}

const char *collopt_collective_name(int i)
{
    const struct collopt_public *t = public_table();

    return t ? t->collective_name(i) : NULL;
}

int collopt_algorithm_count(const char *collective)
{
    const struct collopt_public *t = public_table();

    return t ? t->algorithm_count(collective) : -1;
}

const char *collopt_algorithm_name(const char *collective, int i)
{
    const struct collopt_public *t = public_table();

    return t ? t->algorithm_name(collective, i) : NULL;
}

const char *collopt_algorithm_summary(const char *collective, int i)
{
    const struct collopt_public *t = public_table();

    return t ? t->algorithm_summary(collective, i) : NULL;
}

int collopt_explain(const char *collective, int ranks, uint64_t bytes, int commutative, char *text,
                    size_t size)
{
    const struct collopt_public *t = public_table();

    return t ? t->explain(collective, ranks, bytes, commutative, text, size) : -1;
}

uint64_t collopt_calls(const char *collective, const char *algorithm)
{
    const struct collopt_public *t = public_table();

    return t ? t->calls(collective, algorithm) : 0;
}

uint64_t collopt_calls_passed(const char *mpi_name)
{
    const struct collopt_public *t = public_table();

    return t ? t->calls_passed(mpi_name) : 0;
}
