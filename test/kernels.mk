# Tests of the kernels: every combination on every instruction set (COLLOPT_CHECK_BIG=1: every
# length at every offset), for this processor and, emulated, for aarch64; no fused multiply-add in
# the objects; sanitizers.

KERNEL_CASES = test/exact_cases.c test/exact_cases.h test/exact_reference.c test/exact_reference.h \
	test/kernels_cases.c test/kernels_cases.h test/total_cases.c test/total_cases.h
KERNEL_TEST_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test
KERNEL_TEST_LIBS = libcollopt-kernels.la -lm

# the reference is held to the same arithmetic as the kernels
KERNEL_TEST_CFLAGS = $(AM_CFLAGS) $(COLLOPT_KERNEL_CFLAGS)

check_PROGRAMS += test/kernels_plain
test_kernels_plain_SOURCES = test/kernels_plain.c $(KERNEL_CASES)
test_kernels_plain_CPPFLAGS = $(KERNEL_TEST_CPPFLAGS)
test_kernels_plain_CFLAGS = $(KERNEL_TEST_CFLAGS)
test_kernels_plain_LDADD = $(KERNEL_TEST_LIBS)

if COLLOPT_CHECK
check_PROGRAMS += test/unit/test_kernels
TESTS += test/unit/test_kernels
test_unit_test_kernels_SOURCES = test/unit/test_kernels.c $(KERNEL_CASES)
test_unit_test_kernels_CPPFLAGS = $(KERNEL_TEST_CPPFLAGS)
test_unit_test_kernels_CFLAGS = $(KERNEL_TEST_CFLAGS) $(CHECK_CFLAGS)
test_unit_test_kernels_LDADD = $(KERNEL_TEST_LIBS) $(CHECK_LIBS)
else
TESTS += test/kernels_plain
endif

KERNEL_TESTS = test/no_fma.sh test/integers.sh test/aarch64.sh test/kernels_sanitized.sh
TESTS += $(KERNEL_TESTS)
EXTRA_DIST += $(KERNEL_TESTS)
