/* Cells: what collopt-bench measures, one by one, and the forms in which it tells. */
#ifndef COLLOPT_BENCH_LIB_CELLS_H
#define COLLOPT_BENCH_LIB_CELLS_H

#include <stdio.h>

#include "lib/measure.h"
#include "lib/problem.h"
#include "lib/provenance.h"

enum cell_state { CELL_OPEN, CELL_LEFT_OUT, CELL_MEASURED };

struct cell {
    struct bench_problem problem;               /* its bytes are those that it has, once measured */
    const char *algorithm;                      /* as asked for: "auto", "ring:segment=64K" */
    char ran[160];                              /* what collopt ran; "host", "none" */
    enum cell_state state;
    struct bench_figures figures;
    bool wrong_host, wrong_collopt;
};

/* "correct" or "WRONG". */
const char *cell_result(const struct cell *c);
/* By collective, operation, type, algorithm, bytes. */
void cells_sort(struct cell *cells, int n);

/* All of these on rank 0.  A file with provenance first, a header line, and a line for each cell
 * (RFC 4180: what holds a comma is quoted). */
void cells_csv_header(const struct provenance *p, FILE *to);
void cells_csv_line(const struct provenance *p, const struct cell *c, FILE *to);
/* One field of such a line, and a comma. */
void cells_csv_field(const char *text, FILE *to);
/* The others want sorted cells. */
void cells_table(const struct provenance *p, const struct cell *cells, int n, FILE *to);
void cells_json(const struct provenance *p, const struct cell *cells, int n, FILE *to);
/* The instructions by which gnuplot makes the picture FILE, data included. */
void cells_picture(const struct provenance *p, const struct cell *cells, int n, const char *file,
                   FILE *to);

#endif
