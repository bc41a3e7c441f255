/* One rank of collopt doctor's second step: a small MPI program that was not compiled for any MPI
 * library.
 *
 * It opens the first of the libraries that its arguments name, so that one program serves every
 * MPI, and none need be installed where collopt was built.  What it knows of their handles is what
 * their ABIs fix.  Each line that it prints is
 *
 *     @collopt HOST KEY VALUE @
 *
 * with one write, so that lines of ranks do not mix.  Ranks but the first of a node say only how
 * many reductions went which way. */
#include "config.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { CALLS = 40, LONG = 4096 };

typedef int init_function(int *, char ***);
typedef int finalize_function(void);
typedef int version_function(char *, int *);
typedef int place_function(uintptr_t comm, int *);
typedef int allreduce_function(const void *, void *, int, uintptr_t type, uintptr_t op,
                               uintptr_t comm);
typedef uint64_t ran_function(const char *, const char *);
typedef uint64_t passed_function(const char *);

struct handles {
    uintptr_t world, integer, sum;
};

static struct utsname host;

__attribute__((format(printf, 2, 3)))
static void say(const char *key, const char *format, ...)
{
    char text[900], line[1024];
    va_list ap;
    int n;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    n = snprintf(line, sizeof line, "@collopt %s %s %s @\n", host.nodename, key, text);
    if (write(STDOUT_FILENO, line, (size_t)n) < 0)
        exit(1);
}

/* The rank among those of its node, as launchers say it; 0 where they do not. */
static int local_rank(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                         "SLURM_LOCALID", "FLUX_TASK_LOCAL_ID" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return 0;
}

/* ABIs: Open MPI's handles are addresses of objects of its library, MPICH's are numbers. */
static int find_handles(struct handles *h)
{
    h->world = (uintptr_t)dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    h->integer = (uintptr_t)dlsym(RTLD_DEFAULT, "ompi_mpi_int");
    h->sum = (uintptr_t)dlsym(RTLD_DEFAULT, "ompi_mpi_op_sum");
    if (h->world && h->integer && h->sum)
        return 1;
    *h = (struct handles){ 0x44000000, 0x4c000405, 0x58000003 };
    return dlsym(RTLD_DEFAULT, "MPIR_Err_create_code") != NULL;
}

static int open_mpi(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL))
            return i;
    say("error", "no MPI library can be opened: %s", argc > 1 ? dlerror() : "");
    return 0;
}

/* Names libraries that are loaded by now, by parts of the names of files. */
static void say_loaded(void)
{
    static const struct { const char *key, *part;
    } wanted[] = {
        { "loaded", "/libcollopt.so" },
        { "backend", "/libcollopt-" },
        { "mpi", "/libmpi" },
        { "hwloc", "/libhwloc" },
        { "gpu-runtime", "/libcuda.so" },
        { "gpu-runtime", "/libamdhip64" },
        { "gpu-runtime", "/libze_loader" },
    };
    enum { WANTED = sizeof wanted / sizeof *wanted };
    int said[WANTED] = { 0 };
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4500];

    while (maps && fgets(line, sizeof line, maps)) {
        const char *path = strchr(line, '/');

        for (int i = 0; path && i < WANTED; i++)
            if (!said[i] && strstr(path, wanted[i].part)) {
                say(wanted[i].key, "%.*s", (int)strcspn(path, "\n"), path);
                said[i] = 1;
            }
    }
    if (maps)
        fclose(maps);
}

/* Short and long sums in turn; how many are wrong. */
static int reduce(const struct handles *h, int rank, int ranks)
{
    static int in[LONG], out[LONG];
    allreduce_function *allreduce = (allreduce_function *)(uintptr_t)dlsym(RTLD_DEFAULT,
                                                                           "MPI_Allreduce");
    int wrong = 0;

    for (int i = 0; i < CALLS; i++) {
        int n = i % 2 ? LONG : 1;

        for (int k = 0; k < n; k++)
            in[k] = rank + k;
        if (allreduce(in, out, n, h->integer, h->sum, h->world))
            return CALLS;
        for (int k = 0; k < n; k++)
            if (out[k] != ranks * (ranks - 1) / 2 + ranks * k) {
                wrong++;
                break;
            }
    }
    return wrong;
}

static void say_reductions(int wrong)
{
    ran_function *ran = (ran_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "collopt_calls");
    passed_function *passed = (passed_function *)(uintptr_t)dlsym(RTLD_DEFAULT,
                                                                  "collopt_calls_passed");

    say("reductions", "%d %d %d", CALLS, ran && passed ? (int)ran(NULL, NULL) : 0, wrong);
}

static int run(void)
{
    init_function *init = (init_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "MPI_Init");
    finalize_function *finalize = (finalize_function *)(uintptr_t)dlsym(RTLD_DEFAULT,
                                                                        "MPI_Finalize");
    version_function *version = (version_function *)(uintptr_t)dlsym(RTLD_DEFAULT,
                                                                     "MPI_Get_library_version");
    place_function *rank_of = (place_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "MPI_Comm_rank");
    place_function *size_of = (place_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "MPI_Comm_size");
    static char text[8192 + 1];         /* MPI_MAX_LIBRARY_VERSION_STRING of MPICH */
    struct handles h;
    int rank, ranks, length = 0, wrong;

    if (!init || !finalize || !version || !rank_of || !size_of || !find_handles(&h)) {
        say("error", "the MPI library has an ABI that the doctor does not know");
        return 1;
    }
    if (init(NULL, NULL) || rank_of(h.world, &rank) || size_of(h.world, &ranks)) {
        say("error", "MPI_Init failed");
        return 1;
    }
    wrong = reduce(&h, rank, ranks);
    if (local_rank() == 0) {
        version(text, &length);
        text[strcspn(text, "\n")] = '\0';
        say("version", "%.200s", text);
        say_loaded();
    }
    say("size", "%d", ranks);
    say_reductions(wrong);
    return finalize() != 0;
}

int main(int argc, char **argv)
{
    int status;

    uname(&host);
    status = open_mpi(argc, argv) == 0 || run();
    say("end", "%d", status);
    return status;
}
