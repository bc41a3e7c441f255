/* The messages of an execution: by links where there are some, else by the host. */
#ifndef COLLOPT_MPI_RUN_P2P_H
#define COLLOPT_MPI_RUN_P2P_H

#include <stdbool.h>

struct collopt_execution;

int collopt_post(struct collopt_execution *e, int message);
int collopt_test_message(struct collopt_execution *e, int message, bool *done);
int collopt_wait_message(struct collopt_execution *e, int message);
/* Post and wait in one step; TRY is the form that does not wait, called until it is DONE. */
int collopt_receive_now(struct collopt_execution *e, int message);
int collopt_send_now(struct collopt_execution *e, int message);
int collopt_try_now(struct collopt_execution *e, int message, bool *done);
/* While this rank waits: what has arrived for posted receives is stored, so that its senders have
 * room; but not the message that is watched, which may be read where it is. */
int collopt_drain(struct collopt_execution *e);
/* After an error; true: messages were under way. */
bool collopt_abandon(struct collopt_execution *e);

#endif
