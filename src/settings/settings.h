/* COLLOPT_ variables: one table of rows, from which they are parsed, checked, hashed, listed and
 * documented. */
#ifndef COLLOPT_SETTINGS_SETTINGS_H
#define COLLOPT_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "schedule/problem.h"

enum collopt_shm { COLLOPT_SHM_AUTO, COLLOPT_SHM_OFF };
enum collopt_wait { COLLOPT_WAIT_AUTO, COLLOPT_WAIT_SPIN, COLLOPT_WAIT_YIELD };
enum collopt_async { COLLOPT_ASYNC_OFF, COLLOPT_ASYNC_THREAD };
enum collopt_gpu { COLLOPT_GPU_AUTO, COLLOPT_GPU_HOST, COLLOPT_GPU_NATIVE };
enum collopt_nodes { COLLOPT_NODES_BY_MEMORY, COLLOPT_NODES_BY_NAMES };
enum collopt_offloading { COLLOPT_OFFLOAD_AUTO, COLLOPT_OFFLOAD_HOST, COLLOPT_OFFLOAD_IGNORE };
enum collopt_reproducible { COLLOPT_NOT_REPRODUCIBLE, COLLOPT_BY_PLACEMENT, COLLOPT_EXACTLY };

struct collopt_settings {
    bool on;                    /* COLLOPT */
    int after;                  /* COLLOPT_AFTER: taken over at this call of the family on a
                                 * communicator; 0 = auto */
    bool beyond_world;          /* COLLOPT_BEYOND_WORLD */
    bool pcontrol;              /* COLLOPT_PCONTROL */
    bool check;                 /* COLLOPT_CHECK */
    bool adapt;                 /* COLLOPT_ADAPT */
    const char *adapt_rules;    /* COLLOPT_ADAPT_RULES: file, or NULL */
    enum collopt_log log;       /* COLLOPT_LOG */
    const char *report;         /* COLLOPT_REPORT: file, "stderr", or NULL */
    const char *trace;          /* COLLOPT_TRACE: file, or NULL */
    size_t trace_size;          /* COLLOPT_TRACE_SIZE: bytes of memory for it */
    bool record;                /* COLLOPT_RECORD */
    int stall;                  /* COLLOPT_STALL: seconds; 0: off */
    bool stall_abort;           /* COLLOPT_STALL_ABORT */
    enum collopt_wait wait;     /* COLLOPT_WAIT */
    enum collopt_shm shm;       /* COLLOPT_SHM */
    size_t shm_size;            /* COLLOPT_SHM_SIZE: bytes of shared memory of a process */
    enum collopt_async async;   /* COLLOPT_ASYNC */
    enum collopt_gpu gpu;       /* COLLOPT_GPU */
    enum collopt_offloading offload;    /* COLLOPT_OFFLOAD */
    enum collopt_reproducible reproducible;     /* COLLOPT_REPRODUCIBLE; where it is set, AFTER is
                                                 * 1 */
    enum collopt_nodes nodes;   /* COLLOPT_NODES */
    const char *topology;       /* COLLOPT_TOPOLOGY: the shape of the machine; NULL: as found */
    const struct collopt_hosts *hosts;          /* the contents of its file, or NULL */
    size_t cut;                 /* COLLOPT_CUT: bytes in one message, at most */
    size_t scratch;             /* COLLOPT_SCRATCH: bytes of scratch kept between calls */
    int communicators;          /* COLLOPT_COMMUNICATORS: taken over by this process at a time, at
                                 * most */
    const char *isa;            /* COLLOPT_ISA: NULL = best */
    const char *force[COLLOPT_COLLECTIVES];     /* COLLOPT_ALLREDUCE ...: algorithm expression,
                                                 * "host", or NULL */
    const char *rules_file;     /* COLLOPT_RULES; NULL also if it cannot be used */
    const struct collopt_rules *rules;          /* its contents */
    const char *machine_file;   /* COLLOPT_MACHINE; the same */
    const struct collopt_machine_file *machine;
    bool bundled;               /* measurements that come with collopt may be used: nothing is said
                                 * of the machine */
    uint64_t hash;              /* of all settings that must be alike on all ranks */
};

struct collopt_hosts;
struct collopt_rules;           /* settings/rules.h */
struct collopt_machine_file;    /* model/machine.h */

/* Read once per process, thread-safe.  Rank 0 warns once about unknown COLLOPT_ variables and
 * values. */
const struct collopt_settings *collopt_settings(void);

/* Is each call timed?  Alike on all ranks where they agree. */
static inline bool collopt_settings_time(const struct collopt_settings *s)
{
    return s->report || s->trace;
}

/* For tests and tools.  Reads ENVIRONMENT ("NAME=value" ..., NULL at the end) into *s and calls
 * WARN (if not NULL) with one sentence for each mistake; returns their number.  Texts in *s are
 * never freed. */
int collopt_settings_from(struct collopt_settings *s, char *const *environment,
                          void (*warn)(const char *sentence));

/* One variable. Parsing, warnings, hashes, lists and documentation are all made from these rows. */
enum collopt_setting_kind {
    COLLOPT_SWITCH,             /* on or off; a bool */
    COLLOPT_WORD,               /* one of `words`, separated by |; an enum in their order */
    COLLOPT_NUMBER,             /* least..most; an int */
    COLLOPT_BYTES,              /* least..most, with K, M, G, T; a size_t */
    COLLOPT_TEXT,               /* anything; a string or NULL */
    COLLOPT_RULES_FILE,         /* a file of rules without mistakes; its name or NULL */
    COLLOPT_MACHINE_FILE,       /* a machine file without mistakes; its name or NULL */
    COLLOPT_SHAPE,              /* input of collopt_parse_shape(), or auto; a string or NULL */
    COLLOPT_EXPRESSION          /* an algorithm of `collective` or host; a string or NULL */
};

enum collopt_setting_scope {
    COLLOPT_LOCAL,              /* may differ from rank to rank */
    COLLOPT_AGREED,             /* must be alike on all ranks */
    COLLOPT_SET_AGREED          /* must be set on all ranks or on none */
};

struct collopt_setting_row {
    const char *name;           /* "COLLOPT_AFTER" */
    enum collopt_setting_kind kind;
    enum collopt_setting_scope scope;
    const char *values;         /* for people: "on|off", "N", "BYTES", "FILE|stderr"; of a
                                 * COLLOPT_WORD the words */
    const char *preset;         /* as text; "" if it is not set */
    size_t least, most;
    enum collopt_collective collective;
    size_t field;               /* offset in struct collopt_settings */
    const char *help;           /* one line */
};

const struct collopt_setting_row *collopt_setting_rows(int *n);
/* The value in S as written in the environment; "" if it is not set. */
void collopt_setting_value_text(const struct collopt_settings *s,
                                const struct collopt_setting_row *row, char *text, size_t size);
/* Hash of what must be the same on all ranks; constant for rows that may differ. */
uint64_t collopt_setting_hash(const struct collopt_settings *s,
                              const struct collopt_setting_row *row);

#endif
