/* The beginning and the end of a process. */
#ifndef COLLOPT_MPI_CALL_INIT_H
#define COLLOPT_MPI_CALL_INIT_H

void collopt_begin(void);               /* after MPI_Init, by all ranks of MPI_COMM_WORLD */
void collopt_finalize_begins(void);     /* in MPI_Finalize, before the host's */
void collopt_end(void);                 /* at its beginning, after the program's delete callbacks */
void collopt_abort(void);               /* before MPI_Abort */
/* MPI_Abort has returned, as where MPICH is given no communicator: the others will wait for this
 * rank in MPI_Finalize. */
void collopt_abort_failed(void);
/* A session has ended: says so where it was the last one, and nobody will write the report. */
void collopt_report_is_missed(void);
void collopt_control(int level);        /* MPI_Pcontrol */

#endif
