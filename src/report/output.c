/* See output.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/output.h"
#include "base/signals.h"

/* ---- streams and devices --------------------------------------------------------------------- */

/* Standard streams do not block where another process that has them wants that, as ssh does. */
static bool is_full(int file)
{
    struct pollfd p = { .fd = file, .events = POLLOUT };

    return errno == EAGAIN && (poll(&p, 1, -1) >= 0 || errno == EINTR);
}

static bool write_all(int file, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t written = write(file, text, n);

        if (written < 0 && (errno == EINTR || is_full(file)))
            continue;
        if (written < 0)
            return false;
        text += written;
        n -= (size_t)written;
    }
    return true;
}

/* The standard stream that WHERE stands for, or -1.  /dev/stdout may lead to a file that has the
 * program's output already. */
static int stream_of(const char *where)
{
    if (strcmp(where, "stderr") == 0 || strcmp(where, "/dev/stderr") == 0)
        return STDERR_FILENO;
    return strcmp(where, "/dev/stdout") == 0 ? STDOUT_FILENO : -1;
}

/* A device or a pipe, such as /dev/null: written to, it stays what it is. */
static bool is_special(const char *name)
{
    struct stat is;

    return stat(name, &is) == 0 && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode);
}

bool collopt_output_is_file(const char *where)
{
    return stream_of(where) < 0 && !is_special(where);
}

/* A pipe without a reader is an error; it is not waited for. */
static bool write_special(const char *name, const char *text, size_t n)
{
    int file = open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool done = file >= 0 && fcntl(file, F_SETFL, 0) == 0 && write_all(file, text, n);

    if (file >= 0)
        done = close(file) == 0 && done;
    return done;
}

/* By one write where it is short, so that those of several processes do not mix. */
static bool write_directly(const char *where, void (*write)(FILE *to, void *data), void *data)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    bool done = to != NULL;

    if (to) {
        write(to, data);
        done = fclose(to) == 0
            && (stream_of(where) >= 0 ? write_all(stream_of(where), text, n)
                                      : write_special(where, text, n));
    }
    free(text);
    return done;
}

/* ---- files ----------------------------------------------------------------------------------- */

#define BESIDE ".collopt-"

/* A file beside NAME, by a name that nobody can know before and nobody has: another job may write
 * to NAME, and in a folder where others may write too, a link of theirs may wait for us.  It does
 * not begin with NAME, which may be as long as names can be.  mkstemp() would not ask the program's
 * umask who may read it. */
static int open_beside(const char *name, char *beside, size_t size)
{
    enum { TRIES = 100 };
    const char *slash = strrchr(name, '/');
    int folder = slash ? (int)(slash - name + 1) : 0;

    for (int i = 0; i < TRIES; i++) {
        uint64_t random;
        int file;

        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return -1;
        snprintf(beside, size, "%.*s" BESIDE "%016" PRIx64, folder, name, random);
        file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

/* Closes FILE in any case. */
static bool fill(int file, void (*write)(FILE *to, void *data), void *data)
{
    FILE *to = fdopen(file, "w");
    bool done;

    if (!to) {
        close(file);
        return false;
    }
    write(to, data);
    done = !ferror(to);
    return fclose(to) == 0 && done;
}

static bool is_folder(const char *name)
{
    struct stat is;

    return stat(name, &is) == 0 && S_ISDIR(is.st_mode);
}

/* It is written beside its place and renamed.  A symbolic link in its place is replaced. */
static bool write_file(const char *name, void (*write)(FILE *to, void *data), void *data)
{
    size_t size = strlen(name) + sizeof BESIDE "0123456789abcdef";
    char *beside = malloc(size);
    int file;
    bool done;

    if (!beside)
        return false;
    file = open_beside(name, beside, size);
    done = file >= 0 && fill(file, write, data) && rename(beside, name) == 0;
    if (!done && file >= 0) {
        int why = errno;

        unlink(beside);
        errno = why;
    }
    free(beside);
    return done;
}

static bool output(const char *where, int rank, void (*write)(FILE *to, void *data), void *data)
{
    size_t size = strlen(where) + 16;
    char *name;
    bool done;

    if (!collopt_output_is_file(where))
        return write_directly(where, write, data);
    if (is_folder(where)) {
        errno = EISDIR;
        return false;
    }
    name = malloc(size);
    if (!name)
        return false;
    if (rank == COLLOPT_ALL_RANKS)
        snprintf(name, size, "%s", where);
    else
        snprintf(name, size, "%s.%d", where, rank);
    done = write_file(name, write, data);
    free(name);
    return done;
}

bool collopt_output(const char *where, int rank, void (*write)(FILE *to, void *data), void *data)
{
    struct collopt_signals held;
    bool done;

    collopt_signals_hold(&held);
    done = output(where, rank, write, data);
    collopt_signals_release(&held);
    return done;
}

/* Names that begin where the program is cannot be judged: by the end it may be elsewhere. */
int collopt_output_obstacle(const char *name)
{
    const char *slash = strrchr(name, '/');
    char folder[PATH_MAX];

    if (*name != '/')
        return 0;
    if (is_folder(name))
        return EISDIR;
    if ((size_t)snprintf(folder, sizeof folder, "%.*s", (int)(slash - name + 1), name)
        >= sizeof folder)
        return ENAMETOOLONG;
    return access(folder, W_OK | X_OK) ? errno : 0;
}
