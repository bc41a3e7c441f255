/* The options that AddressSanitizer reads when it starts.
 *
 * Its runtime, as a shared library, ends a process in which another library comes first, as a
 * preloaded one does: functions that both define would not be its own. We define none of those, so
 * this option turns that check off. It takes the first definition of this name: that of a program
 * which has options of its own, else ours. ASAN_OPTIONS is read later and overrides both.
 *
 * Called before any constructor has run. */

#include "config.h"

__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
