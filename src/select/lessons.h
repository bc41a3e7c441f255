/* Lessons: what trials have taught, kept for the report and to be written as rules.  No MPI here. */
#ifndef COLLOPT_LESSONS_H
#define COLLOPT_LESSONS_H

#include "internal.h"

/* One candidate for one kind of problem.  What the ranks of all communicators of one shape have to tell is summed. */
struct collopt_lesson {
    /* the problem */
    int32_t collective, ranks, nodes, ppn, size_class;
    uint32_t kind;              /* COLLOPT_KIND_EXACT and its like */
    int32_t uneven;             /* Reduce_scatter: some rank gets several times the average; no rule can say that */
    char algorithm[COLLOPT_CHOICE_TEXT];        /* as in a rule */
    /* what was learnt */
    uint64_t tellers;           /* ranks, of all communicators together */
    uint64_t chosen;            /* of them, those that have chosen it */
    double seconds;             /* sum over tellers */
};

struct collopt_lessons {
    struct collopt_lesson *list;
    size_t n, room;
};

/* Room for so many more, so that they can be added; false: no memory. */
bool collopt_lessons_room(struct collopt_lessons *lessons, size_t more);
/* Adds L to the lesson of the same problem and algorithm; false: no memory. */
bool collopt_lessons_add(struct collopt_lessons *lessons, const struct collopt_lesson *l);
/* By problem, and of one problem what was chosen most first; so the first lesson of each problem is the one to follow. */
void collopt_lessons_sort(struct collopt_lessons *lessons);
bool collopt_same_problem(const struct collopt_lesson *a, const struct collopt_lesson *b);
/* A file of rules that says the same.  LESSONS are sorted. */
void collopt_lessons_write(const struct collopt_lessons *lessons, FILE *to);

/* Those of this process; thread-safe.  COPY adds them to LESSONS; false: no memory. */
void collopt_lesson_learnt(const struct collopt_lesson *l);
bool collopt_lessons_copy(struct collopt_lessons *lessons);

const char *collopt_kind_name(unsigned kind);   /* of one kind, as in a rule */

#endif
