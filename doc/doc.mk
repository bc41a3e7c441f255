# Manual pages and documents.

dist_man_MANS += \
	doc/man/collopt.1 \
	doc/man/collopt.3 \
	doc/man/collopt.7 \
	doc/man/collopt-bench.1 \
	doc/man/collopt-info.1 \
	doc/man/collopt-plan.1 \
	doc/man/collopt-tune.1
# As they lie here, so that links among them hold.
dist_doc_DATA += README.md NEWS COPYING HACKING.md
pagesdir = $(docdir)/doc
dist_pages_DATA = doc/algorithms.md doc/design.md doc/kernels.md doc/performance.md doc/report.md
picturesdir = $(docdir)/doc/pictures
dist_pictures_DATA = doc/pictures/simulated-nodes-16.svg doc/pictures/simulated-torus-4x4x4.svg \
	doc/pictures/two-ranks-mpich.svg doc/pictures/two-ranks-openmpi.svg
