#!/usr/bin/env bash
# Draws the window's icons from their SVGs. Needs rsvg-convert and ImageMagick. The results are committed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../src-tauri/icons"

# png SVG SIZE FILE: Tauri accepts only RGBA, which ImageMagick writes with color-type 6.
png() { rsvg-convert --width "$2" --height "$2" "$1" | convert png:- -strip -define png:color-type=6 "$3"; }

png icon.svg 32 32x32.png
png icon.svg 128 128x128.png
png icon.svg 256 128x128@2x.png
png icon.svg 512 icon.png
png tray.svg 44 tray.png
convert icon.png -define icon:auto-resize=256,64,48,32,16 icon.ico
