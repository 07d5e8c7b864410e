# SPDX-License-Identifier: Apache-2.0
"""Programs written for other packages of TensorFlow Lite, run on Halite.

    import halite.compat.tflite_runtime     # from here on `import tflite_runtime.interpreter` is Halite
    import halite.compat.ai_edge_litert     # the same for ai_edge_litert.interpreter
    import halite.compat.tensorflow         # the same for tensorflow.lite

or, without a change: python -m halite script.py. Nothing that is installed is touched: the names are taken in this
process alone, and other parts of an installed original are found as before. Processes that multiprocessing starts anew
(spawn, forkserver) get the search path of this one: take_in_children() puts this folder into it, whose modules have the
originals' names.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types

NAMES = ("tflite_runtime", "ai_edge_litert", "tensorflow")
_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _is_ours(name: str) -> bool:
    """Whether the module `name` is a file of this folder, found under an original's name in a child process."""
    path = getattr(sys.modules.get(name), "__file__", None)
    return path is not None and os.path.dirname(os.path.abspath(path)) == _FOLDER


def _find_original(name: str) -> importlib.machinery.ModuleSpec | None:
    """Where the original is installed, this folder left out; None where it is not."""
    path = sys.path[:]
    sys.path[:] = [folder for folder in path if folder != _FOLDER]
    try:
        return importlib.util.find_spec(name)
    finally:
        sys.path[:] = path


def _interpreter_module(name: str) -> types.ModuleType:
    """A module `name` with what the original's interpreter modules hold."""
    import halite

    module = types.ModuleType(name, "Halite's interpreter under another name.")
    for public in ("Delegate", "Interpreter", "InterpreterWithCustomOps", "OpResolverType", "SignatureRunner", "load_delegate"):
        setattr(module, public, getattr(halite, public))
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    sys.modules[name] = module
    return module


def _package(name: str) -> types.ModuleType:
    """A package `name` whose other modules are still found where an original is installed."""
    found = _find_original(name)
    module = types.ModuleType(name, "Halite under another name.")
    module.__path__ = list(found.submodule_search_locations or []) if found else []
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    module.__spec__.submodule_search_locations = module.__path__
    sys.modules[name] = module
    return module


def _take_package(name: str) -> None:
    if _is_ours(name):
        del sys.modules[name]
    if name in sys.modules and not getattr(sys.modules[name], "_halite", False):
        raise ImportError(f"{name} is imported already; import halite.compat.{name} before it")
    if name in sys.modules:
        return
    package = _package(name)
    package._halite = True  # type: ignore[attr-defined]
    package.interpreter = _interpreter_module(f"{name}.interpreter")  # type: ignore[attr-defined]


def _take_tensorflow() -> None:
    """tensorflow.lite becomes Halite; the rest of tensorflow is the installed one, or absent."""
    if _is_ours("tensorflow"):
        del sys.modules["tensorflow"]
    take_tensorflow_when_imported()
    importlib.import_module("tensorflow")


def _look_behind(module: types.ModuleType, original: object) -> None:
    """What `module` does not have is the original's: TFLiteConverter in tensorflow.lite, for example."""

    def find(name: str) -> object:
        if original is None or name.startswith("__"):
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        return getattr(original, name)

    module.__getattr__ = find  # type: ignore[method-assign]


def _folders(package: types.ModuleType, *names: str) -> list[str]:
    """Where the original's modules below `package` lie."""
    found = (os.path.join(folder, *names) for folder in getattr(package, "__path__", []))
    return [folder for folder in found if os.path.isdir(folder)]


def _replace_lite(tensorflow: types.ModuleType) -> None:
    original = getattr(tensorflow, "lite", None)
    lite = _interpreter_module("tensorflow.lite")
    experimental = types.ModuleType("tensorflow.lite.experimental")
    python = types.ModuleType("tensorflow.lite.python")
    lite.__path__, python.__path__ = _folders(tensorflow, "lite"), _folders(tensorflow, "lite", "python")
    _look_behind(lite, original)
    _look_behind(experimental, getattr(original, "experimental", None))
    for name in ("load_delegate", "OpResolverType"):
        setattr(experimental, name, getattr(lite, name))
    python.interpreter = _interpreter_module("tensorflow.lite.python.interpreter")  # type: ignore[attr-defined]
    lite.experimental, lite.python = experimental, python  # type: ignore[attr-defined]
    sys.modules.update({experimental.__name__: experimental, python.__name__: python})
    tensorflow.lite = lite  # type: ignore[attr-defined]


class _Loader(importlib.abc.Loader):
    """Loads tensorflow as `found` does (None: an empty package), then gives it Halite's lite."""

    def __init__(self, found: importlib.machinery.ModuleSpec | None) -> None:
        self._found = found

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return self._found.loader.create_module(spec) if self._found and self._found.loader else None

    def exec_module(self, module: types.ModuleType) -> None:
        if self._found and self._found.loader:
            self._found.loader.exec_module(module)
        _replace_lite(module)


class _WhenImported(importlib.abc.MetaPathFinder):
    """Importing tensorflow, large as it is, waits until the program does."""

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        found = _find_original(name)
        spec = importlib.machinery.ModuleSpec(name, _Loader(found), origin=found.origin if found else None, is_package=True)
        spec.submodule_search_locations = list(found.submodule_search_locations or []) if found else []
        return spec


def take_tensorflow_when_imported() -> None:
    """As take("tensorflow"), once the program imports it."""
    if "tensorflow" in sys.modules:
        _replace_lite(sys.modules["tensorflow"])
    else:
        sys.meta_path.insert(0, _WhenImported())


def take(name: str) -> None:
    """Makes one of NAMES mean Halite in this process."""
    if name == "tensorflow":
        _take_tensorflow()
    else:
        _take_package(name)


def take_in_children() -> None:
    """Makes NAMES mean Halite in the processes that multiprocessing starts anew."""
    if _FOLDER not in sys.path:
        sys.path.insert(1, _FOLDER)  # after the program's own folder
