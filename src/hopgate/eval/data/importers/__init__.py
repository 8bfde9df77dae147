"""Public layouts → a BEIR folder: one file a layout."""

from hopgate.eval.data.importers.import_dataset import LAYOUTS, import_dataset

__all__ = ["LAYOUTS", "import_dataset"]
