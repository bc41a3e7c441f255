# What is installed beside the programs, and what packages are made from.

PACKAGING_TESTS = test/packaging/completion.sh test/packaging/container.sh \
	test/packaging/measurements.sh test/packaging/modules.sh
TESTS += $(PACKAGING_TESTS)
EXTRA_DIST += $(PACKAGING_TESTS) test/packaging/image
