/* One case for the kernels: a combination, a length, a placement, an aliasing. Run against the
 * scalar reference, bit for bit, between guard pages. Used by the unit test and by the plain test
 * program. */
#ifndef COLLOPT_TEST_KERNELS_CASES_H
#define COLLOPT_TEST_KERNELS_CASES_H

#include "kernels/kernels.h"

struct kernel_case {
    enum collopt_op op;
    enum collopt_type type;
    int k;            /* operands; 0: combine, else fold of so many */
    int alias;        /* the operand that dst is, or -1: apart from all */
    bool same;        /* all operands are one */
    int offset;       /* bytes from an aligned address, for the first operand; the others differ */
    /* the data of operands end, rather than the operands begin, at a guard page */
    bool high;
    /* pairs: not 0: the operand that dst is wins nearly everywhere; 1: values above 0, 2: below, 3:
     * both */
    int settled;
    size_t n;
};

enum { CASE_BYTES_MAX = 1 << 20 };    /* of an operand, the offset not counted */

/* True if the result is right and nothing else was written. Otherwise says what is wrong in
 * `message`, first in words that name the case. */
bool kernel_case_run(const struct kernel_case *c, char *message, size_t size);

/* BRIEF: some lengths, others for each combination (for emulators and sanitizers). USUAL: every
 * length, with two offsets in turn. THOROUGH: every length with every offset. */
enum depth { BRIEF, USUAL, THOROUGH };

/* The cases of one combination: lengths 0 to 257 and some large ones, offsets 0 to 63, every form
 * and aliasing. Returns how many were wrong and says the first in `message`. */
long kernel_cases_run(enum collopt_op op, enum collopt_type type, enum depth depth, char *message,
                      size_t size);

#endif
