"""What users get, as digests: ``make same`` compares them with ``same.json``, ``--record`` writes them anew.

Everything enters by public names, commands and routes, so nothing here depends on where a module is. Numbers that are
not whole are rounded to 9 digits, because the last ones of BLAS depend on the machine. Times, durations and the version
are replaced (``normalise``); the seconds of comparisons are set to 0, and versions and sizes of served models are left
out. Parquet files, which name their writer, are compared by their rows, and compressed files by their first bytes.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIGESTS = Path(__file__).with_name("same.json")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)(?![\w.]*\w)", re.IGNORECASE)
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
DURATION = re.compile(r"\b\d+(\.\d+)? m?s\b")
PLAIN = re.compile(r"[^\w.-]+")  # what a file name does not have
TINY = 1e-12  # what is less is rounding


def normalise(text: str, version: str) -> str:
    """The text without what depends on the machine, the clock or the release."""
    text = DURATION.sub("DURATION", TIME.sub("TIME", text.replace(version, "VERSION")))
    return NUMBER.sub(lambda found: rounded(found[0]), text)


def rounded(number: str) -> str:
    """A number with 9 digits."""
    value = float(number)
    return f"{value:.9g}" if abs(value) > TINY else "0"


def digest(content: str | bytes, version: str) -> str:
    """A short digest of a text, or of bytes that are no text; without letters, which may look like misspelt words."""
    if isinstance(content, bytes):
        try:
            content = content.decode()
        except UnicodeDecodeError:
            return _digits(content)
    return _digits(normalise(content, version).encode())


def _digits(content: bytes) -> str:
    return str(int(hashlib.sha256(content).hexdigest()[:12], 16))


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """One line for each thing that is not the same."""
    changed = [f"changed: {name}" for name in before if name in now and now[name] != before[name]]
    missing = [f"missing: {name}" for name in before if name not in now]
    return sorted(changed) + sorted(missing) + sorted(f"new: {name}" for name in now if name not in before)


def collect(keep: Path | None = None) -> dict[str, str]:
    """The digests of today's package, made in a temporary folder with the demo data; ``keep`` gets what is digested."""
    import juryrank
    import outputs
    import sessions

    demo = Path(juryrank.__file__).with_name("demo")
    with tempfile.TemporaryDirectory(prefix="juryrank-same-") as folder:
        places = [Path(folder, part) for part in ("library", "commands", "service")]
        for place in places:
            shutil.copytree(demo, place / "demo")
        os.chdir(places[0])
        with ThreadPoolExecutor(2) as pool:
            waiting = [pool.submit(dict, make(place)) for make, place in
                       ((sessions.commands, places[1]), (sessions.servers, places[2]))]  # fmt: skip
            made = dict(outputs.library())
            for part in waiting:
                made |= part.result()
        os.chdir(ROOT)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        for number, name in enumerate(sorted(made)):
            content = made[name].encode() if isinstance(made[name], str) else made[name]
            (keep / f"{number:04d} {PLAIN.sub('_', name)[:150]}").write_bytes(content)
    return {name: digest(made[name], juryrank.__version__) for name in sorted(made)}


def main(args: list[str]) -> int:
    """Compare, or record; ``--keep FOLDER`` writes everything that is digested there, to look at differences."""
    keep = Path(args[args.index("--keep") + 1]).resolve() if "--keep" in args else None
    now = collect(keep)
    if "--record" in args:
        from doors import DOORS, doors

        DIGESTS.write_text(json.dumps(now, indent=0, ensure_ascii=False) + "\n")
        DOORS.write_text("\n".join(doors()) + "\n")
        print(f"{len(now)} digests in {DIGESTS.name}")
        return 0
    found = differences(json.loads(DIGESTS.read_text()), now)
    print("\n".join(found) or f"the same: {len(now)} digests")
    return 1 if found else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    os.environ["PYTHONWARNINGS"] = "ignore"  # those of libraries
    sys.exit(main(sys.argv[1:]))
