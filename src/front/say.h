/* The front's messages on standard error. */
#ifndef COLLOPT_FRONT_SAY_H
#define COLLOPT_FRONT_SAY_H

/* By one rank for the job. */
void collopt_front_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reported by this rank, since it alone knows that its backend is missing; the others will wait for
 * it. */
void collopt_front_warn_here(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
