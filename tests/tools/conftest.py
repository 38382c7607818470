import sys
from pathlib import Path

# The tools are scripts; Python finds what they import beside them.
sys.path.append(str(Path(__file__).parents[2] / "tools"))
