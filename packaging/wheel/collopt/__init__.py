"""collopt for programs that use mpi4py, where nothing can be installed but by pip.

    mpirun -n 4 python -m collopt run app.py        each rank preloads collopt
    python -m collopt mpirun -n 4 python app.py     the command collopt(1)

What `make install` puts under a prefix lies in the folder prefix beside this file."""

import os

PREFIX = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prefix")
LIBRARY = os.path.join(PREFIX, "lib", "libcollopt.so.0")
