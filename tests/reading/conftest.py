"""Files of a few lines, read with the coordinates in the order of the file: `TREE` has a joint
before the one that carries it, so that numbers of bodies are in no convenient order."""

import pytest

from symgen.reading.assemble import LoadedRobot, load
from tests.support.trees import TREE


@pytest.fixture
def read(tmp_path):
    def read(body: str = TREE, **options) -> LoadedRobot:
        path = tmp_path / "r.urdf"
        path.write_text(f'<robot name="r">\n{body}\n</robot>', encoding="utf-8")
        return load(path, **{"joint_order": "file", **options})

    return read
