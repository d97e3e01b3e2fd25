"""Robots with actuators."""

from symgen.reading.assemble import load


def actuators(tmp_path, text):
    path = tmp_path / "drives.toml"
    path.write_text(text, encoding="utf-8")
    return path


def joints(file, **options):
    return {
        body.joint.name: body.joint for body in load(file, **options).model.bodies if not body.spin
    }
