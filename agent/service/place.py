"""Where the files of one service are. The only place that knows their names."""

import os


class Place:
    """The paths of service `name` below `layout`. Pure."""

    def __init__(self, layout, name):
        self.layout = layout
        self.name = name
        self.dir = layout.service(name)

    def at(self, *parts):
        return os.path.join(self.dir, *parts)

    @property
    def link(self):
        """The stable path of the release in use: what keys its caches by path finds them again after a switch."""
        return self.at("venv")

    @property
    def spec(self):
        return self.at("spec.json")

    @property
    def current(self):
        return self.at("current.json")

    @property
    def launcher(self):
        return self.at("launcher.py")

    @property
    def keeper(self):
        return self.at("keeper.py")

    @property
    def kept(self):
        """What the keeper of the `process` supervisor says about itself and its process."""
        return self.at("keeper.json")

    @property
    def unit_text(self):
        """The unit as we wrote it; the one that systemd reads is compared with it."""
        return self.at("unit.service")

    @property
    def replaced(self):
        """Hand-made drop-ins of our unit, moved out of its way and kept."""
        return self.at("replaced")

    @property
    def work(self):
        """The default working directory: the user's own and empty, as `python -m` looks for modules in it first."""
        return self.at("work")

    @property
    def gates(self):
        """What the gates said of the last candidate: `.json` and `.txt` are added."""
        return self.at("gates")

    @property
    def log(self):
        return self.at("server.log")

    @property
    def unit(self):
        return "sglang-%s.service" % self.name

    @property
    def recover_unit(self):
        return "sglang-%s-recover.service" % self.name

    @property
    def activation_unit(self):
        return "sglang-%s-activation.service" % self.name

    def variables(self, env):
        return self.at("env-%s.json" % env)

    def config(self, key):
        return self.at("config-%s.yaml" % key)

    def activation(self, *parts):
        """The journal and the rest of the last activation."""
        return self.at("activation", *parts)

    @property
    def reserve(self):
        """Room that an activation keeps on the disk, for its way back."""
        return self.activation("reserve")

    def previous(self, *parts):
        """What was there before the activation at work."""
        return self.activation("previous", *parts)
