/* What a process tells of its reductions to whoever may read its memory: `collopt ps` and the other
 * processes of its node.  doc/recorder.md describes it for readers that are not compiled with this.
 *
 * It lies in a memfd of its own named "collopt", behind the COLLOPT_SHM_LINE bytes that each
 * segment begins with (src/shm/segment.h), and begins with struct collopt_recording.  All numbers
 * are those of the machine.  Offsets are bytes from the start of struct collopt_recording.
 *
 * The process writes, others map it read-only, at any time.  What is read may be changing:
 *   - a call is whole if its SEQUENCE is even and the same before and after it was copied;
 *   - a communicator is whole if its GENERATION is even and the same before and after.
 * The fields up to COLLOPT stay where they are in all versions of the layout. */
#ifndef COLLOPT_RECORDER_LAYOUT_H
#define COLLOPT_RECORDER_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    COLLOPT_RECORDER_VERSION = 1,
    COLLOPT_RECORDED_CALLS = 64,        /* a power of two */
    COLLOPT_RECORDED_COMMS = 256,
    COLLOPT_RECORDED_NAMES = 128,
    COLLOPT_RECORDED_MEMBERS = 1 << 14, /* ranks of all communicators' lists together */
    COLLOPT_RECORDED_TEXT = 64          /* bytes of a text, with its zero */
};

static const uint64_t COLLOPT_RECORDER_MAGIC = UINT64_C(0x646365722d6c6f63);    /* "col-recd" */

enum collopt_recorded_mode {
    COLLOPT_RECORDED_BLOCKING,
    COLLOPT_RECORDED_START,     /* of a persistent reduction */
    COLLOPT_RECORDED_NONBLOCKING,
    COLLOPT_RECORDED_INIT       /* MPI_Allreduce_init and its like */
};

enum collopt_recorded_state {
    COLLOPT_RECORDED_NONE,
    COLLOPT_RECORDED_INSIDE,    /* it has not returned */
    COLLOPT_RECORDED_STARTED,   /* nonblocking or persistent; that it is done may not be noticed */
    COLLOPT_RECORDED_DONE,
    COLLOPT_RECORDED_AWAITED    /* started, and MPI_Wait or MPI_Waitall has waited for it */
};

/* The first names; the others are algorithms'. */
enum {
    COLLOPT_RECORDED_BY_HOST,   /* the MPI library */
    COLLOPT_RECORDED_BY_COLLOPT /* nothing more is known */
};

enum collopt_recorded_life {
    COLLOPT_RECORDED_RUNS,
    COLLOPT_RECORDED_FINALIZES  /* it has entered MPI_Finalize */
};

/* Of a communicator. */
enum {
    COLLOPT_RECORDED_AGREED = 1,        /* ID is its own, else all with the same ranks have it */
    COLLOPT_RECORDED_INTER = 2,         /* an intercommunicator; no more is known of it */
    COLLOPT_RECORDED_WORLD = 4          /* its rank r is r in MPI_COMM_WORLD */
};

struct collopt_recorded_call {
    _Atomic uint64_t sequence;  /* 2 n + 2, n: how many calls were recorded before; 0: free */
    _Atomic uint64_t entered;   /* ns of CLOCK_MONOTONIC, to some ms */
    _Atomic uint64_t bytes;     /* of the input vector; UINT64_MAX: not known */
    _Atomic uint32_t number;    /* of the call on its communicator, from 1: all together, but
                                 * for starts, which are counted apart */
    _Atomic uint16_t comm;      /* index of the communicator; UINT16_MAX: not recorded */
    _Atomic uint16_t name;      /* index of what runs it; COLLOPT_RECORDED_BY_... */
    _Atomic uint8_t collective; /* enum collopt_collective */
    _Atomic uint8_t mode;       /* enum collopt_recorded_mode */
    _Atomic uint8_t state;      /* enum collopt_recorded_state */
    uint8_t unused;
    _Atomic int32_t root;       /* -1: it has none */
    /* rank of the communicator from which it awaits, or last awaited, a message; its own: it
     * combines by an operation of the user's, or of the MPI library; -1: not known */
    _Atomic int32_t waits_for;
    uint32_t unused_too;
    _Atomic uint64_t count;     /* elements, as in the call; UINT64_MAX: each rank has its own */
    uint8_t reserved[8];
};

struct collopt_recorded_comm {
    _Atomic uint64_t generation;        /* 2 n: it was made as the n-th; odd: it is changing */
    /* the same on all its ranks, and not 0; COLLOPT_RECORDED_AGREED: no other living one has it */
    _Atomic uint64_t id;
    _Atomic uint32_t calls;     /* the number of its latest call */
    _Atomic uint32_t starts;    /* of persistent reductions */
    _Atomic uint32_t flags;
    _Atomic int32_t rank, ranks;
    /* offset of an int32_t for each rank, its rank in MPI_COMM_WORLD (-1: in another world); 0:
     * there is none */
    _Atomic uint32_t members;
    _Atomic uint64_t latest;    /* SEQUENCE of its latest call */
    uint8_t reserved[16];
    char name[COLLOPT_RECORDED_TEXT];   /* MPI_Comm_get_name, from its first reduction on */
};

struct collopt_recording {
    uint64_t magic;
    uint32_t version, bytes;    /* BYTES: of all of it */
    int32_t process;            /* id, as the process itself sees it */
    int32_t rank, ranks;        /* of MPI_COMM_WORLD; -1, 0: not known yet */
    uint32_t begun;             /* the fields below are filled in */
    uint64_t job;               /* the same on all ranks of an MPI_COMM_WORLD */
    uint64_t started;           /* ns of CLOCK_REALTIME */
    char host[COLLOPT_RECORDED_TEXT];
    char mpi[COLLOPT_RECORDED_TEXT];
    char collopt[COLLOPT_RECORDED_TEXT];        /* version */

    _Atomic uint32_t life;      /* enum collopt_recorded_life */
    uint32_t calls_at, calls;   /* offset of and number of struct collopt_recorded_call */
    uint32_t comms_at, comms;
    uint32_t names_at, names;   /* texts of COLLOPT_RECORDED_TEXT bytes */
    uint32_t members_at, members;
    _Atomic uint64_t recorded;  /* calls, ever */
    int32_t local_ranks;        /* of this MPI_COMM_WORLD on this node; -1: not known */
    /* ns of CLOCK_MONOTONIC: when it looked at the others, to tell where they wait
     * (COLLOPT_STALL) */
    _Atomic uint64_t told;
};

_Static_assert(sizeof(struct collopt_recorded_call) == 64, "a cache line");
_Static_assert(sizeof(struct collopt_recorded_comm) == 128, "two");

/* All of it, in the order in which it lies. */
struct collopt_recording_parts {
    _Alignas(128) struct collopt_recording head;
    _Alignas(128) struct collopt_recorded_call call[COLLOPT_RECORDED_CALLS];
    _Alignas(128) char name[COLLOPT_RECORDED_NAMES][COLLOPT_RECORDED_TEXT];
    struct collopt_recorded_comm comm[COLLOPT_RECORDED_COMMS];
    int32_t member[COLLOPT_RECORDED_MEMBERS];
};

#endif
