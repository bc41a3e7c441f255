# Clusters, whole programs and guidelines: bench/cluster.

EXTRA_DIST += \
	bench/cluster \
	bench/ucx_close.c

CLUSTER_TESTS = \
	test/bench/cluster-arguments.sh \
	test/bench/cluster.sh

TESTS += $(CLUSTER_TESTS)
EXTRA_DIST += \
	$(CLUSTER_TESTS) \
	test/bench/nodes.c
