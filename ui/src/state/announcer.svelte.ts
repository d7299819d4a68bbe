const PAUSE = 5_000;

/** What a screen reader announces in passing: the latest text, at most once in 5 s. */
class Announcer {
  text = $state('');
  #next: string | null = null;
  #waits = false;

  /** Announces the text as soon as the pause is over; it replaces a text that was still waiting. */
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
