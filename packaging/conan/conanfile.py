# SPDX-License-Identifier: Apache-2.0
"""Conan's recipe: `conan create packaging/conan` from this tree. The package has the libraries, headers and CMake files."""

import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy


class Halite(ConanFile):
    name = "halite"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Runs TensorFlow Lite models, in plain C; the interface of the TensorFlow Lite C library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"gpu": [True, False]}
    default_options = {"gpu": False}
    package_type = "shared-library"
    languages = ["C"]

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for name in ("CMakeLists.txt", "LICENSE", "README.md", "cmake/*", "docs/*", "include/*", "src/*", "tools/*"):
            copy(self, name, root, self.export_sources_folder)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option in ("TESTS", "TOOLS", "PYTHON", "JAVA", "OBJC"):
            toolchain.cache_variables[f"HALITE_{option}"] = "OFF"
        toolchain.cache_variables["HALITE_GPU"] = "ON" if self.options.gpu else "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # its own file: find_package(tensorflowlite_c)
        self.cpp_info.builddirs = ["lib/cmake"]
        self.cpp_info.libs = ["tensorflowlite_c"]
