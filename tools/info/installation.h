/* The installation that a tool belongs to: the library and its backends. */
#ifndef COLLOPT_TOOLS_INFO_INSTALLATION_H
#define COLLOPT_TOOLS_INFO_INSTALLATION_H

#include <limits.h>
#include <stddef.h>

enum { BACKENDS = 8 };

struct backend {
    char path[PATH_MAX];
    char built[128];            /* "openmpi 0.1.0 Open MPI 4.1.4" */
};

struct installation {
    char library[PATH_MAX];     /* "" where it was not found */
    int backends;
    struct backend backend[BACKENDS];
};

void find_installation(struct installation *in);

/* "openmpi", "0.1.0" or "Open MPI 4.1.4": one of the three parts of what a backend says. */
enum built { BUILT_NAME, BUILT_VERSION, BUILT_WITH };
void built_part(const struct backend *b, enum built part, char *text, size_t size);

/* "Open MPI 4.1.4": the MPI library that the backend NAME was built with; "" where there is no such
 * backend. */
const char *built_with(const char *name);

#endif
