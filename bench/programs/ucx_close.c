/* Preloaded by bench/cluster into programs of MPICH: lets MPI_Finalize end where UCX speaks TCP.
 *
 * MPICH 4.0 closes its endpoints there one after the other, and closing flushes.  A rank that has
 * closed its own waits outside of UCX for the others, no longer answering, and a flush that needs
 * its answer never ends: every second run of four ranks hangs with UCX 1.13.  So endpoints are left
 * to end with the worker that they belong to, a little later; what has been sent is given time to
 * leave.
 *
 *     cc -shared -fPIC -o ucx_close.so ucx_close.c -ldl */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE 1      /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <string.h>

enum { POLLS = 1000, FAILED = -1 };

/* As in ucp/api/ucp.h, which need not be installed; what the pointers point to is not touched. */
int ucp_worker_create(void *context, const void *parameters, void **made);
void *ucp_disconnect_nb(void *endpoint);

static void *worker;

int ucp_worker_create(void *context, const void *parameters, void **made)
{
    int (*create)(void *, const void *, void **);
    void *address = dlsym(RTLD_NEXT, "ucp_worker_create");
    int status = FAILED;

    memcpy(&create, &address, sizeof create);
    if (address)
        status = create(context, parameters, made);
    if (status == 0)
        worker = *made;
    return status;
}

void *ucp_disconnect_nb(void *endpoint)
{
    unsigned (*progress)(void *);
    void *address = dlsym(RTLD_DEFAULT, "ucp_worker_progress");

    (void)endpoint;
    memcpy(&progress, &address, sizeof progress);
    for (int i = 0; address && worker && i < POLLS; i++)
        progress(worker);
    return NULL;        /* UCS_OK: done */
}
