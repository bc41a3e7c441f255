# What packages are made from; see HACKING.md, "A release".

EXTRA_DIST += packaging/build-deb packaging/build-rpm packaging/tarball packaging/debian \
	packaging/easybuild packaging/rpm packaging/spack
