"""Figures that were declared before the run, or found out before it: they are in no table,
and are held against the manifest, which has the plan in it."""

import re


class Declaration:
    """Figures of the report that stand in the manifest at another path."""

    def __init__(self, reports, manifests, why):
        self.reports, self.manifests, self.why = re.compile(reports + "$"), manifests, why

    def holds(self, run, path, got):
        want = self.manifest(run, path)
        self.says = f"the manifest {want!r} ({self.why})"
        return want == got

    def manifest(self, run, path):
        """What the manifest has; what is 0 or false may be left out there."""
        node = run.manifest | {"cell": run.cell}
        for key in re.findall(r"[^.\[\]]+", self.reports.sub(self.manifests, path)):
            node = node[int(key)] if isinstance(node, list) else node.get(key, 0)
        return node


DECLARATIONS = [
    Declaration(r"(simulated)", r"\1", "who answered"),
    Declaration(r"run\.(seed|(?:host|server|git|gpu)\..+|gpus\[.+)", r"\1", "the probe of machine, server and card"),
    Declaration(r"rules\.(.+)", r"plan.analysis.\1", "the plan's rules"),
    Declaration(r"rollback\.(.+)", r"plan.rollback.\1", "the plan's criteria"),
    Declaration(r"baseline\.shape\.(.+)", r"cell.baseline.shape.\1", "the plan's baseline"),
    Declaration(r"ladders\[(.+?)\]\.prompt\.(.+)", r"cell.ladders[\1].prompt.\2", "the plan's prompt"),
    Declaration(r"client\.floor\.(.+)", r"client.floor.\1", "measured before the run, and in no table"),
    Declaration(r"metrics\.interval_s", r"metrics.interval_s", "how often the page was read"),
]


class Version:
    """The version of the report's form is no figure of a run."""

    says = "it is that of the form, 1"

    def holds(self, run, path, got):
        return got == 1


def of(pattern):
    """The declaration of a figure's pattern; None where it has none."""
    if pattern == "version":
        return Version()
    return next((d for d in DECLARATIONS if d.reports.match(pattern)), None)
