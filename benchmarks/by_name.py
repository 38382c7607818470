"""One benchmark for ``run.py``: ``python benchmarks/by_name.py NAME [--quick] [--out NAME.json]``.

A file of its own: an error that a benchmark raises must be the one that ``command.py`` catches.
"""

from importlib import import_module

from command import Measure, Show, make_parser, run


def main() -> None:
    """A module that the benchmark lacks is a reason to skip it."""
    parser = make_parser()
    parser.add_argument("name")
    options = parser.parse_args()

    def load() -> tuple[Measure, Show]:
        benchmark = import_module(options.name)
        return benchmark.measure, benchmark.show

    run(options, load)


if __name__ == "__main__":
    main()
