#!/usr/bin/python3
"""The SARIF that `predict` writes conforms to SARIF 2.1.0: for subject programs, STD text, detectors, and no findings.

A second argument, the standard's own schema (sarif-schema-2.1.0.json of OASIS), is also used to validate the output.

sarif.schema.json describes the objects that we write, with their types and ranges, and allows nothing else. The check
compares its names and required members with Debian's sarif_om, whose classes were generated from the standard's own
schema.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import attr
import jsonschema
import sarif_om

HERE = pathlib.Path(__file__).resolve().parent
# Definitions for which sarif_om has no class, or a class without constraints: names are free there.
FREE = {"propertyBag"}


def run(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=True).stdout


def check_schema(schema):
    """Compares the schema with the standard's object model."""
    jsonschema.Draft7Validator.check_schema(schema)
    for name, definition in schema["definitions"].items():
        if name in FREE:
            continue
        fields = {field.metadata["schema_property_name"]: field
                  for field in attr.fields(getattr(sarif_om, name[0].upper() + name[1:]))}
        unknown = set(definition["properties"]) - set(fields)
        required = {known for known, field in fields.items() if field.default is attr.NOTHING}
        if unknown or required != set(definition.get("required", [])):
            sys.exit(f"{name}: unknown {unknown}, required {required}")


def inputs(build, folder):
    """Yields arguments for `predict`: options and paths."""
    reweave, programs = build / "reweave", build / "tests" / "programs" / "tsan"
    for name in ("bank_account", "lock_order", "lock_across_wait", "lost_wakeup", "stack_after_end", "wrong_lock"):
        recording = folder / name
        run([reweave, "record", "-o", recording, "--", programs / f"{name}.tsan"])
        run([reweave, "trace", recording, "-o", f"{recording}.rwt"])
        yield [f"{recording}.rwt"]
    text, nothing = folder / "text.std", folder / "nothing.std"
    text.write_text("T1|w(x)|1\nT1|acq(l)|2\nT1|rel(l)|3\nT2|acq(l)|4\nT2|rel(l)|5\nT2|w(x)|6\n")
    nothing.write_text("T1|w(x)|1\n")
    yield [text]
    yield [nothing]
    yield ["--analysis=lockset", text]


def main():
    build = pathlib.Path(sys.argv[1])
    schema = json.loads((HERE / "sarif.schema.json").read_text())
    check_schema(schema)
    schemas = [schema] + [json.loads(pathlib.Path(path).read_text()) for path in sys.argv[2:]]
    validators = [jsonschema.Draft7Validator(s, format_checker=jsonschema.FormatChecker()) for s in schemas]
    results = 0
    with tempfile.TemporaryDirectory(prefix="reweave-sarif-") as folder:
        for arguments in inputs(build, pathlib.Path(folder)):
            log = json.loads(run([build / "reweave", "predict", "--format=sarif", *arguments]))
            for validator in validators:
                validator.validate(log)
            results += len(log["runs"][0]["results"])
    if results < 7:
        sys.exit(f"only {results} results")
    return 0


if __name__ == "__main__":
    sys.exit(main())
