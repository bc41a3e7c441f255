/* Messages to the user, on stderr, each line beginning with "collopt: ". */
#ifndef COLLOPT_BASE_LOG_H
#define COLLOPT_BASE_LOG_H

#include <stdbool.h>

enum collopt_log { COLLOPT_LOG_WARN, COLLOPT_LOG_DECIDE, COLLOPT_LOG_TRACE };
/* COLLOPT_LOG; WARN until it is set. */
void collopt_log_up_to(enum collopt_log level);

/* True on the rank that speaks for the job (rank 0 by the launcher's variables; a process alone
 * speaks for itself). */
bool collopt_speaks(void);
/* Once MPI has told the rank in MPI_COMM_WORLD, that counts: launchers differ, and simulated ranks
 * share an environment. */
void collopt_speak_as(int rank);
/* A message is one line and one write; line feeds and control characters in it become spaces. */
/* always; only where collopt_speaks() */
void collopt_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same on this rank, whichever it is. */
void collopt_warn_here(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, but each text only once in a process. */
void collopt_warn_once(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Logs if COLLOPT_LOG is at least LEVEL: decisions only where collopt_speaks(), traces on all
 * ranks, with the prefix "collopt[rank]: ". */
void collopt_say(enum collopt_log level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Logs a decision, but not what this process has said before. */
void collopt_explain_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
