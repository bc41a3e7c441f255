# The random tester: test/fuzz/run finds what fails and makes it short, test/fuzz/fuzz.sh has it do
# so for a minute.

# The standard ABI only where a library serves it.
FUZZ_FILES = $(foreach host,$(ARCHIVES) $(if $(ABI_MPIS),abi),test/fuzz/$(host)/fuzz)
if COLLOPT_SMPI
FUZZ_FILES += test/fuzz/smpi/fuzz
endif

FUZZ_PARTS = test/fuzz/apart.c test/fuzz/buffers.c test/fuzz/calls.c test/fuzz/fuzz.c \
	test/fuzz/groups.c test/fuzz/job.c test/fuzz/kinds.c test/fuzz/requests.c test/fuzz/strays.c \
	test/fuzz/traffic.c test/fuzz/watch.c test/fuzz/fuzz.h

test/fuzz/smpi/fuzz: $(FUZZ_PARTS) $(MPI_TEST_SHARED) libcollopt-core.la libcollopt-smpi.a
	$(AM_V_at)$(MKDIR_P) test/fuzz/smpi
	$(AM_V_CC)$(SMPI_MPICC) $(MPI_TEST_FLAGS) -fvisibility=default -DTEST_SIMULATED \
	  -o $@ $(MPI_TEST_C) -Wl,-u,MPI_Allreduce libcollopt-smpi.a $(MPI_TEST_LINK)

TESTS += test/fuzz/fuzz.sh
check_DATA += $(FUZZ_FILES)
CLEANFILES += $(FUZZ_FILES)
EXTRA_DIST += $(FUZZ_PARTS) test/fuzz/fuzz.sh test/fuzz/run
