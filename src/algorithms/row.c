/* Many operands onto one place: they are collected and combined in one pass as often as a kernel's
 * width allows, so that the accumulator is read and written once for several of them. */
#include "config.h"

#include "algorithm.h"

void collopt_row_flush(struct collopt_schedule *s, struct collopt_row *row)
{
    if (row->operands < 2)
        return;
    collopt_fold(s, row->to, row->operands, row->operand);
    row->operand[0] = row->to;
    row->operands = 1;
}

void collopt_row_add(struct collopt_schedule *s, struct collopt_row *row,
                     struct collopt_region operand)
{
    if (row->operands == COLLOPT_FOLD_OPERANDS)
        collopt_row_flush(s, row);
    row->operand[row->operands++] = operand;
}
