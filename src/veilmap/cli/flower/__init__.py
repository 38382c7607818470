"""``veilmap flower``: the same federation on real machines."""

import sys

from veilmap.errors import UserError

if sys.platform == "win32":
    raise UserError(
        "veilmap flower needs Linux or macOS, whose signals and file locks its servers and nodes "
        "use, got Windows; run it in the Windows Subsystem for Linux, or train with: veilmap train"
    )
