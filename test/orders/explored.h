/* Included before all else in what is explored: calls that the compiler does not report. */
#ifndef COLLOPT_TEST_ORDERS_EXPLORED_H
#define COLLOPT_TEST_ORDERS_EXPLORED_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

#define memcpy explore_copy
#define memset explore_set
#define memcmp explore_compare
#define malloc explore_memory
#define calloc explore_calloc
#define free explore_free
#define pthread_mutex_lock explore_lock
#define pthread_mutex_unlock explore_unlock

#endif
