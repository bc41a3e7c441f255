# Manual pages and documents.

dist_man_MANS += \
	doc/man/collopt.1 \
	doc/man/collopt.3 \
	doc/man/collopt.7 \
	doc/man/collopt-bench.1 \
	doc/man/collopt-info.1 \
	doc/man/collopt-plan.1 \
	doc/man/collopt-tune.1
EXTRA_DIST += doc/design.md doc/performance.md doc/report.md \
	doc/pictures/simulated-nodes-16.svg doc/pictures/simulated-torus-4x4x4.svg \
	doc/pictures/two-ranks-mpich.svg doc/pictures/two-ranks-openmpi.svg
