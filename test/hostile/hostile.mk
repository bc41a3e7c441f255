# A host that is legal and unhelpful (hostile.c): the backends linked once more, with a layer below
# them, and beside them a front that loads these.

HOSTILE_WRAPS = malloc calloc realloc aligned_alloc strdup mmap memfd_create posix_fallocate open \
	PMPI_Send PMPI_Isend PMPI_Irecv PMPI_Recv PMPI_Allgather PMPI_Iallgather PMPI_Comm_split \
	PMPI_Pack PMPI_Unpack

HOSTILE_BACKENDS = $(HOSTS:%=test/hostile/libcollopt-%.la)
HOSTILE_FRONT = test/hostile/.libs/libcollopt.so
HOSTILE_FILES = $(ARCHIVES:%=test/hostile/%/test_memory)

$(HOSTILE_FRONT): $(HOSTILE_BACKENDS) libcollopt.la
	$(AM_V_GEN)ln -sf $(abs_builddir)/.libs/libcollopt.so $@

HOSTILE_TESTS = test/hostile/fuzz.sh test/hostile/memory.sh

TESTS += $(HOSTILE_TESTS)
check_DATA += $(HOSTILE_FRONT) $(HOSTILE_FILES)
EXTRA_DIST += $(HOSTILE_TESTS) test/hostile/hostile.c test/hostile/hostile.h \
	test/hostile/test_memory.c
clean-local: clean-hostile
.PHONY: clean-hostile
clean-hostile:
	rm -rf $(HOSTILE_BACKENDS) $(HOSTS:%=test/hostile/%) test/hostile/.libs
