/* Prepares the process; see process.h. */
#include "config.h"

#include <pthread.h>

#include "mpi/node/process.h"
#include "base/log.h"
#include "kernels/isa.h"
#include "mpi/device/gpu.h"
#include "settings/settings.h"

atomic_bool collopt_switched_on = true, collopt_reporting;

static void prepare(void)
{
    char message[256] = "";

    if (collopt_kernels_init(collopt_settings()->isa, message, sizeof message))
        collopt_warn("COLLOPT_ISA: %s", message);
    atomic_store_explicit(&collopt_reporting, collopt_settings_time(collopt_settings()),
                          memory_order_relaxed);
    collopt_gpu_begin();
    if (!collopt_settings()->on)
        atomic_store_explicit(&collopt_switched_on, false, memory_order_relaxed);
}

void collopt_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, prepare);
}
