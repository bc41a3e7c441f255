/* Decides when preparation pays: a communicator is taken over, and a plan made, as soon as the
 * calls so far would have saved its cost.
 *
 * This is the ski rental problem: the number of calls to come is unknown. By this rule a program
 * loses at most twice what the best decision in hindsight would have lost. All inputs are the same
 * on all ranks. On two ranks a communicator costs about 10 us and each sort of plan 12.
 *
 * Times are nanoseconds.  They are cautious estimates, not predictions: computing a prediction
 * is a good part of the price. */
#ifndef COLLOPT_SELECT_BREAK_EVEN_H
#define COLLOPT_SELECT_BREAK_EVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the ranks are, by increasing cost of a round of messages. */
enum collopt_surroundings { COLLOPT_ON_NODE, COLLOPT_ON_NETWORK, COLLOPT_CROWDED };

/* The time saved when collopt, not the MPI library, runs one reduction of BYTES on RANKS ranks.
 * MESSAGE: what a short message between nodes takes; 0: not known. */
uint32_t collopt_saving(enum collopt_surroundings where, uint64_t message, int ranks, size_t bytes);
/* The price of taking over a communicator of RANKS, and of a plan there. */
uint32_t collopt_price_of_communicator(int ranks);
uint32_t collopt_price_of_plan(enum collopt_surroundings where, int ranks);

/* The problems of a communicator. Those that reached break-even are never forgotten, so ranks that
 * kept a plan and ranks that lost it decide the same; of the others the most recent are kept. */
struct collopt_break_even {
    struct collopt_break_even_entry {
        uint32_t problem, earned;       /* a hash, 0: none; ns; all ones: its price */
    } *met;                     /* [places] */
    uint32_t places, turn;
};

/* Makes room for problems that differ in their root; false: no memory. */
bool collopt_break_even_begin(struct collopt_break_even *r, int ranks);
void collopt_break_even_end(struct collopt_break_even *r);

/* Adds the SAVING of one call for PROBLEM, a hash. True: the savings have reached PRICE, now or
 * before. Once the table is full of such problems, new ones count as such too. */
bool collopt_break_even_reached(struct collopt_break_even *r, uint64_t problem, uint32_t saving,
                                uint32_t price);

#endif
