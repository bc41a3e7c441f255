# What packages are made from; see HACKING.md, "A release".

EXTRA_DIST += packaging/build-deb packaging/build-rpm packaging/build-wheel \
	packaging/Containerfile packaging/tarball packaging/debian packaging/easybuild packaging/rpm \
	packaging/spack packaging/wheel
