/* Is a GPU runtime in this process?  Only where one is mapped can a buffer be device memory, which no processor's loop
 * may touch. */
#include "config.h"

#include <link.h>
#include <string.h>

#include "call.h"

static const char *const runtimes[] = {
    "libcuda.so", "libcudart.so", "libamdhip64.so", "libhsa-runtime64.so", "libze_loader.so",
};

static int look(struct dl_phdr_info *info, size_t size, void *found)
{
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    const char *name = slash ? slash + 1 : info->dlpi_name;

    (void)size;
    for (size_t i = 0; name && i < sizeof runtimes / sizeof *runtimes; i++)
        if (strncmp(name, runtimes[i], strlen(runtimes[i])) == 0)
            *(bool *)found = true;
    return *(bool *)found;
}

static bool present(void)
{
    bool found = false;

    dl_iterate_phdr(look, &found);
    return found;
}

bool collopt_gpu_allows(void)
{
    switch (collopt_settings()->gpu) {
    case COLLOPT_GPU_HOST:
        return true;
    case COLLOPT_GPU_NATIVE:
        return false;
    default:
        return !present();
    }
}
