/* COLLOPT_ASYNC=thread: a thread of this process carries persistent and nonblocking reductions on
 * while the program computes. */
#ifndef COLLOPT_MPI_REQUEST_ASYNC_H
#define COLLOPT_MPI_REQUEST_ASYNC_H

/* A request was started: wakes the thread, or makes it.  Does nothing unless COLLOPT_ASYNC is
 * set. */
void collopt_async_wake(void);
/* Ends the thread, before MPI_Finalize. */
void collopt_async_end(void);

#endif
