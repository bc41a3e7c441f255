# bench/kit measures machines that have no compiler, MPI or network.

EXTRA_DIST += \
	bench/kit/README.md \
	bench/kit/best.awk \
	bench/kit/pack \
	bench/kit/run \
	bench/kit/summary.awk \
	bench/kit/topology.awk \
	test/bench/kit.sh

TESTS += test/bench/kit.sh
check_DATA += $(filter %/device_memory,$(BENCHES))
