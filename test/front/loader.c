/* A program without MPI that opens an extension module with MPI, out of everybody's sight, as Python does.
 *
 *     loader MODULE [TOOL]     TOOL is opened first, for all to see, as mpi4py.profile does */

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc > 2 && !dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL))
        return fprintf(stderr, "%s\n", dlerror()), 1;

    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(int, char **) = module ? (int (*)(int, char **))dlsym(module, "run") : NULL;

    if (!run)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    return run(1, argv);
}
