/* A tool whose standard output cannot be written ends with a message and a status. */
#ifndef COLLOPT_TOOLS_SHARED_OUTPUT_H
#define COLLOPT_TOOLS_SHARED_OUTPUT_H

/* To be called first: where a standard stream is closed, the null device takes its place. At exit,
 * what could not be written to the standard output is told, and the status is FAILED. */
void output_guard(const char *tool, int failed);

/* Writes what is held back, before exit; there is no way back where that fails. */
void output_flush(void);

#endif
