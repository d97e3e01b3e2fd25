"""Small tapes."""

import pytest

from symgen.compiler.program import Program, Value


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.fixture
def ab(program) -> list[Value]:
    return program.input("x", (2,))
