"""Tables, JSON, plots, pages and files written of results."""
