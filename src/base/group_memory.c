/* Reads the limits of control groups; see group_memory.h.
 *
 * A line of /proc/self/cgroup is "number:controllers:/path".  Version 2 has one line, without
 * controllers.  In a container the path may be that of the machine, and what is mounted begins with
 * the container's own group: so each folder on the way from the path to the mount is looked at, and
 * those that are not there do not count. */
#include "config.h"

#include "base/group_memory.h"
#include "base/numbers.h"
#include "base/text.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct version {
    const char *controllers;    /* in a line of theirs */
    const char *folder;         /* below the mount */
    const char *file;
} versions[] = {
    { "", "", "memory.max" },
    { "", "/unified", "memory.max" },           /* beside version 1 */
    { "memory", "/memory", "memory.limit_in_bytes" },
};
enum { VERSIONS = sizeof versions / sizeof *versions };

/* "max" is no number.  Version 1 says that there is no limit by the largest multiple of a page. */
static size_t limit_in(const char *folder, const char *name)
{
    const size_t unlimited = SIZE_MAX / 4;
    char path[PATH_MAX + 64], text[32] = "";
    size_t bytes = SIZE_MAX;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!(file = fopen(path, "re")))
        return SIZE_MAX;
    if (fgets(text, sizeof text, file)) {
        text[strcspn(text, "\n")] = '\0';
        if (!collopt_parse_size(text, &bytes) || bytes > unlimited)
            bytes = SIZE_MAX;
    }
    fclose(file);
    return bytes;
}

/* The lowest limit of the group at PATH, below MOUNT, and of the groups that contain it. */
static size_t limit_around(const struct version *v, const char *mount, const char *path)
{
    char folder[PATH_MAX];
    size_t bytes = SIZE_MAX, top = strlen(mount) + strlen(v->folder);
    int n = snprintf(folder, sizeof folder, "%s%s%s", mount, v->folder, path);

    if (n < 0 || (size_t)n >= sizeof folder)
        return SIZE_MAX;
    for (char *end = folder + n; end; end = strrchr(folder + top, '/')) {
        *end = '\0';
        bytes = least_size(bytes, limit_in(folder, v->file));
    }
    return bytes;
}

/* Is WORD one of LIST, which commas separate? */
static int is_among(const char *word, const char *list)
{
    size_t n = strlen(word);

    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return 1;
    return 0;
}

static size_t limit_of_line(char *line, const char *mount)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    size_t bytes = SIZE_MAX;

    if (!path)
        return SIZE_MAX;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    for (int i = 0; i < VERSIONS; i++)
        if (is_among(versions[i].controllers, controllers + 1))
            bytes = least_size(bytes, limit_around(&versions[i], mount, path));
    return bytes;
}

size_t collopt_group_memory(const char *groups, const char *mount)
{
    FILE *file = fopen(groups, "re");
    char line[PATH_MAX];
    size_t bytes = SIZE_MAX;

    if (!file)
        return SIZE_MAX;
    while (fgets(line, sizeof line, file))
        bytes = least_size(bytes, limit_of_line(line, mount));
    fclose(file);
    return bytes;
}
