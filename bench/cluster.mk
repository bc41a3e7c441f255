# Clusters, whole programs, guidelines, and what reproducible results cost: bench/cluster,
# bench/apps, bench/reproducible.

EXTRA_DIST += \
	bench/apps \
	bench/cluster \
	bench/kmeans.py \
	bench/reproducible \
	bench/tree.sh \
	bench/programs/ucx_close.c

CLUSTER_TESTS = \
	test/bench/apps.sh \
	test/bench/cluster-arguments.sh \
	test/bench/cluster-hang.sh \
	test/bench/cluster-waiting.sh \
	test/bench/cluster.sh \
	test/bench/guidelines.sh \
	test/bench/reproducible.sh

TESTS += $(CLUSTER_TESTS)
check_DATA += $(filter %/bench_messages %/guidelines %/training,$(BENCHES))
EXTRA_DIST += \
	$(CLUSTER_TESTS) \
	test/bench/nodes.c \
	test/bench/slow.c
