"""Reading: from files to the model of a robot.

Knows numbers and mechanics. Offers `assemble.load`, and readers of URDF, xacro, actuator files and
TOML that refuse what they cannot take in one line with its place."""
