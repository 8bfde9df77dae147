"""Public layouts → a BEIR folder: one file a layout."""

from hopgate.eval.importers.front import LAYOUTS, import_dataset

__all__ = ["LAYOUTS", "import_dataset"]
