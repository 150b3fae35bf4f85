"""The public names and their modules: one table for ``juryrank``, its type stub and the page of the API."""

from juryrank.methods import CLASSES, module_of

_NAMES = {
    "_crowd": ["crowd"],
    "_election": ["election", "elections"],
    "_explain": ["explain"],
    "_export": ["export"],
    "_leaderboard": ["leaderboard"],
    "beyond_memory": ["compare_files", "convert_files", "evaluate_files", "fit_files"],
    "client": ["AsyncClient", "Client"],
    "clicks.interleaving": ["interleave"],
    "clicks.interleaving_experiment": ["InterleavingTest"],
    "clicks.labels": ["click_labels"],
    "clicks.reading": ["read_clicks"],
    "data": ["Consensus", "Dataset", "Labels", "Rankings"],
    "data.build": ["from_array", "from_dicts", "from_orders"],
    "data.comparisons": ["from_pairs"],
    "errors": ["DataWarning", "JuryrankError"],
    "evaluation": ["compare", "evaluate", "verdict"],
    "io": ["read", "write"],
    "judging.agreement": ["agreement"],
    "methods": ["METHODS", "method"],
    "judging.advice": ["judging_advice"],
    "judging.plan": ["judging_plan"],
    "judging.reliability": ["combine_judgements"],
    "metrics": ["METRICS", "parse_metric"],
    "models": ["fit", "load", "save"],
    "serving": ["Exploration", "Fuser", "fuse"],
    "streaming": ["rank_files"],
}

# name -> its module below juryrank
MODULES = {name: module for module, names in _NAMES.items() for name in names} | {
    class_name.partition(".")[2]: f"methods.{module_of(name)}" for name, class_name in CLASSES.items()
}
