# Measurements: files of rules and machines, each for one processor and one version of an MPI
# library.  A job on another one does not use them.  XDG_DATA_DIRS=$(srcdir)/data lets a build tree
# find them.
dist_pkgdata_DATA += \
	data/collopt/mpich-4.0-amd-epyc.machine \
	data/collopt/mpich-4.0-amd-epyc.rules \
	data/collopt/openmpi-4.1-amd-epyc.machine \
	data/collopt/openmpi-4.1-amd-epyc.rules
