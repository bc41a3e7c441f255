"""The wheel holds programs of one processor, but nothing of one Python."""

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class Programs(Distribution):
    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(distclass=Programs, cmdclass={"bdist_wheel": Wheel})
