# Copyright (c) 2026, The collopt authors
#
# SPDX-License-Identifier: BSD-3-Clause

import os

from spack.package import *

try:        # Spack 1.0 and later; before, spack.package has it
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:
    pass


class Collopt(AutotoolsPackage):
    """Makes MPI reductions (MPI_Allreduce, MPI_Reduce, MPI_Reduce_scatter, MPI_Scan, MPI_Exscan)
    faster, in programs that are neither changed nor recompiled: preloaded, it runs them by the
    algorithm that suits size, operation and placement."""

    # No homepage: the project has no public address yet.
    # The tarball that `packaging/tarball .` makes, in the folder where Spack is called:
    #     spack repo add packaging/spack; spack install --no-checksum collopt
    manual_download = True
    url = f"file://{os.getcwd()}/collopt-0.1.0.tar.gz"

    license("BSD-3-Clause")

    version("0.1.0")

    depends_on("c", type="build")
    depends_on("binutils", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2:")
    depends_on("mpi")
    # collopt compare, profile, doctor and demo, and collopt-report
    depends_on("python@3.7:", type="run")

    conflicts("platform=darwin", msg="collopt needs Linux")
    conflicts("platform=windows", msg="collopt needs Linux")

    # Built for the MPI in the spec; it serves the others that have the same ABI, too.
    def configure_args(self):
        spec = self.spec
        host = "openmpi" if spec["mpi"].name == "openmpi" else "mpich"
        other = "mpich" if host == "openmpi" else "openmpi"
        return [
            f"--with-{host}={spec['mpi'].mpicc}",
            f"--without-{other}",
            "--without-mpi-abi",
            "--without-smpi",
            f"--with-hwloc={spec['hwloc'].prefix}",
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def says_what_it_has(self):
        Executable(join_path(self.prefix.bin, "collopt-info"))("--check")
