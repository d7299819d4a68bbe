import { shell, type CoreState, type OnClose, type ShellInfo } from '../api/transport/shell';

/** The window around the page, where there is one. */
class Desktop {
  /** Null in a browser, and until the window has told. */
  info = $state.raw<ShellInfo | null>(null);
  /** How far the core is; null in a browser. */
  core = $state.raw<CoreState | null>(null);
  /** The window was closed, and what that means has to be said. */
  closeAsked = $state(false);

  /** What closing does; null where it can't be changed. */
  get onClose(): OnClose | null {
    if (this.info === null || this.info.onClose === undefined) return null;
    return this.info.onClose ?? 'ask';
  }

  /** Listens to the window, until the answer is called. Does nothing in a browser. */
  follow(): () => void {
    if (shell === null) return () => {};
    const ends = [
      shell.onState((state) => (this.core = state)),
      shell.onCloseAsked(() => (this.closeAsked = true)),
    ];
    void shell.state().then((state) => (this.core ??= state));
    void shell.info().then((info) => (this.info = info));
    return () => ends.forEach((end) => void end.then((stop) => stop()));
  }

  /** Starts the core again after a failure, on another port where one is given. */
  async start(port: number | null = null): Promise<void> {
    await shell?.start(port);
  }

  /** Answers what closing the window means; `keep` null leaves it open. */
  async answerClose(keep: boolean | null, remember: boolean): Promise<void> {
    this.closeAsked = false;
    await shell?.answerClose(keep, remember);
    if (remember && keep !== null) this.#remember(keep ? 'keep' : 'quit');
  }

  /** Remembers what closing is to do from now on. */
  async setOnClose(answer: OnClose): Promise<void> {
    await shell?.setOnClose(answer);
    this.#remember(answer === 'ask' ? null : answer);
  }

  #remember(onClose: 'keep' | 'quit' | null) {
    if (this.info !== null) this.info = { ...this.info, onClose };
  }
}

export const desktop = new Desktop();
