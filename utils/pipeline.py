"""Options of a pass pipeline as text."""


def options(given):
    """{name: value} as `--kb-optimize=` takes it; True is a name alone. Values with spaces or quotes are put in quotes.
    ValueError for what no quotes can hold."""
    return " ".join(name if value is True else f"{name}={_quoted(str(value))}" for name, value in given.items())


def _quoted(text):
    if not any(c.isspace() or c in "{}\"'" for c in text):
        return text
    for opening, closing in ("''", '""', "{}"):
        if opening not in text and closing not in text:
            return opening + text + closing
    raise ValueError(f"no way to quote {text!r} for MLIR's pass options")
