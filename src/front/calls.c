/* The exported MPI_X and PMPI_X.
 *
 * Both are defined because Open MPI's Fortran bindings call PMPI_X. Both do the work, but where
 * there are profiling tools behind us, which are given the call first (tools.c). MPI_Pcontrol is in
 * pcontrol.c.
 *
 * The caller's return address tells which MPI it uses, where several objects of a process could
 * answer. */

#include "config.h"

#include <stddef.h>

#include "front/calls.h"
#include "front/bind.h"
#include "front/binding.h"
#include "front/front.h"

#define EXPORT  __attribute__((visibility("default")))
#define CALLER  __builtin_extract_return_addr(__builtin_return_address(0))

static inline const struct collopt_binding *binding(const void *caller)
{
    const struct collopt_binding *b = collopt_binding();

    return __builtin_expect(b != NULL, 1) ? b : collopt_front_bind(caller, collopt_optional);
}

#define FORWARD(linkage, function, member, ID, parameters, arguments) \
    linkage int function parameters; \
    linkage int function parameters \
    { \
        const struct collopt_binding *b = binding(CALLER); \
        int (*f) parameters = (int (*) parameters)b->member[COLLOPT_NAME_##ID]; \
        return f ? f arguments : b->unsupported; \
    }
#define FORWARD_BOTH(function, id, ID, needs, parameters, arguments) \
    FORWARD_##needs(function, mpi, ID, parameters, arguments) \
    FORWARD_##needs(P##function, pmpi, ID, parameters, arguments)

#define FORWARD_BASE(function, member, ID, parameters, arguments) \
    FORWARD(EXPORT, function, member, ID, parameters, arguments)

/* Not every host has these, so a linker must not find them here: lacking.c says how. */
#if defined __has_attribute
# if __has_attribute(symver)            /* also where the linker compiles */
#  define VERSIONED(function)   __attribute__((symver(#function "@COLLOPT_HOSTS")))
#  define GIVE_VERSION(function)
# endif
#endif
#ifndef VERSIONED
# define VERSIONED(function)
# define GIVE_VERSION(function) \
    __asm__(".symver optional_" #function ", " #function "@COLLOPT_HOSTS");
#endif

#define FORWARD_OPTIONAL(function, member, ID, parameters, arguments) \
    GIVE_VERSION(function) \
    FORWARD(EXPORT VERSIONED(function), optional_##function, member, ID, parameters, arguments) \
    static __typeof__(optional_##function) forward_##function \
        __attribute__((alias("optional_" #function)));
#define FORWARD_LARGE                   FORWARD_OPTIONAL
#define FORWARD_PERSISTENT              FORWARD_OPTIONAL
#define FORWARD_PERSISTENT_LARGE        FORWARD_OPTIONAL
#define FORWARD_PERSISTENT_X            FORWARD_OPTIONAL
#define FORWARD_IDUP_WITH_INFO          FORWARD_OPTIONAL
#define FORWARD_SESSION                 FORWARD_OPTIONAL
#define FORWARD_GET_STATUSES            FORWARD_OPTIONAL
#define FORWARD_IS_COMPLETE             FORWARD_OPTIONAL

COLLOPT_NAMES(FORWARD_BOTH)

#define OPTIONAL_BASE(function, ID)
#define OPTIONAL_ROWS(function, ID) \
    { COLLOPT_NAME_##ID, false, (collopt_function)forward_##function }, \
    { COLLOPT_NAME_##ID, true, (collopt_function)forward_P##function },
#define OPTIONAL_LARGE                  OPTIONAL_ROWS
#define OPTIONAL_PERSISTENT             OPTIONAL_ROWS
#define OPTIONAL_PERSISTENT_LARGE       OPTIONAL_ROWS
#define OPTIONAL_PERSISTENT_X           OPTIONAL_ROWS
#define OPTIONAL_IDUP_WITH_INFO         OPTIONAL_ROWS
#define OPTIONAL_SESSION                OPTIONAL_ROWS
#define OPTIONAL_GET_STATUSES           OPTIONAL_ROWS
#define OPTIONAL_IS_COMPLETE            OPTIONAL_ROWS
#define OPTIONAL(function, id, ID, needs, parameters, arguments) OPTIONAL_##needs(function, ID)
const struct collopt_optional collopt_optional[] = { COLLOPT_NAMES(OPTIONAL) { 0, false, NULL } };
