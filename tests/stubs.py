"""Print the type stub of the package, made from the table of public names: ``make stubs`` writes it."""

from juryrank._public import MODULES

HEAD = "# Made by `make stubs` from _public.py.\n\n"


def stub() -> str:
    """The text of ``__init__.pyi``."""
    lines = sorted(f"from juryrank.{module} import {name} as {name}" for name, module in MODULES.items())
    return HEAD + "\n".join(lines) + "\n\n__version__: str\n"


if __name__ == "__main__":
    print(stub(), end="")
