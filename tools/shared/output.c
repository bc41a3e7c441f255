/* Standard output on a full disk, or closed: one line and a status, as tools/python/output.py has
 * it. */
#include "config.h"

#include "shared/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *tool;
static int failed;

/* Or a file that is opened would get what is printed. */
static void open_streams(void)
{
    int file;

    do
        file = open("/dev/null", O_RDWR);
    while (file >= 0 && file <= STDERR_FILENO);
    if (file >= 0)
        close(file);
}

void output_flush(void)
{
    int before = ferror(stdout);
    const char *why;

    errno = 0;
    if (fflush(stdout) == 0) {
        if (!before)
            return;
        putchar('\n');     /* says why an earlier write has failed */
        fflush(stdout);
    }
    why = errno ? strerror(errno) : "an earlier write has failed";
    fprintf(stderr, "%s: ", tool);
    fprintf(stderr, "the standard output cannot be written: %s\n", why);
    _exit(failed);
}

void output_guard(const char *name, int status)
{
    tool = name;
    failed = status;
    open_streams();
    atexit(output_flush);
}
