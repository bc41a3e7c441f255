# Examples: programs as users write them, each built by the compiler wrapper of each MPI into examples/<mpi>/, and run
# with collopt and without. `make examples` builds them.

EXAMPLES_C = \
	complex_product \
	conjugate_gradient \
	matrix_columns \
	maxloc \
	segmented_scan \
	sum_of_ranks

EXAMPLES_FORTRAN = \
	dot_product \
	matrix_vector \
	maxloc_fortran

EXAMPLE_FLAGS = -g -O2
EXAMPLES =

if COLLOPT_OPENMPI
EXAMPLES += $(EXAMPLES_C:%=examples/openmpi/%) $(if $(OPENMPI_MPIFC),$(EXAMPLES_FORTRAN:%=examples/openmpi/%))
endif
if COLLOPT_MPICH
EXAMPLES += $(EXAMPLES_C:%=examples/mpich/%) $(if $(MPICH_MPIFC),$(EXAMPLES_FORTRAN:%=examples/mpich/%))
endif

examples/openmpi/%: examples/%.c
	$(AM_V_at)$(MKDIR_P) examples/openmpi
	$(AM_V_CC)$(OPENMPI_MPICC) $(EXAMPLE_FLAGS) -o $@ $< -lm
examples/openmpi/%: examples/%.f90
	$(AM_V_at)$(MKDIR_P) examples/openmpi
	$(AM_V_GEN)$(OPENMPI_MPIFC) $(EXAMPLE_FLAGS) -o $@ $<
examples/mpich/%: examples/%.c
	$(AM_V_at)$(MKDIR_P) examples/mpich
	$(AM_V_CC)$(MPICH_MPICC) $(EXAMPLE_FLAGS) -o $@ $< -lm
examples/mpich/%: examples/%.f90
	$(AM_V_at)$(MKDIR_P) examples/mpich
	$(AM_V_GEN)$(MPICH_MPIFC) $(EXAMPLE_FLAGS) -o $@ $<

.PHONY: examples
examples: $(EXAMPLES)

EXAMPLE_TESTS = examples/openmpi.sh examples/mpich.sh examples/smpi.sh
TESTS += $(EXAMPLE_TESTS)
check_DATA += $(EXAMPLES)
CLEANFILES += $(EXAMPLES)
EXTRA_DIST += \
	$(EXAMPLE_TESTS) \
	examples/check.sh

# Beside README.md, which leads to them.
examplesdir = $(docdir)/examples
dist_examples_DATA = examples/README.md $(EXAMPLES_C:%=examples/%.c) $(EXAMPLES_FORTRAN:%=examples/%.f90)
