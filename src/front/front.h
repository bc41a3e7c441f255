/* Inside libcollopt.so: the only part of collopt that a user names.
 *
 * It knows no mpi.h and needs only libc, so it can be preloaded into anything. The first
 * intercepted call finds the process's MPI (find.c), loads the backend built for its ABI and
 * publishes what each name shall do (bind.c, binding.h); every further call is one load and one
 * jump (calls.c, pcontrol.c), or goes by profiling tools (tools.c). A process that makes no such
 * call pays for being mapped, and for three names that the one constructor looks up (order.c). */

#ifndef COLLOPT_FRONT_FRONT_H
#define COLLOPT_FRONT_FRONT_H

#include <stdint.h>

/* Handles pass through as words. Nobody may look at one: where MPI's handles are ints, the upper
 * half is undefined. */
typedef uintptr_t host_type;
typedef uintptr_t host_op;
typedef uintptr_t host_comm;
typedef uintptr_t host_info;
typedef uintptr_t host_request;
typedef const host_request *host_requests;
typedef void host_status;
typedef uintptr_t host_errhandler;
typedef uintptr_t host_session;
typedef int64_t host_count;

#endif
