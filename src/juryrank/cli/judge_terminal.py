"""Questions to a judge in the terminal, or answered from a pipe with one answer per line."""

from __future__ import annotations

import os
import re
import select
import shutil
import sys
import textwrap
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from juryrank.cli.interrupts import before_end, deliver_once
from juryrank.errors import DataWarning
from juryrank.report import escape_controls

if TYPE_CHECKING:
    from juryrank.tasks.judge.session import Question, Session
    from juryrank.tasks.judge.texts import Texts

LINES = 12  # of a text that are shown before the key m shows all of it
WIDEST, NARROWEST, PIPED_WIDTH = 100, 20, 80  # columns of text
GLANCE = 0.1  # seconds
CHUNK = 1024  # bytes of keys that are read at a time
SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O.|)")  # what arrow keys and function keys send
ENDS = ("\x04", "\x00")  # Ctrl-D; typed ahead, before keys are read one by one, it arrives as NUL
KEYS = {"s": "skip", "u": "undo", "m": "more", "?": "help", "q": "quit"}
HELP = """s  leave this item out
u  take the last answer back, also one of an earlier session
m  show the whole text
q  quit: every answer is saved already, and the same command continues"""

Read = Callable[[], str | None]  # the next answer, None at the end of the input


def ask_in_terminal(session: Session, items: Texts | None, queries: Texts | None) -> None:
    """Ask one question after the other until nothing is left to ask, or the judge stops."""
    screen = Screen(session, items, queries)
    screen.greet()
    more = True
    with deliver_once(screen.sum_up), read_answers() as read:
        while more and (question := session.next()) is not None:
            more = screen.ask(question, read)
            if session.batch_is_complete:
                screen.advise()
    screen.end(stopped=not more)


class Screen:
    """What the judge sees. Names and texts of the data are escaped: a terminal would obey them."""

    def __init__(self, session: Session, items: Texts | None, queries: Texts | None) -> None:
        self.session, self.items, self.queries = session, items, queries
        self.advised, self.enough = session.n_graded, False
        width = shutil.get_terminal_size((PIPED_WIDTH, 24)).columns if sys.stdout.isatty() else PIPED_WIDTH
        self.width = max(NARROWEST, min(width, WIDEST))
        self.bold = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"

    def say(self, text: str) -> None:
        """Show text of ours, in which names are escaped already."""
        print(text, flush=True)

    def greet(self) -> None:
        """What the session continues, and the keys."""
        session = self.session
        self.say(
            f"{escape_controls(session.judge)} judges; answers are saved in {escape_controls(str(session.file.path))}."
        )
        if session.n_graded or session.n_skipped:
            done = f"{session.n_graded} graded and {session.n_skipped} skipped items"
            self.say(f"Continued after {done}; u takes back the last answer.")
        if session.n_foreign:
            self.say(f"{session.n_foreign} judgements in the file are of items that no list of the data has; not used.")

    def ask(self, question: Question, read: Read) -> bool:
        """Ask until there is an answer; False if the judge stops."""
        self.show(question)
        while True:
            print(self.prompt(), end="", flush=True)
            answer = read()
            self.say("" if answer is None else escape_controls(answer))
            match (answer or "").lower() if answer is not None else "q":
                case "q":
                    return False
                case "s":
                    self.session.skip(question)
                    return True
                case "u":
                    if self.undo():
                        return True
                case "m":
                    self.show(question, whole=True)
                case "?":
                    self.say(textwrap.indent(self.help(), "  "))
                case "":
                    pass
                case _:
                    if (grade := self.session.grades.grade_of(answer or "")) is not None:
                        self.session.grade(question, grade)
                        return True
                    self.say(f"There is no answer {escape_controls(answer or '')!r}; ? lists the keys.")

    def undo(self) -> bool:
        """Take the last answer back, if there is one."""
        if (last := self.session.undo()) is None:
            self.say("There is no answer to take back.")
            return False
        was = "skipped" if last.grade is None else f"{last.grade:g}"
        self.say(f"Taken back: {escape_controls(last.query)}, {escape_controls(last.item)} ({was}).")
        return True

    def show(self, question: Question, *, whole: bool = False) -> None:
        """The query, the item and their texts; long ones are cut unless ``whole``."""
        query = None if self.queries is None else self.queries.get(question.query)
        of = "" if self.enough else f" of {question.budget}"  # no goal where there is enough
        self.say(f"\n── {question.number}{of} ──")
        strong, plain = ("\x1b[1m", "\x1b[0m") if self.bold else ("", "")
        named = self.wrap(question.query if query is None else f"{question.query}: {query}")
        self.lines("query  ", [f"{strong}{line}{plain}" for line in named], whole)
        self.lines("item   ", [f"{strong}{line}{plain}" for line in self.wrap(question.item)], whole)
        if self.items is not None:
            text = self.items.get(question.item)
            self.lines("  ", ["(no text)"] if text is None else self.wrap(text), whole)

    def lines(self, start: str, lines: list[str], whole: bool) -> None:
        """Lines below each other, the first after ``start``."""
        shown = lines if whole or len(lines) <= LINES else lines[: LINES - 1]
        for n, line in enumerate(shown):
            self.say(f"{' ' * len(start) if n else start}{line}")
        if len(shown) < len(lines):
            self.say(f"  … {len(lines) - len(shown)} more lines: m")

    def wrap(self, text: str) -> list[str]:
        """Text as lines that fit the terminal, without anything that it would obey."""
        lines = [escape_controls(line.expandtabs(4)) for line in text.splitlines()]
        wide = any(east_asian_width(character) in "WF" for character in text)
        width = (self.width - 8) // (2 if wide else 1)
        return [part for line in lines for part in textwrap.wrap(line, width) or [""]] or [""]

    def prompt(self) -> str:
        grades = [f"{key} {name}".strip() for key, name in self.session.grades.by_key().items()]
        return f"{' · '.join([*grades, *(f'{key} {name}' for key, name in KEYS.items())])} > "

    def help(self) -> str:
        grades = [f"{key}  {name or 'a grade in between'}" for key, name in self.session.grades.by_key().items()]
        return "\n".join([*grades, HELP])

    def advise(self) -> None:
        """What the judgements so far are worth, and what more would add; once for each number of answers."""
        if self.advised == (done := self.session.n_graded):
            return
        self.advised = done
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # of reading the same labels once more
            advice = self.session.advice()
        self.enough = advice.enough
        self.say("\n" + "\n".join(self.wrap(advice.text)))

    def compare_judges(self) -> None:
        """How far this judge agrees with each other one."""
        from juryrank.tasks.judge.agreement import agreement

        if self.session.n_shared:
            for pair in agreement(self.session.answers).pairs:
                if self.session.judge in (pair.judge, pair.other):
                    self.say(escape_controls(str(pair)))

    def sum_up(self) -> None:
        """How much is saved."""
        from juryrank.report import counted

        session = self.session
        skipped = f", {session.n_skipped} skipped" if session.n_skipped else ""
        path = escape_controls(str(session.file.path))
        self.say(f"\n{counted(session.n_graded, 'item')} graded{skipped}; saved in {path}.")

    def end(self, *, stopped: bool) -> None:
        """What to do next."""
        session = self.session
        self.advise()
        self.compare_judges()
        if stopped:
            self.say("The same command continues.")
        elif session.n_graded >= session.budget:
            self.say("The same command with a larger --budget continues.")
        else:
            others = any(each.judge != session.judge for each in session.answers)
            more = "; with --overlap 100% you grade what others have graded" if others else ""
            self.say(f"Nothing is left to ask{more}.")
        if session.n_graded:
            file = escape_controls(str(session.file.path))
            self.say(f"Next: juryrank fit DATA --labels {file} -o model.json")


@contextmanager
def read_answers() -> Iterator[Read]:
    """Keys of a terminal without Enter where that is possible, else lines."""
    try:
        import termios
        import tty
    except ImportError:  # Windows
        yield _read_line
        return
    if not sys.stdin.isatty():
        yield _read_line
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    waiting: deque[str] = deque()

    def restore() -> None:
        with suppress(termios.error):
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    def read_key() -> str | None:
        try:
            tty.setcbreak(terminal, termios.TCSADRAIN)  # what was typed ahead is kept
            while not waiting:
                while not select.select([terminal], [], [], GLANCE)[0]:
                    pass  # another thread may get the signal of Ctrl-C; this one has to look up to notice
                if not (typed := os.read(terminal, CHUNK).decode(errors="ignore")):
                    return None
                waiting.extend(SEQUENCE.sub("", typed))
        except (OSError, termios.error):  # the terminal was closed
            return None
        finally:
            restore()
        key = waiting.popleft()
        return None if key in ENDS else key.strip()

    with before_end(restore):
        yield read_key


def _read_line() -> str | None:
    return line.strip() if (line := sys.stdin.readline()) else None
