/* The choice by the model: all algorithms that can serve a problem, by predicted time. */
#ifndef COLLOPT_CHOOSE_H
#define COLLOPT_CHOOSE_H

#include "internal.h"
#include "schedule.h"

struct collopt_candidate {
    struct collopt_choice choice;       /* with all its parameters */
    double seconds;
};

/* The N best of them, the best first, into BEST; returns how many there are. */
int collopt_choose(const struct collopt_problem *p, int n, struct collopt_candidate *best);

/* fingerprint.c: of how this build computes predicted times.  Ranks must compute them alike to the last bit. */
uint64_t collopt_fingerprint(void);

/* measured.c: where P was measured, and what was best there; NULL: nowhere. */
const char *collopt_measured(const struct collopt_problem *p, struct collopt_choice *choice);

/* cuts.c */
/* Do messages between nodes go by TCP, or what is as slow? */
bool collopt_over_tcp(const struct collopt_problem *p);
/* Where P's messages are best cut, in bytes; a list as collopt_bind() takes it. */
void collopt_cuts(const struct collopt_problem *p, struct collopt_cut cut[COLLOPT_CUTS]);

#endif
