"""``python -m wesaid``: the program under its other name. Knows nothing but where it begins."""

from __future__ import annotations

from wesaid.cli import main

if __name__ == "__main__":
    main()
