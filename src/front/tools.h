/* Profiling tools behind us. */
#ifndef COLLOPT_FRONT_TOOLS_H
#define COLLOPT_FRONT_TOOLS_H

struct collopt_binding;
struct collopt_front_table;

/* The next functions that the backend calls for names that it only listens to. */
void collopt_stand_around_tools(const struct collopt_binding *b, struct collopt_front_table *front);
/* Puts tools on the way of MPI_X and PMPI_X. */
void collopt_go_by_tools(struct collopt_binding *b);

#endif
