# What is installed beside the programs, and what packages are made from.

TESTS += \
	test/packaging/completion.sh \
	test/packaging/measurements.sh \
	test/packaging/modules.sh
EXTRA_DIST += \
	test/packaging/completion.sh \
	test/packaging/measurements.sh \
	test/packaging/modules.sh
