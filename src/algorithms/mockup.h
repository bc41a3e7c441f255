/* Another collective of all ranks as a part of an algorithm: what stands on the right of
 * performance guidelines (Traff, Gropp, Thakur, IEEE TPDS 21, 2010), where it is called a mock-up.
 * Its algorithm is a parameter, whose VALUE the calls take. */
#ifndef COLLOPT_ALGORITHMS_MOCKUP_H
#define COLLOPT_ALGORITHMS_MOCKUP_H

#include "algorithm.h"
#include "catalogue/choice.h"

/* P's vector, ranks and places, as a problem of collective C whose algorithm is open. */
struct collopt_problem collopt_mockup(const struct collopt_problem *p, enum collopt_collective c);
/* The value for CHOICE, whose other parameters are completed. */
size_t collopt_mockup_value(const struct collopt_problem *p, struct collopt_choice choice);
/* Refuses what is made of groups: their phases would be phases of a phase. */
bool collopt_mockup_usable(const struct collopt_problem *p, size_t value);
int collopt_mockup_segments(const struct collopt_problem *p, size_t value);
/* Writes it: from IN to RESULT, on ranks that have one. */
void collopt_mockup_build(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                          size_t value, int result);
void collopt_mockup_traffic(const struct collopt_problem *p, size_t value,
                            struct collopt_traffic *t);

#endif
