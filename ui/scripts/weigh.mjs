// What the page loads may weigh 220 kB gzipped; the editor is a chunk of its own that comes later, and fonts are apart.
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const LIMIT = 220 * 1024;
const folder = new URL('../dist/assets/', import.meta.url);

const files = readdirSync(folder)
  .filter((name) => /\.(js|css)$/.test(name))
  .map((name) => ({ name, bytes: gzipSync(readFileSync(new URL(name, folder)), { level: 9 }).length }))
  .sort((a, b) => b.bytes - a.bytes);

const isEditor = ({ name }) => name.startsWith('editor-');
const sum = (list) => list.reduce((total, { bytes }) => total + bytes, 0);
const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1)} kB`;

for (const file of files) console.log(`${kilobytes(file.bytes).padStart(10)}  ${file.name}`);
const weight = sum(files.filter((file) => !isEditor(file)));
console.log(
  `${kilobytes(weight)} gzipped of ${kilobytes(LIMIT)}, and ${kilobytes(sum(files.filter(isEditor)))} for the editor`,
);
if (weight > LIMIT) {
  console.error('The bundle is too heavy.');
  process.exitCode = 1;
}
