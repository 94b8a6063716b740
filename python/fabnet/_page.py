"""The page of ``fabnet watch`` in a notebook."""

from __future__ import annotations

import html
import os
import pathlib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Page:
    """The page of ``fabnet watch`` for one run: a notebook shows it, and it can be saved.

    ``html`` is the whole document, which loads nothing from elsewhere. A notebook shows it in a
    frame of its own, ``height`` pixels high, without access to the notebook.
    """

    html: str = field(repr=False)
    height: int = 900

    def save(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Write the page to a file that any browser shows; return its path."""
        path = pathlib.Path(path)
        path.write_text(self.html, encoding="utf-8", newline="\n")
        return path

    def _repr_html_(self) -> str:
        # Without `allow-same-origin` the frame is a foreign page to the notebook. The policy of the
        # page holds beside that of the notebook, because it is part of the document.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts" '
            f'title="fabnet watch" width="100%" height="{self.height}" '
            'style="border: 0; color-scheme: light dark"></iframe>'
        )
