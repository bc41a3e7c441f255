/* What collopt counted, for family.F90.  0 from everything when collopt is not there. */
#include <stdlib.h>

#include "collopt.h"

/* Prototypes for -Wmissing-prototypes; the callers are in Fortran. */
long counted(const char *collective);
long passed(const char *name);
int present_here(void);
void fail_now(void);

int present_here(void)
{
    return collopt_version != NULL;
}

/* An empty name is all names. */
long counted(const char *collective)
{
    return present_here() ? (long)collopt_calls(*collective ? collective : NULL, NULL) : 0;
}

long passed(const char *name)
{
    return present_here() ? (long)collopt_calls_passed(*name ? name : NULL) : 0;
}

void fail_now(void)
{
    exit(1);
}
