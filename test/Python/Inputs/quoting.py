"""utils/pipeline.py and the package, which is installed without it, quote values of pass options alike."""
import pipeline
from kernelbrain import _tools


def written(write):
    try:
        return write()
    except ValueError:
        return None


values = ["a", "a,b", "a b", "a\tb", "a'b", 'a "b"', "{a}", "a'b\"", "{a'b}", '{a"b}', "{a'b\"}", ""]
texts = [written(lambda: pipeline.options({"log": value})) for value in values]
assert texts == [written(lambda: _tools._option("log", value)) for value in values], texts
assert texts[2] == "log='a b'" and texts[-2] is None, texts
