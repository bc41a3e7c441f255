#ifndef COLLOPT_TEST_UNIT_FAKE_REGISTRY_H
#define COLLOPT_TEST_UNIT_FAKE_REGISTRY_H

unsigned test_random(unsigned n);       /* 0 .. n-1, the same sequence in every run */

#endif
