"""Reports about a robot and a module.

Knows the packages up to jobs. Offers reports of tables, the page of a robot, plots, and closed
forms as text."""
