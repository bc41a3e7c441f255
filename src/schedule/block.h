/* Blocks of the vector, places that hold them, and regions: blocks in a place. */
#ifndef COLLOPT_SCHEDULE_BLOCK_H
#define COLLOPT_SCHEDULE_BLOCK_H

/* Parts FIRST .. FIRST+PARTS-1 of a partition of the vector. Offsets in elements are known only
 * when bound. */
struct collopt_block {
    int partition, first, parts;
};

enum { COLLOPT_WHOLE = 0 };     /* the partition every schedule has: the vector as one part */

enum {
    COLLOPT_IN,                 /* what this rank contributes: never written */
    COLLOPT_OUT,                /* the result, where this rank has one */
    COLLOPT_FIRST_SLOT          /* and upwards: scratch */
};

/* One or several blocks in a place. In a vector-like place (IN, OUT, a slot made by vector_slot) a
 * block lies at its own offset; in a packed slot the blocks of a region are contiguous from the
 * slot's start. */
struct collopt_region {
    int place, blocks;
    struct collopt_block block;             /* when there is one */
    const struct collopt_block *list;       /* when there are more; copied by the call it is given
                                             * to */
};

#endif
