# What measures on machines without compiler, MPI or network: bench/kit.

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
