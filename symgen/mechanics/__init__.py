"""Models of robots.

Knows numbers alone. Offers the model of a robot, spatial vectors, joints, canonical frames, inertia
and its regrouping (Gautier and Khalil), base parameters, and couplings between coordinates."""
