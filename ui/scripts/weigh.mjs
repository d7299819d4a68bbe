// Checks that the code the page loads at its start stays within 220 kB gzipped; `make bench-ui` runs this. Screens that
// load on demand and the editor are reported separately. Fonts are not counted.
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const LIMIT = 220 * 1024;
const dist = new URL('../dist/', import.meta.url);

// The page names everything it loads at its start: its scripts, the modules they import, its styles.
const page = readFileSync(new URL('index.html', dist), 'utf8');
const files = readdirSync(new URL('assets/', dist))
  .filter((name) => /\.(js|css)$/.test(name))
  .map((name) => ({
    name,
    atStart: page.includes(`assets/${name}"`),
    bytes: gzipSync(readFileSync(new URL(`assets/${name}`, dist)), { level: 9 }).length,
  }))
  .sort((a, b) => Number(b.atStart) - Number(a.atStart) || b.bytes - a.bytes);

const sum = (list) => list.reduce((total, { bytes }) => total + bytes, 0);
const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1)} kB`;
const isEditor = ({ name }) => name.startsWith('editor-');

for (const { name, bytes, atStart } of files)
  console.log(`${kilobytes(bytes).padStart(10)}  ${name}${atStart ? '' : ' (later)'}`);
const weight = sum(files.filter((file) => file.atStart));
const later = files.filter((file) => !file.atStart);
console.log(
  `${kilobytes(weight)} gzipped of ${kilobytes(LIMIT)} at the start, ${kilobytes(sum(later.filter((file) => !isEditor(file))))} for screens and ${kilobytes(sum(later.filter(isEditor)))} for the editor later`,
);
if (weight === 0 || weight > LIMIT) {
  console.error(weight === 0 ? 'The page begins with nothing: is it built?' : 'The page is too heavy.');
  process.exitCode = 1;
}
