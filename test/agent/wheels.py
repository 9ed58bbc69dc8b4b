"""Small wheels made by hand, so that tests choose each byte of them."""

import base64
import hashlib
import io
import zipfile


def wheel(
    name, version, files, requires=(), tag="py3-none-any", entry_points=None, data=None, scripts=None, wrong_record=()
):
    """(file name, bytes) of a wheel. files: {path in site-packages: text}; data, scripts: {path below .data/data, .data/scripts: text}."""
    stem = "%s-%s" % (name.replace("-", "_"), version)
    info = stem + ".dist-info"
    contents = dict(files)
    contents[info + "/METADATA"] = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s" % (
        name,
        version,
        "".join("Requires-Dist: %s\n" % one for one in requires),
    )
    contents[info + "/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: %s\n" % tag
    if entry_points:
        contents[info + "/entry_points.txt"] = "[console_scripts]\n" + "".join(
            "%s = %s\n" % one for one in entry_points.items()
        )
    for path, text in (data or {}).items():
        contents["%s.data/data/%s" % (stem, path)] = text
    for path, text in (scripts or {}).items():
        contents["%s.data/scripts/%s" % (stem, path)] = text
    record = []
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in contents.items():
            bytes_ = text.encode() if isinstance(text, str) else text
            archive.writestr(path, bytes_)
            recorded = b"other bytes" if path in wrong_record else bytes_
            digest = base64.urlsafe_b64encode(hashlib.sha256(recorded).digest()).rstrip(b"=").decode()
            record.append("%s,sha256=%s,%d\n" % (path, digest, len(bytes_)))
        archive.writestr(info + "/RECORD", "".join(record) + info + "/RECORD,,\n")
    return "%s-%s.whl" % (stem, tag), memory.getvalue()
