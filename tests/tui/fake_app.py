"""An application that opens no screen."""

from types import SimpleNamespace
from typing import ClassVar

from tui.engine import Activity


class FakeApp:
    """Stands for the screen: remembers how it was opened, and leaves at once."""

    made: ClassVar[list["FakeApp"]] = []

    def __init__(self, path, text=None, ids=None, *, settings, faults, log_file, arguments, root):
        self.given = (path.name, text, ids, settings.theme)
        self.settings, self.faults, self.log_file = settings, faults, log_file
        self.refusal, self.return_code = "", 0
        self.engine = SimpleNamespace(activity=Activity())
        FakeApp.made.append(self)

    def run(self, mouse):
        self.mouse = mouse
