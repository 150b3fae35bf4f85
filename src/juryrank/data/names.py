"""The order of names, for single names in plain Python; ``build.natural`` is the same for a column."""


def natural_key(name: object) -> tuple[bool, int, str]:
    """Whole numbers by value and first, then text by code point.

    >>> sorted(["10", "b", "2", "a"], key=natural_key)
    ['2', '10', 'a', 'b']
    """
    text = str(name)
    number = text.isascii() and text.isdigit() and len(text) <= 18 and (text[0] != "0" or text == "0")
    return (not number, int(text) if number else 0, text)
