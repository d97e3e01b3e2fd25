"""The model that is fitted: parameters, terms of the joints' drives, equations, settings."""
