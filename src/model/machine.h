/* The machine of the cost model: the cost of messages inside a node and between nodes, and of
 * combining.
 *
 * A node is a machine of its own: its last-level caches are to it what nodes are to a network.
 * Ranks that share a cache are near one another, and all messages of a cache that leave it share
 * its link.
 *
 * How many links join groups of nodes is unknown, so half of the bandwidth is assumed between
 * groups of 64 nodes. The best choice for full bisection is wrong without. Reduce_scatter of 512
 * KiB on 256 simulated ranks, the longest messages to the farthest ranks or to neighbours: 47 and
 * 50 us on a fat tree, 229 and 60 on a dragonfly.
 *
 * Five machines are built in (one node, one of several caches, a fast network, TCP, a torus); the
 * file in COLLOPT_MACHINE overrides single numbers. All ranks use the same machine: the choice
 * follows from exchanged facts, and the file is an agreed setting. collopt(7) describes the file;
 * collopt-tune writes one from measurements. No MPI here. */
#ifndef COLLOPT_MODEL_MACHINE_H
#define COLLOPT_MODEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/lines.h"
#include "model/host_mpi.h"

/* Messages between ranks that share a last-level cache; of one node; of several nodes. */
enum collopt_reach { COLLOPT_IN_CACHE, COLLOPT_IN_NODE, COLLOPT_OVER_NET, COLLOPT_WAYS };

/* A message of n bytes keeps its sender busy for OVERHEAD, is under way for LATENCY + BYTE n (+
 * HANDSHAKE, if n is more than EAGER), and keeps its receiver busy for OVERHEAD. */
struct collopt_way {
    double latency, overhead;   /* seconds */
    double byte;                /* seconds per byte of one message that shares its link with none */
    double shared;              /* seconds per byte of all messages of a node together: inside it,
                                 * or through its port */
    double eager, handshake;    /* bytes; seconds */
    double group, taper;        /* GROUP neighbouring nodes (caches) share links to others; a byte
                                 * takes TAPER times as long there when all send */
};

/* Nanoseconds of a short message on W; bytes of the longest eager one. */
uint64_t collopt_message_time(const struct collopt_way *w);
size_t collopt_eager(const struct collopt_way *w);

struct collopt_fragments;       /* fragments.h */
struct collopt_host_times;      /* host_times.h */
struct collopt_offload;         /* offload.h */
struct collopt_rules;           /* settings/rules.h */
struct collopt_problem;

struct collopt_machine {
    struct collopt_way way[COLLOPT_WAYS];
    double cache;               /* bytes of cache of all levels for each rank. The part of its
                                 * vectors that finds room there does not share the node's memory */
    double exit;                /* seconds per byte of all messages of one last-level cache together
                                 * that leave it */
    double combine;             /* seconds per byte of result */
    double hop;                 /* grids: additional seconds per link crossed */
    double turn;                /* seconds until a rank that yielded runs again, where ranks
                                 * outnumber processors */
    bool shm;                   /* messages inside nodes use shared memory, not the host */
    bool ideal;                 /* the replay's ports: one in, one out, and streams never collide */
    enum collopt_mpi mpi;       /* the host, set by the caller */
    /* what the host hands its reductions between nodes to, set by the caller; NULL: nothing */
    const struct collopt_offload *offload;
    /* what was measured on such machines; NULL: nothing */
    const struct collopt_host_times *host_times;        /* of the host's collectives */
    const struct collopt_fragments *fragments;
    const struct collopt_rules *measured;               /* the measured fastest algorithms; set by
                                                         * the caller */
};

/* ---- bundled ones ---------------------------------------------------------------------------- */

enum collopt_network {
    COLLOPT_SHARED_MEMORY,      /* one node; between nodes the numbers of a fast network */
    COLLOPT_SEVERAL_CACHES,     /* one node, whose ranks are known to use several last-level
                                 * caches */
    COLLOPT_FAST_NETWORK,       /* InfiniBand, Omni-Path and the like */
    COLLOPT_TCP,
    COLLOPT_TORUS,              /* and meshes: links of 12.5 GB/s to neighbours, 1 us each */
    COLLOPT_NETWORKS
};

/* "shared memory", ..., "torus" */
extern const char *const collopt_network_names[COLLOPT_NETWORKS];
extern const struct collopt_machine collopt_bundled_machines[COLLOPT_NETWORKS];

struct collopt_topology;
/* The network that ranks with this topology use; FAST: every node has a fast one. */
enum collopt_network collopt_network_of(const struct collopt_topology *t, bool fast);

/* ---- files ----------------------------------------------------------------------------------- */

/* One key for each line of a file: "net.latency = 1.2 us". */
enum collopt_quantity { COLLOPT_TIME, COLLOPT_RATE, COLLOPT_LENGTH, COLLOPT_RATIO };

struct collopt_machine_key {
    const char *name;           /* "net.latency" */
    enum collopt_quantity quantity;     /* a rate is written in bytes per second, and kept as
                                         * seconds per byte */
    size_t field;               /* offset of a double in struct collopt_machine */
    double least, most;         /* in the unit of the file: seconds, bytes per second, bytes, a
                                 * number */
    const char *help;
};

enum { COLLOPT_MACHINE_KEYS = 24 };
extern const struct collopt_machine_key collopt_machine_keys[COLLOPT_MACHINE_KEYS];

struct collopt_machine_file {
    char *file;                 /* its name, for people */
    struct collopt_machine machine;     /* the numbers given */
    unsigned given;             /* bit i: key i is given */
    struct collopt_host_times *host_times;      /* NULL: none */
    struct collopt_fragments *fragments;        /* NULL: none */
    uint64_t hash;              /* of its numbers, not of its comments */
};

/* Reads a file, or SIZE bytes of TEXT from it. NULL if there are mistakes, after reporting all
 * of them. */
struct collopt_machine_file *collopt_machine_read(const char *file, collopt_tell_mistake *tell,
                                                  void *data);
struct collopt_machine_file *collopt_machine_parse(const char *file, const char *text, size_t size,
                                                   collopt_tell_mistake *tell, void *data);
void collopt_machine_free(struct collopt_machine_file *f);

/* Writes M's values for the keys in GIVEN, a line each, to six digits, as
 * collopt_machine_parse() reads them. COMMENT, unless NULL, has a text or NULL for each key.
 * False: writing failed. */
bool collopt_machine_write(FILE *to, const struct collopt_machine *m, unsigned given,
                           const char *const *comment);

/* *M = the built-in machine with this network, for messages inside nodes by shared memory (SHM)
 * or by the host, overridden by FILE (NULL: none). */
void collopt_machine_pick(struct collopt_machine *m, enum collopt_network network, bool shm,
                          const struct collopt_machine_file *file);

#endif
