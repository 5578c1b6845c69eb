#!/bin/sh
# Sees to it that a Debian or Ubuntu machine has what Python packages cannot bring.
#   venv      Python's venv module
#   chromium  the browser for the tests
set -eu

has() {
    case "$1" in
    venv) "${PYTHON:-python3}" -c 'import ensurepip, venv' 2>/dev/null ;;
    chromium) command -v chromium >/dev/null ;;
    esac
}

package() {
    case "$1" in
    venv) echo python3-venv ;;
    chromium) echo chromium ;;
    esac
}

for need in "$@"; do
    has "$need" && continue
    name=$(package "$need")
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "This needs the package $name. Install it with: sudo apt-get install $name" >&2
        exit 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$name"
done
