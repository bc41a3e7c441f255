/* The messages of an algorithm on any machine, summed from its traffic(): for people, proofs and
 * benches; libcollopt itself does not contain it. */
#ifndef COLLOPT_TOOLS_SHARED_EFFORT_H
#define COLLOPT_TOOLS_SHARED_EFFORT_H

struct collopt_algorithm;
struct collopt_problem;

/* A rank sends one message and receives one at a time. */
struct collopt_effort {
    double rounds;              /* messages one after another on the critical path */
    double vectors;             /* their bytes, in vectors of one rank */
};

/* Of A for P, whose parameters are set. */
struct collopt_effort collopt_effort(const struct collopt_algorithm *a,
                                     const struct collopt_problem *p);

#endif
