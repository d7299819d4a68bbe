/** A step from one sequence to another: two indexes if both have the element, one index if only one sequence has it. */
export type Step =
  [first: number, other: number] | [first: number, other: null] | [first: null, other: number];

/** The most differences that are searched for; sequences that differ more count as wholly different. */
const MOST_APART = 1_200;

/** Returns how two sequences differ, in the fewest steps (Myers, “An O(ND) difference algorithm”, 1986). */
export function sequenceDiff(first: readonly string[], other: readonly string[]): Step[] {
  let start = 0;
  while (start < first.length && start < other.length && first[start] === other[start]) start++;
  let ends: [number, number] = [first.length, other.length];
  while (ends[0] > start && ends[1] > start && first[ends[0] - 1] === other[ends[1] - 1])
    ends = [ends[0] - 1, ends[1] - 1];
  const steps: Step[] = [];
  for (let at = 0; at < start; at++) steps.push([at, at]);
  const [a, b] = [first.slice(start, ends[0]), other.slice(start, ends[1])];
  for (const [x, y] of between(a, b))
    steps.push([x === null ? null : x + start, y === null ? null : y + start] as Step);
  for (let at = 0; ends[0] + at < first.length; at++) steps.push([ends[0] + at, ends[1] + at]);
  return steps;
}

function between(a: readonly string[], b: readonly string[]): Step[] {
  if (a.length === 0 || b.length === 0) return replaced(a.length, b.length);
  const trace = forward(a, b);
  return trace ? back(trace, a, b) : replaced(a.length, b.length);
}

function replaced(first: number, other: number): Step[] {
  const gone = Array.from({ length: first }, (_, at): Step => [at, null]);
  return [...gone, ...Array.from({ length: other }, (_, at): Step => [null, at])];
}

/** Records how far each diagonal reaches for each number of differences; null if there are too many differences. */
function forward(a: readonly string[], b: readonly string[]): Int32Array[] | null {
  const most = Math.min(MOST_APART, a.length + b.length);
  const reach = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let d = 0; d <= most; d++) {
    trace.push(reach.slice(most - d, most + d + 3));
    for (let k = -d; k <= d; k += 2) {
      let x = goesDown(reach, most + 1, k, d) ? reach[most + k + 2]! : reach[most + k]! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[most + 1 + k] = x;
      if (x >= a.length && x - k >= b.length) return trace;
    }
  }
  return null;
}

function goesDown(reach: Int32Array, middle: number, k: number, d: number): boolean {
  return k === -d || (k !== d && reach[middle + k - 1]! < reach[middle + k + 1]!);
}

function back(trace: Int32Array[], a: readonly string[], b: readonly string[]): Step[] {
  const steps: Step[] = [];
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d >= 0; d--) {
    const reach = trace[d]!; // its middle is at d + 1
    const k = x - y;
    const before = goesDown(reach, d + 1, k, d) ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : reach[d + 1 + before]!;
    const fromY = d === 0 ? 0 : fromX - before;
    while (x > fromX && y > fromY) steps.push([--x, --y]);
    if (d === 0) break;
    steps.push(x === fromX ? [null, --y] : [--x, null]);
  }
  return steps.reverse();
}
