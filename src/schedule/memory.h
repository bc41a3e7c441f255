/* Memory of a schedule that is being made. */
#ifndef COLLOPT_SCHEDULE_MEMORY_H
#define COLLOPT_SCHEDULE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct collopt_schedule;
struct piece;

/* Makes room for one more element of the array LIST with N used; false when memory is out. */
#define schedule_room(s, list, n) collopt_grow((s), (void **)&(s)->list, (s)->n, sizeof *(s)->list)
bool collopt_grow(struct collopt_schedule *s, void **list, size_t n, size_t size);

/* At least BYTES bytes, to be freed by the caller; NULL: out of memory, and the schedule knows. */
void *collopt_workspace(struct collopt_schedule *s, size_t bytes);

/* Adds a region of N pieces; returns its index. */
int collopt_add_span(struct collopt_schedule *s, int n, const struct piece *piece);

#endif
