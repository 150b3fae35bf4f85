"""Draws docs/demo.svg, the picture of the README: experts and methods on the demo data. Run by ``make picture``."""

from pathlib import Path

import juryrank
from juryrank.cli.demo import CONSENSUS, LEARNED, leave_one_out

ROOT = Path(__file__).parents[1]
METRIC = "nDCG@10"
WIDTH, ROW, LEFT, BAR = 720, 20, 130, 480
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#555}.e{fill:#b8b8b8}.c{fill:#3b7dd8}.l{fill:#2a9d5c}.t{font-weight:600}"
)


def measured() -> list[tuple[float, str, str]]:
    """Value, kind (e: expert, c: consensus, l: learned) and name, best first."""
    data = juryrank.read(ROOT / "src" / "juryrank" / "demo" / "cooking.csv")
    experts = juryrank.evaluate(data, data, METRIC)[METRIC]
    found = juryrank.compare([*CONSENSUS, LEARNED], data, METRIC, folds=leave_one_out(data))
    rows = [(v, "e", name) for name, v in experts.items()]
    rows += [(v, "l" if name == LEARNED else "c", name) for name, (v,) in zip(found.names, found.means, strict=True)]
    return sorted(rows, key=lambda row: (-row[0], row[2]))


def drawn(rows: list[tuple[float, str, str]]) -> str:
    """Horizontal bars as SVG."""
    title = f"{METRIC} on the demo: experts (grey), consensus (blue), learned (green)"
    parts = [f'<text class="t" x="0" y="14">{title}</text>']
    for n, (value, kind, name) in enumerate(rows):
        y = 28 + n * ROW
        parts.append(f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{name}</text>')
        parts.append(f'<rect class="{kind}" x="{LEFT}" y="{y + 2}" width="{value * BAR:.1f}" height="{ROW - 5}"/>')
        parts.append(f'<text x="{LEFT + value * BAR + 6:.1f}" y="{y + 13}">{value:.3f}</text>')
    height = 36 + len(rows) * ROW
    body = "\n".join(parts)
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<style>{STYLE}</style>\n{body}\n</svg>\n'


if __name__ == "__main__":
    (ROOT / "docs" / "demo.svg").write_text(drawn(measured()))
