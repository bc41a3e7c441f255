/* Where each host of a machine is, as the file of COLLOPT_TOPOLOGY=file:FILE says it: one line per host.
 *
 *     torus:8x8x4            # or mesh:16x16: coordinates follow
 *     host17  3 0 2
 *
 * or, without such a line, the switches above each host, the topmost first: "host17 rack1/switch3".  No MPI here. */
#ifndef COLLOPT_HOSTS_H
#define COLLOPT_HOSTS_H

#include "internal.h"
#include "lines.h"

struct collopt_where {      /* a host */
    char *name;
    int line;
    int place;                  /* on a grid: its number there, the last dimension running fastest; else the switch's number */
    char *path;                 /* of switches; NULL on a grid */
};

struct collopt_hosts {
    char *file;                 /* its name, for people */
    struct collopt_shape shape; /* COLLOPT_GRID; COLLOPT_AS_FOUND: switches */
    int n, room;
    struct collopt_where *host;  /* by name */
    int switches;
    uint64_t hash;              /* of what it says, not of its comments and the order of its lines */
};

/* Reads a file, or SIZE bytes of TEXT that came from it.  NULL, after every mistake has been told, if there are any. */
struct collopt_hosts *collopt_hosts_read(const char *file, collopt_tell_mistake *tell, void *data);
struct collopt_hosts *collopt_hosts_parse(const char *file, const char *text, size_t size, collopt_tell_mistake *tell,
                                          void *data);
void collopt_hosts_free(struct collopt_hosts *h);

/* The number of the host with this NAME; where that is not there, of the only one that has the same name up to the first dot,
 * one of the two being no longer than that.  Case does not matter.  -1: none. */
int collopt_host_named(const struct collopt_hosts *h, const char *name);

/* RANKS that are on the hosts HOST[0], HOST[STRIDE] ...: if these are a box of the grid, as many ranks on each, in its order,
 * that is the ranks' grid, with the ranks of a host as the last dimension; false: they are not.  HOST is written over with
 * places in the grid: with memory of its own this might fail on one rank, which would then know another grid than the others. */
bool collopt_topology_hosts(struct collopt_topology *t, const struct collopt_hosts *h, int *host, int stride, int ranks);

#endif
