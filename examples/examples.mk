# Examples: programs as users write them, each built by the compiler wrapper of each MPI into
# examples/<mpi>/, and run with collopt and without. `make examples` builds them.

EXAMPLES_C = \
	complex_product \
	conjugate_gradient \
	conserved_total \
	matrix_columns \
	maxloc \
	pagerank \
	segmented_scan \
	sum_of_ranks

EXAMPLES_FORTRAN = \
	dot_product \
	exact_dot \
	matrix_vector \
	maxloc_fortran

EXAMPLE_FLAGS = -g -O2 -I$(srcdir)/include
EXAMPLES = $(foreach host,$(ARCHIVES) $(if $(ABI_MPIS),abi),$(EXAMPLES_C:%=examples/$(host)/%)) \
	$(foreach host,$(FORTRAN_HOSTS),$(EXAMPLES_FORTRAN:%=examples/$(host)/%))

.PHONY: examples
examples: $(EXAMPLES)

EXAMPLE_HOST_TESTS = $(TEST_HOSTS:%=examples/%.sh)
$(EXAMPLE_HOST_TESTS): examples/%.sh: Makefile
	$(AM_V_at)$(MKDIR_P) examples
	$(AM_V_GEN)echo 'host=$*; . "$${COLLOPT_SOURCE:-.}/examples/check.sh"' >$@

TESTS += examples/smpi.sh
check_DATA += $(EXAMPLES)
CLEANFILES += $(EXAMPLES) $(EXAMPLE_HOST_TESTS)
EXTRA_DIST += \
	examples/smpi.sh \
	examples/check.sh

# Beside README.md, which leads to them.
examplesdir = $(docdir)/examples
dist_examples_DATA = examples/README.md $(EXAMPLES_C:%=examples/%.c) \
	$(EXAMPLES_FORTRAN:%=examples/%.f90) examples/exact_sum.py
