/* Reads the recording of a process (layout.h), which may be changing, cut off, or made by anybody:
 * it is copied by pread(), as a mapping of a file that gets shorter raises SIGBUS, and nothing that
 * it says is believed unless it lies within what was copied. */
#ifndef COLLOPT_RECORDER_READER_H
#define COLLOPT_RECORDER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/layout.h"

struct collopt_seen_call {
    uint64_t sequence, entered, bytes, count;
    uint32_t number;
    int comm;                   /* index in the snapshot; -1: of none that is there */
    uint8_t collective, mode, state;
    int root, waits_for;
    char name[COLLOPT_RECORDED_TEXT];   /* what runs it */
};

struct collopt_seen_comm {
    uint64_t id;
    uint32_t calls, starts, flags;
    int slot;                   /* where it lies in the recording */
    int rank, ranks;
    int32_t *member;            /* RANKS ranks of MPI_COMM_WORLD, -1 in other worlds; NULL: not
                                 * known, or its ranks are those of MPI_COMM_WORLD */
    char name[COLLOPT_RECORDED_TEXT];
};

/* A recording as it was at one time.  Texts are printable ASCII. */
struct collopt_snapshot {
    uint32_t version;           /* another than COLLOPT_RECORDER_VERSION: what is from LIFE on is
                                 * not known */
    int process;                /* id, as the process itself sees it */
    int rank, ranks;            /* -1: it has not come so far in MPI_Init */
    uint64_t job, started;
    char host[COLLOPT_RECORDED_TEXT], mpi[COLLOPT_RECORDED_TEXT], collopt[COLLOPT_RECORDED_TEXT];

    uint32_t life;              /* enum collopt_recorded_life */
    int local_ranks;
    uint64_t recorded;          /* calls, ever */
    uint64_t told;              /* see layout.h */
    bool full;                  /* it has more communicators than it can record */
    bool changing;              /* something was being written, and is left out here */
    size_t calls, comms;
    struct collopt_seen_call *call;     /* in the order in which they were entered */
    struct collopt_seen_comm *comm;

    /* What the recording does not say; collopt_read() leaves it 0, but for TAKEN and
     * REAL. */
    uint64_t taken, real;       /* ns of CLOCK_MONOTONIC and CLOCK_REALTIME */
    int pid;                    /* as the reader sees it */
    uint64_t file;              /* inode: two snapshots are of one recording */
    char status;                /* R, S, D, T, ... of /proc/PID/stat; X: it has ended */
    uint64_t ran;               /* ns that its first thread has run; 0: not known */
    bool moved;                 /* it did something between two looks */
    bool queued;                /* it was to run in both, and has not: no processor was free */
    bool other_clock;           /* its times do not compare with TAKEN */
    char sleeps_in[COLLOPT_RECORDED_TEXT];      /* function of the kernel; "": not known */
};

/* The recording in FD, to be freed with collopt_snapshot_free().  False: there is none, and WHY is
 * "", or it is broken, and WHY says how. */
bool collopt_read(int fd, struct collopt_snapshot *s, char *why, size_t size_of_why);
void collopt_snapshot_free(struct collopt_snapshot *s);

/* Copies a text that need not end, SIZE bytes, as printable ASCII; a tab becomes a space. */
void collopt_printable(char *to, const char *text, size_t size);

#endif
