/* Finds the library and its backends, without opening them; see installation.h. */
#include "config.h"

#include "info/installation.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A backend cannot be opened without its MPI; mpi/call/build_id.c puts its text behind these
 * words. */
static bool read_built(const char *path, char *built, size_t size)
{
    static const char words[] = "collopt backend: ";
    size_t matched = 0, n = 0;
    FILE *file = fopen(path, "rb");
    int c;

    if (!file)
        return false;
    while (matched < sizeof words - 1 && (c = getc(file)) != EOF)
        matched = c == words[matched] ? matched + 1 : c == words[0];
    if (matched == sizeof words - 1)
        while (n + 1 < size && (c = getc(file)) != EOF && c)
            built[n++] = (char)c;
    built[n] = '\0';
    fclose(file);
    return n > 0;
}

static void find_backends(struct installation *in, const char *directory)
{
    char path[3 * PATH_MAX];
    DIR *d = opendir(directory);
    struct dirent *e;

    while (d && (e = readdir(d)) && in->backends < BACKENDS) {
        struct backend *b = &in->backend[in->backends];
        size_t n = strlen(e->d_name);

        if (strncmp(e->d_name, "libcollopt-", 11) || n < 3 || strcmp(e->d_name + n - 3, ".so"))
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        if (realpath(path, b->path) && read_built(b->path, b->built, sizeof b->built))
            in->backends++;
    }
    if (d)
        closedir(d);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct backend *)a)->path, ((const struct backend *)b)->path);
}

static bool find_in(struct installation *in, const char *libraries, const char *name,
                    const char *backends)
{
    char path[2 * PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", libraries, name);
    if (!realpath(path, in->library)) {
        in->library[0] = '\0';
        return false;
    }
    snprintf(path, sizeof path, "%s/%s", libraries, backends);
    find_backends(in, path);
    qsort(in->backend, (size_t)in->backends, sizeof *in->backend, by_path);
    return true;
}

/* In a build tree, below the prefix wherever that was moved to, or where it was configured to
 * be. */
void find_installation(struct installation *in)
{
    static const char prefix[] = COLLOPT_PREFIX, bindir[] = COLLOPT_BINDIR,
                      libdir[] = COLLOPT_LIBDIR;
    const char *below_bin = strncmp(bindir, prefix, strlen(prefix)) ? "" : bindir + strlen(prefix);
    const char *below_lib = strncmp(libdir, prefix, strlen(prefix)) ? "" : libdir + strlen(prefix);
    char here[PATH_MAX] = "", path[2 * PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    char *slash;

    memset(in, 0, sizeof *in);
    here[n > 0 ? n : 0] = '\0';
    slash = strrchr(here, '/');
    if (slash)
        *slash = '\0';
    snprintf(path, sizeof path, "%s/../.libs", here);
    if (find_in(in, path, "libcollopt.so", "."))
        return;
    n = (ssize_t)strlen(here) - (ssize_t)strlen(below_bin);
    if (n >= 0 && strcmp(here + n, below_bin) == 0) {
        snprintf(path, sizeof path, "%.*s%s", (int)n, here, below_lib);
        if (find_in(in, path, "libcollopt.so.0", "collopt"))
            return;
    }
    find_in(in, libdir, "libcollopt.so.0", "collopt");
}

void built_part(const struct backend *b, enum built part, char *text, size_t size)
{
    const char *at = b->built;

    for (int i = 0; i < (int)part && *at; i++) {
        at += strcspn(at, " ");
        at += *at == ' ';
    }
    snprintf(text, size, "%.*s", part < BUILT_WITH ? (int)strcspn(at, " ") : (int)strlen(at), at);
}

const char *built_with(const char *name)
{
    static struct installation in;
    static bool looked;
    static char text[128];

    if (!looked)
        find_installation(&in);
    looked = true;
    for (int i = 0; i < in.backends; i++) {
        built_part(&in.backend[i], BUILT_NAME, text, sizeof text);
        if (strcmp(text, name) != 0)
            continue;
        built_part(&in.backend[i], BUILT_WITH, text, sizeof text);
        return text;
    }
    return "";
}
