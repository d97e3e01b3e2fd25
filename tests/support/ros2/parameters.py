"""The header that generate_parameter_library would write of a YAML file, as far as controllers use
it: parameters without a default must be given, and have the number of entries that is said."""

import sys
from pathlib import Path

import yaml

KINDS = {
    "double_array": ("std::vector<double>", "numbers"),
    "string_array": ("std::vector<std::string>", "texts"),
}


def header(text: str) -> str:
    """The header of the parameters in a YAML text."""
    ((space, rows),) = yaml.safe_load(text).items()
    fields, reads = [], []
    for name, row in rows.items():
        kind, where = KINDS[row["type"]]
        size = row["validation"]["fixed_size<>"]
        fields.append(f"  {kind} {name};")
        reads += [
            f'    params_.{name} = node->{where}.at("{name}");',
            f'    if (params_.{name}.size() != {size}) throw std::invalid_argument("{name}: length");',
        ]
        if "lower_element_bounds<>" in row["validation"]:
            low = row["validation"]["lower_element_bounds<>"]
            reads.append(
                f"    for (double x : params_.{name})"
                f' if (!(x >= {low})) throw std::invalid_argument("{name}: bound");'
            )
    return "\n".join(
        [
            "#pragma once",
            '#include <stdexcept>\n#include "rclcpp/rclcpp.hpp"',
            f"namespace {space}\n{{\nstruct Params\n{{",
            *fields,
            "};\nclass ParamListener\n{\npublic:",
            "  explicit ParamListener(const std::shared_ptr<rclcpp::Node> & node)\n  {",
            *reads,
            "  }\n  Params get_params() const { return params_; }",
            "private:\n  Params params_;\n};\n}\n",
        ]
    )


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(header(source.read_text()))
