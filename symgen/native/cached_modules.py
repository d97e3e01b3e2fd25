"""The package of modules that were compiled and kept: ``symgen.native.cached_modules.NAME`` is
looked for in the folder of `symgen.native.store`, so that their functions can be unpickled in other
processes."""

from symgen.native.store import Store

_folder = Store.of_user().folder

__path__ = [] if _folder is None else [str(_folder)]
"""Where its modules are looked for."""
