"""The order of names, for single names in plain Python; ``build.natural`` is the same for a column."""


def is_whole_number(text: str) -> bool:
    """Whether a name is a whole number as Python writes it: 0, 7, 10, but not 007."""
    return text.isascii() and text.isdigit() and len(text) <= 18 and (text[0] != "0" or text == "0")


def natural_key(name: object) -> tuple[bool, int, str]:
    """Whole numbers by value and first, then text by code point.

    >>> sorted(["10", "b", "2", "a"], key=natural_key)
    ['2', '10', 'a', 'b']
    """
    text = str(name)
    number = is_whole_number(text)
    return (not number, int(text) if number else 0, text)
