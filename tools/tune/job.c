/* The job that measures: found, started under the user's launcher, talked with, ended. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tune/job.h"
#include "schedule/problem.h"
#include "tune/options.h"
#include "tune/text.h"

extern char **environ;

static const char mark[] = "@collopt ";

/* ---- where things are: in a build tree, else installed, perhaps moved since ------------------ */

static void directory_of_tool(char here[TUNE_PATH])
{
    ssize_t n = readlink("/proc/self/exe", here, TUNE_PATH - 1);
    char *slash;

    here[n > 0 ? n : 0] = '\0';
    slash = strrchr(here, '/');
    if (slash)
        *slash = '\0';
}

/* The directory of libraries, as far from HERE as configure said. */
static void directory_of_libraries(const char *here, char path[TUNE_PATH])
{
    static const char prefix[] = COLLOPT_PREFIX, bindir[] = COLLOPT_BINDIR,
                      libdir[] = COLLOPT_LIBDIR;
    size_t n = strlen(prefix);
    const char *below_bin = strncmp(bindir, prefix, n) ? "" : bindir + n;
    const char *below_lib = strncmp(libdir, prefix, n) ? "" : libdir + n;
    size_t up = strlen(here) - (strlen(here) >= strlen(below_bin) ? strlen(below_bin) : 0);

    if (strcmp(here + up, below_bin) == 0)
        snprintf(path, TUNE_PATH, "%.*s%s", (int)up, here, below_lib);
    else
        snprintf(path, TUNE_PATH, "%s", libdir);
}

static bool find_library(char path[TUNE_PATH])
{
    char here[TUNE_PATH], libraries[TUNE_PATH], tried[2 * TUNE_PATH];

    directory_of_tool(here);
    snprintf(tried, sizeof tried, "%s/../.libs/libcollopt.so", here);
    if (access(tried, R_OK) != 0) {
        directory_of_libraries(here, libraries);
        snprintf(tried, sizeof tried, "%s/libcollopt.so.0", libraries);
    }
    if (realpath(tried, path) && !strpbrk(path, " :"))
        return true;
    tune_say("%s: %s", tried,
             access(tried, R_OK) ? strerror(errno)
                                 : "the loader takes no path with a space or a colon");
    return false;
}

static bool find_program(const char *mpi, char path[TUNE_PATH])
{
    char here[TUNE_PATH], tried[2 * TUNE_PATH];

    directory_of_tool(here);
    snprintf(tried, sizeof tried, "%s/../bench/%s/collopt-bench", here, mpi);
    if (access(tried, X_OK) != 0)
        snprintf(tried, sizeof tried, "%s/collopt-bench-%s", here, mpi);
    return access(tried, X_OK) == 0 && realpath(tried, path);
}

/* ---- which MPI it is ------------------------------------------------------------------------- */

/* What NAME --version says; false: it cannot be started. */
static bool version_of(const char *name, char *text, size_t size)
{
    char *argv[] = { (char *)name, (char *)"--version", NULL };
    posix_spawn_file_actions_t actions;
    size_t n = 0;
    ssize_t got;
    int ends[2], err;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    err = posix_spawnp(&pid, name, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    while (!err && n + 1 < size && (got = read(ends[0], text + n, size - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(ends[0]);
    if (err)
        errno = err;
    else
        waitpid(pid, NULL, 0);
    return !err;
}

/* "openmpi", "mpich"; NULL: the launcher does not say. */
static const char *kind(const char *version)
{
    static const struct { const char *word, *mpi;
    } words[] = {
        { "Open MPI", "openmpi" }, { "OpenRTE", "openmpi" }, { "PRRTE", "openmpi" },
        { "prte", "openmpi" },     { "HYDRA", "mpich" },     { "Intel(R) MPI", "mpich" },
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(version, words[i].word))
            return words[i].mpi;
    return NULL;
}

int tune_programs(const struct tune_options *o, char program[TUNE_PROGRAMS][TUNE_PATH])
{
    static const char *const known[] = { "openmpi", "mpich" };
    char version[4000];
    const char *mpi = o->mpi;
    int n = 0;

    if (!version_of(o->word[0], version, sizeof version)) {
        tune_say("%s cannot be started: %s", o->word[0], strerror(errno));
        return 0;
    }
    if (o->program) {
        snprintf(program[0], TUNE_PATH, "%s", o->program);
        if (access(o->program, X_OK) == 0)
            return 1;
        tune_say("--program: %s: %s", o->program, strerror(errno));
        return 0;
    }
    if (!mpi)
        mpi = kind(version);
    for (int i = 0; i < TUNE_PROGRAMS; i++)
        if ((!mpi || strcmp(mpi, known[i]) == 0) && find_program(known[i], program[n]))
            n++;
    if (n == 0)
        tune_say("collopt-bench-%s, which measures, is not here: was collopt built for that MPI?",
                 mpi ? mpi : "openmpi and -mpich");
    return n;
}

/* ---- its command ----------------------------------------------------------------------------- */

/* The environment of the ranks: all variables that the user has set, but none that
 * chooses algorithms. */
static bool goes_along(const char *variable)
{
    static const char *const kept[] = { "COLLOPT=",        "COLLOPT_RULES=", "COLLOPT_LOG=",
                                        "COLLOPT_REPORT=", "COLLOPT_ADAPT=", "COLLOPT_CHECK=" };

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strncmp(variable, kept[i], strlen(kept[i])) == 0)
            return false;
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        const char *name = collopt_collective_names[c];
        size_t n = strlen(name);

        if (strncasecmp(variable + 8, name, n) == 0 && variable[8 + n] == '=')
            return false;
    }
    return true;
}

static char *joined(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = tune_must(malloc(size));

    snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

/* LAUNCHER ... env NAME=VALUE ... PROGRAM --serve.  Any launcher takes that; words are never
 * freed. */
static char **command(const struct tune_options *o, const char *program, const char *library)
{
    const char *preload = getenv("LD_PRELOAD");
    int n = 0, variables = 0;
    char **argv;

    while (environ[variables])
        variables++;
    argv = tune_must(calloc((size_t)(o->words + variables + 9), sizeof *argv));
    for (int i = 0; i < o->words; i++)
        argv[n++] = o->word[i];
    argv[n++] = (char *)"env";
    argv[n++] = joined("LD_PRELOAD=", library, preload && *preload ? joined(":", preload, "") : "");
    argv[n++] = (char *)"COLLOPT_RULES=none";           /* nor those in a default place */
    for (int i = 0; i < variables; i++)
        if (strncmp(environ[i], "COLLOPT_", 8) == 0 && goes_along(environ[i]))
            argv[n++] = environ[i];
    argv[n++] = (char *)program;
    argv[n++] = (char *)"--serve";
    return argv;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void tune_write_variables(FILE *to)
{
    int variables = 0, n = 0;
    char **variable;

    while (environ[variables])
        variables++;
    variable = tune_must(calloc((size_t)variables + 1, sizeof *variable));
    for (int i = 0; i < variables; i++)
        if (strncmp(environ[i], "COLLOPT_", 8) == 0 && goes_along(environ[i]))
            variable[n++] = environ[i];
    qsort(variable, (size_t)n, sizeof *variable, by_text);
    for (int i = 0; i < n; i++) {
        fputc(' ', to);
        tune_write_word(variable[i], to);
    }
    free(variable);
}

/* Of this process too: its own choice shall be the built-in one. */
static void clean_environment(void)
{
    for (int i = 0; environ[i]; i++)
        if ((strncmp(environ[i], "COLLOPT_", 8) == 0 || strncmp(environ[i], "COLLOPT=", 8) == 0)
            && !goes_along(environ[i])) {
            char *name = tune_must(strndup(environ[i], strcspn(environ[i], "=")));

            unsetenv(name);
            free(name);
            i = -1;
        }
}

/* ---- the job --------------------------------------------------------------------------------- */

/* ARGV with its standard input and output at these; what this process ignores, it does not. */
static int spawn(pid_t *pid, char **argv, int in, int out)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t ignored;
    int err;

    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &ignored);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    err = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return err;
}

bool tune_job_start(struct tune_job *job, const struct tune_options *o, const char *program)
{
    char library[TUNE_PATH], **argv;
    int to[2], from[2], err;

    clean_environment();
    if (!find_library(library))
        return false;
    argv = command(o, program, library);
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
        tune_say("no pipe: %s", strerror(errno));
        return false;
    }
    err = spawn(&job->pid, argv, to[0], from[1]);
    free(argv);
    close(to[0]);
    close(from[1]);
    job->to = tune_must(fdopen(to[1], "w"));
    job->from = tune_must(fdopen(from[0], "r"));
    if (err)
        tune_say("%s cannot be started: %s", o->word[0], strerror(err));
    return !err;
}

/* The rest of LINE after its last mark: a killed process may leave part of a line before that
 * of another. */
static char *marked(char *line)
{
    char *at = NULL;

    for (char *next = line; (next = strstr(next, mark)); next = at)
        at = next + sizeof mark - 1;
    return at;
}

const char *tune_job_answer(struct tune_job *job)
{
    while (getline(&job->line, &job->room, job->from) > 0) {
        char *at = marked(job->line);

        if (at) {
            at[strcspn(at, "\r\n")] = '\0';
            return at;
        }
        fputs(job->line, stderr);
    }
    return NULL;
}

int tune_job_end(struct tune_job *job, bool at_once)
{
    int status = 0;

    fputs("end\n", job->to);
    fclose(job->to);
    if (at_once)
        kill(job->pid, SIGTERM);
    while (tune_job_answer(job))
        ;
    fclose(job->from);
    free(job->line);
    while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
