import { Problem } from '../../../../api/client';
import { bodyOf } from '../requests';

/** The number of bytes read at first; each further read ends at four times what is loaded. */
const FIRST = 256_000;

/** The loaded bytes of a body. A body never changes, so each byte is read only once. */
export class Body {
  bytes: Uint8Array | null = $state.raw(null);
  problem: Problem | null = $state.raw(null);
  loading = $state(false);

  readonly #id: string;
  readonly #abort = new AbortController();

  constructor(
    id: string,
    readonly total: number,
  ) {
    this.#id = id;
    if (total === 0) this.bytes = new Uint8Array();
    else void this.more();
  }

  /** Whether the whole body is loaded. */
  get whole(): boolean {
    return this.bytes !== null && this.bytes.length >= this.total;
  }

  /** Loads the next piece. */
  async more(): Promise<void> {
    if (this.loading || this.whole) return;
    const before = this.bytes ?? new Uint8Array();
    const end = Math.min(this.total, before.length === 0 ? FIRST : before.length * 4);
    this.loading = true;
    try {
      const piece = await bodyOf(this.#id, [before.length, end], this.#abort.signal);
      this.bytes = piece.bytes.length >= this.total ? piece.bytes : joined(before, piece.bytes);
      this.problem = null;
    } catch (error) {
      if (!this.#abort.signal.aborted) this.problem = Problem.of(error);
    }
    this.loading = false;
  }

  /** Aborts a running request. */
  close(): void {
    this.#abort.abort();
  }
}

function joined(before: Uint8Array, after: Uint8Array): Uint8Array {
  const both = new Uint8Array(before.length + after.length);
  both.set(before);
  both.set(after, before.length);
  return both;
}
