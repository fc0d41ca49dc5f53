"""What a person has opened and closed: the group of the selection is open unless it was closed by hand."""

from collections.abc import Set
from dataclasses import dataclass, field

from .groups import Outline
from .items import Item


@dataclass
class Folds:
    """Keys of sections and events that stay open, and of the section closed although the selection is in it."""

    opened: set[str] = field(default_factory=set)
    shut: set[str] = field(default_factory=set)

    def open_all(self, outline: Outline) -> None:
        """Leave no section folded, until one is closed by hand."""
        self.opened |= {section.key for section in outline.sections if section.foldable}

    def fold(self, opened: Set[str], shut: Set[str]) -> None:
        """Open and close sections that a person opened and closed elsewhere."""
        self.opened = (self.opened | opened) - shut
        self.shut = (self.shut | shut) - opened

    def keys(self, outline: Outline, selection: int) -> frozenset[str]:
        """What is open while this row is selected. A closed section opens again once the selection has left it."""
        section = outline.section_of(selection)
        here = {section.key} if section is not None and section.foldable else set()
        self.shut &= here
        return frozenset((self.opened | here) - self.shut)

    def toggle(self, outline: Outline, item: Item, selection: int) -> None:
        """Open a group or an event into what it stands for; else close what the item stands in.

        Of a run of groups the one opens that the selected row is in.
        """
        section = outline.section_of(selection)
        event = outline.rows[item.boundary].scope
        if item.kind == "group" and section is not None:
            self.shut.discard(section.key)
            self.opened.add(section.key)
        elif item.kind == "event" and len(item.rows) > 1:
            self.opened.add(item.key)
        elif item.kind == "node" and event in self.opened and event != item.group:
            self.opened.discard(event)
        elif item.group:
            self.shut.add(item.group)
            self.opened.discard(item.group)
