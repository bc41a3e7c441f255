/* A program without MPI that opens extension modules with MPI, out of everybody's sight, as Python
 * does.
 *
 *     loader FILE...       runs what each module has to run; libcollopt is opened for all to see,
 *                          as mpi4py.profile
 * does */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int run_function(int, char **);

static int is_tool(const char *file)
{
    return strstr(file, "libcollopt") != NULL;
}

int main(int argc, char **argv)
{
    int err = 0;

    for (int i = 1; i < argc && !err; i++) {
        void *file = dlopen(argv[i], RTLD_NOW | (is_tool(argv[i]) ? RTLD_GLOBAL : RTLD_LOCAL));
        run_function *run = file && !is_tool(argv[i]) ? (run_function *)dlsym(file, "run") : NULL;

        if (!file || (!run && !is_tool(argv[i])))
            return fprintf(stderr, "%s\n", dlerror()), 1;
        err = run ? run(1, argv) : 0;
    }
    return err;
}
