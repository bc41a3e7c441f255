/* collopt-tune: what its parts share.
 *
 * The driver has the catalogue and the costs; a job of the user's launcher has the MPI.  They talk
 * line by line (bench/serve.h): for each cell, that is a collective, an operation and a size, the
 * driver asks for the algorithms of least predicted cost one after the other.  Answers are kept in
 * FILE.part until all is measured, so an interrupted command can be given again. */
#ifndef TUNE_H
#define TUNE_H

#include "base/lines.h"
#include "model/machine.h"
#include "schedule/problem.h"
#include "settings/rules.h"
#include "topology/topology.h"

#include <stdio.h>
#include <sys/types.h>

enum {
    TUNE_SIZES = 64,
    TUNE_RANKS = 16,
    TUNE_NAME = 200,
    TUNE_FAILED = 1,
    TUNE_USAGE = 2,
    TUNE_INTERRUPTED = 130
};
/* Of a cell: by predicted time; with the choice without rules, the variants of the fastest, and
 * the winners of neighbouring cells. */
enum { TUNE_PROMISING = 11, TUNE_CANDIDATES = TUNE_PROMISING + 9 };

/* "collopt-tune: ..." on the standard error output. */
__attribute__((format(printf, 1, 2))) void tune_say(const char *format, ...);
void *tune_must(void *memory);                  /* ends the program where there is none */
double tune_now(void);                          /* seconds */

/* ---- tune_options.c: the command line -------------------------------------------------------- */

/* Operations by the names of collopt-bench, and what they are to a rule. */
struct tune_operation {
    const char *name;
    size_t size;                                /* bytes of data in an element */
    bool commutative, exact;
    const char *kind;                           /* the rule's word */
};
enum { TUNE_OPERATIONS = 8 };
extern const struct tune_operation tune_operations[TUNE_OPERATIONS];

enum tune_progress { TUNE_AUTO, TUNE_BAR, TUNE_QUIET };

struct tune_options {
    bool check, help, json, version, verify;
    const char *output, *machine, *picture, *mpi, *program;
    char *part;                                 /* where answers are kept until all is measured */
    bool collective[COLLOPT_COLLECTIVES], operation[TUNE_OPERATIONS];
    size_t size[TUNE_SIZES];                    /* ascending */
    int sizes;
    /* ascending; for a job each, in which they take the place of %n */
    size_t ranks[TUNE_RANKS];
    int rankses;                                /* 0: one job, as the launcher says */
    double seconds;
    int candidates;                             /* of a cell; */
    bool no_more;                               /* also if time is left */
    enum tune_progress progress;
    char **word;                                /* the launcher and its options, or files */
    int words;
};

/* False, after a message: the options make no sense. */
bool tune_options(struct tune_options *o, int argc, char **argv);
/* The name of the machine's file beside a file of RULES: site.machine beside site.rules.  To be
 * freed. */
char *tune_beside(const char *rules);

struct tune_command {
    int argc;
    char **argv;
};

/* ---- tune_cells.c: what is to be measured, and what has been --------------------------------- */

/* SPARE: if time is left */
enum tune_state { TUNE_OPEN, TUNE_SPARE, TUNE_MEASURED, TUNE_UNFIT, TUNE_WRONG };

/* The host's time to its own, with its interval, as one look at it shows it.  What else goes on on
 * a machine lasts longer than a look, and is not in the interval. */
struct tune_look {
    double ratio, low, high;
};
enum { TUNE_LOOKS = 3 };

struct tune_candidate {
    /* as a rule has it: "ring", "leader:node=(binomial)"; "auto" until it is known */
    char name[TUNE_NAME];
    enum tune_state state;
    double ratio, low, high;                    /* of its looks the middle one, of two the later */
    struct tune_look look[TUNE_LOOKS];
    int looks;
};

struct tune_cell {
    enum collopt_collective collective;
    int operation;                              /* of tune_operations */
    size_t bytes;
    /* without rules collopt takes the first candidate, once known; else the host */
    bool built_in;
    int candidates;
    struct tune_candidate candidate[TUNE_CANDIDATES];   /* the most promising one first */
    /* the rules were: the choice without them stays (tune_verify.c) */
    bool worse;
    /* what the host takes, from most pairs; 0: not known */
    double host_us;
    int host_pairs;
};

struct tune_costs {                             /* of messages and combining */
    struct collopt_machine machine;
    unsigned given;                             /* bit i: key i was measured */
    unsigned unsure;                            /* it was, but differed too much to be used */
    bool complete;                              /* all was measured that can be */
    char remark[COLLOPT_MACHINE_KEYS][80];
};

struct tune_machine {                           /* where it is measured */
    int ranks, nodes, largest;
    size_t least, most;                         /* ranks for which it stands */
    enum collopt_mpi mpi;
    struct collopt_topology topology;
    struct tune_costs costs;
    char about[4][300];                         /* for the head of the file */
    int abouts;
};

struct tune_cells {
    struct tune_machine machine;
    struct tune_cell *cell;                     /* by collective, operation, size */
    int n;
    struct tune_cells *next;                    /* of the next number of ranks */
};

/* All cells that O asks for, with their candidates. */
void tune_make_cells(struct tune_cells *all, const struct tune_options *o);
/* Takes an answer, to whatever was asked; false: it says nothing of these cells nor of the
 * machine. */
bool tune_take_answer(struct tune_cells *all, const char *answer);
/* Segments, radices, lambdas or splits beside the one of the fastest algorithm, if that beats the
 * host. */
void tune_add_variants(struct tune_cell *c, const struct tune_machine *m);
/* Adds the fastest algorithms of neighbouring sizes and of other operations of the same kind, if
 * they beat the host there.  The model may predict too long a time for them in C. */
void tune_add_winners(const struct tune_cells *all, struct tune_cell *c,
                      const struct tune_options *o);
/* The number of messages that all ranks send in C by the algorithm NAME; of more than 64 ranks, 64
 * are counted.  0: NAME is the host, or cannot serve C. */
size_t tune_messages(const struct tune_machine *m, const struct tune_cell *c, const char *name);
bool tune_cell_open(const struct tune_cell *c);         /* is something left to be measured? */
/* Candidates in one state are in the other from now on; how many. */
int tune_turn(struct tune_cells *all, enum tune_state from, enum tune_state to);
/* The fastest algorithm, if it seems to beat the host and its interval does not say so; else
 * NULL. */
const struct tune_candidate *tune_doubtful(const struct tune_cell *c);
/* The next one, of what is chosen without rules and what is about as fast as the fastest, that had
 * less than LOOKS looks, or NULL; and how many such looks all cells lack. */
const struct tune_candidate *tune_contender(const struct tune_cell *c, int looks);
int tune_looks_open(const struct tune_cells *all, int looks);

/* ---- tune_job.c: the launcher's job ---------------------------------------------------------- */

/* The variables of collopt that the ranks get, in order, a blank before each: what is measured
 * depends on them. */
void tune_write_variables(FILE *to);

struct tune_job {
    pid_t pid;
    FILE *to, *from;
    char *line;
    size_t room;
};

/* Starts PROGRAM, a collopt-bench, with collopt preloaded.  False, after a message. */
bool tune_job_start(struct tune_job *job, const struct tune_options *o, const char *program);
/* The next answer, without what marks it; NULL: there are no more.  All else that comes goes to the
 * standard error output. */
const char *tune_job_answer(struct tune_job *job);
/* Ends it, at once if KILL, and returns its exit status (128 + signal). */
int tune_job_end(struct tune_job *job, bool kill);
/* The programs that may measure under this launcher, the likeliest first; how many.  0, after a
 * message: there is none. */
enum { TUNE_PROGRAMS = 2, TUNE_PATH = 4096 };
int tune_programs(const struct tune_options *o, char program[TUNE_PROGRAMS][TUNE_PATH]);

/* ---- tune_measure.c: the measuring ----------------------------------------------------------- */

/* Fills in what is still open, as far as the time goes.  The exit status; TUNE_INTERRUPTED where
 * the user would not wait. */
int tune_measure(struct tune_cells *all, const struct tune_options *o, const char *key);

/* Starts the job and fills in where it runs; 0, or an exit status after a message. */
int tune_begin(struct tune_job *job, struct tune_machine *m, const struct tune_options *o);
/* One question and its answer, which is the job's; NULL: there was none. */
const char *tune_ask(struct tune_job *job, const char *question);
bool tune_interrupted(void);

/* ---- tune_verify.c: the rules against the choice without them -------------------------------- */

/* Measures both in pairs where they differ, and tells.  Cells that the rules make slower get what
 * they have without them. */
int tune_verify(struct tune_cells *all, const struct tune_options *o);

/* ---- tune_machine.c: what messages cost ------------------------------------------------------ */

/* Takes an answer "machine ...". */
bool tune_take_cost(struct tune_costs *c, const char *answer);
/* Fills in what was not measured. */
void tune_complete_costs(struct tune_costs *c, const struct collopt_topology *t);
bool tune_knows_costs(const struct tune_cells *all);    /* is there something to write? */
/* Writes O->machine, if there is something to write: what messages cost, and what the host's
 * collectives take.  False, after a message. */
bool tune_write_machine(const struct tune_cells *all, const struct tune_options *o,
                        const struct tune_command *command);

/* ---- tune_series.c: what is chosen ----------------------------------------------------------- */

struct tune_choice {
    const char *name;                           /* "host" */
    double ratio, low, high;
    size_t messages;                            /* as tune_messages() counts them */
};

struct tune_point {
    size_t bytes, least, most;                  /* measured; for which it stands */
    int choices, good;                          /* the good ones come first */
    struct tune_choice choice[TUNE_CANDIDATES];
    /* of the algorithms; its name is "" where there is none */
    struct tune_choice best;
    struct tune_choice chosen;
    const char *plain;                          /* what is chosen without rules, */
    double built_in;                            /* and its ratio */
    int last;                                   /* point of the same rule */
};

struct tune_series {                            /* of one collective and one kind of operation */
    enum collopt_collective collective;
    const char *kind;
    int points;
    struct tune_point point[TUNE_SIZES];
};

/* All that have points, in the order of rules; to be freed. */
struct tune_series *tune_series(const struct tune_cells *all, const struct tune_options *o, int *n);

/* ---- tune_picture.c: a heat map -------------------------------------------------------------- */

/* Makes O->picture of the last ones by gnuplot; where there is none it says what makes it.  False,
 * after a message. */
bool tune_draw(const struct tune_cells *all, const struct tune_options *o);

/* ---- tune_guidelines.c: what rules choose, against performance guidelines -------------------- */

/* Tells of lines that are predicted to take more than twice as long as what a guideline says, on
 * MACHINE (NULL: the shipped ones); returns how many there are. */
int tune_hold_rules(const struct collopt_rules *rules, const struct collopt_machine_file *machine,
                    collopt_tell_mistake *tell, void *data);

/* ---- tune_summary.c: what was found ---------------------------------------------------------- */

/* A sentence for people: on the standard output, or where that takes JSON on the standard error
 * output. */
__attribute__((format(printf, 2, 3))) void tune_tell(const struct tune_options *o,
                                                     const char *format, ...);
/* How many times as fast as the host, by the rules and without them, and where the files belong. */
void tune_sum_up(const struct tune_cells *all, const struct tune_options *o);

/* ---- tune_rules.c: the file ------------------------------------------------------------------ */

/* A word of a command line, in one line. */
void tune_write_word(const char *word, FILE *to);
/* ", made by collopt-tune ..." and lines of comment: when, how and where. */
void tune_write_origin(const struct tune_machine *m, const struct tune_command *command, FILE *to);
int tune_cells_of(const struct tune_cells *all);
int tune_not_measured(const struct tune_cells *all);         /* of these */
/* Writes O->output, whole or not at all.  False, after a message. */
bool tune_write_rules(const struct tune_cells *all, const struct tune_options *o,
                      const struct tune_command *command);

#endif
