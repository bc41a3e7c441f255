/* The position of each host, from the file of COLLOPT_TOPOLOGY=file:FILE: one line per host.
 *
 *     torus:8x8x4            # or mesh:16x16: coordinates follow
 *     host17  3 0 2
 *
 * or, without such a line, the switches above each host, the topmost first: "host17
 * rack1/switch3".  No MPI here. */
#ifndef COLLOPT_TOPOLOGY_HOST_FILE_H
#define COLLOPT_TOPOLOGY_HOST_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lines.h"
#include "topology/topology.h"

struct collopt_topology;

struct collopt_where {      /* a host */
    char *name;
    int line;
    int place;                  /* on a grid: its number there, the last dimension running fastest;
                                 * else the switch's number */
    char *path;                 /* of switches; NULL on a grid */
};

struct collopt_hosts {
    char *file;                 /* its name, for people */
    struct collopt_shape shape; /* COLLOPT_GRID; COLLOPT_AS_FOUND: switches */
    int n;
    struct collopt_where *host;  /* by name */
    int switches;
    uint64_t hash;              /* of the contents, whatever comments and the order of lines */
};

/* Reads a file, or SIZE bytes of TEXT from it. NULL if there are mistakes, after reporting all
 * of them. */
struct collopt_hosts *collopt_hosts_read(const char *file, collopt_tell_mistake *tell, void *data);
struct collopt_hosts *collopt_hosts_parse(const char *file, const char *text, size_t size,
                                          collopt_tell_mistake *tell, void *data);
void collopt_hosts_free(struct collopt_hosts *h);

/* The number of the host NAME. If there is none, that of the only host with the same name up to
 * the first dot, if one of the two names has no dot. Case is ignored. -1: none. */
int collopt_host_named(const struct collopt_hosts *h, const char *name);

/* Sets the grid of RANKS ranks on the hosts HOST[0], HOST[STRIDE] ...: if these form a box of
 * the machine's grid in its order, with equally many ranks each, the box is the ranks' grid, and
 * the ranks of a host its last dimension. False: they do not. Overwrites HOST with positions in
 * the grid, since an allocation might fail on one rank, which would then know another grid than
 * the others. */
bool collopt_topology_hosts(struct collopt_topology *t, const struct collopt_hosts *h, int *host,
                            int stride, int ranks);

#endif
