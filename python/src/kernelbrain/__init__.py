"""Optimises MLIR modules with kb-opt and calls what kb-compile makes of them.

    module = kernelbrain.optimize("model.mlir", budget_seconds=20)
    library = module.compile("model.so")
    y = library.main(x)

    library = kernelbrain.load("model.so")
"""
from ._errors import KernelBrainError, LoadError, ToolError
from ._library import Function, Library, load
from ._tools import Module, compile, optimize

__all__ = ["Function", "KernelBrainError", "Library", "LoadError", "Module", "ToolError", "compile", "load", "optimize"]
