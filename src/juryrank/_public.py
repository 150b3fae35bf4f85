"""The public names and their modules: one table for ``juryrank``, its type stub and the page of the API."""

from juryrank.methods import CLASSES, module_of

_NAMES = {
    "tasks.crowd": ["crowd"],
    "tasks.election": ["election", "elections"],
    "tasks.explain": ["explain"],
    "tasks.export": ["export"],
    "tasks.leaderboard": ["leaderboard"],
    "tasks.files": ["compare_files", "convert_files", "evaluate_files", "fit_files"],
    "client": ["AsyncClient", "Client"],
    "tasks.clicks.interleaving": ["interleave"],
    "tasks.clicks.interleaving_experiment": ["InterleavingTest"],
    "tasks.clicks.labels": ["click_labels"],
    "tasks.clicks.reading": ["read_clicks"],
    "data": ["Consensus", "Dataset", "Labels", "Rankings"],
    "data.build": ["from_array", "from_dicts", "from_orders"],
    "data.comparisons": ["from_pairs"],
    "errors": ["DataWarning", "JuryrankError"],
    "evaluation": ["compare", "evaluate", "verdict"],
    "io": ["read", "write"],
    "tasks.judge.agreement": ["agreement"],
    "methods": ["METHODS", "method"],
    "tasks.judge.advice": ["judging_advice"],
    "tasks.judge.plan": ["judging_plan"],
    "tasks.judge.reliability": ["combine_judgements"],
    "metrics": ["METRICS", "parse_metric"],
    "models": ["fit", "load", "save"],
    "tasks.fuse": ["Exploration", "Fuser", "fuse"],
    "tasks.files.rank_files": ["rank_files"],
}

# name -> its module below juryrank
MODULES = {name: module for module, names in _NAMES.items() for name in names} | {
    class_name.partition(".")[2]: f"methods.{module_of(name)}" for name, class_name in CLASSES.items()
}
