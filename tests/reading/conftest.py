"""Files of a few lines, read."""

import pytest
from trees import TREE

from symgen.reading.assemble import Loaded, load


@pytest.fixture
def read(tmp_path):
    def read(body: str = TREE, **options) -> Loaded:
        path = tmp_path / "r.urdf"
        path.write_text(f'<robot name="r">\n{body}\n</robot>', encoding="utf-8")
        return load(path, **options)

    return read
