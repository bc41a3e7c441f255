/* What the parts of collopt that need no MPI share beside schedules: configuration, messages to the user, selection and
 * counters.  Read schedule.h first; call.h adds the MPI side. */
#ifndef COLLOPT_INTERNAL_H
#define COLLOPT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule.h"

/* ---- settings.c: every environment variable, one table ----------------------------------------------------- */

enum collopt_log { COLLOPT_LOG_WARN, COLLOPT_LOG_DECIDE, COLLOPT_LOG_TRACE };
/* auto: messages of vectors that are not long, see src/shm/transport.c */
enum collopt_shm { COLLOPT_SHM_AUTO, COLLOPT_SHM_ON, COLLOPT_SHM_OFF };
enum collopt_wait { COLLOPT_WAIT_AUTO, COLLOPT_WAIT_SPIN, COLLOPT_WAIT_YIELD };
enum collopt_gpu { COLLOPT_GPU_AUTO, COLLOPT_GPU_HOST, COLLOPT_GPU_NATIVE };
enum collopt_reproducible { COLLOPT_NOT_REPRODUCIBLE, COLLOPT_BY_PLACEMENT, COLLOPT_EXACTLY };

struct collopt_settings {
    bool on;                    /* COLLOPT */
    int after;                  /* COLLOPT_AFTER: taken over at this call of the family on a communicator; 0 = auto */
    bool pcontrol;              /* COLLOPT_PCONTROL */
    bool check;                 /* COLLOPT_CHECK */
    bool adapt;                 /* COLLOPT_ADAPT */
    const char *adapt_rules;    /* COLLOPT_ADAPT_RULES: file, or NULL */
    enum collopt_log log;       /* COLLOPT_LOG */
    const char *report;         /* COLLOPT_REPORT: file, "stderr", or NULL */
    enum collopt_wait wait;     /* COLLOPT_WAIT */
    enum collopt_shm shm;       /* COLLOPT_SHM */
    size_t shm_size;            /* COLLOPT_SHM_SIZE: bytes of shared memory of a process */
    enum collopt_gpu gpu;       /* COLLOPT_GPU */
    enum collopt_reproducible reproducible;     /* COLLOPT_REPRODUCIBLE; where it is set, AFTER is 1 */
    const char *node_ranks;     /* COLLOPT_NODE_RANKS: which ranks of the world count as a node; NULL: those that share memory */
    const char *topology;       /* COLLOPT_TOPOLOGY: what the machine looks like; NULL: what can be found */
    const struct collopt_hosts *hosts;          /* what is in its file, or NULL */
    size_t cut;                 /* COLLOPT_CUT: bytes in one message, at most */
    size_t scratch;             /* COLLOPT_SCRATCH: bytes of scratch kept per communicator between calls */
    int communicators;          /* COLLOPT_COMMUNICATORS: taken over by this process at a time, at most */
    const char *isa;            /* COLLOPT_ISA: NULL = best */
    const char *force[COLLOPT_COLLECTIVES];     /* COLLOPT_ALLREDUCE ...: algorithm expression, "host", or NULL */
    const char *rules_file;     /* COLLOPT_RULES; NULL also where it cannot be used */
    const struct collopt_rules *rules;          /* what is in it */
    const char *machine_file;   /* COLLOPT_MACHINE, likewise */
    const struct collopt_machine_file *machine;
    uint64_t hash;              /* of all settings that must be alike on all ranks */
};

struct collopt_hosts;           /* hosts.h */
struct collopt_rules;           /* select/rules.h */
struct collopt_machine_file;    /* select/machine.h */

/* Read once per process, thread-safe.  Warnings about unknown COLLOPT_ variables or values go out once, on rank 0. */
const struct collopt_settings *collopt_settings(void);

/* For tests and tools.  Reads ENVIRONMENT ("NAME=value" ..., NULL at the end) into *s and calls WARN (if not NULL) with one
 * sentence for each thing that is wrong; returns how many were.  Texts in *s are never freed. */
int collopt_settings_from(struct collopt_settings *s, char *const *environment, void (*warn)(const char *sentence));

/* One variable: what is parsed, warned about, hashed, listed and documented is all made from these rows. */
enum collopt_setting_kind {
    COLLOPT_SWITCH,             /* on or off; a bool */
    COLLOPT_WORD,               /* one of `words`, separated by |; an enum in their order */
    COLLOPT_NUMBER,             /* least..most; an int */
    COLLOPT_BYTES,              /* least..most, with K, M, G, T; a size_t */
    COLLOPT_TEXT,               /* anything; a string or NULL */
    COLLOPT_RULES_FILE,         /* a file of rules without mistakes; its name or NULL */
    COLLOPT_MACHINE_FILE,       /* likewise of what the machine is like */
    COLLOPT_NODES,              /* what collopt_stated_node() reads, or 0; a string or NULL */
    COLLOPT_SHAPE,              /* what collopt_parse_shape() reads, or auto; a string or NULL */
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
    const char *values;         /* for people: "on|off", "N", "BYTES", "FILE|stderr"; of a COLLOPT_WORD the words */
    const char *preset;         /* as text; "" where it is not set */
    size_t least, most;
    enum collopt_collective collective;
    size_t field;               /* offset in struct collopt_settings */
    const char *help;           /* one line */
};

const struct collopt_setting_row *collopt_setting_rows(int *n);
/* The value in S as one would write it in the environment; "" where it is not set. */
void collopt_setting_value_text(const struct collopt_settings *s, const struct collopt_setting_row *row, char *text,
                                size_t size);
/* Of what must be the same on all ranks; alike for all values of a row for which nothing must. */
uint64_t collopt_setting_hash(const struct collopt_settings *s, const struct collopt_setting_row *row);
/* The index of the word nearest to WORD by edit distance; -1 if none is near. */
int collopt_nearest(const char *word, int n, const char *(*nth)(int i, const void *data), const void *data);

/* ---- places.c: files of rules and machines that no variable names ----------------------------------------------- */

/* "openmpi", "mpich", "smpi" in a backend; "" in a tool that was not told. */
extern const char *collopt_host_name;
/* The first of the default places that has a file of rules (ENDING "rules") or a machine ("machine") for MPI; false: none. */
bool collopt_default_file(char *const *environment, const char *mpi, const char *ending, char *path, size_t size);
/* Its two directories; false: the user has none. */
bool collopt_users_directory(char *const *environment, char *path, size_t size);
const char *collopt_system_directory(void);
/* What this processor is called in the names of such files; and any name of a processor: "amd-epyc-7742-64-core-processor". */
void collopt_processor(char *word, size_t size);
void collopt_processor_word(const char *name, char *word, size_t size);

/* The rank of this process by the launcher's variables; -1: none is set. */
int collopt_launched_rank(void);
/* How many ranks of the job the launcher put on this node; -1: it does not say. */
int collopt_launched_local_ranks(void);
/* Does Open MPI yield the processor while it waits?  Asked for by mpi_yield_when_idle, or else since its launcher has seen more
 * ranks than processors; what stands in a file of its settings only is not seen. */
bool collopt_launched_to_yield(void);
/* The switches above this process's host by the scheduler's variables: hashes of what kinds there are (PATTERN, to be compared
 * over the ranks), of which ones they are, and of the whole ADDRESS, which is that of one node.  False: it does not say. */
bool collopt_launched_switches(uint32_t *pattern, uint32_t *branch, uint32_t *address);

/* ---- topology.c: nodes and grids by the user's word ------------------------------------------------------------ */

/* The node of a RANK of the world by "3,1,4" (so many ranks each, the last number again and again) or "cyclic:4" (four nodes, to
 * which ranks are dealt in turn), from 0 on; -1 if TEXT makes no sense. */
int collopt_stated_node(const char *text, int rank);

/* What is known of where RANKS are, in words: "4 nodes of 16 ranks; 8 NUMA domains; more ranks than processors". */
void collopt_topology_text(const struct collopt_topology *t, int ranks, char *text, size_t size);
/* Of SLURM_TOPOLOGY_ADDR "s0.s4.tux4" what PATTERN "switch.switch.node" says are switches: the length of "s0.s4", which names the
 * lowest of them; 0: there are none, or the two do not go together. */
size_t collopt_slurm_switches(const char *address, const char *pattern);

enum collopt_shape_kind { COLLOPT_AS_FOUND, COLLOPT_NOTHING, COLLOPT_NODES_OF, COLLOPT_GRID, COLLOPT_CARTESIAN, COLLOPT_HOSTS };

struct collopt_shape {          /* what COLLOPT_TOPOLOGY says */
    enum collopt_shape_kind kind;
    const char *nodes;          /* COLLOPT_NODES_OF: for collopt_stated_node(); points into the text */
    const char *file;           /* COLLOPT_HOSTS: its name, likewise */
    int sides, side[COLLOPT_SIDES];     /* COLLOPT_GRID: ranks of the world along each dimension, the last one consecutive */
    bool rings;                 /* a torus */
};

/* Reads "torus:8x8x4", "mesh:16x16", "nodes:24", "cartesian", "file:hosts", "none"; NULL is what is found.  False,
 * with a sentence in MESSAGE that says what would be right, if TEXT makes no sense.  No file is opened. */
bool collopt_parse_shape(const char *text, struct collopt_shape *shape, char *message, size_t size);
/* How many ranks a grid has; 0: it is none. */
int collopt_shape_ranks(const struct collopt_shape *shape);
/* Sets DIMS and RINGS (bit d of RINGS, as in struct collopt_topology) without the sides of one; nothing where a side is longer
 * than a parameter "dims" can say. */
void collopt_topology_grid(struct collopt_topology *t, int sides, const int *side, unsigned rings);
/* The same for RANKS that are the ranks WORLD[0], WORLD[STRIDE] ... of a machine of this SHAPE: if they are a box of it and in
 * its order, that is their grid, with rings where it is as long as the machine. */
void collopt_topology_box(struct collopt_topology *t, const struct collopt_shape *shape, const int *world, int stride, int ranks);

/* ---- expression.c: name[:key=value,...], nested expressions in parentheses ---------------------------------- */

/* An algorithm with its parameters; what forcing, rules and the selection hand to the dispatcher. */
struct collopt_choice {
    const struct collopt_algorithm *algorithm;  /* NULL: the host's own collective */
    size_t value[COLLOPT_PARAMETERS];           /* 0: not given, take the preset */
};

/* A choice as the value of a parameter that takes an algorithm; 0: no memory.  And back; NULL: there is no such number. */
size_t collopt_choice_number(const struct collopt_choice *choice);
const struct collopt_choice *collopt_choice_numbered(size_t number);
/* How often somebody got a 0.  What was decided meanwhile may not be what other ranks decide. */
unsigned collopt_choice_misses(void);

/* Parses TEXT for collective C.  On failure returns false and writes a sentence to MESSAGE that names what was wrong and
 * what would be right. */
bool collopt_parse_choice(const char *text, enum collopt_collective c, struct collopt_choice *choice,
                          char *message, size_t size);
/* Parses "64K", "3G", "512": bytes with K, M, G, T as powers of 1024; rejects signs, garbage and overflow. */
bool collopt_parse_size(const char *text, size_t *value);
/* The other way, shortest form first: 65536 is "64K". */
void collopt_size_text(size_t value, char *text, size_t size);
/* Bytes for whatever the library chooses, with all parameters. */
enum { COLLOPT_CHOICE_TEXT = 252 };
/* "ring:segment=64K", "host": parses to the same choice; returns the length as snprintf does. */
int collopt_choice_text(const struct collopt_choice *choice, char *text, size_t size);

/* ---- select/: which algorithm ------------------------------------------------------------------------------- */

struct collopt_decision {
    struct collopt_choice choice;       /* algorithm NULL: host */
    char why[160];                      /* "forced by COLLOPT_ALLREDUCE", "predicted 1.20 us; ring 4.31 us", ... */
    bool open;                          /* nobody has said so: others may be tried */
};

/* Fills DECISION for P: what is forced, else by the user's rules, else what was measured or is predicted to be fastest, else
 * the host.  A forced algorithm that cannot serve P gives one notice and the next choice.  What is predicted is that of a
 * problem of collopt_rounded() elements: it may take as long as tens of short calls, so programs whose counts are never the
 * same should not pay for each. */
void collopt_select(const struct collopt_problem *p, struct collopt_decision *decision);
/* The same, where R, unless NULL, knows predictions from before, and learns this one. */
struct collopt_remembered;
void collopt_select_again(const struct collopt_problem *p, struct collopt_remembered *r, struct collopt_decision *decision);
/* COUNT, rounded up to four binary digits, so that what is true of vectors up to a power of two stays so; of a
 * Reduce_scatter_block each part. */
size_t collopt_rounded(const struct collopt_problem *p);

/* remembered.c: what was predicted for a communicator's problems, of which the last ones are known. */
struct collopt_remembered *collopt_remembered_new(void);        /* NULL: no memory, and nothing is remembered */
void collopt_remembered_free(struct collopt_remembered *r);
/* R may be NULL. */
const struct collopt_decision *collopt_recall(const struct collopt_remembered *r, const struct collopt_problem *p);
void collopt_remember(struct collopt_remembered *r, const struct collopt_problem *p, const struct collopt_decision *d);

/* At most MOST choices that are worth a trial where a decision is open: that decision, then others that may be as fast. */
int collopt_candidates(const struct collopt_problem *p, struct collopt_choice *choice, int most);
/* Sets P->value and P->segments for a choice, and P->topology to the groups that it goes by. */
void collopt_set_parameters(struct collopt_problem *p, const struct collopt_choice *choice);
/* May CHOICE serve P, whatever P's own parameters are?  The host may unless P is to be reproducible. */
bool collopt_choice_usable(const struct collopt_choice *choice, const struct collopt_problem *p, const char **why);

/* ---- log.c: what the user is told, on stderr, each line starting with "collopt: " ---------------------------- */

/* True on the rank that speaks for the job (rank 0 by the launcher's variables; a process alone speaks for itself). */
bool collopt_speaks(void);
/* Once MPI has told the rank in MPI_COMM_WORLD, that counts: launchers differ, and simulated ranks share an environment. */
void collopt_speak_as(int rank);
/* A message is one line and one write; line feeds and control characters in it become spaces. */
void collopt_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));   /* always; only where collopt_speaks() */
/* The same on this rank, whichever it is. */
void collopt_warn_here(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Likewise, but not what this process has said before. */
void collopt_warn_once(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* If COLLOPT_LOG is LEVEL or more.  Decisions only where collopt_speaks(); traces everywhere, as "collopt[rank]: ". */
void collopt_say(enum collopt_log level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void collopt_say_once(enum collopt_log level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- counters.c: what was run; process-wide sums, thread-safe ----------------------------------------------- */

/* Every thread adds to sums of its own, without a lock: cheap enough to be called for every call (a few ns). */

/* Messages are counted in size classes: class k holds vectors of 2^(k-1) < bytes <= 2^k; class 0 is 0 and 1 byte. */
enum { COLLOPT_SIZE_CLASSES = 64 };

enum collopt_reason {           /* why a call was passed through to the host */
    COLLOPT_PASS_OFF,           /* switched off (COLLOPT=off, MPI_Pcontrol(0)) */
    COLLOPT_PASS_EARLY,         /* before COLLOPT_AFTER: the communicator is not taken over, or a plan does not pay yet */
    COLLOPT_PASS_ARGUMENTS,     /* arguments that are the host's to judge */
    COLLOPT_PASS_INTERCOMM,
    COLLOPT_PASS_REFUSED,       /* this communicator could not be engaged (cap, disagreement, ...) */
    COLLOPT_PASS_NATIVE,        /* COLLOPT_GPU=native */
    COLLOPT_PASS_CHOSEN,        /* the host was forced or selected */
    COLLOPT_PASS_NESTED,        /* called from inside collopt */
    COLLOPT_PASS_UNSUPPORTED,   /* nonblocking, persistent: not implemented here */
    COLLOPT_PASS_TOOL,          /* a profiling tool behind us has taken it to the host */
    COLLOPT_REASONS
};
extern const char *const collopt_reason_names[COLLOPT_REASONS];     /* "switched off", ... for the report */

enum collopt_sent { COLLOPT_SENT_BY_HOST, COLLOPT_SENT_BY_SHM, COLLOPT_SENT };

struct collopt_counter {        /* of one collective, algorithm and size class */
    uint64_t calls;
    uint64_t bytes;             /* of data in the input vectors */
    double seconds, least, most;        /* total, and of one call; only when COLLOPT_REPORT is set */
    uint64_t sent[COLLOPT_SENT];        /* bytes of its sends; likewise */
};

/* Adds C (C->calls calls) to the sums of an algorithm. */
void collopt_count(const struct collopt_algorithm *a, int size_class, const struct collopt_counter *c);
/* The same for one call that was not timed. */
void collopt_count_call(const struct collopt_algorithm *a, int size_class, uint64_t bytes);
/* What calls run by A are counted under: its collective; "reduce_local" for the one algorithm that has none. */
const char *collopt_counted_as(const struct collopt_algorithm *a);
/* NAME is the MPI name without MPI_ ("Allreduce", "Iallreduce", "Allreduce_c") and must live for ever. */
void collopt_count_passed(const char *name, enum collopt_reason why, uint64_t calls);
/* The same for one call that was timed. */
void collopt_count_passed_call(const char *name, enum collopt_reason why, double seconds);
/* Calls VISIT for each sum of all threads that is not zero, once per algorithm and size class or name and reason;
 * ALGORITHM NULL and NAME/REASON set for calls passed through. */
struct collopt_sum {
    const struct collopt_algorithm *algorithm;
    int size_class;
    const char *name;
    enum collopt_reason reason;
    struct collopt_counter counter;
};
/* VISIT must not count or visit. */
void collopt_visit_sums(void (*visit)(const struct collopt_sum *sum, void *data), void *data);
void collopt_reset_sums(void);

static inline int collopt_size_class(uint64_t bytes)
{
    return bytes <= 1 ? 0 : 64 - __builtin_clzll(bytes - 1);
}

/* ---- report.c: what was run, at the end; no MPI -------------------------------------------------------------- */

/* The sums of one or more processes.  How ranks combine them (life.c): each gathers its own; on the way up a tree a rank
 * merges what its children have packed and packs the whole for its parent; the root writes. */
struct collopt_report;

/* This process's sums; NULL: no memory.  SECONDS: how long it has run while they were added up; 0: that is not known. */
struct collopt_report *collopt_report_gather(double seconds);
void collopt_report_free(struct collopt_report *r);
/* Writes R to BUFFER if SIZE suffices; returns the bytes it takes (ask with NULL, 0). */
size_t collopt_report_pack(const struct collopt_report *r, void *buffer, size_t size);
/* Adds a packed report; false if the bytes are none of this version, or no memory: R is then as before. */
bool collopt_report_merge(struct collopt_report *r, const void *buffer, size_t size);
/* Writes to WHERE, the value of COLLOPT_REPORT: a table to "stderr", else JSON to the file WHERE, or WHERE.<rank> where the
 * report is one rank's (RANK >= 0; -1: combined).  A file appears whole or not at all; a device, a pipe, /dev/stdout and
 * /dev/stderr are written to, whoever's the report is.  MPI is what MPI_Get_library_version says,
 * RANKS the size of MPI_COMM_WORLD.  False, after a warning, if it could not be written. */
bool collopt_report_write(struct collopt_report *r, const char *where, const char *mpi, int ranks, int rank);
/* Is WHERE a file, there or not, and nothing else that can be written to? */
bool collopt_report_to_file(const char *where);
/* Warns at the beginning where the files WHERE (COLLOPT_REPORT) and RULES (of collopt_report_rules()), NULL: none, cannot be
 * made: at the end what they were to hold would be lost. */
void collopt_report_look_ahead(const char *where, const char *rules);
/* Writes a file of rules that says what was learnt (COLLOPT_ADAPT); likewise. */
bool collopt_report_rules(struct collopt_report *r, const char *where);

#endif
