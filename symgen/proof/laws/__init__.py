"""The laws that judge quantities, in the files of this folder; to import them is to register
them."""

from importlib import import_module
from pkgutil import iter_modules

from symgen.proof.laws.law_registry import LAWS, Law, LawError, LawEvaluator, evaluate_law, law_of

for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

__all__ = ["LAWS", "Law", "LawError", "LawEvaluator", "evaluate_law", "law_of"]
