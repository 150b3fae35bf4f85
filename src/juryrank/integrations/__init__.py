"""Adapters for the frameworks and engines in which rankings are fused: one file each, imported by nobody else."""
