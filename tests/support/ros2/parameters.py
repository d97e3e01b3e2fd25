"""The header that generate_parameter_library would write of a YAML file, as far as controllers use
it: parameters without a default must be given, and meet their validation."""

import sys
from pathlib import Path

import yaml

KINDS = {
    "double_array": ("std::vector<double>", "numbers"),
    "string_array": ("std::vector<std::string>", "texts"),
    "double": ("double", "values"),
    "bool": ("bool", "flags"),
}
CHECKS = {
    "fixed_size<>": "params.{name}.size() == {bound}",
    "lower_element_bounds<>": "std::all_of(params.{name}.begin(), params.{name}.end(), "
    "[](double x) {{ return x >= {bound}; }})",
    "gt_eq<>": "params.{name} >= {bound}",
}


def header(text: str) -> str:
    """The header of the parameters in a YAML text."""
    ((space, rows),) = yaml.safe_load(text).items()
    fields, reads = [], []
    for name, row in rows.items():
        kind, where = KINDS[row["type"]]
        fields.append(f"  {kind} {name}{{}};")
        given = f'node_->{where}.at("{name}")'
        if "default_value" in row:
            default = str(row["default_value"]).lower()
            given = f'node_->{where}.count("{name}") != 0 ? {given} : {default}'
        reads.append(f"    params.{name} = {given};")
        for check, bound in row.get("validation", {}).items():
            condition = CHECKS[check].format(name=name, bound=bound)
            reads.append(f'    if (!({condition})) throw std::invalid_argument("{name}");')
    return "\n".join(
        [
            "#pragma once",
            '#include <algorithm>\n#include <stdexcept>\n#include "rclcpp/rclcpp.hpp"',
            f"namespace {space}\n{{\nstruct Params\n{{",
            *fields,
            "};\nclass ParamListener\n{\npublic:",
            "  explicit ParamListener(const std::shared_ptr<rclcpp::Node> & node)",
            "  : node_(node) { get_params(); }",
            "  Params get_params() const\n  {\n    Params params;",
            *reads,
            "    return params;\n  }",
            "private:\n  std::shared_ptr<rclcpp::Node> node_;\n};\n}\n",
        ]
    )


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(header(source.read_text()))
