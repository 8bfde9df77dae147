#!/usr/bin/env bash
# Bundles graphology, sigma.js and ForceAtlas2 into src/hopgate/serve/static/vendor, with their licences.
# Only whoever raises a version runs it (node and npm are needed, and the network); users get the built files.
set -euo pipefail
cd "$(dirname "$0")"
out=../../src/hopgate/serve/static/vendor
npm install --no-audit --no-fund --no-package-lock
mkdir -p "$out"
for part in graph forceatlas2; do
  npx esbuild "$part.js" --bundle --minify --format=esm --target=es2022 --legal-comments=none --outfile="$out/$part.js"
done
{
  echo "graph.js and forceatlas2.js are made of these packages by tools/explorer-vendor/build.sh."
  for package in graphology graphology-utils graphology-layout-forceatlas2 sigma events; do
    version=$(node -p "require('./node_modules/$package/package.json').version")
    printf '\n\n%s %s\n%s\n\n' "$package" "$version" "$(printf '=%.0s' {1..60})"
    cat node_modules/"$package"/LICENSE*
  done
} > "$out/LICENSES.txt"
