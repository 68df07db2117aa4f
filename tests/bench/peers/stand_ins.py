# SPDX-License-Identifier: Apache-2.0
"""Imports single modules of a large package as they are shipped, without the rest of it.

An engine's file begins with imports of half the engine. Here the files that are named are executed unchanged from an unpacked wheel; whatever else they
import from the engine, or from packages that only an engine needs, is a stand-in: a module whose every attribute is a class that does nothing.
"""

import importlib
import importlib.machinery
import importlib.util
import pathlib
import sys
import types


class Nothing(type):
    """A class that passes for any name: a base class, an annotation, a decorator, a flag (a false one), a function."""

    def __new__(meta, name, bases=(), namespace=None):
        return super().__new__(meta, name, bases, dict(namespace or {}))

    def __init__(cls, name, bases=(), namespace=None):
        super().__init__(name, bases, dict(namespace or {}))

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return nothing(name)

    def __call__(cls, *arguments, **options):
        if "_stands_in" not in cls.__dict__:
            return super().__call__(*arguments, **options)  # a real class that derives from a stand-in
        decorated = len(arguments) == 1 and not options and callable(arguments[0]) and not isinstance(arguments[0], Nothing)
        return arguments[0] if decorated else cls

    def __getitem__(cls, _):
        return cls

    def __or__(cls, _):
        return cls

    __ror__ = __or__

    def __bool__(cls):
        return "_stands_in" not in cls.__dict__

    def __iter__(cls):
        return iter(())


def nothing(name):
    return Nothing(name, (), {"_stands_in": True})


class StandInModule(types.ModuleType):
    """Looks like a package; what it is asked for is a real module where one is named, and nothing otherwise."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self.__name__}.{name}"
        if self.__spec__.loader.leads_to_real(full):
            return importlib.import_module(full)
        made = nothing(name)
        setattr(self, name, made)
        return made


class Importer:
    """Finder and loader in one, first on sys.meta_path."""

    def __init__(self, package, folder, real, absent):
        self.package, self.folder, self.real, self.absent = package, pathlib.Path(folder), frozenset(real), frozenset(absent)
        if not (self.folder / package).is_dir():
            raise SystemExit(f"peers: {folder} holds no package {package}")

    def leads_to_real(self, name):
        return any(module == name or module.startswith(name + ".") for module in self.real)

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top != self.package and top not in self.absent:
            return None
        if name in self.real:
            return importlib.util.spec_from_file_location(name, self.folder.joinpath(*name.split(".")).with_suffix(".py"))
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return StandInModule(spec.name)

    def exec_module(self, module):
        module.__path__ = []


def use(package, folder, real, absent=()):
    sys.meta_path.insert(0, Importer(package, folder, real, absent))


def answer(module, **answers):
    """Functions of a stand-in that say what an engine of one rank on a machine without a GPU would."""
    module = importlib.import_module(module)
    for name, value in answers.items():
        setattr(module, name, lambda *_, value=value: value)
