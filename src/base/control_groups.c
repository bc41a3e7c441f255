/* Reads the limits of control groups; see control_groups.h.
 *
 * A line of /proc/self/cgroup is "number:controllers:/path".  Version 2 has one line, without
 * controllers.  In a container the path may be that of the machine, and what is mounted begins with
 * the container's own group: so each folder on the way from the path to the mount is looked at, and
 * those that are not there do not count. */
#include "config.h"

#include "base/control_groups.h"
#include "base/numbers.h"
#include "base/text.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the folders of a process's groups ------------------------------------------------------- */

/* Looks at one for a LIMIT. */
typedef void look(const char *folder, void *limit);

static const struct version {
    const char *controllers;    /* in a line of theirs */
    const char *folder;         /* below the mount */
} memory[] = { { "", "" }, { "", "/unified" }, { "memory", "/memory" } },
  processors[] = { { "", "" }, { "", "/unified" }, { "cpu", "/cpu" } };
enum { VERSIONS = sizeof memory / sizeof *memory };

/* The group at PATH, below MOUNT, and those that contain it. */
static void look_around(const struct version *v, const char *mount, const char *path, look *at,
                        void *limit)
{
    char folder[PATH_MAX];
    size_t top = strlen(mount) + strlen(v->folder);
    int n = snprintf(folder, sizeof folder, "%s%s%s", mount, v->folder, path);

    if (n < 0 || (size_t)n >= sizeof folder)
        return;
    for (char *end = folder + n; end; end = strrchr(folder + top, '/')) {
        *end = '\0';
        at(folder, limit);
    }
}

/* Is WORD one of LIST, which commas separate? */
static bool is_among(const char *word, const char *list)
{
    size_t n = strlen(word);

    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    return false;
}

static void look_by_line(char *line, const struct version v[VERSIONS], const char *mount, look *at,
                         void *limit)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!path)
        return;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    for (int i = 0; i < VERSIONS; i++)
        if (is_among(v[i].controllers, controllers + 1))
            look_around(&v[i], mount, path, at, limit);
}

static void look_at_all(const char *groups, const struct version v[VERSIONS], const char *mount,
                        look *at, void *limit)
{
    FILE *file = fopen(groups, "re");
    char line[PATH_MAX];

    if (!file)
        return;
    while (fgets(line, sizeof line, file))
        look_by_line(line, v, mount, at, limit);
    fclose(file);
}

/* The first line of a file, without its end. */
static bool read_line(const char *folder, const char *name, char text[64])
{
    char path[PATH_MAX + 64];
    FILE *file;
    bool read;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!(file = fopen(path, "re")))
        return false;
    read = fgets(text, 64, file) != NULL;
    fclose(file);
    if (read)
        text[strcspn(text, "\n")] = '\0';
    return read;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* "max" is no number.  Version 1 says that there is no limit by the largest multiple of a page. */
static void look_for_memory(const char *folder, void *limit)
{
    static const char *const file[] = { "memory.max", "memory.limit_in_bytes" };
    const size_t unlimited = SIZE_MAX / 4;
    size_t *least = limit, bytes;
    char text[64];

    for (int i = 0; i < 2; i++)
        if (read_line(folder, file[i], text) && collopt_parse_size(text, &bytes)
            && bytes <= unlimited)
            *least = least_size(*least, bytes);
}

size_t collopt_group_memory(const char *groups, const char *mount)
{
    size_t bytes = SIZE_MAX;

    look_at_all(groups, memory, mount, look_for_memory, &bytes);
    return bytes;
}

/* ---- processors ------------------------------------------------------------------------------ */

/* Microseconds of processor time in each period.  "max", or -1, in place of a quota: there is
 * none. */
static bool read_quota(const char *folder, long long *quota, long long *period)
{
    char text[64], other[64];

    if (read_line(folder, "cpu.max", text))
        return sscanf(text, "%lld %lld", quota, period) == 2;
    return read_line(folder, "cpu.cfs_quota_us", text)
        && read_line(folder, "cpu.cfs_period_us", other)
        && sscanf(text, "%lld", quota) == 1 && sscanf(other, "%lld", period) == 1;
}

static void look_for_quota(const char *folder, void *limit)
{
    struct collopt_quota *least = limit;
    long long quota, period;
    struct stat itself;

    if (!read_quota(folder, &quota, &period) || quota <= 0 || period <= 0
        || (size_t)(quota / period) >= least->processors || stat(folder, &itself) != 0)
        return;
    *least = (struct collopt_quota){ .processors = (size_t)(quota / period),
                                     .group = itself.st_ino };
}

struct collopt_quota collopt_group_quota(const char *groups, const char *mount)
{
    struct collopt_quota least = { .processors = SIZE_MAX };

    look_at_all(groups, processors, mount, look_for_quota, &least);
    return least;
}
