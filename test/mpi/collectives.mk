# Programs on real MPIs: every algorithm, errors, communicators, threads, settings.  A program is
# compiled for each MPI as test/mpi/<mpi>/<program>; the scripts run them.

MPI_TEST_NAMES = test_arithmetic test_calls test_check test_collectives test_communicators \
	test_errors test_exact test_exact_sum test_faults test_gpu test_handles test_invalid test_legal \
	test_limits test_lives test_load test_local \
	test_pairs test_quirks test_rare \
	test_reproducible test_requests test_settings test_threads test_trace test_waiting

# The standard ABI only where a library serves it.
MPI_TEST_FILES = $(foreach host,$(ARCHIVES) $(if $(ABI_MPIS),abi), \
	$(MPI_TEST_NAMES:%=test/mpi/$(host)/%)) \
	$(ABI_MPIS:%=abi/%/libmpi_abi.so.1) $(if $(ABI_MPIS),abi/mpicc)
if COLLOPT_SMPI
MPI_TEST_FILES += test/mpi/smpi/test_collectives
endif

MPI_TEST_SHARED = test/exact_reference.c test/exact_reference.h \
	test/mpi/common.c test/mpi/common.h test/mpi/elements.c test/mpi/elements.h include/collopt.h
MPI_TEST_FLAGS = $(AM_CPPFLAGS) -I$(srcdir)/test/mpi -I$(srcdir)/test $(AM_CFLAGS) $(CFLAGS)
MPI_TEST_C = $(filter %.c,$^)
# Of the library only the registry, so that the tests know what each algorithm can serve; what they
# test is preloaded.
MPI_TEST_LINK = .libs/libcollopt-core.a $(HWLOC_LIBS) -lm -lpthread

# The simulator's MPI_X are weak, and a weak reference fetches nothing from an archive; -u does.  It
# must see main.
test/mpi/smpi/test_%: test/mpi/test_%.c $(MPI_TEST_SHARED) libcollopt-core.la libcollopt-smpi.a
	$(AM_V_at)$(MKDIR_P) test/mpi/smpi
	$(AM_V_CC)$(SMPI_MPICC) $(MPI_TEST_FLAGS) -fvisibility=default -DTEST_SIMULATED \
	  -o $@ $(MPI_TEST_C) -Wl,-u,MPI_Allreduce libcollopt-smpi.a $(MPI_TEST_LINK)

ZONES_FILES = test/mpi/zones.c test/mpi/zones.h
test/mpi/smpi/test_collectives: $(ZONES_FILES)

MPI_TESTS = \
	test/mpi/adapt.sh \
	test/mpi/arithmetic.sh \
	test/mpi/calls.sh \
	test/mpi/check.sh \
	test/mpi/collectives-smpi.sh \
	test/mpi/communicators.sh \
	test/mpi/disagree.sh \
	test/mpi/errors.sh \
	test/mpi/exact_sum.sh \
	test/mpi/faults.sh \
	test/mpi/gpu.sh \
	test/mpi/host.sh \
	test/mpi/invalid.sh \
	test/mpi/legal.sh \
	test/mpi/limits.sh \
	test/mpi/lives.sh \
	test/mpi/load.sh \
	test/mpi/shm.sh \
	test/mpi/local.sh \
	test/mpi/locale.sh \
	test/mpi/nodes.sh \
	test/mpi/offload.sh \
	test/mpi/pairs.sh \
	test/mpi/pods.sh \
	test/mpi/quirks.sh \
	test/mpi/reproducible.sh \
	test/mpi/requests.sh \
	test/mpi/settings.sh \
	test/mpi/static.sh \
	test/mpi/tolerance.sh \
	test/mpi/trace.sh \
	test/mpi/waiting.sh

COLLECTIVES_TESTS = $(TEST_HOSTS:%=test/mpi/collectives-%.sh)
$(COLLECTIVES_TESTS): test/mpi/collectives-%.sh: Makefile
	$(AM_V_at)$(MKDIR_P) test/mpi
	$(AM_V_GEN)echo '. "$${COLLOPT_SOURCE:-.}/test/mpi/collectives.sh"; all $*' >$@

TESTS += $(MPI_TESTS)
check_DATA += $(MPI_TEST_FILES)
CLEANFILES += $(MPI_TEST_FILES) $(COLLECTIVES_TESTS)
EXTRA_DIST += \
	$(MPI_TESTS) \
	$(MPI_TEST_NAMES:%=test/mpi/%.c) \
	$(ZONES_FILES) \
	test/mpi/collectives.sh \
	test/launch.sh \
	test/mpi/hosts.sh \
	test/mpi/simulated.sh \
	test/mpi/common.c \
	test/mpi/common.h \
	test/mpi/clock_standin.c \
	test/mpi/gpu_standin.c \
	test/mpi/trace.py \
	test/mpi/waiting.py \
	test/mpi/limited_memory.sh \
	test/mpi/without_calls.py \
	test/mpi/elements.c \
	test/mpi/elements.h

# The same with all combinations of counts, roots, shapes and aliasing, and on more ranks.
check-big: $(check_DATA)
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='test/mpi/collectives-smpi.sh $(COLLECTIVES_TESTS)' \
	  TEST_THOROUGH=1
.PHONY: check-big

# Much of everything, and ranks that are stopped for a minute: by hand.
check-large:
	TEST_LOAD=long TEST_FAULTS=long $(MAKE) check TESTS='test/mpi/load.sh test/mpi/faults.sh'
.PHONY: check-large
