"""What the user takes upon himself of the gate `libraries`: by soname, by file of site-packages, or by distribution."""

import fnmatch

from agent.venv import dists

SAID = "; passes as `acceptLibraries` says"


class Accepted:
    """patterns: texts in which `*` and `?` stand for others: `libmpi.so.40`, `deep_gemm/*.so`, `sgl-kernel`."""

    def __init__(self, patterns, owners):
        self.patterns, self.owners = list(patterns), owners

    def takes(self, file, name):
        """Whether a finding about `file` (below site-packages) that wants `name` is to pass."""
        if not self.patterns:
            return False
        names = [file, name] + [dist.name for dist in self.owners.of(file)]
        return any(fnmatch.fnmatchcase(one, pattern) for pattern in self.patterns for one in names) or any(
            dists.normalise(pattern) == dist.name for pattern in self.patterns for dist in self.owners.of(file)
        )


def lenient(findings):
    """The same as warnings that say so."""
    for one in findings:
        if one.severe:
            one.severe, one.text = False, one.text + SAID
    return findings
