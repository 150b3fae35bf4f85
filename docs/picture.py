"""Draws docs/demo.svg, the picture of the README: systems, RRF and jury on the demo data. Run by ``make picture``."""

from pathlib import Path

from juryrank.cli.demo import BASELINE, LEARNED, METRIC, Result, measure, read_demo

ROOT = Path(__file__).parents[1]
WIDTH, ROW, TOP, LEFT, RIGHT = 720, 19, 34, 150, 490  # the axis goes from LEFT to RIGHT
HIGHEST = 0.8  # of the axis
# Grey that can be read on white and on black: a page may be dark where the system is light.
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #767676 }
.title, .learned text, .fused text { font-weight: 600 }
.learned .note, .fused .note { font-weight: 400 }
.grid { stroke: #888; stroke-opacity: 0.3 }
g line { stroke-width: 2 }
.system line { stroke: #999 } .system circle { fill: #999 }
.fused line { stroke: #3b7dd8 } .fused circle { fill: #3b7dd8 }
.learned line { stroke: #2a9d5c } .learned circle { fill: #2a9d5c }
"""


def x_of(value: float) -> float:
    """The place of a value on the axis; an interval may end a little outside of it."""
    return LEFT + max(value, -0.01) / HIGHEST * (RIGHT - LEFT)


def row_of(row: Result, y: int, note: str) -> str:
    """A dot at the mean, a line over the 95 % interval."""
    low, high = map(x_of, row.interval)
    return (
        f'<g class="{row.kind}"><text x="{LEFT - 16}" y="{y + 4}" text-anchor="end">{row.name}</text>'
        f'<line x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}"/><circle cx="{x_of(row.mean):.1f}" cy="{y}" r="5"/>'
        f'<text x="{RIGHT + 12}" y="{y + 4}">{row.mean:.3f}</text>'
        f'<text class="note" x="{RIGHT + 60}" y="{y + 4}">{note}</text></g>'
    )


def draw(rows: list[Result]) -> str:
    """The whole picture as SVG."""
    bottom = TOP + ROW * len(rows)
    title = f"{METRIC} on TREC-COVID round 1, 30 topics: mean and 95 % interval"
    parts = [f'<text class="title" x="0" y="14">{title}</text>']
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8):
        x = f"{x_of(tick):.1f}"
        parts.append(f'<line class="grid" x1="{x}" y1="{TOP - 8}" x2="{x}" y2="{bottom}"/>')
        parts.append(f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
    best = next(row.name for row in rows if row.kind == "system")
    notes = {LEARNED: "learned from judgements", BASELINE: "no judgements used", best: "best single system"}
    parts += [row_of(row, TOP + ROW // 2 + n * ROW, notes.get(row.name, "")) for n, row in enumerate(rows)]
    height = bottom + 24
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    body = "\n".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<style>{STYLE}</style>\n{body}\n</svg>\n'


if __name__ == "__main__":
    (ROOT / "docs" / "demo.svg").write_text(draw(measure(read_demo())))
