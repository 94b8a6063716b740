#!/usr/bin/env bash
# Writes the software bills of materials (CycloneDX) of the command and of the wheel, and the
# checksums of everything that was built.
#   release/packages/sbom.sh
. "$(dirname "$0")/lib.sh"
tool cyclonedx

# sbom CRATE FOLDER NAME FEATURES: what a crate is linked with when it has these features.
sbom() {
  local copy="$scratch/$1" file
  # The tool writes beside every manifest, so it works on a copy.
  mkdir "$copy" && git archive HEAD | tar -x -C "$copy"
  (cd "$copy" && cargo cyclonedx --quiet --manifest-path "$2/Cargo.toml" --features "$4" --format json \
    --spec-version 1.5 --target x86_64-unknown-linux-gnu --override-filename sbom)
  file="$copy/$2/sbom.json"
  cp "$file" "$out/$3"
  python3 - "$out/$3" <<'END'
import json, sys

bill = json.load(open(sys.argv[1]))
names = {component["name"] for component in bill["components"]}
unlicensed = [component["name"] for component in bill["components"] if not component.get("licenses")]
print(f"{sys.argv[1].rsplit('/', 1)[1]}: {len(names)} components, without a licence: {unlicensed}")
sys.exit(bool(unlicensed) or not {"zenoh", "faer"} <= names)
END
}

step "bills of materials"
sbom fabnet crates/cli "fabnet-$version.cdx.json" net,pictures
sbom fabnet-py crates/py "fabnet-python-$version.cdx.json" net

step "checksums"
rm -f "$out/SHA256SUMS"
(cd "$out" && sha256sum -- * >"$scratch/sums" && cp "$scratch/sums" SHA256SUMS && sha256sum --check --quiet SHA256SUMS)
cat "$out/SHA256SUMS"
