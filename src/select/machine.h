/* The machine that the cost model computes for: how long messages take inside a node and between nodes, and combining.
 *
 * There are shipped ones (shared memory, a fast network, TCP, a torus); a file named by COLLOPT_MACHINE replaces what it says of
 * them.  All ranks see the same machine: it is picked by what they have told each other, and the file is a setting that must be
 * alike.  collopt(7) describes the file, collopt-tune writes one from measurements.  No MPI here. */
#ifndef COLLOPT_MACHINE_H
#define COLLOPT_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lines.h"

enum collopt_level { COLLOPT_INSIDE, COLLOPT_BETWEEN, COLLOPT_LEVELS };         /* of a node; nodes */

/* A message of n bytes keeps its sender busy for OVERHEAD, is under way for LATENCY + BYTE n (+ HANDSHAKE, if n is more than
 * EAGER), and keeps its receiver busy for OVERHEAD. */
struct collopt_way {
    double latency, overhead;   /* seconds */
    double byte;                /* seconds per byte of one message that has its way for itself */
    double shared;              /* seconds per byte of all messages of a node together: inside; or that leave or enter it */
    double eager, handshake;    /* bytes; seconds */
};

enum collopt_mpi { COLLOPT_OTHER_MPI, COLLOPT_OPENMPI, COLLOPT_MPICH, COLLOPT_MPIS };     /* whose times are known */
extern const char *const collopt_mpi_names[COLLOPT_MPIS];       /* "other", "openmpi", "mpich" */

struct collopt_host_times;      /* select/host_times.h */
struct collopt_problem;         /* schedule.h */

struct collopt_machine {
    struct collopt_way way[COLLOPT_LEVELS];
    double combine;             /* seconds per byte of results computed */
    double hop;                 /* grids: seconds for each link on the way, beside way[COLLOPT_BETWEEN] */
    double group, taper;        /* from so many neighbouring nodes to others bytes take so many times as long, when all send */
    double turn;                /* seconds until a rank is run again, where ranks outnumber processors and one gives way */
    bool shm;                   /* messages inside nodes go by shared memory, not by the host */
    bool ideal;                 /* as collopt_replay() has it: a message takes a way in and a way out, and streams never meet */
    enum collopt_mpi mpi;       /* the host; set by whoever knows it */
    const struct collopt_host_times *host_times;        /* of its collectives, as measured; NULL: none were */
};

/* ---- shipped ones --------------------------------------------------------------------------------------------------- */

enum collopt_network {
    COLLOPT_SHARED_MEMORY,      /* one node; what is said of the way between nodes is a fast network's */
    COLLOPT_FAST_NETWORK,       /* InfiniBand, Omni-Path and the like */
    COLLOPT_TCP,
    COLLOPT_TORUS,              /* and meshes: links of 12.5 GB/s to neighbours, 1 us each */
    COLLOPT_NETWORKS
};

extern const char *const collopt_network_names[COLLOPT_NETWORKS];      /* "shared memory", "fast network", "TCP", "torus" */
extern const struct collopt_machine collopt_shipped_machines[COLLOPT_NETWORKS];

struct collopt_topology;
/* What the messages of ranks that lie like this travel on; FAST: every node has such a network. */
enum collopt_network collopt_network_of(const struct collopt_topology *t, bool fast);

/* ---- files ---------------------------------------------------------------------------------------------------------- */

/* One line of a file each: "net.latency = 1.2 us". */
enum collopt_quantity { COLLOPT_TIME, COLLOPT_RATE, COLLOPT_LENGTH, COLLOPT_RATIO };

struct collopt_machine_key {
    const char *name;           /* "net.latency" */
    enum collopt_quantity quantity;     /* a rate is written in bytes per second, and kept as seconds per byte */
    size_t field;               /* offset of a double in struct collopt_machine */
    double least, most;         /* as it is written: seconds, bytes per second, bytes, a number */
    const char *help;
};

enum { COLLOPT_MACHINE_KEYS = 17 };
extern const struct collopt_machine_key collopt_machine_keys[COLLOPT_MACHINE_KEYS];

struct collopt_machine_file {
    char *file;                 /* its name, for people */
    struct collopt_machine machine;     /* what is given */
    unsigned given;             /* bit i: key i is */
    struct collopt_host_times *host_times;      /* NULL: none */
    uint64_t hash;              /* of what it says, not of its comments */
};

/* Reads a file, or SIZE bytes of TEXT that came from it.  NULL, after every mistake has been told, if there are any. */
struct collopt_machine_file *collopt_machine_read(const char *file, collopt_tell_mistake *tell, void *data);
struct collopt_machine_file *collopt_machine_parse(const char *file, const char *text, size_t size, collopt_tell_mistake *tell,
                                                   void *data);
void collopt_machine_free(struct collopt_machine_file *f);

/* Writes what M says for the keys of GIVEN, a line each, as collopt_machine_parse() reads it, to six digits.  COMMENT, unless
 * NULL, has a text or NULL for every key, written behind its line.  False: it could not be written. */
bool collopt_machine_write(FILE *to, const struct collopt_machine *m, unsigned given, const char *const *comment);

/* Where shared memory can be had, does it carry what P sends inside nodes?  As COLLOPT_SHM says, and how long the vector is. */
bool collopt_shm_suits(const struct collopt_problem *p);

/* *M = the shipped machine with such a network, whose messages inside nodes go by shared memory (SHM) or by the host, and
 * what FILE (NULL: none) says instead. */
void collopt_machine_pick(struct collopt_machine *m, enum collopt_network network, bool shm,
                          const struct collopt_machine_file *file);

#endif
