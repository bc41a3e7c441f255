/* Which of the names that not every host has does this program find? By weak references, after
 * MPI_Init, and by dlsym. The MPI library's header may have no such function.
 *
 *     names        one line for each way; the names that are there are also called, where rank 0
 *                  says what came of
 * it */

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

typedef int anything(void);

extern anything weak_large __asm__("MPI_Allreduce_c") __attribute__((weak));
extern anything weak_large_p __asm__("PMPI_Allreduce_c") __attribute__((weak));
extern anything weak_persistent __asm__("MPI_Allreduce_init") __attribute__((weak));
extern anything weak_extension __asm__("MPIX_Allreduce_init") __attribute__((weak));
extern anything weak_base __asm__("MPI_Allreduce") __attribute__((weak));

/* filled by the loader, and read-only afterwards */
static anything *const table[] = { weak_large, weak_persistent };

__attribute__((noinline, noclone)) static void say(const char *when)
{
    fprintf(stderr, "%s: %d %d %d %d %d table %d %d\n", when, weak_large != NULL,
            weak_large_p != NULL, weak_persistent != NULL, weak_extension != NULL,
            weak_base != NULL, ((anything *const volatile *)table)[0] != NULL,
            ((anything *const volatile *)table)[1] != NULL);
}

int main(int argc, char **argv)
{
    int rank, sum = 0;
    typedef int large_function(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
    large_function *large;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    say("weak after");
    fprintf(stderr, "dlsym: %d %d %d\n", dlsym(RTLD_DEFAULT, "MPI_Allreduce_c") != NULL,
            dlsym(RTLD_DEFAULT, "MPI_Allreduce_init") != NULL,
            dlsym(RTLD_DEFAULT, "MPIX_Allreduce_init") != NULL);
    large = (large_function *)&weak_large;
    if (large)
        large(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    large = (large_function *)dlsym(RTLD_DEFAULT, "MPI_Allreduce_c");
    if (large)
        large(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
