const PAUSE = 5_000;

/** What a screen reader is told in passing: the latest of what happens, at most once in 5 s. */
class Announcer {
  text = $state('');
  #next: string | null = null;
  #waits = false;

  /** Says it as soon as it is its turn; what waited before it is not said. */
  say(text: string): void {
    this.#next = text;
    if (!this.#waits) this.#speak();
  }

  #speak() {
    this.#waits = this.#next !== null;
    if (this.#next === null) return;
    this.text = this.#next;
    this.#next = null;
    setTimeout(() => this.#speak(), PAUSE);
  }
}

export const announcer = new Announcer();
