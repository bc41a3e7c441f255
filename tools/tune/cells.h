/* The cells to measure, and those that have been measured.
 *
 * The driver has the catalogue and the costs; a job of the user's launcher has the MPI.  They talk
 * line by line (tools/bench/serve.h): for each cell, that is a collective, an operation and a size,
 * the driver asks for the algorithms of least predicted cost one after the other.  Answers are kept
 * in FILE.part until all is measured, so an interrupted command can be given again. */
#ifndef COLLOPT_TOOLS_TUNE_CELLS_H
#define COLLOPT_TOOLS_TUNE_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/host_mpi.h"
#include "schedule/problem.h"
#include "topology/topology.h"
#include "tune/costs.h"
#include "tune/options.h"

enum { TUNE_NAME = 200 };

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
    /* the rules made it slower, so the choice without them stays (verify.c) */
    bool worse;
    /* what the host takes, from most pairs; 0: not known */
    double host_us;
    int host_pairs;
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
/* The fastest algorithm, if it seems to beat the host and its interval does not say so, or is too
 * wide; else NULL. */
const struct tune_candidate *tune_doubtful(const struct tune_cell *c);
/* The next one, of what is chosen without rules and what is about as fast as the fastest, that had
 * less than LOOKS looks, or NULL; and how many such looks all cells lack. */
const struct tune_candidate *tune_contender(const struct tune_cell *c, int looks);
int tune_looks_open(const struct tune_cells *all, int looks);

#endif
