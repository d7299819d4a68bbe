// A program that answers lines of JSON: {"op", "text"} → {"text"}, base64 in both directions.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export function peer(command, args, env = {}) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const waiting = [];
  const failed = new Promise((_, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => code && reject(new Error(`${command} ended with ${code}`)));
  });
  failed.catch(() => {});
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()(JSON.parse(line)));
  const ask = async (op, bytes) => {
    const answer = new Promise((resolve) => waiting.push(resolve));
    child.stdin.write(`${JSON.stringify({ op, text: Buffer.from(bytes).toString('base64') })}\n`);
    const { text, error } = await Promise.race([answer, failed]);
    if (error) throw new Error(`${command} ${op}: ${error}`);
    return Buffer.from(text, 'base64');
  };
  return { ask, end: () => child.stdin.end() };
}
