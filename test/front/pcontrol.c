/* The front's MPI_Pcontrol between a caller and a function of the host, without an MPI: for
 * processors that are emulated. */

#include <stdarg.h>
#include <stdio.h>

#include "front/bind.h"
#include "front/binding.h"
#include "front/calls.h"

int MPI_Pcontrol(const int level, ...);
int PMPI_Pcontrol(const int level, ...);

static int controlled, arrived;

static void control(int level)
{
    volatile double disturb[16];

    for (int i = 0; i < 16; i++)
        disturb[i] = level * i;
    controlled += level + (disturb[3] < 0);
}

static int host(const int level, ...)
{
    va_list list;
    int right = 1;

    va_start(list, level);
    for (int i = 1; i <= 10; i++)
        right = right && va_arg(list, int) == i && va_arg(list, double) == i + 0.5
            && va_arg(list, long long) == i * 10000000000;
    right = right && va_arg(list, long double) == 0.25L;
    va_end(list);
    arrived += right;
    return 40 + level;
}

_Atomic(const struct collopt_binding *) collopt_bound;

const struct collopt_optional collopt_optional[] = { { 0 } };

const struct collopt_binding *collopt_front_bind(const void *caller,
                                                 const struct collopt_optional *optional)
{
    static struct collopt_binding b = { .unsupported = 77 };

    (void)caller;
    (void)optional;
    b.mpi[COLLOPT_NAME_PCONTROL] = b.pmpi[COLLOPT_NAME_PCONTROL] = (collopt_function)control;
    b.host[COLLOPT_NAME_PCONTROL] = (collopt_function)host;
    return &b;
}

#define TRIPLE(i)       i, i + 0.5, i * 10000000000LL
#define ARGUMENTS       TRIPLE(1), TRIPLE(2), TRIPLE(3), TRIPLE(4), TRIPLE(5), TRIPLE(6), \
    TRIPLE(7), TRIPLE(8), TRIPLE(9), \
                        TRIPLE(10), 0.25L

int main(void)
{
    int first = MPI_Pcontrol(1, ARGUMENTS), second = PMPI_Pcontrol(2, ARGUMENTS);

    if (first == 41 && second == 42 && controlled == 3 && arrived == 2)
        return 0;
    printf("MPI_Pcontrol: returned %d and %d, controlled %d, arguments came %d times of 2\n", first,
           second, controlled, arrived);
    return 1;
}
