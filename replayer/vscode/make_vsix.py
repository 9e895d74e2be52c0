#!/usr/bin/env python3
"""Packs the extension for VS Code: make_vsix.py FOLDER OUTPUT. The same files give the same bytes."""

import json
import pathlib
import sys
import zipfile
from xml.sax.saxutils import escape, quoteattr

FILES = ("package.json", "extension.js")
TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\
<Default Extension=".json" ContentType="application/json"/>\
<Default Extension=".js" ContentType="application/javascript"/>\
<Default Extension=".vsixmanifest" ContentType="text/xml"/></Types>
"""
MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={name} Version={version} Publisher={publisher}/>
    <DisplayName>{title}</DisplayName>
    <Description xml:space="preserve">{description}</Description>
    <Categories>{categories}</Categories>
    <Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/></Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/></Assets>
</PackageManifest>
"""


def main():
    folder, output = pathlib.Path(sys.argv[1]), sys.argv[2]
    package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    manifest = MANIFEST.format(name=quoteattr(package["name"]), version=quoteattr(package["version"]),
                               publisher=quoteattr(package["publisher"]), title=escape(package["displayName"]),
                               description=escape(package["description"]), engine=quoteattr(package["engines"]["vscode"]),
                               categories=escape(",".join(package["categories"])))
    members = {"[Content_Types].xml": TYPES, "extension.vsixmanifest": manifest}
    members.update({"extension/" + name: (folder / name).read_text(encoding="utf-8") for name in FILES})
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)


main()
