"""Mask latencies of a measurement as a drawing: the share of masks that take at most so long.

The same measurement gives the same SVG.
"""

from io import BytesIO
from pathlib import Path

from .bench import Bench
from .bench_run import is_installed

_LIBRARY = "matplotlib"

# Inches, and what makes two drawings of the same figures the same.
_SIZE = (8.0, 4.5)
_SETTINGS = {"svg.hashsalt": "constrain", "svg.fonttype": "none", "font.family": "sans-serif"}


def may_plot() -> bool:
    """Whether there is what draws; it is not imported."""
    return is_installed(_LIBRARY)


def plot(found: Bench) -> bytes:
    """An SVG of the first run's masks, a line for each engine."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.subplots()
        for engine in found.engines:
            if not engine.series:
                continue
            times = sorted(engine.series)
            shares = [100 * (i + 1) / len(times) for i in range(len(times))]
            label = f"{engine.name} {engine.version}".strip()
            axes.step([times[0], *times], [0, *shares], where="post", label=label)
        axes.set_xscale("log")
        axes.set_ylim(0, 101)
        axes.set_xlabel("microseconds for a mask, the first time")
        axes.set_ylabel("% of masks")
        axes.set_title(f"{Path(found.name).name}, {found.vocab_size:,} tokens", parse_math=False)
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend(loc="lower right")
        out = BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()
