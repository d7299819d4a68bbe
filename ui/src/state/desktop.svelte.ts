import { shell, type CoreState, type OnClose, type ShellInfo } from '../api/transport/shell';

/** The desktop window around the page, if there is one. */
class Desktop {
  /** Null in a browser, and until the window has answered. */
  info = $state.raw<ShellInfo | null>(null);
  /** The state of the core; null in a browser. */
  core = $state.raw<CoreState | null>(null);
  /** The window was closed, and the user has to choose what that means. */
  closeAsked = $state(false);

  /** What closing the window does; null if that can't be changed. */
  get onClose(): OnClose | null {
    if (this.info === null || this.info.onClose === undefined) return null;
    return this.info.onClose ?? 'ask';
  }

  /** Follows the window until the returned function is called. Does nothing in a browser. */
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

  /** Starts the core again after a failure, on another port if `port` is given. */
  async start(port: number | null = null): Promise<void> {
    await shell?.start(port);
  }

  /** Answers what closing the window means; if `keep` is null, the window stays open. */
  async answerClose(keep: boolean | null, remember: boolean): Promise<void> {
    this.closeAsked = false;
    await shell?.answerClose(keep, remember);
    if (remember && keep !== null) this.#remember(keep ? 'keep' : 'quit');
  }

  /** Sets what closing the window does from now on. */
  async setOnClose(answer: OnClose): Promise<void> {
    await shell?.setOnClose(answer);
    this.#remember(answer === 'ask' ? null : answer);
  }

  #remember(onClose: 'keep' | 'quit' | null) {
    if (this.info !== null) this.info = { ...this.info, onClose };
  }
}

export const desktop = new Desktop();
