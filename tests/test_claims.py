"""Claims of the README that a count can check."""

from pathlib import Path

from juryrank.methods import consensus_methods

ROOT = Path(__file__).parents[1]
COUNTED = {40: "Forty"}  # the word of the README; another number needs another word


def test_the_readme_counts_the_consensus_methods() -> None:
    word = COUNTED[len(consensus_methods())]
    assert f"**{word} consensus methods**" in (ROOT / "README.md").read_text()
    assert f"{word.lower()} consensus methods" in (ROOT / "pyproject.toml").read_text()
