/* The messages of an execution that travel by links (comm/links.h): their payloads are written to
 * channels in shared memory and read there.  A message whose payload finds no room goes by the
 * host, which is the caller's to do. */
#ifndef COLLOPT_MPI_RUN_PAYLOADS_H
#define COLLOPT_MPI_RUN_PAYLOADS_H

#include <stdbool.h>

struct collopt_execution;
struct collopt_step;

/* Copies the payload; the channel has room for the message.  *BY_HOST: the segment has none for the
 * payload, so the message has to go by the host. */
int collopt_payload_send(struct collopt_execution *e, int message, bool *by_host);
/* Receives the next message of its channel if it is there: *DONE.  VIEW: it may be read where it
 * is.  *BY_HOST: it comes by the host. */
int collopt_payload_receive(struct collopt_execution *e, int message, bool view, bool *done,
                            bool *by_host);
/* Takes the messages of the views that step S was the last to read. */
void collopt_payload_take(const struct collopt_execution *e, const struct collopt_step *s);
/* After an error: removes all messages of the call from the channels. */
void collopt_payloads_abandon(struct collopt_execution *e);

#endif
