/* When preparing pays: a communicator is taken over, and a plan is made, as soon as the calls so far would have saved as
 * much time as that costs.
 *
 * This is the ski rental problem: nobody knows how many calls will follow.  By this rule a program never loses more than
 * twice what it would have lost in hindsight.  Everything here is computed from what all ranks know alike.
 *
 * Times are nanoseconds.  They are cautious constants for a node, not predictions: a rank that computes a prediction for
 * a problem has already paid a good part of the price. */
#ifndef COLLOPT_RENTAL_H
#define COLLOPT_RENTAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the ranks are, in the order of what a round of messages costs. */
enum collopt_surroundings { COLLOPT_ON_NODE, COLLOPT_ON_NETWORK, COLLOPT_CROWDED };

/* Saved by one reduction of a vector of BYTES on RANKS ranks that collopt runs in place of the MPI library. */
uint32_t collopt_saving(enum collopt_surroundings where, int ranks, size_t bytes);
/* The price of taking over a communicator of RANKS, and of a plan there. */
uint32_t collopt_price_of_communicator(int ranks);
uint32_t collopt_price_of_plan(int ranks);

/* The problems that a communicator has met.  Those that have earned their price are never forgotten, so that a rank that
 * still has a plan and one that has lost it decide alike; of the others the last ones are known. */
struct collopt_rental {
    struct collopt_rented {
        uint32_t problem, earned;       /* a hash, 0: none; ns; all ones: its price */
    } *met;                     /* [places] */
    uint32_t places, turn;
};

/* With room for problems that differ in their root; false: no memory. */
bool collopt_rental_begin(struct collopt_rental *r, int ranks);
void collopt_rental_end(struct collopt_rental *r);

/* Adds the SAVING of one call for PROBLEM, a hash.  True: it has earned PRICE, now or before.  Where too many problems
 * have earned theirs to be told apart, new ones are taken for such. */
bool collopt_earned(struct collopt_rental *r, uint64_t problem, uint32_t saving, uint32_t price);

#endif
