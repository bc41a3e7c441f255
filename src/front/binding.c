/* The function behind every name, once bind.c has chosen it. */
#include "config.h"

#include <dlfcn.h>

#include "front/binding.h"
#include "front/say.h"

_Atomic(const struct collopt_binding *) collopt_bound;

#define SPELLED(function, id, ID, needs, parameters, arguments) #function,
const char *const collopt_front_names[COLLOPT_NAME_COUNT] = { COLLOPT_NAMES(SPELLED)
                                                               "MPI_Pcontrol" };

/* Reports, once and on rank 0, that a tool bypasses collopt. */
void collopt_bypassed(enum collopt_name name, collopt_function tool)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const struct collopt_binding *b = collopt_binding();
    Dl_info where;

    if (b->backend && b->backend->bypassed)
        b->backend->bypassed(name);
    if (b->backend && dladdr((const void *)(uintptr_t)tool, &where)
        && !atomic_flag_test_and_set(&said))
        collopt_front_warn("%s goes past collopt: %s, which was loaded behind libcollopt.so, calls "
                           "the P%s that is next. Name it before libcollopt.so in LD_PRELOAD",
                           collopt_front_names[name], where.dli_fname, collopt_front_names[name]);
}
