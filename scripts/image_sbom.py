#!/usr/bin/env python3
"""Says what is in an image that image_archive.py has made, as SPDX 2.3 in JSON.

    image_sbom.py build/images/runtime.tar --version 0.1.0 --out build/images/runtime.spdx.json

Each file of the image is there with its checksums, and belongs to a package: of Debian where dpkg
knows the file on this machine and its content is the same, else to pstrain. A library below /lib or
/usr/lib that dpkg does not know is an error, as nobody could say what it is.

The document depends only on the archive, on the versions of the packages and on SOURCE_DATE_EPOCH,
in seconds; without it the time is that of the last commit, and 1970 where there is no repository.
"""

import argparse
import datetime
import hashlib
import io
import json
import os
import platform
import re
import subprocess
import sys
import tarfile

import image_archive

LIBRARIES = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")
NOBODY = "NOASSERTION"


def fail(text):
    sys.exit(f"image_sbom.py: {text}")


def read_image(path):
    """Name with tag, digest of the layer, and path -> content of its files."""
    files = {}
    try:
        name, _, layer = image_archive.read(path)
        with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
            for info in tar:
                if info.isfile():
                    files["/" + info.name] = tar.extractfile(info).read()
    except ValueError as error:
        fail(error)
    except tarfile.TarError as error:
        fail(f"the layer of {path} is no tar: {error}")
    return name, hashlib.sha256(layer).hexdigest(), files


def same_here(path, content):
    """What that path leads to on this machine, where it is the file of the image; else None."""
    real = os.path.realpath(path)
    try:
        with open(real, "rb") as file:
            return real if file.read() == content else None
    except OSError:
        return None


def names_of(path):
    """dpkg keeps the names of before /lib became a link to /usr/lib."""
    return [path, path.removeprefix("/usr") if path.startswith("/usr/") else "/usr" + path]


def owners(paths):
    """path -> name:architecture of its package, of those that have one."""
    path_of = {name: path for path in paths for name in names_of(path)}
    if not path_of:
        return {}
    found = subprocess.run(["dpkg", "-S", *path_of], capture_output=True, text=True, check=False)
    lines = [line.rsplit(": ", 1) for line in found.stdout.splitlines()
             if not line.startswith("diversion by ")]
    return {path_of[name]: packages.split(", ")[0] for packages, name in lines}


def package_fields(package):
    text = subprocess.run(
        ["dpkg-query", "-W", "-f=${Package}\t${Version}\t${Architecture}\t${source:Package}\t"
         "${source:Version}\t${Maintainer}\t${Homepage}", package],
        capture_output=True, text=True, check=True).stdout
    keys = ("name", "version", "architecture", "source", "source_version", "maintainer", "homepage")
    return dict(zip(keys, text.split("\t")))


def spdx_id(kind, text):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def debian_package(fields):
    quoted = fields["version"].replace("+", "%2B").replace(":", "%3A")
    return {
        "SPDXID": spdx_id("Package", fields["name"]),
        "name": fields["name"],
        "versionInfo": fields["version"],
        "supplier": "Organization: Debian",
        "originator": "Organization: " + fields["maintainer"],
        "downloadLocation": NOBODY,
        "filesAnalyzed": False,
        "homepage": fields["homepage"] or NOBODY,
        "sourceInfo": f"built from {fields['source']} {fields['source_version']}",
        "licenseConcluded": NOBODY,
        "licenseDeclared": NOBODY,
        "copyrightText": NOBODY,
        "comment": f"/usr/share/doc/{fields['name']}/copyright of the package has its licences",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{fields['name']}@{quoted}"
                                f"?arch={fields['architecture']}"}],
    }


def own_package(kind, name, version, **more):
    return {"SPDXID": spdx_id(kind, name), "name": name, "versionInfo": version,
            "supplier": NOBODY, "downloadLocation": NOBODY, "filesAnalyzed": False,
            "copyrightText": NOBODY, **more}


def file_entry(path, content):
    return {
        "SPDXID": spdx_id("File", path.strip("/")),
        "fileName": "." + path,
        "checksums": [
            {"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
            {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}],
        "licenseConcluded": NOBODY,
        "copyrightText": NOBODY,
    }


def created():
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or subprocess.run(
        ["git", "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False,
        cwd=os.path.dirname(os.path.abspath(__file__))).stdout.strip() or "0"
    time = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def describe(args):
    name, digest, files = read_image(args.archive)
    image = own_package("Image", name, args.version, primaryPackagePurpose="CONTAINER",
                        licenseConcluded=NOBODY, licenseDeclared=NOBODY,
                        comment=f"for {platform.machine()}; its one layer has SHA256 {digest}")
    ours = own_package("Package", "pstrain", args.version, licenseConcluded="Apache-2.0",
                       licenseDeclared="Apache-2.0")
    packages = {"": ours}
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", image["SPDXID"])]
    entries = []
    here = {path: same_here(path, files[path]) for path in files}
    owner = owners({one for one in here.values() if one})
    for path in sorted(files):
        package = owner.get(here[path])
        if package is None and path.startswith(LIBRARIES) and "/libpstrain" not in path:
            fail(f"{path} of {args.archive} is of no package of this machine; make the image and "
                 "this document on the same machine, from libraries of its packages")
        if package is not None and package not in packages:
            packages[package] = debian_package(package_fields(package))
        entries.append(file_entry(path, files[path]))
        relations.append((packages[package or ""]["SPDXID"], "CONTAINS", entries[-1]["SPDXID"]))
    relations += [(image["SPDXID"], "CONTAINS", one["SPDXID"]) for one in packages.values()]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"https://pstrain.dev/spdx/{name.replace(':', '/')}/{digest}",
        "creationInfo": {"created": created(), "creators": ["Tool: pstrain-image_sbom.py"]},
        "packages": [image, *sorted(packages.values(), key=lambda one: one["name"])],
        "files": entries,
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
            for one, kind, other in relations],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive")
    parser.add_argument("--version", required=True, help="of pstrain")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    document = describe(args)
    with open(args.out, "w", encoding="utf-8") as out:
        json.dump(document, out, indent=1)
        out.write("\n")
    print(f"{args.out}: {len(document['files'])} files of {len(document['packages']) - 1} packages",
          file=sys.stderr)


if __name__ == "__main__":
    main()
