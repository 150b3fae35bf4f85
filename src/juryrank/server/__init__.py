"""The HTTP service: fusion, explanations, models and feedback behind ``/v1``."""
