/* COLLOPT_ASYNC=thread: a thread of this process carries persistent and nonblocking reductions on
 * while the program computes. */
#ifndef COLLOPT_MPI_ASYNC_H
#define COLLOPT_MPI_ASYNC_H

/* Something was started.  Nothing unless the thread is wanted. */
void collopt_async_wake(void);
/* The thread ends; before MPI_Finalize. */
void collopt_async_end(void);

#endif
