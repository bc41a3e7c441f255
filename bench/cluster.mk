# Clusters, whole programs and guidelines: bench/cluster, bench/apps.

EXTRA_DIST += \
	bench/apps \
	bench/cluster \
	bench/kmeans.py \
	bench/tree.sh \
	bench/ucx_close.c

CLUSTER_TESTS = \
	test/bench/apps.sh \
	test/bench/cluster-arguments.sh \
	test/bench/cluster.sh \
	test/bench/guidelines.sh

TESTS += $(CLUSTER_TESTS)
check_DATA += $(filter %/guidelines %/training,$(BENCHES))
EXTRA_DIST += \
	$(CLUSTER_TESTS) \
	test/bench/nodes.c \
	test/bench/slow.c
