"""The text of a service's systemd unit. Pure."""

import os


def unit_text(place, spec, system=True, version=0):
    """The unit that runs the launcher on `spec`. `system`: for the system manager, else for a user's; `version`: systemd's.

    Neither argv nor environment stands in it: the launcher reads them, so no rule of quoting touches them.
    """
    start = [os.path.join(place.link, "bin", "python"), "-I", "-S", "-B", place.launcher, place.spec]
    lines = [
        "# Made by pulumi-sglang for the service in %s" % place.dir,
        "[Unit]",
        "Description=SGLang %s" % specifiers(place.name),
        "Wants=network-online.target",
        "After=network-online.target",
        "RequiresMountsFor=%s" % quoted(place.dir),
        "# A server whose disk or device comes late must not be given up at boot.",
        "StartLimitIntervalSec=0",
        "",
        "[Service]",
        "Type=exec",
        "ExecStart=%s" % " ".join(quoted(word).replace("$", "$$") for word in start),
        "WorkingDirectory=%s" % specifiers(spec["cwd"]),
    ]
    # Who has no entry in the user database is unknown to systemd: the launcher becomes that user.
    if system and spec["account"] is not None:
        if spec["user"] is not None:
            lines.append("User=%s" % spec["user"])
        if spec["group"] is not None:
            lines.append("Group=%s" % spec["group"])
    lines += [
        "Limit%s=%s" % (name.upper(), value) for name, value in sorted(dict(spec["wishes"], **spec["limits"]).items())
    ]
    if spec["log"] is not None:
        lines += [
            "StandardOutput=append:%s" % specifiers(spec["log"]),
            "StandardError=append:%s" % specifiers(spec["log"]),
        ]
    lines += ["Restart=on-failure", "RestartSec=5"]
    if version >= 254:
        lines += ["RestartSteps=5", "RestartMaxDelaySec=60"]
    lines += [
        "# SIGTERM to the server, which ends its schedulers itself; whoever is left then gets SIGKILL.",
        "KillMode=mixed",
        "TimeoutStopSec=%d" % spec["stopTimeout"],
        "",
        "[Install]",
        "WantedBy=%s" % ("multi-user.target" if system else "default.target"),
    ]
    return "\n".join(lines) + "\n"


def recover_text(place, argv, system=True):
    """The unit that at boot ends an activation which a reboot cut, before the service starts."""
    return (
        "\n".join(
            [
                "# Made by pulumi-sglang for the service in %s; gone when its activation has ended" % place.dir,
                "[Unit]",
                "Description=Ends the activation of SGLang %s that a reboot cut" % specifiers(place.name),
                "Before=%s" % place.unit,
                "RequiresMountsFor=%s" % quoted(place.dir),
                "",
                "[Service]",
                "Type=oneshot",
                "ExecStart=%s" % " ".join(quoted(word).replace("$", "$$") for word in argv),
                "",
                "[Install]",
                "WantedBy=%s" % ("multi-user.target" if system else "default.target"),
            ]
        )
        + "\n"
    )


def specifiers(text):
    """A text in which systemd expands nothing."""
    return text.replace("%", "%%")


def quoted(word):
    """One word of a unit file, whatever stands in it."""
    return '"%s"' % specifiers(word).replace("\\", "\\\\").replace('"', '\\"')
