/* The formulas by which descriptors state rounds and bytes, evaluated for a problem.
 *
 *     formula   = bounded { "," condition ":" bounded } [ ";" remark ]
 *                 the last condition that holds counts
 *     bounded   = [ "about" | "up to" ] sum
 *     condition = "p odd" | "folded" | "all split" | "in streams" | "root inside"
 *     sum       = product { ( "+" | "-" ) product }
 *     product   = factor { [ "/" ] factor }
 *     factor    = simple [ "^" simple ]
 *     simple    = number | letter | function factor | "(" sum ")" | "(d_1 ... d_i)"
 *     function  = "ceil" | "floor" | "log2" | "log_" letter | "sum"
 *
 * The letters are those of doc/algorithms.md and the algorithm's parameters by name. A sum has a
 * term for each of the dims (d_i) or of the radices (f_i). The name of an inner algorithm stands
 * for its own formula, for the ranks that it runs on. A text that begins with "no formula" is for
 * people only.
 *
 * For the proofs and benches; libcollopt itself does not contain it. */
#ifndef COLLOPT_ALGORITHMS_FORMULA_H
#define COLLOPT_ALGORITHMS_FORMULA_H

#include "schedule/descriptor.h"
#include "schedule/problem.h"

struct collopt_formula {
    double value;
    bool about, up_to;          /* about: within a factor of 1.5; of a composition, if one of its
                                 * parts is */
    bool none;                  /* there is no formula */
    const char *mistake;        /* where the text is not understood; NULL: it is */
};

/* The rounds or the bytes of A for P, whose parameters are set. */
struct collopt_formula collopt_formula_rounds(const struct collopt_algorithm *a,
                                              const struct collopt_problem *p);
struct collopt_formula collopt_formula_bytes(const struct collopt_algorithm *a,
                                             const struct collopt_problem *p);

#endif
