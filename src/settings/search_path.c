/* The search path for files of rules and machines if no variable names one: in the user's
 * directory, then in the system's, and there under the name of the host MPI, its version and the
 * processor, or of MPI and processor, or of the MPI, or "site":
 *
 *     $XDG_CONFIG_HOME/collopt  or  $HOME/.config/collopt         SYSCONFDIR/collopt
 *     openmpi-4.1-amd-epyc-7742-64-core-processor.machine
 *     openmpi-amd-epyc-7742-64-core-processor.machine    openmpi.machine    site.machine
 *
 * The first one that exists is used.  Files that come with collopt have the first of these names,
 * in $XDG_DATA_DIRS/collopt and DATADIR/collopt.  Simulated ranks look nowhere: they are on
 * another machine. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "settings/search_path.h"
#include "base/text.h"

#ifndef COLLOPT_SYSCONFDIR
# define COLLOPT_SYSCONFDIR "/etc"
#endif
#ifndef COLLOPT_DATADIR
# define COLLOPT_DATADIR "/usr/share"
#endif

/* A backend has its own (host.c). */
__attribute__((weak)) const char *collopt_host_name = "";
__attribute__((weak)) const char *collopt_host_version = "";

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

void collopt_processor_word(const char *name, char *word, size_t size)
{
    size_t n = 0;

    for (; *name && n + 1 < size; name++)
        if (is_word(collopt_lower(*name)))
            word[n++] = collopt_lower(*name);
        else if (n > 0 && word[n - 1] != '-')
            word[n++] = '-';
    while (n > 0 && word[n - 1] == '-')
        n--;
    word[n] = '\0';
}

/* Copies to VALUE what follows the colon in the first line of /proc/cpuinfo that begins with KEY;
 * false: no such line. */
static bool cpuinfo(const char *key, char *value, size_t size)
{
    FILE *from = fopen("/proc/cpuinfo", "re");
    char line[512];
    bool found = false;

    while (from && !found && fgets(line, sizeof line, from)) {
        const char *colon = strchr(line, ':');

        found = colon && strncmp(line, key, strlen(key)) == 0;
        if (found)
            snprintf(value, size, "%s", colon + 1);
    }
    if (from)
        fclose(from);
    return found;
}

/* ARM processors have numbers instead of names. */
void collopt_processor(char *word, size_t size)
{
    char name[256] = "", number[200] = "";

    if (!cpuinfo("model name", name, sizeof name) && cpuinfo("CPU part", number, sizeof number))
        snprintf(name, sizeof name, "arm %s", number);
    collopt_processor_word(name, word, size);
}

static bool exists(const char *directory, const char *stem, const char *ending, char *path,
                   size_t size)
{
    return snprintf(path, size, "%s/%s.%s", directory, stem, ending) < (int)size
        && access(path, F_OK) == 0;
}

/* "4.1" of "Open MPI v4.1.4, package: ..."; false: there is none. */
static bool version_word(const char *version, char *word, size_t size)
{
    const char *major = version ? version + strcspn(version, "0123456789") : "";
    size_t first = strspn(major, "0123456789"), second;

    if (major[first] != '.' || (second = strspn(major + first + 1, "0123456789")) == 0)
        return false;
    return snprintf(word, size, "%.*s", (int)(first + 1 + second), major) < (int)size;
}

/* The name of the file for this MPI, its version and this processor. */
static bool measured_here(const char *directory, const char *mpi, const char *ending, char *path,
                          size_t size)
{
    char version[32], processor[200], stem[256];

    if (access(directory, X_OK) != 0
        || !version_word(collopt_host_version, version, sizeof version))
        return false;
    collopt_processor(processor, sizeof processor);
    snprintf(stem, sizeof stem, "%s-%s-%s", mpi, version, processor);
    return exists(directory, stem, ending, path, size);
}

static bool in_directory(const char *directory, const char *mpi, const char *ending, char *path,
                         size_t size)
{
    char processor[200], stem[256];

    if (access(directory, X_OK) != 0)
        return false;
    if (measured_here(directory, mpi, ending, path, size))
        return true;
    collopt_processor(processor, sizeof processor);
    snprintf(stem, sizeof stem, "%s-%s", mpi, processor);
    return exists(directory, stem, ending, path, size) || exists(directory, mpi, ending, path, size)
        || exists(directory, "site", ending, path, size);
}

static const char *value_in(char *const *environment, const char *name)
{
    size_t n = strlen(name);

    for (; environment && *environment; environment++)
        if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
            return *environment + n + 1;
    return "";
}

bool collopt_users_directory(char *const *environment, char *path, size_t size)
{
    const char *config = value_in(environment, "XDG_CONFIG_HOME"),
               *home = value_in(environment, "HOME");

    if (*config == '/')
        return snprintf(path, size, "%s/collopt", config) < (int)size;
    return *home == '/' && snprintf(path, size, "%s/.config/collopt", home) < (int)size;
}

const char *collopt_system_directory(void)
{
    return COLLOPT_SYSCONFDIR "/collopt";
}

bool collopt_default_file(char *const *environment, const char *mpi, const char *ending, char *path,
                          size_t size)
{
    char directory[3000];

    if (!*mpi || strcmp(mpi, "smpi") == 0)
        return false;
    return (collopt_users_directory(environment, directory, sizeof directory)
            && in_directory(directory, mpi, ending, path, size))
        || in_directory(collopt_system_directory(), mpi, ending, path, size);
}

const char *collopt_data_directory(void)
{
    return COLLOPT_DATADIR "/collopt";
}

bool collopt_bundled_file(char *const *environment, const char *mpi, const char *ending, char *path,
                          size_t size)
{
    const char *at = value_in(environment, "XDG_DATA_DIRS");
    char directory[3000];

    if (!*mpi || strcmp(mpi, "smpi") == 0)
        return false;
    for (size_t n; *at; at += n + (at[n] == ':')) {
        n = strcspn(at, ":");
        if (*at == '/'
            && snprintf(directory, sizeof directory, "%.*s/collopt", (int)n, at)
                < (int)sizeof directory
            && measured_here(directory, mpi, ending, path, size))
            return true;
    }
    return measured_here(collopt_data_directory(), mpi, ending, path, size);
}
