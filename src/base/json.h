/* Writes JSON, for the report and collopt-info.
 *
 * Written by hand, and only in this direction, because a preloaded library must not bring other
 * libraries into a job, and the static libjansson of the distributions is not made for shared
 * libraries: whether one takes it depends on how it was compiled. Tests read back with jansson
 * what is written here. */
#ifndef COLLOPT_BASE_JSON_H
#define COLLOPT_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct collopt_json {
    FILE *to;
    int depth;
    char bracket[8];            /* closing bracket of each open level */
    bool filled[8];             /* something was written at this level */
};

/* A value of an object has a KEY, one of an array has NULL. Levels beyond the second are written on
 * one line. */
void collopt_json_object(struct collopt_json *j, const char *key);
void collopt_json_array(struct collopt_json *j, const char *key);
/* of the innermost object or array */
void collopt_json_end(struct collopt_json *j);
/* NULL: null */
void collopt_json_text(struct collopt_json *j, const char *key, const char *value);
void collopt_json_count(struct collopt_json *j, const char *key, uint64_t value);
/* VALUE / 1000 */
void collopt_json_thousandths(struct collopt_json *j, const char *key, int64_t value);
/* not finite: null */
void collopt_json_real(struct collopt_json *j, const char *key, double value);
void collopt_json_flag(struct collopt_json *j, const char *key, bool value);

#endif
