/* Detects reuse of freed operation and datatype handles. */
#ifndef COLLOPT_MPI_HOST_HANDLES_H
#define COLLOPT_MPI_HOST_HANDLES_H

#include <stdint.h>

/* Attributes of user-defined handles read after this stamp are valid while the stamp is the
 * same. COLLOPT_UNSTAMPED: validity unknown. */
enum { COLLOPT_UNSTAMPED = 0 };
uint64_t collopt_handles_stamp(void);
/* Called around every free of an operation or datatype. */
void collopt_free_begins(void);
void collopt_free_ends(void);

#endif
