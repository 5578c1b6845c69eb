#!/bin/sh
# Makes a virtual environment: make-env.sh PYTHON TARGET_DIR REQUIREMENTS...
# uv reads pyproject.toml and leaves out the compiled runtime that a model package declares.
set -eu
python=$1 target=$2
shift 2

rm -rf "$target"
mkdir -p "$target"
"$python" -m venv "$target"
"$target/bin/python" -m pip install -q uv==0.13.9
for file in "$@"; do set -- "$@" -r "$file"; shift; done
"$target/bin/uv" pip install -q --python "$target/bin/python" "$@"
touch "$target/ready"
