/* Reads a file whole; see contents.h. */
#include "config.h"

#include "base/contents.h"
#include "base/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_bytes(int fd, char *bytes, size_t size, size_t *got)
{
    ssize_t n = 1;

    for (*got = 0; *got < size && n != 0; *got += n > 0 ? (size_t)n : 0) {
        n = read(fd, bytes + *got, size - *got);
        if (n < 0 && errno != EINTR)
            return false;
    }
    return true;
}

/* Reads FD, which the caller closes. */
static char *contents(int fd, size_t largest, size_t *size, char *why, size_t why_size)
{
    struct stat about;
    char *bytes;

    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        snprintf(why, why_size, "not a regular file");
        return NULL;
    }
    if ((size_t)about.st_size > largest) {
        snprintf(why, why_size, "longer than %zu bytes, which no such file is", largest);
        return NULL;
    }
    bytes = malloc((size_t)about.st_size + 1);
    if (bytes && read_bytes(fd, bytes, (size_t)about.st_size, size))
        return bytes;
    snprintf(why, why_size, "%s", bytes ? strerror(errno) : "no memory");
    free(bytes);
    return NULL;
}

char *collopt_contents(const char *file, size_t largest, size_t *size, collopt_tell_mistake *tell,
                       void *data)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *bytes = NULL, why[256];

    if (fd < 0) {
        snprintf(why, sizeof why, "%s", strerror(errno));
    } else {
        bytes = contents(fd, largest, size, why, sizeof why);
        close(fd);
    }
    if (!bytes && tell)
        tell(data, 0, why);
    return bytes;
}
