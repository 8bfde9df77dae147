"""The validity audit: twelve checks before any verdict, one file each."""

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, Status
from hopgate.eval.audit.run import CHECKS, audit

__all__ = ["CHECKS", "Case", "Check", "Status", "audit"]
